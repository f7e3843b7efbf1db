"""Statistics that several stages share: 95 % intervals, coefficients of agreement, tests and correlations. Pure.

Intervals are Wilson's for shares, also of questions that share a case, and by a cluster bootstrap for anything else.

Of agreement, a *unit* is a question; its *ratings* are the labels that experts gave it. Each coefficient is computed
for all resamples of a bootstrap at once, which libraries do not offer.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from math import isclose, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Z95 = 1.959963984540054  # two-sided 95 % quantile of the normal distribution
ENOUGH = 30
"""Least number of observations for a useful share: with fewer its 95 % interval is wider than ± 18 points (Wilson, p
= .5)."""
_FEWEST = 3  # models whose order says something: two are in the same order half of the time
_RESAMPLES = 1000
_SEED = 20230605  # of every bootstrap: the same answers have the same interval in every run

Method = Literal["wilson", "cluster_wilson", "cluster_bootstrap"]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """A 95 % interval of a share, a mean or another figure."""

    low: float
    high: float
    method: Method


@dataclass(frozen=True)
class Unit:
    """One observation: its value, of shares 0 or 1."""

    cluster: str
    """Observations of one cluster are not independent: questions of one case, one question asked repeatedly."""
    value: float


def interval_of_share(units: Iterable[Unit]) -> Interval | None:
    """Return the interval of a share; None where a single cluster of several units shows no spread.

    Clusters of one unit each give Wilson's interval. Others give Wilson's interval of the effective number of units:
    that number of independent ones whose share varies as much as this share does between clusters (Kish 1965), made
    smaller for the few clusters that the variance is estimated from (Korn and Graubard 1998). A share of exactly 0 or
    1 shows no variance; then every cluster counts as one unit.
    """
    observations = list(units)
    # columns: sum of values, units
    sums = _cluster_sums([unit.cluster for unit in observations], [(unit.value, 1.0) for unit in observations])
    total = float(sums[:, 1].sum())
    if not total:
        return None
    share, clusters = float(sums[:, 0].sum()) / total, len(sums)
    if clusters == 1 and total > 1:  # one case alone shows no spread between cases
        return None
    if (sums[:, 1] == 1).all() and np.isin(sums[:, 0], (0, 1)).all():
        return Interval(*wilson(share * clusters, clusters), "wilson")
    # sums of floats: 0.1 + 0.2 is not 0.3
    certain = isclose(share, 0.0, abs_tol=1e-12) or isclose(share, 1.0, abs_tol=1e-12)
    size: float = clusters
    if not certain:  # the number of independent units with the same information
        from scipy.stats import t

        residuals = sums[:, 0] - share * sums[:, 1]
        variance = clusters / (clusters - 1) * float(residuals @ residuals) / total**2
        # Clusters more alike than chance would have them are luck, not knowledge: never above the units there are.
        size = min(total, share * (1 - share) / variance) if variance > 0 else total
        size *= float(Z95 / t.ppf(0.975, clusters - 1)) ** 2  # 5 clusters count half: (1.96 / 2.78)²
    return Interval(*wilson(share * size, size), "cluster_wilson")


def interval_of_mean(units: Iterable[Unit]) -> Interval | None:
    """Return the cluster-bootstrap interval of a mean, or of a mean difference."""
    observations = list(units)
    rows = np.array([(unit.value, 1.0) for unit in observations], dtype=float)
    return bootstrap([unit.cluster for unit in observations], rows, lambda sums: sums[..., 0] / sums[..., 1])


def bootstrap(
    clusters: Sequence[str], rows: Floats | Sequence[Sequence[float]], of: Callable[[Floats], Floats]
) -> Interval | None:
    """Return the interval of a figure that is computed from sums over units; None with fewer than two clusters.

    Whole clusters are drawn with replacement (Davison and Hinkley 1997, section 3.8), with a fixed seed. Percentiles
    of few clusters are too narrow, so they are taken further out, as Student's t is to the normal distribution
    (Hesterberg 2015, section 4.3): of 10 clusters the 1.0 % and 99.0 % quantiles, of many the 2.5 % and 97.5 %.
    Each unit adds its row to the sums; ``of`` takes sums of the shape (…, columns).
    """
    from scipy.stats import norm, t

    sums = _cluster_sums(clusters, rows)
    size = len(sums)
    if size < 2:
        return None
    # Clusters with the same sums are interchangeable, so how often each kind is drawn is multinomial: 11,200
    # questions that are right or wrong are two kinds.
    kinds, counts = np.unique(sums, axis=0, return_counts=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = of(_draws(tuple(counts.tolist())) @ kinds)
    tail = float(norm.cdf(sqrt(size / (size - 1)) * t.ppf(0.025, size - 1)))
    low, high = np.quantile(values[np.isfinite(values)], (tail, 1 - tail))
    return Interval(float(low), float(high), "cluster_bootstrap")


@lru_cache(maxsize=1)
def _draws(counts: tuple[int, ...]) -> NDArray[np.int64]:
    """Return how often each kind of cluster is drawn: resamples × kinds. Kept for the next figure of the same units."""
    return np.random.default_rng(_SEED).multinomial(sum(counts), np.array(counts) / sum(counts), size=_RESAMPLES)


def wilson(successes: float, total: float) -> tuple[float, float]:
    """Return the 95 % score interval of a proportion (Wilson 1927), which holds its level near 0 and 1 too."""
    if total <= 0 or not 0 <= successes <= total + 1e-9:
        raise ValueError(f"no proportion: {successes} of {total}")
    share, spread = successes / total, Z95**2 / total
    centre = (share + spread / 2) / (1 + spread)
    half = Z95 * sqrt(share * (1 - share) / total + spread / (4 * total)) / (1 + spread)
    low = 0.0 if isclose(successes, 0, abs_tol=1e-9) else centre - half
    high = 1.0 if isclose(successes, total) else centre + half
    return max(low, 0.0), min(high, 1.0)


def _cluster_sums(clusters: Sequence[str], rows: Floats | Sequence[Sequence[float]]) -> Floats:
    """Return the sums of every cluster's rows: clusters × columns."""
    if not clusters:
        return np.zeros((0, 2))
    # objects: one long name would widen every cell
    names, place = np.unique(np.array(clusters, dtype=object), return_inverse=True)
    values = np.asarray(rows, dtype=float)
    sums = np.zeros((len(names), values.shape[1]))
    np.add.at(sums, place, values)
    return sums


_LEVEL = 0.95  # of the intervals
_RESAMPLES_AT_ONCE = 2_000_000  # cells of a block of weights: 16 MB

LabelCounts = NDArray[np.int64]  # (units, labels): how many experts gave that unit that label
Weights = NDArray[np.int64]  # (resamples, distinct units): how often each of them stands in a resample
Values = NDArray[np.float64]  # (resamples,): a coefficient, NaN where undefined
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


def paired_p(differences: Iterable[tuple[str, int]]) -> float:
    """The two-sided exact p-value of the sign-flip test (Fisher 1935), of pairs of a cluster and a difference.

    If two runs are equally good, the sum of a case's differences is as likely with the other sign. Where no questions
    share a case, this is McNemar's exact test.
    """
    from scipy.stats import binom

    sums = Counter[str]()
    for cluster, difference in differences:
        sums[cluster] += difference
    spread: Floats = np.ones(1)  # probabilities of a total of -(size - 1) / 2 …, of all signs
    for step, count in Counter(map(abs, sums.values())).items():
        part = np.zeros(2 * step * count + 1)
        part[:: 2 * step or 1] = binom.pmf(range(count + 1), count, 0.5) if step else 1.0
        spread = np.asarray(np.convolve(spread, part), dtype=float)
    total, middle = abs(sums.total()), len(spread) // 2
    return min(1.0, float(2 * spread[middle + total :].sum())) if total else 1.0


def holm(values: Sequence[float]) -> list[float]:
    """P-values corrected for their number by the step-down method (Holm 1979)."""
    order = np.argsort(values, kind="stable")
    raised = np.minimum(1.0, np.arange(len(values), 0, -1) * np.array(values)[order])
    adjusted = np.empty(len(values))
    adjusted[order] = np.maximum.accumulate(raised)  # never below a smaller p
    return [float(value) for value in adjusted]


def correlation(one: Sequence[float], other: Sequence[float], *, ranks: bool = False) -> float | None:
    """Pearson's, or of ranks, ties sharing their mean, which is Spearman's; None where either does not vary."""
    from scipy.stats import pearsonr, spearmanr

    varies = len(set(one)) > 1 and len(set(other)) > 1
    return float((spearmanr if ranks else pearsonr)(one, other).statistic) if varies else None


def ranking(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Spearman's correlation of two orders of models (CMB, section 5.3 and table 7); None for fewer than three."""
    return correlation(one, other, ranks=True) if len(one) >= _FEWEST else None
