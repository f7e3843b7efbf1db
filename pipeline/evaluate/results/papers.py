"""CMExam's tables 3 to 8 (Liu et al. 2023) and CMB's 3 and 4 (Wang et al. 2023), of any dataset and any models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean as mean_of

from pipeline.evaluate.grading import Asking
from pipeline.evaluate.metrics import Metric, Shown, shown_in
from pipeline.evaluate.results.view import (
    REFERENCES,
    View,
    cell,
    label_name,
    mean,
    prompt_name,
    ranked,
    run_name,
    title,
    value,
)
from pipeline.evaluate.scoring import HUMAN
from pipeline.rendering.tables import Cell, Table, number
from schemas.evaluation import Score
from schemas.taxonomy import cmb_catalogue
from schemas.wording import counted

LABELLED: Mapping[str, int] = {
    "disease_group": 4,
    "clinical_department": 5,
    "medical_discipline": 6,
    "competency": 7,
    "difficulty": 8,
}
"""Number of the table that each dimension has in the paper."""
MINIMUM: Mapping[str, int] = {"disease_group": 100, "clinical_department": 50}
"""The paper shows labels with more questions than that (its section 4.4)."""


def overall(view: View) -> Table | None:
    """Table 3, prediction: a row a run; None where no question was asked."""
    return _by_metric(view, "answers", "cmexam_table3", "Answers 作答 (CMExam's table 3, prediction).")


def explanations(view: View) -> Table | None:
    """Table 3, reasoning: explanations against the reference; also of clinical answers."""
    return _by_metric(
        view,
        "texts",
        "cmexam_table3_explanations",
        "Explanations 解析 (CMExam's table 3, reasoning), in percent; Chinese is compared character by character.",
    )


def _by_metric(view: View, table: Shown, name: str, caption: str) -> Table | None:
    wanted = shown_in(table)
    runs = [run for run in view.runs if any(view.overall(run, metric.name) for metric in wanted)]
    metrics = [metric for metric in wanted if any(view.overall(run, metric.name) for run in runs)]
    if not runs:
        return None
    rows, lines = [], {metric.name: [] for metric in metrics}  # type: ignore[var-annotated]
    for at, run in enumerate(runs):
        found = [view.overall(run, metric.name) for metric in metrics]
        asked = max(score.questions for score in found if score is not None)
        cells = []
        for column, (metric, score) in enumerate(zip(metrics, found, strict=True)):
            few = None if score is None or score.questions == asked else asked
            cells.append(cell(score, few) if metric.brackets else mean(score))
            if metric.higher is not None:
                lines[metric.name].append(((at, column + 2), run, _merit(metric, score)))
        rows.append((run_name(run), number(asked), *cells))
    best, second = ranked(lines.values())
    return Table(
        name,
        caption,
        view.data(["overall"], [metric.name for metric in metrics]),
        ("模型 Model", "题数 n", *(metric.title for metric in metrics)),
        rows,
        best=best,
        second=second,
    )


def _merit(metric: Metric, score: Score | None) -> float | None:
    """Return the value that a run is ranked by: the higher, the better."""
    found = value(score)
    return found if found is None or metric.higher else -found


def by_dimension(view: View, dimension: str, more_than: int = 0) -> Table | None:
    """Tables 4 to 8, and the like for any other dimension: a row a label, a column a run.

    Args:
        view: scores of answers.
        dimension: e.g. ``disease_group``.
        more_than: labels with so many questions or fewer are left out, and counted in the caption.

    Returns:
        The table; None where no question has such a label.
    """
    labels = view.labels(dimension)
    runs = view.runs_of(dimension)
    if not labels or not runs:
        return None
    kept = {label: en for label, en in labels.items() if view.asked(dimension, label) > more_than}
    models = [run for run in runs if run not in REFERENCES]
    rows, lines = [], []
    for at, (label, english) in enumerate(kept.items()):
        asked = view.asked(dimension, label)
        found = [view.accuracy(run, dimension, label) for run in runs]
        known = [value(score) for run, score in zip(runs, found, strict=True) if run in models]
        together = [share for share in known if share is not None]
        average = (f"{100 * mean_of(together):.1f}" if together else "–",) if len(models) > 1 else ()
        cells = [cell(score, asked) for score in found]
        rows.append((label_name(label, english), number(asked), *cells, *average))
        lines.append(_line(at, 2, runs, found))
    best, second = ranked(lines)
    average_name = ("平均 Average of models",) if len(models) > 1 else ()
    return Table(
        table_name(dimension),
        _caption(view, dimension, len(labels) - len(kept), more_than),
        view.data([dimension], ["accuracy", "mean_accuracy"]),
        (title(dimension), "题数 n", *map(run_name, runs), *average_name),
        rows,
        best=best,
        second=second,
    )


def _line(
    row: int, first: int, runs: Sequence[str], scores: Sequence[Score | None]
) -> list[tuple[Cell, str, float | None]]:
    """The cells of a row that are compared, from a column on."""
    pairs = enumerate(zip(runs, scores, strict=True), start=first)
    return [((row, column), run, value(score)) for column, (run, score) in pairs]


def table_name(dimension: str) -> str:
    """Return the name of the files of a dimension's table."""
    return f"cmexam_table{LABELLED[dimension]}" if dimension in LABELLED else f"by_{dimension}"


def _caption(view: View, dimension: str, left_out: int, more_than: int) -> str:
    told = f" (CMExam's table {LABELLED[dimension]})" if dimension in LABELLED else ""
    text = f"Accuracy by {title(dimension)}{told}."
    if left_out:
        labels = counted(left_out, "label")
        text += f" Left out, with {more_than} questions or fewer: {labels}; see the data beside this table."
    if HUMAN in view.runs_of(dimension):
        text += " People are those who sat the exam."
    return text


@dataclass(frozen=True)
class _Row:
    """A model and prompt: its run without examples, and with them."""

    name: str
    zero: str | None
    several: str | None


def categories(view: View, askings: Mapping[str, Asking]) -> Table | None:
    """Tables 3 and 4: a row a model and prompt, a column a category; with examples in parentheses.

    The average is over categories, as in the paper; the last column is over questions.
    """
    labels = view.labels("exam_type")
    if not labels:
        return None
    rows, lines = [], [[] for _ in range(len(labels) + 2)]  # type: ignore[var-annotated]
    pairs = _pairs(view.runs_of("exam_type"), askings)
    for at, row in enumerate(pairs):
        cells = []
        for column in range(len(labels) + 2):
            both = [_column(view, run, list(labels), column) for run in (row.zero, row.several)]
            (zero, _), (several, _) = both
            cells.append(f"{zero or '–'} ({several})" if several else zero)
            values = [found for _, found in both if found is not None]
            lines[column].append(((at, column + 1), row.zero or row.several or "", max(values, default=None)))
        rows.append((row.name, *cells))
    best, second = ranked(lines)
    shots = sorted({askings[run].shots for run in askings if askings[run].shots})
    told = f" In parentheses with {' or '.join(map(str, shots))} examples." if shots else ""
    head = (label_name(label, english) for label, english in labels.items())
    return Table(
        "cmb_table3",
        f"Accuracy by exam category, in percent (CMB's tables 3 and 4).{told} Average: over the categories.",
        view.data(["exam_type", "overall"], ["accuracy", "mean_accuracy"]),
        ("模型 Model", *head, "平均 Average", "全部题目 All questions"),
        rows,
        best=best,
        second=second,
    )


def _column(view: View, run: str | None, labels: Sequence[str], column: int) -> tuple[str, float | None]:
    """A category, the average over categories, or everything: as text and as number."""
    if run is None:
        return "", None
    if column < len(labels):
        score = view.accuracy(run, "exam_type", labels[column])
        return mean(score, 2), value(score)
    if column > len(labels):
        score = view.overall(run, "accuracy") or view.overall(run, "mean_accuracy")
        return mean(score, 2), value(score)
    found = [value(view.accuracy(run, "exam_type", label)) for label in labels]
    known = [share for share in found if share is not None]
    # An average over fewer categories than another row's would be of another exam.
    average = mean_of(known) if len(known) == len(labels) else None
    return ("–" if average is None else f"{100 * average:.2f}"), average


def _pairs(runs: Iterable[str], askings: Mapping[str, Asking]) -> list[_Row]:
    """Runs that differ in their examples alone share a row, if there is one number of examples for the model."""
    groups: dict[tuple[str, str], list[str]] = {}
    for run in runs:
        key = (run, "") if run in REFERENCES else (askings[run].model, askings[run].prompt)
        groups.setdefault(key, []).append(run)
    rows = []
    for (model, prompt), members in groups.items():
        zero = [run for run in members if model == run or not askings[run].shots]
        several = [run for run in members if run not in zero]
        if len(zero) > 1 or len(several) > 1:
            rows += [_Row(run_name(run), run, None) for run in members]
            continue
        name = run_name(model) if not prompt else f"{model} · {prompt_name(prompt)}"
        rows.append(_Row(name, zero[0] if zero else None, several[0] if several else None))
    return rows


def subcategories(view: View) -> Table | None:
    """Accuracy by subcategory, in the catalogue's order: a row a subcategory, a column a run."""
    found = view.labels("exam_class")
    if not found:
        return None
    runs = view.runs_of("exam_class")
    category = {
        subcategory.zh: label_name(part.zh, part.en)
        for part in cmb_catalogue()
        for subcategory in part.subcategories
    }
    rows, lines = [], []
    for at, (label, english) in enumerate(found.items()):
        asked = view.asked("exam_class", label)
        scores = [view.accuracy(run, "exam_class", label) for run in runs]
        shown = (cell(score, asked) for score in scores)
        rows.append((category.get(label, "–"), label_name(label, english), number(asked), *shown))
        lines.append(_line(at, 3, runs, scores))
    best, second = ranked(lines)
    return Table(
        "cmb_subcategories",
        "Accuracy by exam subcategory 按考试.",
        view.data(["exam_class"], ["accuracy", "mean_accuracy"]),
        ("类别 Category", "考试 Exam", "题数 n", *map(run_name, runs)),
        rows,
        left=2,
        best=best,
        second=second,
    )
