"""Records of calibration: accuracy of annotators against experts."""

from __future__ import annotations

from schemas.base import Record


class Calibration(Record):
    """An annotator against a reference in one dimension: the experts, or another annotator."""

    annotator: str
    reference: str
    """``experts``, or the name of another annotator."""
    dimension: str
    items: int
    """Questions that both labelled."""
    same: int
    """Those with the same label."""
    accuracy: float
    low: float
    high: float
    """95 % interval of ``accuracy`` (Wilson)."""
    kappa: float | None
    """Cohen's; null where undefined."""
    calibration_error: float | None
    """Mean distance of confidence from accuracy over ten bins; null where the annotator states no confidence."""
    cost_per_correct: float | None
    """Of a label that the experts share, in the currency of the annotate stage; null where unknown."""
    threshold: float | None
    """Least confidence from which labels are as often right as wanted, by the lower end of the interval."""
    accepted: float | None
    """Share of labels with at least that confidence: what experts need not look at twice."""


class Confusion(Record):
    """Labels that an annotator gives where the reference has others."""

    annotator: str
    reference: str
    dimension: str
    said: str
    expected: str
    items: int


class ReliabilityBin(Record):
    """Labels of about the same confidence, and how often they are right."""

    annotator: str
    dimension: str
    low: float
    high: float
    """The bin of confidence, ``low`` exclusive but for 0."""
    items: int
    confidence: float
    """Mean."""
    accuracy: float


class SharingPoint(Record):
    """Accuracy and cost of using an annotator above a confidence threshold and a more expensive one below it."""

    annotator: str
    dearer: str
    """``experts``, or the annotator that is asked for the rest."""
    dimension: str
    threshold: float
    share: float
    """Of labels that need no second annotator."""
    accuracy: float
    """Of all labels together, where the experts are taken as right."""
