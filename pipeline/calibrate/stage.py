"""The calibrate stage: how far each annotator's labels and confidences can be trusted, by what experts say."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import polars as pl

from annotation.params import CalibrateParams
from pipeline.calibrate import page
from pipeline.calibrate.opinions import EXPERTS, KEY, CalibrationRows, Opinions, gather
from pipeline.rendering.markdown import notes
from pipeline.stage import Context, Counts, Result, Tables
from pipeline.stats.agreement import cohen_kappa, pair_table, value_of
from pipeline.stats.intervals import wilson
from schemas.annotations import Calibration, Confusion, ReliabilityBin, SharingPoint
from schemas.taxonomy import dimensions

_WORST = 10  # pairs of labels that a dimension's confusion lists
BINS = 10
"""Bins of equal width of confidence (Niculescu-Mizil and Caruana 2005)."""
STEPS = tuple(step / 20 for step in range(21))
"""Thresholds of confidence that a curve is drawn at."""


class Point(NamedTuple):
    """Labels taken from a threshold of confidence on."""

    threshold: float
    accepted: int
    accepted_right: int
    right: int
    """Number of all labels that are right if a more expensive annotator labels the rest."""


def run(tables: Tables, params: CalibrateParams, context: Context) -> Result:
    """Compare every annotator with the experts, and with every other annotator.

    Counts are of questions: all of them are kept; those compared are a fact of the manifest.
    """
    opinions, found = gather(tables, params.others), CalibrationRows()
    for name in opinions.annotators:
        for dimension, judged in _compared(opinions, name, EXPERTS):
            _against_experts(found, name, dimension, judged, opinions.costs[name], params.target)
    for one, other in combinations(opinions.annotators, 2):
        for dimension, judged in _compared(opinions, one, other):
            found.calibration.append(_row(one, other, dimension, judged))
            found.confusions += confusions(one, other, dimension, judged)
        _share(found, *_by_cost(one, other, opinions), opinions)
    total = tables["questions"].height
    return Result(
        tables={
            "calibration": Calibration.to_frame(found.calibration),
            "confusions": Confusion.to_frame(found.confusions),
            "reliability": ReliabilityBin.to_frame(found.reliability),
            "sharing": SharingPoint.to_frame(found.sharing),
        },
        counts=Counts(n_input=total, kept=total),
        files=page.files(found, opinions, params.target, context.dataset.name),
        facts={
            "compared": opinions.questions,
            "reviewed_labels": opinions.experts.height,
            "annotators": sorted(opinions.annotators),
        },
        notes=notes(
            "pipeline.calibrate",
            reviewed=opinions.experts.height > 0,
            annotators=opinions.annotators,
            calibration=found.calibration,
        ),
    )


def _compared(opinions: Opinions, name: str, reference: str) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield an annotator's labels beside a reference's (``expected``, ``right``), dimension by dimension."""
    others = opinions.experts if reference == EXPERTS else opinions.annotators[reference]
    both = opinions.annotators[name].join(others.select(*KEY, expected="label"), on=KEY).sort(KEY)
    both = both.with_columns(right=pl.col("label") == pl.col("expected"))
    for dimension in dimensions():
        if not (own := both.filter(dimension=dimension)).is_empty():
            yield dimension, own


def _against_experts(
    found: CalibrationRows, name: str, dimension: str, judged: pl.DataFrame, cost: float | None, target: float
) -> None:
    bins = confidence_bins(judged)
    for number, items, confidence, accuracy in bins.iter_rows():
        borders = {"low": number / BINS, "high": (number + 1) / BINS}
        means = {"confidence": round(confidence, 4), "accuracy": round(accuracy, 4)}
        row = ReliabilityBin(annotator=name, dimension=dimension, items=items, **borders, **means)
        found.reliability.append(row)
    points = sharing_points(judged) if bins.height else []
    found.sharing += _points(name, EXPERTS, dimension, points, judged.height)
    taken = (point for point in points if point.accepted)
    sure = (point for point in taken if wilson(point.accepted_right, point.accepted)[0] >= target)
    found.calibration.append(_row(name, EXPERTS, dimension, judged, cost, next(sure, None)))
    found.confusions += confusions(name, EXPERTS, dimension, judged)


def _by_cost(one: str, other: str, opinions: Opinions) -> tuple[str, str]:
    """Return the cheaper first; where neither costs, the one that experts agree with less."""

    def rank(name: str) -> tuple[float, int]:
        cost = opinions.costs[name]
        right = opinions.annotators[name].join(opinions.experts, on=[*KEY, "label"]).height
        return (cost if cost is not None else float("inf"), right)

    return (one, other) if rank(one) <= rank(other) else (other, one)


def _share(found: CalibrationRows, cheap: str, dear: str, opinions: Opinions) -> None:
    """Add what asking ``dear`` where ``cheap`` is unsure gives, where both and the experts labelled."""
    fallback = {name: own.select(*KEY, fallback="right") for name, own in _compared(opinions, dear, EXPERTS)}
    for dimension, own in _compared(opinions, cheap, EXPERTS):
        both = own.join(fallback[dimension], on=KEY) if dimension in fallback else own.clear()
        if both["confidence"].count():
            found.sharing += _points(cheap, dear, dimension, sharing_points(both), both.height)


def confidence_bins(judged: pl.DataFrame) -> pl.DataFrame:
    """Return the bins of confidence that are not empty: number, items, mean confidence, accuracy."""
    number = (pl.col("confidence") * BINS).cast(pl.Int64).clip(0, BINS - 1).alias("bin")
    means = (pl.len().alias("items"), pl.col("confidence").mean(), pl.col("right").mean().alias("accuracy"))
    return judged.drop_nulls("confidence").group_by(number).agg(*means).sort("bin")


def calibration_error(bins: pl.DataFrame) -> float | None:
    """Return the expected calibration error: the bins' distances, weighed by their items (Guo et al. 2017, eq. 3)."""
    distance = (pl.col("confidence") - pl.col("accuracy")).abs()
    value: float | None = bins.select((distance * pl.col("items")).sum() / pl.col("items").sum()).item()
    return value if bins.height else None


def sharing_points(judged: pl.DataFrame) -> list[Point]:
    """Return what taking labels from each threshold of confidence on gives, with another annotator's labels below.

    The column ``fallback`` says whether that one is right; without it, it is the reference itself. A label without a
    confidence is never taken.
    """
    confidence, right = (judged[name].to_numpy() for name in ("confidence", "right"))
    fallback = judged["fallback"].to_numpy() if "fallback" in judged.columns else ~(right & False)
    points = []
    for threshold in STEPS:
        taken = confidence >= threshold  # false for what is not a number
        sure, rest = int(right[taken].sum()), int(fallback[~taken].sum())
        points.append(Point(threshold, int(taken.sum()), sure, sure + rest))
    return points


def _row(
    name: str,
    reference: str,
    dimension: str,
    judged: pl.DataFrame,
    cost: float | None = None,
    accept: Point | None = None,
) -> Calibration:
    items, same = judged.height, int(judged["right"].sum())
    low, high = wilson(same, items)
    error = calibration_error(confidence_bins(judged)) if reference == EXPERTS else None
    kappa = value_of(cohen_kappa, pair_table(judged.select("label", "expected").rows()))
    return Calibration(
        annotator=name,
        reference=reference,
        dimension=dimension,
        items=items,
        same=same,
        accuracy=round(same / items, 4),
        low=round(low, 4),
        high=round(high, 4),
        kappa=None if kappa is None else round(kappa, 4),
        calibration_error=None if error is None else round(error, 4),
        cost_per_correct=None if cost is None or not same else round(cost * items / same, 8),
        threshold=accept.threshold if accept else None,
        accepted=round(accept.accepted / items, 4) if accept else None,
    )


def _points(
    name: str, dearer: str, dimension: str, points: Sequence[Point], items: int
) -> Iterator[SharingPoint]:
    for point in points:
        share, accuracy = round(point.accepted / items, 4), round(point.right / items, 4)
        names = {"annotator": name, "dearer": dearer, "dimension": dimension}
        yield SharingPoint(**names, threshold=point.threshold, share=share, accuracy=accuracy)


def confusions(name: str, reference: str, dimension: str, judged: pl.DataFrame) -> list[Confusion]:
    """Return the commonest confusions, equals in the order of their names."""
    counts = judged.filter(~pl.col("right")).group_by("label", "expected").len()
    ranked = counts.sort(-pl.col("len").cast(pl.Int64), "label", "expected").head(_WORST)
    names = {"annotator": name, "reference": reference, "dimension": dimension}
    return [
        Confusion(**names, said=said, expected=expected, items=count)
        for said, expected, count in ranked.iter_rows()
    ]
