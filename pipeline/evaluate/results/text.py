"""Results as text: Markdown, the terminal's tables, one line a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from pipeline.evaluate.results.build import Evaluated, tables, unreviewed
from pipeline.evaluate.results.view import View, cell
from pipeline.export import markdown as md
from pipeline.rendering.tables import Table
from schemas.evaluation import Score
from schemas.wording import counted

_NOTHING = (
    "No label has more questions than `evaluate.more_than_disease_group` and `evaluate.more_than_department` demand "
    "(CMExam: 100 and 50); lower them to see all."
)

if TYPE_CHECKING:
    from rich.table import Table as RichTable

NOTES = """\
Accuracy counts exact sets of letters. Brackets hold 95 % intervals, which keep shared cases and repetitions together:
Wilson's of shares, else a bootstrap over cases; ± is the standard deviation over repetitions. No answer, refused and
truncated count as not right in accuracy and are shown apart. Partial credit: a wrong letter loses all, otherwise the
share of the key's letters that were named. F1 takes the answer string as the class. Human accuracy is weighted by
respondents; “n =” stands where a score is of fewer questions than its row. In bold:
the best model; baselines and people do not compete."""


def markdown(found: Evaluated, title: str) -> str:
    """All tables as one Markdown document."""
    lines = [f"# {md.text(title)}", "", NOTES if found.scores else "No question was asked 没有题目。", ""]
    if doubt := unreviewed(found.scores):
        lines += [f"{doubt.english} {doubt.chinese}", ""]
    for name, table in tables(found):
        lines += [f"## {md.text(name)}", "", md.text(table.caption), ""]
        lines += [table.markdown() if table.rows else _NOTHING, ""]
    return "\n".join(lines)


def files(found: Evaluated) -> Mapping[str, bytes]:
    """Every table as Parquet, CSV, Markdown and LaTeX, by path."""
    return {name: data for _, table in tables(found) for name, data in table.files().items()}


def terminal(found: Evaluated) -> Iterator[RichTable]:
    """The same tables for ``rich.print``; texts of papers are never read as markup."""
    for name, table in tables(found):
        yield rich_table(name, table)


def rich_table(name: str, table: Table) -> RichTable:
    """A table for ``rich.print``."""
    from rich.table import Table as RichTable
    from rich.text import Text

    shown = RichTable(title=Text(name), title_justify="left")
    for index, head in enumerate(table.head):
        shown.add_column(Text(head), justify="left" if index < table.left else "right")
    for at, row in enumerate(table.rows):
        cells = enumerate(row)
        shown.add_row(
            *(Text(cell, style="bold" if (at, column) in table.best else "") for column, cell in cells)
        )
    return shown


def headlines(scores: Sequence[Score]) -> list[str]:
    """One line a run: its accuracy, and what guessing is expected to give."""
    view = View(scores)
    lines = []
    for run in view.runs:
        score = view.overall(run, "accuracy") or view.overall(run, "mean_accuracy")
        if score is None:
            continue
        expected = view.overall(run, "expected_accuracy")
        guess = f", expected {cell(expected)}" if expected else ""
        asked = counted(score.questions, "question")
        lines.append(f"{run}: accuracy {cell(score)} % of {asked}{guess}")
    return lines
