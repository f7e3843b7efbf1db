"""CMB's tables 3 and 4 and its subcategories (Wang et al. 2023, section 4), of any dataset and any models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean as mean_of

from pipeline.evaluate.results.names import REFERENCES, label_name, prompt_name, run_name
from pipeline.evaluate.results.settings import Asking
from pipeline.evaluate.results.view import View, cell, mean, ranked, value
from pipeline.rendering.tables import Table, number
from schemas.taxonomy import cmb_catalogue


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
            cells.append(_together(*both))
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


def _together(zero: tuple[str, float | None], several: tuple[str, float | None]) -> str:
    if not several[0]:
        return zero[0]
    return f"{zero[0] or '–'} ({several[0]})"


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
        lines.append(
            [
                ((at, column + 3), run, value(score))
                for column, (run, score) in enumerate(zip(runs, scores, strict=True))
            ]
        )
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
