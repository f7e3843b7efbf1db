"""Coefficients of agreement with bootstrap intervals. Pure.

A *unit* is a question; its *ratings* are the labels that experts gave it. Each coefficient is computed for all
resamples of a bootstrap at once, which libraries do not offer.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

_LEVEL = 0.95  # of the intervals
_RESAMPLES_AT_ONCE = 2_000_000  # cells of a block of weights: 16 MB

LabelCounts = npt.NDArray[np.int64]  # (units, labels): how many experts gave that unit that label
Weights = npt.NDArray[np.int64]  # (resamples, distinct units): how often each of them stands in a resample
Values = npt.NDArray[np.float64]  # (resamples,): a coefficient, NaN where undefined
Coefficient = Callable[[LabelCounts, Weights], Values]


@dataclass(frozen=True)
class Resampling:
    """Settings of a bootstrap."""

    resamples: int
    seed: int


def count_labels(units: Iterable[Sequence[Hashable]], labels: Sequence[Hashable] = ()) -> LabelCounts:
    """Return ratings as counts of shape (units with at least two ratings, labels)."""
    kept = [unit for unit in units if len(unit) >= 2]  # one expert alone agrees with nobody
    used = labels or sorted({label for unit in kept for label in unit}, key=str)  # labels may be numbers and texts
    return np.array([[unit.count(label) for label in used] for unit in kept], np.int64).reshape(len(kept), len(used))


def pair_table(pairs: Sequence[Sequence[Hashable]]) -> LabelCounts:
    """Return the labels of two experts as one-hot rows side by side, for ``cohen_kappa``."""
    # Columns in reverse, so that distinct rows sort in the order of their labels.
    index = {label: column for column, label in enumerate(sorted({*chain(*pairs)}, key=str)[::-1])}
    table = np.zeros((len(pairs), 2 * len(index)), dtype=np.int64)
    for row, (first, second) in enumerate(pairs):
        table[row, index[first]] = table[row, len(index) + index[second]] = 1
    return table


def value_of(coefficient: Coefficient, counts: LabelCounts) -> float | None:
    """Return a coefficient; None where it is undefined."""
    if not counts.size:
        return None
    value = float(coefficient(counts, np.ones((1, len(counts)), dtype=np.int64))[0])
    return None if np.isnan(value) else value


def interval(coefficient: Coefficient, counts: LabelCounts, draw: Resampling) -> tuple[float, float] | None:
    """Return the 95 % percentile bootstrap interval over units, equal ones drawn together; None where undefined."""
    if not counts.size:
        return None
    # three experts and three labels: ten distinct rows
    patterns, repeats = np.unique(counts, axis=0, return_counts=True)
    generator = np.random.default_rng(draw.seed)
    units = int(repeats.sum())
    values = []
    block = max(1, _RESAMPLES_AT_ONCE // len(repeats))  # resamples of one block
    for begin in range(0, draw.resamples, block):
        size = min(block, draw.resamples - begin)
        values.append(coefficient(patterns, generator.multinomial(units, repeats / units, size=size)))
    estimates = np.concatenate(values)
    estimates = estimates[~np.isnan(estimates)]
    if not estimates.size:
        return None
    low, high = np.quantile(estimates, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return float(low), float(high)


def raw_agreement(counts: LabelCounts, weights: Weights) -> Values:
    """Return the mean over units of the share of pairs of ratings that are equal."""
    ratings = counts.sum(axis=1)
    shares = (counts * (counts - 1)).sum(axis=1) / (ratings * (ratings - 1))
    return np.asarray((weights @ shares) / weights.sum(axis=1), dtype=np.float64)


def specific_agreement(counts: LabelCounts, weights: Weights) -> Values:
    """Return how often a second expert chose the first column's label where one did (Fleiss 1981, section 13.1)."""
    chosen, ratings = counts[:, 0], counts.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        agreement = (weights @ (chosen * (chosen - 1) / (ratings - 1))) / (weights @ chosen)
    return np.asarray(agreement, dtype=np.float64)


def krippendorff_alpha(counts: LabelCounts, weights: Weights) -> Values:
    """Return Krippendorff's alpha, nominal (Krippendorff 2011, section C); undefined with a single label."""
    ratings = counts.sum(axis=1)
    disagreement = (ratings**2 - (counts**2).sum(axis=1)) / (ratings - 1)
    observed = weights @ disagreement
    total = (weights @ ratings).astype(np.float64)
    expected = (total**2 - ((weights @ counts).astype(np.float64) ** 2).sum(axis=1)) / (total - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected > 0, 1 - observed / expected, np.nan)


def gwet_ac1(counts: LabelCounts, weights: Weights) -> Values:
    """Return Gwet's AC1 (Gwet 2008) over the labels in use, which a prevailing label does not pull down."""
    shares = (weights @ (counts / counts.sum(axis=1, keepdims=True))) / weights.sum(axis=1)[:, None]
    expected = (shares * (1 - shares)).sum(axis=1) / max(counts.shape[1] - 1, 1)  # labels less one
    return _beyond_chance(raw_agreement(counts, weights), expected, counts)


def cohen_kappa(table: LabelCounts, weights: Weights) -> Values:
    """Return Cohen's kappa (Cohen 1960) of a ``pair_table``; undefined with a single label."""
    labels = table.shape[1] // 2
    first, second = table[:, :labels], table[:, labels:]
    total = weights.sum(axis=1).astype(np.float64)
    observed = (weights @ (first * second).sum(axis=1)) / total
    expected = ((weights @ first).astype(np.float64) * (weights @ second)).sum(axis=1) / total**2
    return _beyond_chance(observed, expected, first)


def _beyond_chance(observed: Values, expected: Values, counts: LabelCounts) -> Values:
    with np.errstate(divide="ignore", invalid="ignore"):
        # a single label is expected for certain
        coefficient = np.where(expected < 1, (observed - expected) / (1 - expected), np.nan)
    return coefficient if counts.shape[1] > 1 else np.full_like(coefficient, np.nan)
