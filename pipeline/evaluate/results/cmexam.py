"""CMExam's tables 3 to 8 (Liu et al. 2023, section 4), of any dataset and any models."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import mean as mean_of

from pipeline.evaluate.metrics import Metric, Shown, shown_in
from pipeline.evaluate.results.names import REFERENCES, label_name, run_name, title
from pipeline.evaluate.results.view import View, cell, mean, ranked, value
from pipeline.evaluate.scoring import HUMAN
from pipeline.rendering.tables import Table, number
from schemas.evaluation import Score
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
    """What a run is ranked by: the higher, the better."""
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
        together = [
            score.value
            for run, score in zip(runs, found, strict=True)
            if run in models and score is not None and score.value is not None
        ]
        average = (f"{100 * mean_of(together):.1f}" if together else "–",) if len(models) > 1 else ()
        cells = [cell(score, asked) for score in found]
        rows.append((label_name(label, english), number(asked), *cells, *average))
        lines.append(
            [
                ((at, column + 2), run, value(score))
                for column, (run, score) in enumerate(zip(runs, found, strict=True))
            ]
        )
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


def table_name(dimension: str) -> str:
    """What the files of a dimension's table are called."""
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
