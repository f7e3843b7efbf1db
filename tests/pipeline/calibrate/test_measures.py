from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.calibrate.stage import BINS, STEPS, JudgedLabel, _confusions, binned, calibration_error, sharing

JUDGED = st.lists(
    st.builds(JudgedLabel, st.sampled_from("ab"), st.none() | st.floats(0, 1), st.sampled_from("ab")),
    max_size=40,
)


def test_confusions_are_counted_by_pair_and_the_commonest_comes_first():
    judged = [
        JudgedLabel("a", 1, "b"),
        JudgedLabel("c", 1, "b"),
        JudgedLabel("a", 1, "b"),
        JudgedLabel("a", 1, "a"),
    ]
    found = [(row.said, row.expected, row.items) for row in _confusions("n", "r", "d", judged)]
    assert found == [("a", "b", 2), ("c", "b", 1)]


def test_bins_and_error_of_a_known_case():
    judged = (
        [JudgedLabel("a", 0.95, "a")] * 3 + [JudgedLabel("a", 0.95, "b")] + [JudgedLabel("a", 0.25, "b")] * 4
    )
    bins = binned(judged)
    assert {number: len(items) for number, items in bins.items()} == {2: 4, 9: 4}
    assert calibration_error(bins) == pytest.approx((0.25 + 0.20) / 2)


def test_labels_without_confidence_are_in_no_bin_and_never_taken():
    judged = [JudgedLabel("a", None, "a")] * 3
    assert binned(judged) == {}
    assert calibration_error({}) is None
    assert [point.accepted for point in sharing(judged)] == [0] * len(STEPS)


def test_experts_put_right_what_is_not_taken():
    judged = [JudgedLabel("a", 0.9, "a"), JudgedLabel("a", 0.4, "b")]
    points = {point.threshold: point for point in sharing(judged)}
    assert (points[0.0].accepted, points[0.0].right) == (2, 1)
    assert (points[0.5].accepted, points[0.5].right) == (1, 2)
    assert (points[0.95].accepted, points[0.95].right) == (0, 2)


def test_a_dearer_annotator_is_only_as_right_as_it_is():
    judged = [JudgedLabel("a", 0.9, "a"), JudgedLabel("a", 0.4, "b")]
    points = {point.threshold: point for point in sharing(judged, fallback_right=[False, False])}
    assert points[0.5].right == 1
    assert points[0.95].right == 0


@given(JUDGED)
def test_bins_hold_every_stated_confidence_once_and_a_higher_threshold_takes_fewer(judged):
    bins = binned(judged)
    assert sum(map(len, bins.values())) == sum(item.confidence is not None for item in judged)
    for number, items in bins.items():
        assert all(
            number / BINS <= item.confidence + 1e-12 and item.confidence <= (number + 1) / BINS
            for item in items
        )
    accepted = [point.accepted for point in sharing(judged)]
    assert accepted == sorted(accepted, reverse=True)
    assert all(point.accepted_right <= point.right <= len(judged) for point in sharing(judged))
