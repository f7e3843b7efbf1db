"""Result tables of an evaluation: for the terminal and as Markdown, names in Chinese and English."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipeline.evaluate.scoring import HUMAN
from pipeline.evaluate.slices import REVIEWED, dimension_names
from schemas.evaluation import Score

if TYPE_CHECKING:
    from rich.table import Table

METRICS: Mapping[str, tuple[str, str]] = {
    "accuracy": ("准确率", "Accuracy [95 %]"),
    "expected_accuracy": ("期望准确率", "Expected"),
    "mean_accuracy": ("逐题平均", "Mean over questions"),
    "partial_credit": ("部分得分", "Partial credit"),
    "weighted_f1": ("加权F1", "Weighted F1"),
    "macro_f1": ("宏平均F1", "Macro F1"),
    "no_answer_rate": ("未作答", "No answer"),
    "refused_rate": ("拒答", "Refused"),
    "truncated_rate": ("截断", "Truncated"),
}
"""Columns of the overall table: metric, Chinese and English name."""

_WITH_INTERVAL = {"accuracy"}
_NOTES = """\
Accuracy counts exact sets of letters; intervals are Wilson's, 95 %. Partial credit: a wrong letter loses all,
otherwise the share of the key's letters that were named. F1 takes the answer string as the class. No answer, refused
and truncated count as not right in accuracy. Human accuracy is weighted by respondents; “n =” stands where a score
is of fewer questions than its row."""


@dataclass(frozen=True)
class Grid:
    """A table as plain text: a title, a header, rows."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def grids(scores: Sequence[Score]) -> list[Grid]:
    """The overall table, runs by metrics, then one table a dimension, labels by runs."""
    if not scores:
        return []
    names = dimension_names()
    present = [name for name in names if any(score.dimension == name for score in scores)]
    return [_overall(scores), *(_by_label(name, scores) for name in present if name != "overall")]


def tables(scores: Sequence[Score]) -> Iterator[Table]:
    """The same tables for ``rich.print``; texts of papers are never read as markup."""
    from rich.table import Table
    from rich.text import Text

    for grid in grids(scores):
        table = Table(title=Text(grid.title), title_justify="left")
        for index, name in enumerate(grid.header):
            table.add_column(Text(name), justify="left" if index == 0 else "right")
        for row in grid.rows:
            table.add_row(*(Text(cell) for cell in row))
        yield table


def markdown(scores: Sequence[Score], title: str) -> str:
    """The same tables as a Markdown document."""
    lines = [f"# {_escaped(title)}", "", _NOTES if scores else "No question was asked 没有题目。", ""]
    if doubt := _unreviewed(scores):
        lines += [doubt, ""]
    for grid in grids(scores):
        lines += [f"## {_escaped(grid.title)}", "", _row(grid.header)]
        lines.append("|" + "|".join(["---"] + ["---:"] * (len(grid.header) - 1)) + "|")
        lines += [_row(row) for row in grid.rows]
        lines.append("")
    return "\n".join(lines)


def headlines(scores: Sequence[Score]) -> list[str]:
    """One line a run: its accuracy, and what guessing is expected to give."""
    overall = {(score.run, score.metric): score for score in scores if score.dimension == "overall"}
    lines = []
    for run in _runs(scores):
        score = overall.get((run, "accuracy")) or overall.get((run, "mean_accuracy"))
        if score is None:
            continue
        expected = overall.get((run, "expected_accuracy"))
        guess = f", expected {_cell(expected)}" if expected else ""
        plural = "" if score.questions == 1 else "s"
        lines.append(f"{run}: accuracy {_cell(score)} % of {score.questions} question{plural}{guess}")
    return lines


def _unreviewed(scores: Sequence[Score]) -> str | None:
    """A warning where labels that the tables go by were not settled by experts."""
    asked: dict[str, int] = {}
    for score in scores:
        if score.dimension == "label_status" and score.metric == "accuracy" and score.run != HUMAN:
            asked[score.label_en or ""] = max(score.questions, asked.get(score.label_en or "", 0))
    open_ = sum(count for status, count in asked.items() if status != REVIEWED)
    if not open_:
        return None
    return (
        f"Labels that experts have not settled 未经专家审定: {open_} of {sum(asked.values())} questions have such. "
        "Tables by label rest on them; the last table shows reviewed questions apart."
    )


def _overall(scores: Sequence[Score]) -> Grid:
    found = {(score.run, score.metric): score for score in scores if score.dimension == "overall"}
    metrics = [metric for metric in METRICS if any(name == metric for _, name in found)]
    rows = [
        (_run_name(run), _questions(scores, run), *(_cell(found.get((run, metric))) for metric in metrics))
        for run in _runs(scores)
    ]
    header = ("模型 Model", "题数 n", *(" ".join(METRICS[metric]) for metric in metrics))
    return Grid(_title("overall"), header, tuple(rows))


def _by_label(dimension: str, scores: Sequence[Score]) -> Grid:
    own = [score for score in scores if score.dimension == dimension]
    found = {(score.run, score.label, score.metric): score for score in own}
    labels = {score.label: score.label_en for score in own}
    runs = [run for run in _runs(scores) if any(score.run == run for score in own)]
    rows = []
    for label, english in labels.items():
        asked = [score.questions for score in own if score.label == label and score.metric == "accuracy"]
        name = label if english is None or english == label else f"{label} {english}"
        most = max(asked, default=0)
        cells = [
            _cell(found.get((run, label, "accuracy")) or found.get((run, label, "mean_accuracy")), most)
            for run in runs
        ]
        rows.append((name, str(most), *cells))
    return Grid(_title(dimension), (_title(dimension), "题数 n", *map(_run_name, runs)), tuple(rows))


def _cell(score: Score | None, questions: int | None = None) -> str:
    """A value in percent with its interval, and with its number of questions where that is not ``questions``."""
    if score is None or score.value is None:
        return "–"
    value = f"{100 * score.value:.1f}"
    if score.metric in _WITH_INTERVAL and score.low is not None and score.high is not None:
        value += f" [{100 * score.low:.1f}, {100 * score.high:.1f}]"
    return value if questions in (None, score.questions) else f"{value} (n = {score.questions})"


def _runs(scores: Sequence[Score]) -> list[str]:
    return list(dict.fromkeys(score.run for score in scores))


def _questions(scores: Sequence[Score], run: str) -> str:
    counts = [score.questions for score in scores if score.run == run and score.dimension == "overall"]
    return str(max(counts, default=0))


def _run_name(run: str) -> str:
    return {HUMAN: "考生 human", "random": "随机 random", "majority": "多数 majority"}.get(run, run)


def _title(dimension: str) -> str:
    return " ".join(dimension_names()[dimension])


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_escaped(cell) for cell in cells) + " |"


def _escaped(text: str) -> str:
    for plain, safe in (
        ("\\", "\\\\"),
        ("|", "\\|"),
        ("<", "&lt;"),
        ("`", "\\`"),
        ("*", "\\*"),
        ("_", "\\_"),
    ):
        text = text.replace(plain, safe)
    return " ".join(text.split())
