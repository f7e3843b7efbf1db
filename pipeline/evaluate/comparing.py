"""Whether one model is better than another or only luckier, and whether two measures put models in the same order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from pipeline.evaluate.scoring import Graded, cluster
from pipeline.stats.intervals import Unit, interval_of_mean
from schemas.evaluation import Comparison

_FEWEST = 3
"""Models whose order says something."""


def compare_runs(runs: Mapping[str, Sequence[Graded]]) -> list[Comparison]:
    """Every pair of runs on the questions that both were asked, with p-values corrected for the number of pairs.

    McNemar's exact test (McNemar 1947) looks at the first answer of each run alone; the interval of the difference is
    a bootstrap over clusters, so it also holds where questions share a case, where McNemar's p is too small.
    """
    firsts = {
        run: {item.question.question_id: item for item in items if item.repeat == 0}
        for run, items in runs.items()
    }
    found = [_compare(one, other, firsts) for one, other in combinations(firsts, 2)]
    return _corrected([comparison for comparison in found if comparison is not None])


def _compare(one: str, other: str, firsts: Mapping[str, Mapping[str, Graded]]) -> Comparison | None:
    shared = [key for key in firsts[one] if key in firsts[other]]
    if not shared:
        return None
    pairs = [(firsts[one][key], firsts[other][key]) for key in shared]
    only_one = sum(a.correct and not b.correct for a, b in pairs)
    only_other = sum(b.correct and not a.correct for a, b in pairs)
    both = sum(a.correct and b.correct for a, b in pairs)
    spread = interval_of_mean(Unit(cluster(a.question), a.correct - b.correct) for a, b in pairs)
    return Comparison(
        run_a=one,
        run_b=other,
        questions=len(pairs),
        both_right=both,
        only_a_right=only_one,
        only_b_right=only_other,
        neither_right=len(pairs) - both - only_one - only_other,
        difference=(only_one - only_other) / len(pairs),
        low=spread.low if spread else None,
        high=spread.high if spread else None,
        p_value=mcnemar(only_one, only_other),
        p_adjusted=1.0,
    )


def mcnemar(only_one: int, only_other: int) -> float:
    """The two-sided exact p-value of McNemar's test, from the questions that only one of the two got right."""
    from scipy.stats import binomtest

    discordant = only_one + only_other
    return float(binomtest(only_one, discordant, 0.5).pvalue) if discordant else 1.0


def holm(values: Sequence[float]) -> list[float]:
    """P-values corrected for their number by the step-down method (Holm 1979)."""
    adjusted = [1.0] * len(values)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(values)), key=lambda index: values[index])):
        largest = max(largest, min(1.0, (len(values) - rank) * values[index]))
        adjusted[index] = largest
    return adjusted


def correlation(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Pearson's; None where either does not vary."""
    from scipy.stats import pearsonr

    varied = len(set(one)) > 1 and len(set(other)) > 1
    return float(pearsonr(one, other).statistic) if varied else None


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Spearman's, ties sharing their mean rank; None where either does not vary."""
    from scipy.stats import rankdata

    return correlation(rankdata(one), rankdata(other)) if one else None


def ranking(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Spearman's correlation of two orders of models (CMB, section 5.3 and table 7).

    None for fewer than three: two are in the same order half of the time.
    """
    return rank_correlation(one, other) if len(one) >= _FEWEST else None


def _corrected(found: list[Comparison]) -> list[Comparison]:
    adjusted = holm([comparison.p_value for comparison in found])
    return [
        comparison.model_copy(update={"p_adjusted": p}) for comparison, p in zip(found, adjusted, strict=True)
    ]
