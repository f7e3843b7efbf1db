"""The calibration report for people: a page, the same as Markdown, and its figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle, groupby, islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from build_dataset.pipeline.rendering import html
from build_dataset.pipeline.rendering.figures import COLOURS, INK, figure, save
from build_dataset.pipeline.rendering.markdown import rendered
from build_dataset.schemas.annotations import Calibration, Confusion, ReliabilityBin, SharingPoint
from build_dataset.schemas.taxonomy import dimensions

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

Row = TypeVar("Row", ReliabilityBin, SharingPoint)
Item = TypeVar("Item", Calibration, Confusion, SharingPoint)

EXPERTS = "experts"  # the reference that stands for all people
_SHOWN = 5  # confusions of an annotator in a dimension
_DRAWN = 10  # labels in a bin below which no line leads to it: its accuracy is chance


class Opinions(NamedTuple):
    """Labels of all annotators for the compared questions: a row for each question and dimension."""

    questions: int
    experts: pl.DataFrame
    annotators: Mapping[str, pl.DataFrame]
    """By name: those of the annotate stage first, then the offline ones, then the given."""
    costs: Mapping[str, float | None]  # of one label; None where unknown


@dataclass
class CalibrationRows:
    """The rows of all tables."""

    calibration: list[Calibration] = field(default_factory=list)
    confusions: list[Confusion] = field(default_factory=list)
    reliability: list[ReliabilityBin] = field(default_factory=list)
    sharing: list[SharingPoint] = field(default_factory=list)


def files(found: CalibrationRows, opinions: Opinions, target: float, name: str) -> dict[str, bytes]:
    """``index.html``, ``calibration.md`` and ``figures/*.svg``."""
    names = list(opinions.annotators)
    figures: dict[str, bytes] = {}
    if found.reliability:
        figures["figures/reliability.svg"] = _reliability(found.reliability, names)
    if against := [row for row in found.sharing if row.dearer == EXPERTS]:
        figures["figures/sharing.svg"] = _sharing(against, names)
    values: dict[str, Any] = {
        "name": name,
        "opinions": opinions,
        "target": target,
        "against": _by_dimension(row for row in found.calibration if row.reference == EXPERTS),
        "reviewed": opinions.experts.height > 0,
        "pairs": _by_dimension(row for row in found.calibration if row.reference != EXPERTS),
        "mixed": _by_dimension(_mixed(found, opinions)),
        "alone": _alone(found),
        "confusions": _by_dimension(_worst(found.confusions)),
        "dimensions": dimensions(),
        "figures": {path: html.inline(data) for path, data in figures.items()},
    }
    page = html.render("build_dataset.pipeline.calibrate:calibration.html", **values)
    markdown = rendered("build_dataset.pipeline.calibrate:calibration.md", **values)
    return {"index.html": page, "calibration.md": markdown.encode()} | figures


def _worst(rows: Sequence[Confusion]) -> list[Confusion]:
    """The commonest confusions with experts' labels."""
    against = (row for row in rows if row.reference == EXPERTS)
    groups = groupby(against, lambda row: (row.annotator, row.dimension))
    return [row for _, own in groups for row in islice(own, _SHOWN)]  # the commonest come first


def _mixed(found: CalibrationRows, opinions: Opinions) -> list[SharingPoint]:
    """Return, by pair and dimension, the largest share that the cheaper one can label at no loss of accuracy."""
    alone = _alone(found)
    best: dict[tuple[str, str, str], SharingPoint] = {}
    for point in found.sharing:
        dearer = alone.get((point.dearer, point.dimension))
        key = (point.annotator, point.dearer, point.dimension)
        # points come with rising thresholds: the first is the largest share
        if dearer is not None and point.accuracy >= dearer and opinions.costs[point.dearer] != 0:
            best.setdefault(key, point)
    return [point for point in best.values() if point.share]


def _alone(found: CalibrationRows) -> dict[tuple[str, str], float]:
    """Return each annotator's accuracy in each dimension."""
    against = (row for row in found.calibration if row.reference == EXPERTS)
    return {(row.annotator, row.dimension): row.accuracy for row in against}


def _by_dimension(rows: Iterable[Item]) -> list[Item]:
    """Rows about one dimension together, so that annotators stand below each other."""
    order = list(dimensions())
    return sorted(rows, key=lambda row: order.index(row.dimension))


def _reliability(rows: Sequence[ReliabilityBin], names: Sequence[str]) -> bytes:
    """Accuracy by stated confidence; the diagonal is a confidence that can be taken at its word."""
    with _panels(rows, names) as (drawn, axes, series):
        for ax in axes:
            ax.plot([0, 1], [0, 1], color=INK, linewidth=0.8, linestyle="--")
            ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="confidence 置信度")
        for ax, name, colour, own in series:
            confidence, accuracy = [row.confidence for row in own], [row.accuracy for row in own]
            total = sum(row.items for row in own)
            enough = [row for row in own if row.items >= _DRAWN]
            ax.plot([r.confidence for r in enough], [r.accuracy for r in enough], color=colour, label=name)
            # area: share of the labels, at least a dot
            ax.scatter(confidence, accuracy, s=[6 + 60 * row.items / total for row in own], color=colour)
        axes[0].set_ylabel("accuracy 正确率")
        axes[0].legend(loc="upper left")
        return save(drawn, "svg")


def _sharing(rows: Sequence[SharingPoint], names: Sequence[str]) -> bytes:
    """Accuracy of all labels by the share that experts do not look at."""
    with _panels(rows, names) as (drawn, axes, series):
        for ax in axes:
            ax.set(xlim=(0, 1), xlabel="not reviewed 免审比例")
        for ax, name, colour, own in series:
            ax.plot([row.share for row in own], [row.accuracy for row in own], color=colour, label=name)
        axes[0].set_ylabel("accuracy of all 总正确率")
        axes[0].legend(loc="lower left")
        return save(drawn, "svg")


@contextmanager
def _panels(rows: Sequence[Row], names: Sequence[str]) -> Iterator[tuple[Figure, list[Any], list[Any]]]:
    """Yield the figure, its panels by dimension, and of each panel and annotator: panel, name, colour, rows."""
    shown = list(dict.fromkeys(row.dimension for row in rows))
    with figure(2.6 * len(shown) + 1, 3.2) as drawn:  # inches
        axes = list(drawn.subplots(1, len(shown), sharey=True, squeeze=False)[0])
        series = []
        for ax, dimension in zip(axes, shown, strict=True):
            ax.set_title(f"{dimensions()[dimension].zh}\n{dimensions()[dimension].en}")
            for name, colour in zip(names, cycle(COLOURS), strict=False):
                own = [row for row in rows if (row.annotator, row.dimension) == (name, dimension)]
                series += [(ax, name, colour, own)] if own else []
        yield drawn, axes, series
