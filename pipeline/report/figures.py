"""CMExam's figure 2 of any dataset: question lengths within the interquartile range, and every dimension's labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from pipeline.export.formats import question_text
from pipeline.export.statistics import distribution
from pipeline.figures import COLOURS, INK, both_formats, figure
from pipeline.report import words
from schemas.taxonomy import Dimension, dimensions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Splits = Mapping[str, pl.DataFrame]

_MANY = 12
"""Labels from which a dimension has a column of its own."""
_LONGEST = 13
"""Characters of a label's Chinese name; the abbreviation beside it is unique."""


def figure2(splits: Splits) -> dict[str, bytes]:
    """``figures/figure2.svg`` and ``.png``.

    Args:
        splits: released rows by split; counts are stacked split by split.
    """
    from matplotlib.patches import Patch

    tall = [dimension.name for dimension in dimensions().values() if len(dimension.labels) > _MANY]
    small = {name: len(dimension.labels) for name, dimension in dimensions().items() if name not in tall}
    right = ("length", *small)
    with figure(4.5 * (len(tall) + 1), max(2.15 * len(right), 6 * bool(tall))) as drawn:
        axes: dict[str, Axes] = drawn.subplot_mosaic(
            [[*tall, name] for name in right],
            width_ratios=[*(1 for _ in tall), 0.9],
            height_ratios=[1.1, *(1.2 if labels > 5 else 1 for labels in small.values())],
        )
        _lengths(axes["length"], splits)
        for name, dimension in dimensions().items():
            _labels(axes[name], dimension, splits)
        handles = [
            Patch(color=colour, label=f"{name} {words.SPLITS[name]}")
            for name, colour in zip(splits, COLOURS, strict=False)
        ]
        drawn.legend(handles=handles, loc="outside upper right", ncols=len(handles))
        return both_formats("figure2", drawn)


def _lengths(axes: Axes, splits: Splits) -> None:
    """Questions by length in characters, from the first to the third quartile of all."""
    lengths = {
        name: rows.select(question_text().str.len_chars().cast(pl.Int64).alias("n"))["n"]
        for name, rows in splits.items()
    }
    whole = pl.concat(lengths.values())
    low, high = (whole.quantile(share, "linear") or 0 for share in (0.25, 0.75))
    axes.set_title("Question length within the interquartile range\n四分位距内的题目字数", fontsize=9)
    places = list(range(int(-(-low // 1)), int(high) + 1))
    counts = {name: dict(values.value_counts().iter_rows()) for name, values in lengths.items()}
    _stack(axes, places, [[counts[name].get(place, 0) for place in places] for name in splits])
    axes.set_xlabel("characters 字数", fontsize=7.5)
    axes.set_ylabel("questions 题数", fontsize=7.5)
    axes.grid(visible=False, axis="x")


def _labels(axes: Axes, dimension: Dimension, splits: Splits) -> None:
    """Questions by label, the most frequent at the top; difficulty in its own order."""
    axes.set_title(f"{dimension.en}\n{dimension.zh}", fontsize=9)
    counts = {label: found for label, found in distribution(splits, dimension.name).items() if label}
    if not counts:
        axes.text(0.5, 0.5, "no label 无标签", ha="center", transform=axes.transAxes)
        axes.set_axis_off()
        return
    order = {label: place for place, label in enumerate(dimension.zh_names())}
    if dimension.name == "difficulty":
        labels = sorted(counts, key=lambda label: -order.get(label, len(order)))
    else:
        labels = sorted(counts, key=lambda label: (sum(counts[label].values()), -order.get(label, 0), label))
    _stack(
        axes, range(len(labels)), [[counts[label][name] for label in labels] for name in splits], level=True
    )
    axes.set_yticks(
        range(len(labels)), [_shown(dimension, label) for label in labels], fontsize=7.5, color=INK
    )
    axes.set_ylim(-0.7, len(labels) - 0.3)
    axes.set_xlabel("questions 题数", fontsize=7.5)
    axes.grid(visible=False, axis="y")


def _stack(axes: Axes, places: Sequence[int], parts: Sequence[Sequence[int]], *, level: bool = False) -> None:
    below = [0] * len(places)
    for part, colour in zip(parts, COLOURS, strict=False):
        if level:
            axes.barh(places, part, left=below, color=colour, height=0.75)
        else:
            axes.bar(places, part, bottom=below, color=colour, width=0.85)
        below = [one + other for one, other in zip(below, part, strict=True)]


def _shown(dimension: Dimension, label: str) -> str:
    """A label's Chinese name, cut, and its abbreviation; ``$`` would begin a formula."""
    found = dimension.find(label)
    chinese = label if len(label) <= _LONGEST else f"{label[:_LONGEST]}…"
    return f"{chinese} {found.abbr if found else ''}".strip().replace("$", r"\$")
