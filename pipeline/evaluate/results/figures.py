"""Plots of an evaluation: accuracy by label, length and subcategory; a judge beside experts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from math import isnan
from statistics import mean
from typing import TYPE_CHECKING, Any

import numpy as np

from build_dataset.annotation.rubric import LEAST, MOST, aspects
from build_dataset.pipeline.evaluate.comparing import FEWEST, correlation
from build_dataset.pipeline.evaluate.judging.scores import AVERAGE, DoublyScored, scored_by_both
from build_dataset.pipeline.evaluate.results.build import Evaluated
from build_dataset.pipeline.evaluate.results.papers import LABELLED, aspect_titles
from build_dataset.pipeline.evaluate.results.view import REFERENCES, View, label_name, plot_name, run_name, title, value
from build_dataset.pipeline.evaluate.scoring import HUMAN
from build_dataset.pipeline.rendering.figures import COLOURS, INK, both_formats, figure
from build_dataset.pipeline.stats.intervals import Floats
from build_dataset.schemas.evaluation import Judgement
from build_dataset.schemas.taxonomy import dimensions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


MOST_RUNS = 6  # Models drawn side by side; more cannot be told apart. The best are drawn, and tables hold them all.
MOST_ROWS = 40  # runs in the heat map
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
    return files | _lengths(view, runs) | _heat(view)


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


def _heat(view: View) -> dict[str, bytes]:
    """A run a row, a subcategory a column."""
    labels = view.labels("exam_class")
    runs = view.runs_of("exam_class")[:MOST_ROWS]
    if len(labels) < 2 or not runs:
        return {}
    with figure(2.6 + 0.42 * len(labels), 2.6 + 0.3 * len(runs)) as drawn:
        axes: Axes = drawn.subplots()
        values = [_shares(view, run, "exam_class", labels)[:, 0] for run in runs]
        image = axes.imshow(values, cmap="cividis", vmin=0, vmax=100, aspect="auto")
        names = [
            plot_name(f"{label_name(label, english)} ({view.asked('exam_class', label):,})")
            for label, english in labels.items()
        ]
        # names of exams are long
        turned: dict[str, Any] = {"rotation": 55, "ha": "right", "rotation_mode": "anchor"}
        axes.set_xticks(range(len(labels)), names, fontsize=7, **turned)
        axes.set_yticks(range(len(runs)), [_shown(run) for run in runs], color=INK)
        axes.grid(visible=False)
        for row, shares in enumerate(values):
            for column, share in enumerate(shares):
                if not isnan(share):
                    ink = "black" if share > 55 else "white"  # cividis is light above the middle
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
    return plot_name(name if len(name) <= _NAME else f"{name[: _NAME - 1]}…")


def _label(dimension: str, label: str) -> str:
    known = dimensions().get(dimension)
    found = known.find(label) if known else None
    return f"{label} {found.abbr}" if found and found.abbr else label


_LARGEST = 260  # area of the largest point, in square points


def judge_plots(judgements: Sequence[Judgement]) -> dict[str, bytes]:
    """``figures/rankings`` and ``figures/judge_and_experts`` of the judge whose answers experts scored too."""
    files: dict[str, bytes] = {}
    for judge, own in scored_by_both(judgements).items():
        files |= _rankings(judge, own) | _scatter(judge, own)
    return files


def _rankings(judge: str, own: Mapping[str, Sequence[DoublyScored]]) -> dict[str, bytes]:
    """The order of models in each aspect, by the judge (solid) and by the experts (dashed)."""
    from scipy.stats import rankdata

    names = aspect_titles(AVERAGE)
    shown = [name for name in names if name in own]
    pairs = list(chain.from_iterable(own.values()))
    # those first that experts score highest over all
    runs = sorted(
        dict.fromkeys(pair.run for pair in pairs),
        key=lambda run: -mean(pair.experts for pair in pairs if pair.run == run),
    )
    everywhere = all(len({pair.run for pair in own[name]}) == len(runs) for name in shown)
    if not everywhere or not FEWEST <= len(runs) <= len(COLOURS):
        return {}
    with figure(7.6, 1.8 + 0.42 * len(runs)) as drawn:
        axes: Axes = drawn.subplots()
        for side, style in (("judge", "-"), ("experts", (0, (4, 2)))):
            ranks = []
            for name in shown:
                means = [mean(getattr(pair, side) for pair in own[name] if pair.run == run) for run in runs]
                ranks.append(rankdata([-value for value in means]))
            # Moved apart a little, as in the paper: lines that agree would hide each other.
            shift = -0.05 if side == "judge" else 0.05
            for place, (run, colour) in enumerate(zip(runs, COLOURS, strict=False)):
                values = [by_aspect[place] + shift for by_aspect in ranks]
                label = plot_name(run_name(run)) if side == "judge" else None
                axes.plot(values, color=colour, linestyle=style, marker="o", markersize=3.5, label=label)
        axes.set_xticks(range(len(shown)), [names[name].replace(" ", "\n", 1) for name in shown])
        axes.set(yticks=range(1, len(runs) + 1), ylim=(len(runs) + 0.4, 0.6), ylabel="rank 名次")
        axes.set_title(plot_name(f"solid 实线: {judge}, dashed 虚线: experts 专家"), fontsize=9)
        _legend(drawn)
        return both_formats("rankings", drawn)


def _scatter(judge: str, own: Mapping[str, Sequence[DoublyScored]]) -> dict[str, bytes]:
    """Every answer's score by the judge and by the experts' mean, aspect by aspect; larger is more answers."""
    shown = [aspect for aspect in aspects() if len(own.get(aspect.name, ())) > 1]
    if not shown:
        return {}
    with figure(2.4 * len(shown) + 0.4, 2.9) as drawn:
        row = drawn.subplots(1, len(shown), sharey=True, squeeze=False)[0]
        for axes, aspect in zip(row, shown, strict=True):
            pairs = own[aspect.name]
            counted = sorted(Counter((pair.experts, pair.judge) for pair in pairs).items())
            largest = max(count for _, count in counted)
            # area, not width, is the number of answers
            sizes = [_LARGEST * count / largest for _, count in counted]
            places = [place for place, _ in counted]
            axes.scatter(*zip(*places, strict=True), s=sizes, color=COLOURS[0], alpha=0.45, linewidths=0)
            axes.plot([LEAST, MOST], [LEAST, MOST], color=INK, linewidth=0.7, linestyle=":")
            found = correlation([pair.judge for pair in pairs], [pair.experts for pair in pairs])
            told = "–" if found is None else f"{found:.2f}"
            axes.set_title(f"{aspect.zh} {aspect.en}\nr = {told}, n = {len(pairs):,}", fontsize=8)
            ends, ticks = (LEAST - 0.3, MOST + 0.3), range(LEAST, MOST + 1)  # room for half a point
            axes.set(xlim=ends, ylim=ends, xticks=ticks, yticks=ticks, xlabel="experts 专家")
        row[0].set_ylabel(plot_name(judge))
        return both_formats("judge_and_experts", drawn)
