"""All tables of an evaluation in the order in which they are shown, as files, Markdown and text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rich.table import Table as RichTable
from rich.text import Text

from build_dataset.pipeline.evaluate.grading import RunSettings, from_facts
from build_dataset.pipeline.evaluate.results import papers
from build_dataset.pipeline.evaluate.results.view import WORDS, View, cell, title
from build_dataset.pipeline.evaluate.scoring import HUMAN, REVIEWED
from build_dataset.pipeline.rendering.markdown import rendered
from build_dataset.pipeline.rendering.tables import Table
from build_dataset.schemas.evaluation import Comparison, JudgeAgreement, Score, Task
from build_dataset.schemas.taxonomy import dimensions
from build_dataset.schemas.wording import Notice, counted


@dataclass(frozen=True)
class Evaluated:
    """Results of an evaluation."""

    scores: Sequence[Score]
    comparisons: Sequence[Comparison] = ()
    agreement: Sequence[JudgeAgreement] = ()
    askings: Mapping[str, RunSettings] = field(default_factory=dict)
    more_than: Mapping[str, int] = field(default_factory=lambda: WORDS["cmexam_more_than"])
    """Labels of a dimension with so many questions or fewer stay out of its table."""

    def __post_init__(self) -> None:
        """A run without further facts is a model of its own."""
        runs = list(dict.fromkeys(score.run for score in self.scores))
        object.__setattr__(self, "askings", from_facts({}, runs) | dict(self.askings))


def table_groups(found: Evaluated) -> list[tuple[str, list[tuple[str, Table]]]]:
    """Every table with its title, by what it is about; those without content are absent."""
    answers = View(found.scores)
    texts, cases = (View(found.scores, task) for task in (Task.EXPLANATION, Task.CLINICAL))

    def by(name: str) -> tuple[str, Table | None]:
        return title(name), papers.by_dimension(answers, name, found.more_than.get(name, 0))

    made: dict[str, list[tuple[str, Table | None]]] = {
        "作答 Answers": [
            ("总体 Overall", papers.by_metric(answers, "answers", "cmexam_table3")),
            ("两两比较 Pairs of models", papers.pairs(found.comparisons)),
            ("考试类别 Exam categories", papers.categories(answers, found.askings)),
            ("考试 Exam subcategories", papers.subcategories(answers)),
            *map(by, ("exam_subject", "question_type", "length")),
            ("排名相关 Rankings compared", papers.settings(found.scores, found.askings)),
        ],
        "按标签 By label": [*map(by, dimensions()), by("label_status")],
        "自由作答 Free text": [
            ("解析 Explanations", papers.by_metric(texts, "texts", "cmexam_table3_explanations")),
            ("病例 Clinical answers", papers.by_metric(cases, "texts", "cmb_clin_texts")),
            ("解析评分 Judged explanations", papers.judged(found.scores, Task.EXPLANATION, "judged_explanations")),
            ("病例评分 Judged clinical answers", papers.judged(found.scores, Task.CLINICAL, "cmb_table5")),
            ("评分一致性 Agreement of judges", papers.agreement(found.agreement)),
        ],
    }
    kept = ((group, [(name, t) for name, t in own if t is not None]) for group, own in made.items())
    return [(group, entries) for group, entries in kept if entries]


def tables(found: Evaluated) -> list[tuple[str, Table]]:
    """Every table with its title, in the order in which they are shown."""
    return [entry for _, entries in table_groups(found) for entry in entries]


def unreviewed_warning(scores: Sequence[Score]) -> Notice | None:
    """Return a warning if the tables use labels that experts have not settled."""
    view = View(score for score in scores if score.run != HUMAN)
    labels = view.labels("label_status").items()
    asked = {english: view.asked("label_status", label) for label, english in labels}
    open_ = sum(count for status, count in asked.items() if status != REVIEWED)
    if not open_:
        return None
    counts = {"open": open_, "asked": sum(asked.values())}
    return Notice(*(WORDS["unreviewed"][name].format(**counts) for name in ("english", "chinese")))


NOTES = WORDS["notes"]["under_title"].strip()  # notes on how to read the tables


def markdown(found: Evaluated, title: str) -> str:
    """All tables as one Markdown document."""
    values = {"doubt": unreviewed_warning(found.scores), "tables": tables(found), "notes": WORDS["notes"]}
    asked = bool(found.scores)
    return rendered("build_dataset.pipeline.evaluate:results.md", title=title, asked=asked, **values).rstrip() + "\n"


def files(found: Evaluated) -> Mapping[str, bytes]:
    """Every table as Parquet, CSV, Markdown and LaTeX, by path."""
    return {name: data for _, table in tables(found) for name, data in table.files().items()}


def rich_table(name: str, table: Table) -> RichTable:
    """A table for ``rich.print``; texts of papers are never read as markup."""
    shown = RichTable(title=Text(name), title_justify="left")
    for index, head in enumerate(table.head):
        shown.add_column(Text(head), justify="left" if index < table.left else "right")
    for at, row in enumerate(table.rows):
        styles = ("bold" if (at, column) in table.best else "" for column in range(len(row)))
        shown.add_row(*map(Text, row, styles))
    return shown


def headlines(scores: Sequence[Score]) -> list[str]:
    """One line a run: its accuracy, and what guessing is expected to give."""
    view = View(scores)
    lines = []
    for run in view.runs:
        if (score := view.accuracy(run)) is not None:
            expected = view.overall(run, "expected_accuracy")
            guess = f", expected {cell(expected)}" if expected else ""
            asked = counted(score.questions, "question")
            lines.append(f"{run}: accuracy {cell(score)} % of {asked}{guess}")
    return lines
