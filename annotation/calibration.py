"""How an annotator's labels and confidences compare with a reference. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

BINS = 10
STEPS = tuple(step / 20 for step in range(21))
"""Thresholds of confidence that a curve is drawn at."""


@dataclass(frozen=True)
class Judged:
    """A label of an annotator, beside the reference's."""

    label: str
    confidence: float | None
    reference: str

    @property
    def right(self) -> bool:
        """Whether both are the same."""
        return self.label == self.reference


@dataclass(frozen=True)
class Bin:
    """Labels whose confidence lies in one bin."""

    low: float
    high: float
    items: int
    confidence: float
    accuracy: float


@dataclass(frozen=True)
class Point:
    """Labels taken from a threshold of confidence on."""

    threshold: float
    accepted: int
    accepted_right: int
    right: int
    """Of all, when a dearer annotator labels the rest."""


def confusions(judged: Sequence[Judged], most: int) -> list[tuple[str, str, int]]:
    """(said, expected, how often), the commonest first, equals in the order of their names."""
    counts = Counter((item.label, item.reference) for item in judged if not item.right)
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return [(said, expected, count) for (said, expected), count in ranked[:most]]


def reliability(judged: Sequence[Judged]) -> list[Bin]:
    """Accuracy by confidence in ten bins of equal width, empty ones left out (Niculescu-Mizil and Caruana 2005)."""
    found: dict[int, list[Judged]] = {}
    for item in judged:
        if item.confidence is not None:
            found.setdefault(min(int(item.confidence * BINS), BINS - 1), []).append(item)
    return [
        Bin(
            low=number / BINS,
            high=(number + 1) / BINS,
            items=len(items),
            confidence=sum(item.confidence or 0.0 for item in items) / len(items),
            accuracy=sum(item.right for item in items) / len(items),
        )
        for number, items in sorted(found.items())
    ]


def calibration_error(bins: Sequence[Bin]) -> float | None:
    """Expected calibration error: the bins' distances, weighed by their items (Guo et al. 2017, equation 3)."""
    items = sum(one.items for one in bins)
    if not items:
        return None
    return sum(one.items * abs(one.confidence - one.accuracy) for one in bins) / items


def sharing(judged: Sequence[Judged], dearer: Sequence[bool] | None = None) -> list[Point]:
    """Taking labels from each threshold of confidence on, and a dearer annotator's labels below.

    Args:
        judged: labels of the cheaper annotator; one without a confidence is never taken.
        dearer: whether the dearer one is right about each; None where it is the reference itself.
    """
    rest = dearer if dearer is not None else [True] * len(judged)
    points = []
    for threshold in STEPS:
        taken = [item.confidence is not None and item.confidence >= threshold for item in judged]
        accepted_right = sum(item.right for item, take in zip(judged, taken, strict=True) if take)
        others = sum(right for right, take in zip(rest, taken, strict=True) if not take)
        points.append(Point(threshold, sum(taken), accepted_right, accepted_right + others))
    return points
