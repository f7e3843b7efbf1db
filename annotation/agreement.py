"""Agreement of experts: raw, Cohen's kappa, Krippendorff's alpha with bootstrap intervals.

All functions are pure. A *unit* is a question; its *ratings* are the labels that experts gave it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt
import polars as pl

from schemas.annotations import Agreement

ALL = "all"
_LEVEL = 0.95
_RESAMPLES_AT_ONCE = 2_000_000  # cells of a block of weights: 16 MB

Counts = npt.NDArray[np.int64]
"""(units, labels): how many experts gave that unit that label."""


def agreement(
    reviews: pl.DataFrame, dimensions: Iterable[str], *, resamples: int, seed: int
) -> list[Agreement]:
    """Agreement in each dimension: of all experts together, then of each pair.

    Args:
        reviews: at most one row a question, dimension and reviewer, with the columns ``question_id``,
            ``dimension``, ``reviewer``, ``label``.
        dimensions: which, in the order of the result.
        resamples: of the bootstrap.
        seed: of the bootstrap; the same ratings have the same interval in whichever row.
    """
    rows = []
    for dimension in dimensions:
        ratings = _ratings(reviews.filter(pl.col("dimension") == dimension))
        experts = sorted({expert for unit in ratings for expert in unit})
        rows.append(_row(dimension, ALL, [tuple(unit.values()) for unit in ratings], None, resamples, seed))
        for first, second in combinations(experts, 2):
            both = [(unit[first], unit[second]) for unit in ratings if first in unit and second in unit]
            if both:
                kappa = cohen_kappa([a for a, _ in both], [b for _, b in both])
                rows.append(_row(dimension, f"{first} & {second}", both, kappa, resamples, seed))
    return rows


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Cohen's kappa of two experts; None where undefined (no units, or a single label in all of them).

    Source: Cohen 1960, A coefficient of agreement for nominal scales.
    """
    if not first or len({*first, *second}) < 2:
        return None
    from sklearn.metrics import cohen_kappa_score

    return float(cohen_kappa_score(list(first), list(second)))


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
    if not counts.size:
        return None
    ratings = counts.sum(axis=1)
    equal = (counts * (counts - 1)).sum(axis=1)
    return float((equal / (ratings * (ratings - 1))).mean())


def krippendorff_alpha(counts: Counts) -> float | None:
    """Krippendorff's alpha, nominal; None where undefined (no units, or a single label in all of them).

    Source: Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, section C.
    """
    if not counts.size:
        return None
    value = _alphas(counts, np.ones((1, len(counts)), dtype=np.int64))[0]
    return None if np.isnan(value) else float(value)


def alpha_interval(counts: Counts, *, resamples: int, seed: int) -> tuple[float, float] | None:
    """A 95 % percentile interval of alpha from a bootstrap over units.

    Units with equal counts are exchangeable, so that lots are drawn for the distinct rows alone. Resamples
    in which alpha is undefined are left out.

    Returns:
        Its ends, or None where alpha is undefined in all resamples.
    """
    if not counts.size:
        return None
    patterns, repeats = np.unique(counts, axis=0, return_counts=True)
    generator = np.random.default_rng(seed)
    units = int(repeats.sum())
    values = []
    block = max(1, _RESAMPLES_AT_ONCE // len(patterns))
    for begin in range(0, resamples, block):
        size = min(block, resamples - begin)
        values.append(_alphas(patterns, generator.multinomial(units, repeats / units, size=size)))
    alphas = np.concatenate(values)
    alphas = alphas[~np.isnan(alphas)]
    if not alphas.size:
        return None
    low, high = np.quantile(alphas, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return float(low), float(high)


def _alphas(counts: Counts, weights: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Alpha for each row of ``weights``, of shape (resamples, units): how often each unit stands in it."""
    ratings = counts.sum(axis=1)
    disagreement = (ratings**2 - (counts**2).sum(axis=1)) / (ratings - 1)
    observed = weights @ disagreement
    total = (weights @ ratings).astype(np.float64)
    expected = (total**2 - ((weights @ counts).astype(np.float64) ** 2).sum(axis=1)) / (total - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected > 0, 1 - observed / expected, np.nan)


def _row(
    dimension: str,
    reviewers: str,
    units: Sequence[Sequence[str]],
    kappa: float | None,
    resamples: int,
    seed: int,
) -> Agreement:
    counts = count_labels(units)
    own_seed = hashlib.sha256(f"{seed}|{dimension}".encode()).digest()
    interval = alpha_interval(counts, resamples=resamples, seed=int.from_bytes(own_seed[:8], "big"))
    low, high = interval or (None, None)
    return Agreement(
        dimension=dimension,
        reviewers=reviewers,
        items=len(counts),
        raw=raw_agreement(counts),
        kappa=kappa,
        alpha=krippendorff_alpha(counts),
        alpha_low=low,
        alpha_high=high,
    )


def _ratings(reviews: pl.DataFrame) -> list[Mapping[str, str]]:
    """Labels by expert, unit by unit, in the order of question ids."""
    units: dict[str, dict[str, str]] = {}
    columns = reviews.select("question_id", "reviewer", "label").sort("question_id", "reviewer")
    for question_id, reviewer, label in columns.iter_rows():
        units.setdefault(question_id, {})[reviewer] = label
    return list(units.values())
