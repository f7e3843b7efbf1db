"""Coefficients of agreement are exact numbers, resample by resample."""

import numpy as np
import pytest

from build_dataset.pipeline.stats import (
    Coefficient,
    Resampling,
    cohen_kappa,
    count_labels,
    gwet_ac1,
    interval,
    krippendorff_alpha,
    pair_table,
    raw_agreement,
    specific_agreement,
    value_of,
)

COUNTS = np.array([[2, 0, 0], [1, 1, 0], [0, 1, 2], [0, 3, 0]])
WEIGHTS = np.array([[1, 1, 1, 1], [2, 1, 0, 3], [0, 1, 4, 1]])
PAIRS = pair_table(["aa", "ab", "bc", "cc", "cc"])


@pytest.mark.parametrize(
    ("coefficient", "expected", "bounds"),
    [
        (raw_agreement, [7 / 12, 5 / 6, 7 / 18], (0.185417, 1.0)),
        (specific_agreement, [2 / 3, 0.8, 0.0], (0.0, 1.0)),
        (krippendorff_alpha, [13 / 31, 0.72, 0.0], (-0.4, 1.0)),
        (gwet_ac1, [0.395466, 0.779817, 0.143784], (-0.198763, 1.0)),
    ],
)
def test_every_resample_has_its_own_coefficient_and_all_together_an_interval(
    coefficient: Coefficient, expected: list[float], bounds: tuple[float, float]
) -> None:
    assert coefficient(COUNTS, WEIGHTS).tolist() == pytest.approx(expected, abs=1e-6)
    assert value_of(coefficient, COUNTS) == pytest.approx(expected[0], abs=1e-6)
    assert interval(coefficient, COUNTS, Resampling(50, 7)) == pytest.approx(bounds, abs=1e-6)


def test_two_experts_agree_beyond_chance_resample_by_resample() -> None:
    assert PAIRS.tolist() == [
        [0, 0, 1, 0, 0, 1],
        [0, 0, 1, 0, 1, 0],
        [0, 1, 0, 1, 0, 0],
        [1, 0, 0, 1, 0, 0],
        [1, 0, 0, 1, 0, 0],
    ]
    weights = np.array([[1, 1, 1, 1, 1], [3, 1, 0, 2, 1]])
    assert cohen_kappa(PAIRS, weights).tolist() == pytest.approx([0.375, 0.75])
    assert value_of(cohen_kappa, PAIRS) == pytest.approx(0.375)


def test_an_expert_alone_agrees_with_nobody() -> None:
    assert count_labels(["a", "ab", "bbc"]).tolist() == [[1, 1, 0], [0, 2, 1]]
    assert count_labels(["ab"], "cba").tolist() == [[0, 1, 1]]
    assert count_labels(["a"]).shape == (0, 0)


@pytest.mark.parametrize("coefficient", [raw_agreement, specific_agreement, krippendorff_alpha, gwet_ac1])
def test_no_ratings_have_no_coefficient(coefficient: Coefficient) -> None:
    none = count_labels([])
    assert value_of(coefficient, none) is None
    assert interval(coefficient, none, Resampling(5, 1)) is None


@pytest.mark.parametrize("coefficient", [krippendorff_alpha, gwet_ac1])
def test_a_single_label_has_no_agreement_beyond_chance(coefficient: Coefficient) -> None:
    alike = count_labels(["aa", "aaa"])
    assert value_of(coefficient, alike) is None
    assert interval(coefficient, alike, Resampling(5, 1)) is None
    assert value_of(raw_agreement, alike) == 1.0
    assert interval(raw_agreement, alike, Resampling(5, 1)) == (1.0, 1.0)


def test_a_single_label_of_two_experts_has_no_kappa() -> None:
    assert value_of(cohen_kappa, pair_table(["aa", "aa"])) is None


def test_two_labels_have_a_coefficient() -> None:
    counts = count_labels(["aa", "ab", "bb", "bb"])
    assert value_of(gwet_ac1, counts) == pytest.approx(9 / 17)
    assert value_of(krippendorff_alpha, counts) == pytest.approx(8 / 15)
