"""Coefficients of agreement and their bootstrap intervals. Pure.

A *unit* is a question; its *ratings* are the labels that experts gave it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_LEVEL = 0.95
_RESAMPLES_AT_ONCE = 2_000_000  # cells of a block of weights: 16 MB

Counts = npt.NDArray[np.int64]
"""(units, labels): how many experts gave that unit that label."""
Weights = npt.NDArray[np.int64]
"""(resamples, distinct units): how often each of them stands in a resample."""
Values = npt.NDArray[np.float64]
"""(resamples,): a coefficient, NaN where undefined."""
Interval = tuple[float, float]


@dataclass(frozen=True)
class Draw:
    """How a bootstrap draws."""

    resamples: int
    seed: int


def count_labels(units: Iterable[Sequence[Hashable]]) -> Counts:
    """Ratings unit by unit as counts of shape (units with at least two ratings, labels)."""
    kept = [unit for unit in units if len(unit) >= 2]
    index = {
        label: column for column, label in enumerate(sorted({v for unit in kept for v in unit}, key=str))
    }
    counts = np.zeros((len(kept), len(index)), dtype=np.int64)
    for row, unit in enumerate(kept):
        for label in unit:
            counts[row, index[label]] += 1
    return counts


def raw_agreement(counts: Counts) -> float | None:
    """Mean over units of the share of pairs of ratings that are equal; None without units."""
    return _point(_raws, counts)


def raw_interval(counts: Counts, draw: Draw) -> Interval | None:
    """A 95 % percentile interval of raw agreement from a bootstrap over units."""
    return _interval(_raws, *_patterns(counts), draw)


def specific_agreement(counts: Counts) -> float | None:
    """Where one expert chose the label of the first column, how often another did; None where nobody chose it.

    Source: Fleiss 1981, Statistical Methods for Rates and Proportions, section 13.1 (Dice's index for two experts).
    """
    return _point(_specifics, counts)


def specific_interval(counts: Counts, draw: Draw) -> Interval | None:
    """A 95 % percentile interval of specific agreement from a bootstrap over units."""
    return _interval(_specifics, *_patterns(counts), draw)


def krippendorff_alpha(counts: Counts) -> float | None:
    """Krippendorff's alpha, nominal; None where undefined (no units, or a single label in all of them).

    Source: Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, section C.
    """
    return _point(_alphas, counts)


def alpha_interval(counts: Counts, *, resamples: int, seed: int) -> Interval | None:
    """A 95 % percentile interval of alpha from a bootstrap over units; None where undefined in all resamples."""
    return _interval(_alphas, *_patterns(counts), Draw(resamples, seed))


def gwet_ac1(counts: Counts) -> float | None:
    """Gwet's AC1 over the labels that were used.

    Where one label prevails, kappa and alpha are low though people agree; this is not.

    Source: Gwet 2008, Computing inter-rater reliability and its variance in the presence of high agreement.
    """
    return _point(_ac1s, counts)


def ac1_interval(counts: Counts, draw: Draw) -> Interval | None:
    """A 95 % percentile interval of AC1 from a bootstrap over units."""
    return _interval(_ac1s, *_patterns(counts), draw)


def fleiss_kappa(counts: Counts) -> float | None:
    """Fleiss' kappa, also where questions have different numbers of ratings; None with a single label.

    Source: Fleiss 1971, Measuring nominal scale agreement among many raters.
    """
    return _point(_fleiss, counts)


def fleiss_interval(counts: Counts, draw: Draw) -> Interval | None:
    """A 95 % percentile interval of Fleiss' kappa from a bootstrap over units."""
    return _interval(_fleiss, *_patterns(counts), draw)


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Cohen's kappa of two experts; None where undefined (no units, or a single label in all of them).

    Source: Cohen 1960, A coefficient of agreement for nominal scales.
    """
    table, repeats = _pairs(list(zip(first, second, strict=True)))
    return _defined(_kappas(table, repeats[None, :])) if repeats.size else None


def kappa_interval(pairs: Sequence[tuple[Hashable, Hashable]], draw: Draw) -> Interval | None:
    """A 95 % percentile interval of Cohen's kappa from a bootstrap over units; None where undefined."""
    return _interval(_kappas, *_pairs(pairs), draw)


def _point(statistic: Callable[[Counts, Weights], Values], counts: Counts) -> float | None:
    return _defined(statistic(counts, np.ones((1, len(counts)), dtype=np.int64))) if counts.size else None


def _defined(values: Values) -> float | None:
    return None if np.isnan(values[0]) else float(values[0])


def _interval(
    statistic: Callable[[Counts, Weights], Values], table: Counts, repeats: Weights, draw: Draw
) -> Interval | None:
    """The interval of a statistic of distinct units that stand there ``repeats`` times.

    Units with equal ratings are exchangeable, so that lots are drawn for the distinct ones alone. Resamples in
    which the statistic is undefined are left out.
    """
    if not repeats.size:
        return None
    generator = np.random.default_rng(draw.seed)
    units = int(repeats.sum())
    values = []
    block = max(1, _RESAMPLES_AT_ONCE // len(repeats))
    for begin in range(0, draw.resamples, block):
        size = min(block, draw.resamples - begin)
        values.append(statistic(table, generator.multinomial(units, repeats / units, size=size)))
    found = np.concatenate(values)
    found = found[~np.isnan(found)]
    if not found.size:
        return None
    low, high = np.quantile(found, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return float(low), float(high)


def _patterns(counts: Counts) -> tuple[Counts, Weights]:
    """Distinct rows, and how often each stands there."""
    if not counts.size:
        return counts, np.zeros(0, dtype=np.int64)
    patterns, repeats = np.unique(counts, axis=0, return_counts=True)
    return patterns, repeats.astype(np.int64)


def _pairs(pairs: Sequence[tuple[Hashable, Hashable]]) -> tuple[Counts, Weights]:
    """Distinct pairs as two one-hot rows side by side, in an order of their own, and how often each stands there."""
    tally = Counter(pairs)
    index = {label: place for place, label in enumerate(sorted({v for pair in tally for v in pair}, key=str))}
    distinct = sorted(tally, key=lambda pair: (index[pair[0]], index[pair[1]]))
    table = np.zeros((len(distinct), 2 * len(index)), dtype=np.int64)
    for row, (first, second) in enumerate(distinct):
        table[row, index[first]] = table[row, len(index) + index[second]] = 1
    return table, np.array([tally[pair] for pair in distinct], dtype=np.int64)


def _kappas(table: Counts, weights: Weights) -> Values:
    labels = table.shape[1] // 2
    first, second = table[:, :labels], table[:, labels:]
    total = weights.sum(axis=1).astype(np.float64)
    observed = (weights @ (first * second).sum(axis=1)) / total
    expected = ((weights @ first).astype(np.float64) * (weights @ second)).sum(axis=1) / total**2
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected < 1, (observed - expected) / (1 - expected), np.nan)


def _raws(counts: Counts, weights: Weights) -> Values:
    ratings = counts.sum(axis=1)
    shares = (counts * (counts - 1)).sum(axis=1) / (ratings * (ratings - 1))
    return np.asarray((weights @ shares) / weights.sum(axis=1), dtype=np.float64)


def _specifics(counts: Counts, weights: Weights) -> Values:
    chosen, ratings = counts[:, 0], counts.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = (weights @ (chosen * (chosen - 1) / (ratings - 1))) / (weights @ chosen)
    return np.asarray(found, dtype=np.float64)


def _alphas(counts: Counts, weights: Weights) -> Values:
    ratings = counts.sum(axis=1)
    disagreement = (ratings**2 - (counts**2).sum(axis=1)) / (ratings - 1)
    observed = weights @ disagreement
    total = (weights @ ratings).astype(np.float64)
    expected = (total**2 - ((weights @ counts).astype(np.float64) ** 2).sum(axis=1)) / (total - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected > 0, 1 - observed / expected, np.nan)


def _ac1s(counts: Counts, weights: Weights) -> Values:
    shares = (weights @ (counts / counts.sum(axis=1, keepdims=True))) / weights.sum(axis=1)[:, None]
    return _beyond(
        _raws(counts, weights), (shares * (1 - shares)).sum(axis=1) / max(counts.shape[1] - 1, 1), counts
    )


def _fleiss(counts: Counts, weights: Weights) -> Values:
    chosen = (weights @ counts).astype(np.float64)
    shares = chosen / chosen.sum(axis=1, keepdims=True)
    return _beyond(_raws(counts, weights), (shares**2).sum(axis=1), counts)


def _beyond(observed: Values, expected: Values, counts: Counts) -> Values:
    """Agreement beyond chance; undefined with a single label."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(expected < 1, (observed - expected) / (1 - expected), np.nan)
    return found if counts.shape[1] > 1 else np.full_like(found, np.nan)
