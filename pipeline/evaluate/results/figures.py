"""Plots of an evaluation: accuracy by label and length."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from build_dataset.pipeline.evaluate.results.build import Evaluated
from build_dataset.pipeline.evaluate.results.papers import LABELLED
from build_dataset.pipeline.evaluate.results.view import REFERENCES, View, plot_name, run_name, title, value
from build_dataset.pipeline.evaluate.scoring import HUMAN
from build_dataset.pipeline.rendering.figures import COLOURS, INK, both_formats, figure
from build_dataset.pipeline.stats.intervals import Floats
from build_dataset.schemas.taxonomy import dimensions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


MOST_RUNS = 6  # Models drawn side by side; more cannot be told apart. The best are drawn, and tables hold them all.
_NAME = 40  # characters of a run's name in a plot
_HUMAN = "#8a8f98"  # grey: people are no model


def plots(found: Evaluated) -> dict[str, bytes]:
    """``figures/<name>.svg`` and ``.png`` of every plot that has something to show."""
    view = View(found.scores)
    runs = _drawn(view, found)
    if not runs:
        return {}
    files: dict[str, bytes] = {}
    for dimension in LABELLED:
        files |= _bars(view, runs, dimension, found.more_than.get(dimension, 0))
    return files | _lengths(view, runs)


def _drawn(view: View, found: Evaluated) -> list[str]:
    """Models by accuracy, the best first, each as it was asked best; baselines where there are none; people last."""
    scored = [run for run in view.runs if run != HUMAN and view.overall(run, "accuracy")]
    models = [run for run in scored if run not in REFERENCES] or scored
    best: dict[str, str] = {}
    for run in sorted(models, key=lambda run: -(value(view.accuracy(run)) or 0.0)):
        best.setdefault(found.askings[run].model, run)
    return [*[*best.values()][:MOST_RUNS], *([HUMAN] if HUMAN in view.runs else [])]


def _shares(view: View, run: str, dimension: str, labels: Iterable[str]) -> Floats:
    """Accuracy in every label with the ends of its interval (labels × 3), in percent; NaN for what is not known."""
    scores = (view.accuracy(run, dimension, label) for label in labels)
    told = [(score.value, score.low, score.high) if score else (None, None, None) for score in scores]
    return 100 * np.array(told, dtype=float)


def _bars(view: View, runs: Sequence[str], dimension: str, more_than: int) -> dict[str, bytes]:
    """Accuracy of every run in every label that has enough questions, with 95 % intervals."""
    labels = [label for label in view.labels(dimension) if view.asked(dimension, label) > more_than]
    if not labels:
        return {}
    height = 1.4 + len(labels) * (0.2 + 0.13 * len(runs))  # inches: a gap and a bar a run for each label
    with figure(8.0, height) as drawn:
        axes: Axes = drawn.subplots()
        thick = 0.84 / len(runs)  # of the space of a label; the rest parts it from the next
        for number, (run, colour) in enumerate(_coloured(runs)):
            places = [row + (number - (len(runs) - 1) / 2) * thick for row in range(len(labels))]
            shares = _shares(view, run, dimension, labels)
            axes.barh(places, shares[:, 0], height=0.9 * thick, color=colour, label=_shown(run))
            for place, (_, low, high) in zip(places, shares, strict=True):
                if not isnan(low):
                    axes.plot([low, high], [place, place], color=INK, linewidth=1.1)
        counts = {label: f"n = {view.asked(dimension, label):,}" for label in labels}
        names = [plot_name(f"{_label(dimension, label)}  {count}") for label, count in counts.items()]
        axes.set_yticks(range(len(labels)), names, color=INK)
        axes.set(xlim=(0, 100), ylim=(len(labels) - 0.4, -0.6), xlabel="accuracy 准确率, %")
        axes.set_title(plot_name(title(dimension)))
        axes.grid(visible=False, axis="y")
        _legend(drawn)
        return both_formats(f"accuracy_by_{dimension}", drawn)


def _lengths(view: View, runs: Sequence[str]) -> dict[str, bytes]:
    """CMExam's figure 3: accuracy by question length, intervals as bands."""
    labels = list(view.labels("length"))
    if len(labels) < 2:
        return {}
    with figure(7.6, 4.2) as drawn:
        axes: Axes = drawn.subplots()
        for run, colour in _coloured(runs):
            values, lows, highs = _shares(view, run, "length", labels).T
            axes.plot(range(len(labels)), values, color=colour, marker="o", markersize=3.5, label=_shown(run))
            axes.fill_between(range(len(labels)), lows, highs, color=colour, alpha=0.13, linewidth=0)
        counts = [f"{label}\nn = {view.asked('length', label):,}" for label in labels]
        axes.set_xticks(range(len(labels)), counts, fontsize=7.5)
        said = {"xlabel": "question length in characters 题目字数", "ylabel": "accuracy 准确率, %"}
        axes.set(ylim=(0, 100), **said)
        _legend(drawn)
        return both_formats("accuracy_by_length", drawn)


def _coloured(runs: Sequence[str]) -> Iterator[tuple[str, str]]:
    models = [run for run in runs if run != HUMAN]
    yield from zip(models, COLOURS, strict=False)
    if HUMAN in runs:
        yield HUMAN, _HUMAN


def _legend(drawn: Figure) -> None:
    drawn.legend(loc="outside lower center", ncols=3, fontsize=8)


def _shown(run: str) -> str:
    name = run_name(run)
    return plot_name(name if len(name) <= _NAME else f"{name[: _NAME - 1]}…")


def _label(dimension: str, label: str) -> str:
    known = dimensions().get(dimension)
    found = known.find(label) if known else None
    return f"{label} {found.abbr}" if found and found.abbr else label
