"""False positives and power of the paired test of two models, with and without shared cases.

    python -m benchmarks.stats.paired [ROUNDS]

Models of equal skill answer questions that share cases: every model has a luck of its own with every case, so that
its answers within a case go together. Prints the share of rounds in which the p-value is below .05: of McNemar's test,
which takes questions as independent, of the sign-flip test over cases, and of the smallest of six pairs of four models
after Holm; in the last column one of two models is better. Seeds are fixed: the table is the same each time.
"""

from __future__ import annotations

import sys
from itertools import combinations

import numpy as np

from build_dataset.pipeline.stats import holm, paired_p

_DESIGNS = ((160, 1, 0.0), (40, 4, 0.0), (40, 4, 1.0), (40, 4, 2.0), (20, 8, 1.0), (60, 3, 1.0), (12, 4, 1.0))
"""Cases, questions of each, and the standard deviation of a model's luck with a case, in logits."""


def answered(rng: np.random.Generator, models: int, design: tuple[int, int, float], ahead: float = 0.0) -> np.ndarray:
    """Return what is right: models × cases × questions; the first model is ``ahead`` by so many logits."""
    cases, size, luck = design
    difficulty = rng.normal(0, 1, (1, cases, size))
    skill = np.zeros((models, 1, 1))
    skill[0] = ahead
    logits = difficulty + skill + rng.normal(0, luck, (models, cases, 1))
    return rng.random((models, cases, size)) < 1 / (1 + np.exp(-logits))


def over_cases(one: np.ndarray, other: np.ndarray) -> float:
    """Return the p-value of the sign-flip test."""
    sums = one.sum(axis=1).astype(int) - other.sum(axis=1)
    return paired_p((str(at), int(each)) for at, each in enumerate(sums))


def alone(one: np.ndarray, other: np.ndarray) -> float:
    """Return McNemar's p-value."""
    only_one, only_other = int((one & ~other).sum()), int((~one & other).sum())
    return paired_p((str(at), 1 if at < only_one else -1) for at in range(only_one + only_other))


def main(rounds: int) -> None:
    """Print the table."""
    print("| cases × questions | luck | McNemar | sign-flip | Holm, any of 6 pairs | power |")
    print("|---|---:|---:|---:|---:|---:|")
    for number, design in enumerate(_DESIGNS):
        rng = np.random.default_rng(number)
        hits = np.zeros(4)
        for _ in range(rounds):
            equal = answered(rng, 4, design)
            pairs = [over_cases(one, other) for one, other in combinations(equal, 2)]
            better = answered(rng, 2, design, ahead=0.8)
            hits += np.array([alone(*equal[:2]), pairs[0], min(holm(pairs)), over_cases(*better)]) < 0.05
        shares = " | ".join(f"{share:.3f}" for share in hits / rounds)
        print(f"| {design[0]} × {design[1]} | {design[2]:g} | {shares} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
