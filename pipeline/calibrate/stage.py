"""The calibrate stage: how far each annotator's labels and confidences can be trusted, by what experts say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from statistics import fmean
from typing import NamedTuple

from pipeline.calibrate import page
from pipeline.calibrate.opinions import EXPERTS, Key, Opinions, Said, gather
from pipeline.calibrate.params import CalibrateParams
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


@dataclass
class CalibrationRows:
    """The rows of all tables."""

    calibration: list[Calibration] = field(default_factory=list)
    confusions: list[Confusion] = field(default_factory=list)
    reliability: list[ReliabilityBin] = field(default_factory=list)
    sharing: list[SharingPoint] = field(default_factory=list)


@dataclass(frozen=True)
class JudgedLabel:
    """A label of an annotator, beside the reference's."""

    label: str
    confidence: float | None
    reference: str

    @property
    def right(self) -> bool:
        """True where both are the same."""
        return self.label == self.reference


class Point(NamedTuple):
    """Labels taken from a threshold of confidence on."""

    threshold: float
    accepted: int
    accepted_right: int
    right: int
    """Of all, when a dearer annotator labels the rest."""


def run(tables: Tables, params: CalibrateParams, context: Context) -> Result:
    """Compare every annotator with the experts, and with every other annotator.

    Counts are of questions: all of them are kept; those compared are a fact of the manifest.
    """
    opinions = gather(tables, params.others)
    found = CalibrationRows()
    for name in opinions.annotators:
        _against_experts(found, name, opinions, params.target)
    for one, other in combinations(opinions.annotators, 2):
        _against_each_other(found, one, other, opinions)
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
            "reviewed_labels": len(opinions.experts),
            "annotators": sorted(opinions.annotators),
        },
        notes=_notes(found, opinions),
    )


def _against_experts(found: CalibrationRows, name: str, opinions: Opinions, target: float) -> None:
    said = opinions.annotators[name]
    for dimension in dimensions():
        judged = _judged(said, opinions.experts, dimension)
        if not judged:
            continue
        bins = binned(judged)
        found.reliability += [_bin(name, dimension, number, items) for number, items in bins.items()]
        points = sharing(judged) if bins else []
        found.sharing += _points(name, EXPERTS, dimension, points, len(judged))
        cost, accept = opinions.costs[name], _least(points, target)
        found.calibration.append(_row(name, EXPERTS, dimension, judged, cost, accept))
        found.confusions += _confusions(name, EXPERTS, dimension, judged)


def _against_each_other(found: CalibrationRows, one: str, other: str, opinions: Opinions) -> None:
    labels = {key: said.label for key, said in opinions.annotators[other].items()}
    cheap, dear = _by_cost(one, other, opinions)
    for dimension in dimensions():
        judged = _judged(opinions.annotators[one], labels, dimension)
        if judged:
            found.calibration.append(_row(one, other, dimension, judged))
            found.confusions += _confusions(one, other, dimension, judged)
        pairs = list(_shared(cheap, dear, dimension, opinions))
        if any(item.confidence is not None for item, _ in pairs):
            points = sharing([item for item, _ in pairs], [right for _, right in pairs])
            found.sharing += _points(cheap, dear, dimension, points, len(pairs))


def _by_cost(one: str, other: str, opinions: Opinions) -> tuple[str, str]:
    """The cheaper first; where neither costs, the one that experts agree with less."""

    def rank(name: str) -> tuple[float, int]:
        cost = opinions.costs[name]
        said = opinions.annotators[name]
        right = sum(key in said and said[key].label == label for key, label in opinions.experts.items())
        return (cost if cost is not None else float("inf"), right)

    return (one, other) if rank(one) <= rank(other) else (other, one)


def _shared(cheap: str, dear: str, dimension: str, opinions: Opinions) -> Iterator[tuple[JudgedLabel, bool]]:
    """The cheaper one's labels, and whether the dearer one is right, where both and the experts labelled."""
    for key, label in opinions.experts.items():
        first, second = opinions.annotators[cheap].get(key), opinions.annotators[dear].get(key)
        if key[1] == dimension and first and second:
            yield JudgedLabel(first.label, first.confidence, label), second.label == label


def _judged(said: Mapping[Key, Said], reference: Mapping[Key, str], dimension: str) -> list[JudgedLabel]:
    return [
        JudgedLabel(said[key].label, said[key].confidence, label)
        for key, label in sorted(reference.items())
        if key[1] == dimension and key in said
    ]


def binned(judged: Sequence[JudgedLabel]) -> dict[int, list[JudgedLabel]]:
    """Return labels by bin of confidence, empty bins left out."""
    found: dict[int, list[JudgedLabel]] = {}
    for item in judged:
        if item.confidence is not None:
            found.setdefault(min(int(item.confidence * BINS), BINS - 1), []).append(item)
    return dict(sorted(found.items()))


def _means(items: Sequence[JudgedLabel]) -> tuple[float, float]:
    """Return mean confidence and accuracy."""
    return fmean(item.confidence or 0.0 for item in items), fmean(item.right for item in items)


def calibration_error(bins: Mapping[int, Sequence[JudgedLabel]]) -> float | None:
    """Return the expected calibration error: the bins' distances, weighed by their items (Guo et al. 2017, eq. 3)."""
    total, weighed = 0, 0.0
    for items in bins.values():
        confidence, accuracy = _means(items)
        total += len(items)
        weighed += len(items) * abs(confidence - accuracy)
    return weighed / total if total else None


def sharing(judged: Sequence[JudgedLabel], fallback_right: Sequence[bool] | None = None) -> list[Point]:
    """Return what taking labels from each threshold of confidence on gives, with a dearer annotator's labels below.

    Args:
        judged: labels of the cheaper annotator; one without a confidence is never taken.
        fallback_right: whether the dearer one is right about each; None where it is the reference itself.
    """
    rest = fallback_right if fallback_right is not None else [True] * len(judged)
    points = []
    for threshold in STEPS:
        taken = [item.confidence is not None and item.confidence >= threshold for item in judged]
        accepted_right = sum(item.right for item, take in zip(judged, taken, strict=True) if take)
        others = sum(right for right, take in zip(rest, taken, strict=True) if not take)
        points.append(Point(threshold, sum(taken), accepted_right, accepted_right + others))
    return points


def _bin(name: str, dimension: str, number: int, items: Sequence[JudgedLabel]) -> ReliabilityBin:
    confidence, accuracy = _means(items)
    return ReliabilityBin(
        annotator=name,
        dimension=dimension,
        low=number / BINS,
        high=(number + 1) / BINS,
        items=len(items),
        confidence=round(confidence, 4),
        accuracy=round(accuracy, 4),
    )


def _row(
    name: str,
    reference: str,
    dimension: str,
    judged: Sequence[JudgedLabel],
    cost: float | None = None,
    accept: Point | None = None,
) -> Calibration:
    same = sum(item.right for item in judged)
    low, high = wilson(same, len(judged))
    error = calibration_error(binned(judged)) if reference == EXPERTS else None
    kappa = value_of(cohen_kappa, pair_table([(item.label, item.reference) for item in judged]))
    return Calibration(
        annotator=name,
        reference=reference,
        dimension=dimension,
        items=len(judged),
        same=same,
        accuracy=round(same / len(judged), 4),
        low=round(low, 4),
        high=round(high, 4),
        kappa=None if kappa is None else round(kappa, 4),
        calibration_error=None if error is None else round(error, 4),
        cost_per_correct=None if cost is None or not same else round(cost * len(judged) / same, 8),
        threshold=accept.threshold if accept else None,
        accepted=round(accept.accepted / len(judged), 4) if accept else None,
    )


def _least(points: Sequence[Point], target: float) -> Point | None:
    """Return the lowest threshold from which labels are surely right often enough; None where none is."""
    surely = (each for each in points if each.accepted)
    return next((each for each in surely if wilson(each.accepted_right, each.accepted)[0] >= target), None)


def _points(
    name: str, dearer: str, dimension: str, points: Sequence[Point], items: int
) -> list[SharingPoint]:
    return [
        SharingPoint(
            annotator=name,
            dearer=dearer,
            dimension=dimension,
            threshold=point.threshold,
            share=round(point.accepted / items, 4),
            accuracy=round(point.right / items, 4),
        )
        for point in points
    ]


def _confusions(name: str, reference: str, dimension: str, judged: Sequence[JudgedLabel]) -> list[Confusion]:
    """Return the commonest confusions, equals in the order of their names."""
    counts = Counter((item.label, item.reference) for item in judged if not item.right)
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    names = {"annotator": name, "reference": reference, "dimension": dimension}
    return [
        Confusion(**names, said=said, expected=expected, items=count)
        for (said, expected), count in ranked[:_WORST]
    ]


def _notes(found: CalibrationRows, opinions: Opinions) -> list[str]:
    if not opinions.experts:
        return ["no expert has reviewed yet: annotators are compared with each other alone"]
    lines = []
    for name in opinions.annotators:
        rows = [row for row in found.calibration if (row.annotator, row.reference) == (name, EXPERTS)]
        told = ", ".join(f"{row.dimension} {row.accuracy:.2f}" for row in rows)
        lines.append(f"{name} against experts: {told}")
    return lines
