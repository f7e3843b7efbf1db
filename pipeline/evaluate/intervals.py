"""Intervals: Wilson's of shares of questions that stand alone, a cluster bootstrap of others and of means."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isclose, sqrt
from typing import Literal

import numpy as np

_Z95 = 1.959963984540054
"""Two-sided 95 % quantile of the normal distribution."""
_RESAMPLES = 4000
_SEED = 20230605
_FEW = 30
"""Clusters below which percentiles of a bootstrap are too narrow: of 7 questions in 5 cases it made 14 % [0, 33]."""

Method = Literal["wilson", "cluster_bootstrap"]


@dataclass(frozen=True)
class Interval:
    """A 95 % interval of a share or a mean."""

    low: float
    high: float
    method: Method


@dataclass(frozen=True)
class Unit:
    """One observation: ``count`` of ``total``, of shares 0 or 1 of 1."""

    cluster: str
    """Observations of one cluster are not independent: questions of one case, one question asked repeatedly."""
    count: float
    total: float = 1.0


def interval_of_share(units: Iterable[Unit]) -> Interval | None:
    """The interval of Σ count / Σ total; None where a single cluster of several says nothing of the spread.

    Clusters of one observation each give Wilson's interval, others the percentiles of a bootstrap that draws whole
    clusters (Davison and Hinkley 1997, section 3.8), with a fixed seed. Where clusters are few, or the share is exactly
    0 or 1, resampling shows too little spread: then it is Wilson's interval for the number of clusters.
    """
    clusters = _clusters(units)
    total = sum(total for _, total in clusters.values())
    if not total:
        return None
    share = sum(count for count, _ in clusters.values()) / total
    if len(clusters) == 1 and total > 1:
        return None
    alone = all(total == 1 and count in (0, 1) for count, total in clusters.values())
    certain = isclose(share, 0.0, abs_tol=1e-12) or isclose(share, 1.0, abs_tol=1e-12)
    if alone or certain or len(clusters) < _FEW:
        return Interval(*wilson(share * len(clusters), len(clusters)), "wilson")
    return _bootstrap(list(clusters.values()))


def interval_of_mean(units: Iterable[Unit]) -> Interval | None:
    """The cluster-bootstrap interval of a mean, or of a mean difference: ``count`` is the value of one observation."""
    return _bootstrap(list(_clusters(units).values()))


def wilson(successes: float, total: int) -> tuple[float, float]:
    """The 95 % score interval of a proportion (Wilson 1927), which holds its level near 0 and 1 too.

    Raises:
        ValueError: ``total`` is not positive or ``successes`` is outside 0..total.
    """
    if total <= 0 or not 0 <= successes <= total + 1e-9:
        raise ValueError(f"no proportion: {successes} of {total}")
    share, spread = successes / total, _Z95**2 / total
    centre = (share + spread / 2) / (1 + spread)
    half = _Z95 * sqrt(share * (1 - share) / total + spread / (4 * total)) / (1 + spread)
    low = 0.0 if isclose(successes, 0, abs_tol=1e-9) else centre - half
    high = 1.0 if isclose(successes, total) else centre + half
    return max(low, 0.0), min(high, 1.0)


def _clusters(units: Iterable[Unit]) -> Mapping[str, tuple[float, float]]:
    sums: dict[str, tuple[float, float]] = {}
    for unit in units:
        count, total = sums.get(unit.cluster, (0.0, 0.0))
        sums[unit.cluster] = (count + unit.count, total + unit.total)
    return sums


def _bootstrap(clusters: list[tuple[float, float]]) -> Interval | None:
    """Percentiles of the ratio over resampled clusters.

    Clusters with the same sums are interchangeable, so how often each *kind* is drawn is multinomial; 11,200
    questions have a handful of kinds.
    """
    if len(clusters) < 2:
        return None
    kinds = Counter(clusters)
    ordered = sorted(kinds)
    counts, totals = np.array(ordered, dtype=float).T
    shares = np.array([kinds[kind] for kind in ordered]) / len(clusters)
    draws = np.random.default_rng(_SEED).multinomial(len(clusters), shares, size=_RESAMPLES)
    values = (draws @ counts) / (draws @ totals)
    low, high = np.quantile(values, (0.025, 0.975))
    return Interval(float(low), float(high), "cluster_bootstrap")
