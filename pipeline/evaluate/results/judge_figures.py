"""A judge beside experts: CMB's figures 3 (rankings) and 5 (scores), of any models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import mean
from typing import TYPE_CHECKING

from annotation.rubric.aspects import LEAST, MOST, aspects
from pipeline.evaluate.comparing import correlation
from pipeline.evaluate.judging.scores import AVERAGE, Both, scored_by_both
from pipeline.evaluate.results.names import plain, run_name
from pipeline.rendering.figures import COLOURS, INK, both_formats, figure
from schemas.evaluation import Judgement

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FEWEST = 3
"""Models whose order is worth a plot."""
_LARGEST = 260
"""Area of the largest point, in square points."""


def judge_plots(judgements: Sequence[Judgement]) -> dict[str, bytes]:
    """``figures/rankings<n>`` and ``figures/judge_and_experts<n>`` of every judge whose answers experts scored too."""
    both = scored_by_both(judgements)
    files: dict[str, bytes] = {}
    for number, judge in enumerate(dict.fromkeys(who for who, _ in both), start=1):
        own = {aspect: pairs for (who, aspect), pairs in both.items() if who == judge and pairs}
        suffix = "" if number == 1 else f"_{number}"
        files |= _rankings(judge, own, suffix) | _scatter(judge, own, suffix)
    return files


def _rankings(judge: str, own: Mapping[str, Sequence[Both]], suffix: str) -> dict[str, bytes]:
    """The order of models in each aspect, by the judge (solid) and by the experts (dashed)."""
    from scipy.stats import rankdata

    names = {aspect.name: f"{aspect.zh}\n{aspect.en}" for aspect in aspects()} | {AVERAGE: "平均\nAverage"}
    shown = [name for name in names if name in own]
    runs = _by_experts(own)
    if not _FEWEST <= len(runs) <= len(COLOURS) or any(
        len({pair.run for pair in own[name]}) < len(runs) for name in shown
    ):
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
                label = plain(run_name(run)) if side == "judge" else None
                axes.plot(values, color=colour, linestyle=style, marker="o", markersize=3.5, label=label)
        axes.set_xticks(range(len(shown)), [names[name] for name in shown])
        axes.set_yticks(range(1, len(runs) + 1))
        axes.set_ylim(len(runs) + 0.4, 0.6)
        axes.set_ylabel("rank 名次")
        axes.set_title(plain(f"solid 实线: {judge}, dashed 虚线: experts 专家"), fontsize=9)
        drawn.legend(loc="outside lower center", ncols=3, fontsize=8)
        return both_formats(f"rankings{suffix}", drawn)


def _by_experts(own: Mapping[str, Sequence[Both]]) -> list[str]:
    """The runs, those first that experts score highest over all."""
    scores: dict[str, list[float]] = {}
    for pairs in own.values():
        for pair in pairs:
            scores.setdefault(pair.run, []).append(pair.experts)
    return sorted(scores, key=lambda run: -mean(scores[run]))


def _scatter(judge: str, own: Mapping[str, Sequence[Both]], suffix: str) -> dict[str, bytes]:
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
            sizes = [_LARGEST * count / largest for _, count in counted]
            places = [place for place, _ in counted]
            axes.scatter(*zip(*places, strict=True), s=sizes, color=COLOURS[0], alpha=0.45, linewidths=0)
            axes.plot([LEAST, MOST], [LEAST, MOST], color=INK, linewidth=0.7, linestyle=":")
            found = correlation([pair.judge for pair in pairs], [pair.experts for pair in pairs])
            told = "–" if found is None else f"{found:.2f}"
            axes.set_title(f"{aspect.zh} {aspect.en}\nr = {told}, n = {len(pairs):,}", fontsize=8)
            axes.set_xlim(LEAST - 0.3, MOST + 0.3)
            axes.set_ylim(LEAST - 0.3, MOST + 0.3)
            axes.set_xticks(range(LEAST, MOST + 1))
            axes.set_yticks(range(LEAST, MOST + 1))
            axes.set_xlabel("experts 专家")
        row[0].set_ylabel(plain(judge))
        return both_formats(f"judge_and_experts{suffix}", drawn)
