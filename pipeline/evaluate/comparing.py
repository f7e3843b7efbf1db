"""Runs against each other: tests of pairs, correlations of orders."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np

from build_dataset.pipeline.evaluate.scoring import Graded
from build_dataset.pipeline.stats import Floats, Unit, interval_of_mean
from build_dataset.schemas.evaluation import Comparison

FEWEST = 3  # models whose order says something: two are in the same order half of the time


def compare_runs(runs: Mapping[str, Sequence[Graded]]) -> list[Comparison]:
    """Every pair of runs on the questions that both were asked, with p-values corrected for the number of pairs.

    The test looks at the first answer of each run alone. Test and interval keep the questions of a case together.
    """
    firsts = {run: {item.item_id: item for item in items if item.repeat == 0} for run, items in runs.items()}
    compared = []
    for one, other in combinations(firsts, 2):
        pairs = [(item, firsts[other][key]) for key, item in firsts[one].items() if key in firsts[other]]
        if not pairs:
            continue
        tally = Counter((a.correct, b.correct) for a, b in pairs)
        only_one, only_other = tally[True, False], tally[False, True]
        spread = interval_of_mean(Unit(a.cluster, a.correct - b.correct) for a, b in pairs)
        comparison = Comparison(
            run_a=one,
            run_b=other,
            questions=len(pairs),
            both_right=tally[True, True],
            only_a_right=only_one,
            only_b_right=only_other,
            neither_right=tally[False, False],
            difference=(only_one - only_other) / len(pairs),
            low=spread.low if spread else None,
            high=spread.high if spread else None,
            p_value=paired_p((a.cluster, a.correct - b.correct) for a, b in pairs),
            p_adjusted=1.0,
        )
        compared.append(comparison)
    adjusted = holm([comparison.p_value for comparison in compared])
    return [each.model_copy(update={"p_adjusted": p}) for each, p in zip(compared, adjusted, strict=True)]


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
    return correlation(one, other, ranks=True) if len(one) >= FEWEST else None
