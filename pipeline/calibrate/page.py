"""The calibration report for people: a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from build_dataset.pipeline.rendering import html
from build_dataset.schemas.annotations import Calibration, Confusion, ReliabilityBin
from build_dataset.schemas.taxonomy import dimensions

if TYPE_CHECKING:
    import polars as pl

Item = TypeVar("Item", Calibration, Confusion)

EXPERTS = "experts"  # the reference that stands for all people
_SHOWN = 5  # confusions of an annotator in a dimension


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


def calibration_page(found: CalibrationRows, opinions: Opinions, target: float, name: str) -> bytes:
    """Return the page of a dataset called ``name``, in UTF-8."""
    return html.render(
        "build_dataset.pipeline.calibrate:calibration.html",
        name=name,
        opinions=opinions,
        target=target,
        against=_by_dimension(row for row in found.calibration if row.reference == EXPERTS),
        reviewed=opinions.experts.height > 0,
        pairs=_by_dimension(row for row in found.calibration if row.reference != EXPERTS),
        confusions=_by_dimension(_worst(found.confusions)),
        dimensions=dimensions(),
    )


def _worst(rows: Sequence[Confusion]) -> list[Confusion]:
    """The commonest confusions with experts' labels."""
    against = (row for row in rows if row.reference == EXPERTS)
    groups = groupby(against, lambda row: (row.annotator, row.dimension))
    return [row for _, own in groups for row in islice(own, _SHOWN)]  # the commonest come first


def _by_dimension(rows: Iterable[Item]) -> list[Item]:
    """Rows about one dimension together, so that annotators stand below each other."""
    order = list(dimensions())
    return sorted(rows, key=lambda row: order.index(row.dimension))
