"""Plots of an evaluation: accuracy by label with intervals, by question length, by subcategory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan
from typing import TYPE_CHECKING

from pipeline.evaluate.results.build import Evaluated
from pipeline.evaluate.results.cmexam import LABELLED
from pipeline.evaluate.results.names import REFERENCES, label_name, plain, run_name, title
from pipeline.evaluate.results.view import View
from pipeline.evaluate.scoring import HUMAN
from pipeline.rendering.figures import COLOURS, INK, both_formats, figure
from schemas.taxonomy import dimensions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_RUNS = 6
"""Models drawn side by side; more cannot be told apart. The best are drawn, and tables hold them all."""
MOST_ROWS = 40
"""Runs in the heat map."""
_NAME = 40
"""Characters of a run's name in a plot."""
_HUMAN = "#8a8f98"


def plots(found: Evaluated) -> dict[str, bytes]:
    """``figures/<name>.svg`` and ``.png`` of every plot that has something to show."""
    view = View(found.scores)
    runs = _drawn(view, found)
    if not runs:
        return {}
    files: dict[str, bytes] = {}
    for dimension in LABELLED:
        files |= _bars(view, runs, dimension, found.more_than.get(dimension, 0))
    return files | _lengths(view, runs) | _heat(view)


def _drawn(view: View, found: Evaluated) -> list[str]:
    """Models by accuracy, the best first, each as it was asked best; baselines where there are none; people last."""
    scored = [run for run in view.runs if run != HUMAN and view.overall(run, "accuracy")]
    models = [run for run in scored if run not in REFERENCES] or scored
    best: dict[str, str] = {}
    for run in sorted(models, key=lambda run: -_share(view, run, "overall", "全部")):
        best.setdefault(found.askings[run].model, run)
    return [*[*best.values()][:MOST_RUNS], *([HUMAN] if HUMAN in view.runs else [])]


def _share(view: View, run: str, dimension: str, label: str) -> float:
    score = view.accuracy(run, dimension, label)
    return score.value if score is not None and score.value is not None else float("nan")


def _bars(view: View, runs: Sequence[str], dimension: str, more_than: int) -> dict[str, bytes]:
    """Accuracy of every run in every label that has enough questions, with 95 % intervals."""
    labels = [label for label in view.labels(dimension) if view.asked(dimension, label) > more_than]
    if not labels:
        return {}
    height = 1.4 + len(labels) * (0.2 + 0.13 * len(runs))
    with figure(8.0, height) as drawn:
        axes: Axes = drawn.subplots()
        thick = 0.84 / len(runs)
        for number, (run, colour) in enumerate(_coloured(runs)):
            places = [row + (number - (len(runs) - 1) / 2) * thick for row in range(len(labels))]
            values = [100 * _share(view, run, dimension, label) for label in labels]
            axes.barh(places, values, height=0.9 * thick, color=colour, label=_shown(run))
            _whiskers(axes, view, run, dimension, labels, places)
        names = [
            f"{_label(dimension, label)}  n = {view.asked(dimension, label):,}".replace("$", r"\$")
            for label in labels
        ]
        axes.set_yticks(range(len(labels)), names, color=INK)
        axes.set_ylim(len(labels) - 0.4, -0.6)
        axes.set_xlim(0, 100)
        axes.set_xlabel("accuracy 准确率, %")
        axes.set_title(plain(title(dimension)))
        axes.grid(visible=False, axis="y")
        _legend(drawn)
        return both_formats(f"accuracy_by_{dimension}", drawn)


def _whiskers(
    axes: Axes, view: View, run: str, dimension: str, labels: Sequence[str], places: Sequence[float]
) -> None:
    for label, place in zip(labels, places, strict=True):
        score = view.accuracy(run, dimension, label)
        if score is not None and score.low is not None and score.high is not None:
            axes.plot([100 * score.low, 100 * score.high], [place, place], color=INK, linewidth=1.1)


def _lengths(view: View, runs: Sequence[str]) -> dict[str, bytes]:
    """CMExam's figure 3: accuracy by question length, intervals as bands."""
    labels = list(view.labels("length"))
    if len(labels) < 2:
        return {}
    with figure(7.6, 4.2) as drawn:
        axes: Axes = drawn.subplots()
        for run, colour in _coloured(runs):
            values = [100 * _share(view, run, "length", label) for label in labels]
            axes.plot(range(len(labels)), values, color=colour, marker="o", markersize=3.5, label=_shown(run))
            _band(axes, view, run, labels, colour)
        counts = [f"{label}\nn = {view.asked('length', label):,}" for label in labels]
        axes.set_xticks(range(len(labels)), counts, fontsize=7.5)
        axes.set_ylim(0, 100)
        axes.set_xlabel("question length in characters 题目字数")
        axes.set_ylabel("accuracy 准确率, %")
        _legend(drawn)
        return both_formats("accuracy_by_length", drawn)


def _band(axes: Axes, view: View, run: str, labels: Sequence[str], colour: str) -> None:
    found = [view.accuracy(run, "length", label) for label in labels]
    lows = [_percent(None if score is None else score.low) for score in found]
    highs = [_percent(None if score is None else score.high) for score in found]
    axes.fill_between(range(len(labels)), lows, highs, color=colour, alpha=0.13, linewidth=0)


def _percent(share: float | None) -> float:
    return float("nan") if share is None else 100 * share


def _heat(view: View) -> dict[str, bytes]:
    """A run a row, a subcategory a column."""
    labels = view.labels("exam_class")
    runs = view.runs_of("exam_class")[:MOST_ROWS]
    if len(labels) < 2 or not runs:
        return {}
    with figure(2.6 + 0.42 * len(labels), 2.6 + 0.3 * len(runs)) as drawn:
        axes: Axes = drawn.subplots()
        values = [[100 * _share(view, run, "exam_class", label) for label in labels] for run in runs]
        image = axes.imshow(values, cmap="cividis", vmin=0, vmax=100, aspect="auto")
        names = [
            plain(f"{label_name(label, english)} ({view.asked('exam_class', label):,})")
            for label, english in labels.items()
        ]
        axes.set_xticks(
            range(len(labels)), names, rotation=55, ha="right", rotation_mode="anchor", fontsize=7
        )
        axes.set_yticks(range(len(runs)), [_shown(run) for run in runs], color=INK)
        axes.grid(visible=False)
        for row, shares in enumerate(values):
            for column, share in enumerate(shares):
                if not isnan(share):
                    ink = "black" if share > 55 else "white"
                    axes.text(column, row, f"{share:.0f}", ha="center", va="center", fontsize=6.5, color=ink)
        drawn.colorbar(image, ax=axes, label="accuracy 准确率, %", fraction=0.03, pad=0.01)
        return both_formats("accuracy_by_subcategory", drawn)


def _coloured(runs: Sequence[str]) -> Iterator[tuple[str, str]]:
    models = [run for run in runs if run != HUMAN]
    yield from zip(models, COLOURS, strict=False)
    if HUMAN in runs:
        yield HUMAN, _HUMAN


def _legend(drawn: Figure) -> None:
    drawn.legend(loc="outside lower center", ncols=3, fontsize=8)


def _shown(run: str) -> str:
    name = run_name(run)
    return plain(name if len(name) <= _NAME else f"{name[: _NAME - 1]}…")


def _label(dimension: str, label: str) -> str:
    known = dimensions().get(dimension)
    found = known.find(label) if known else None
    return f"{label} {found.abbr}" if found and found.abbr else label
