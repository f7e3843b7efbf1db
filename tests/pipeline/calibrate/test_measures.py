import polars as pl
import pytest
from hypothesis import given, strategies as st

from build_dataset.pipeline.calibrate.stage import BINS, calibration_error, confidence_bins, confusions

SCHEMA = {"label": pl.String, "confidence": pl.Float64, "expected": pl.String}
JUDGED = st.lists(st.tuples(st.sampled_from("ab"), st.none() | st.floats(0, 1), st.sampled_from("ab")), max_size=40)


def judged(*rows: tuple[str, float | None, str]) -> pl.DataFrame:
    frame = pl.DataFrame(rows, SCHEMA, orient="row")
    return frame.with_columns(right=pl.col("label") == pl.col("expected"))


def test_confusions_are_counted_by_pair_and_the_commonest_comes_first():
    rows = judged(("a", 1, "b"), ("c", 1, "b"), ("a", 1, "b"), ("a", 1, "a"))
    found = [
        (row.said, row.expected, row.items) for row in confusions(rows, annotator="n", reference="r", dimension="d")
    ]
    assert found == [("a", "b", 2), ("c", "b", 1)]


def test_bins_and_error_of_a_known_case():
    bins = confidence_bins(judged(*[("a", 0.95, "a")] * 3, ("a", 0.95, "b"), *[("a", 0.25, "b")] * 4))
    assert dict(bins.select("bin", "items").iter_rows()) == {2: 4, 9: 4}
    assert calibration_error(bins) == pytest.approx((0.25 + 0.20) / 2)


def test_labels_without_confidence_are_in_no_bin():
    unsure = judged(*[("a", None, "a")] * 3)
    assert confidence_bins(unsure).is_empty()
    assert calibration_error(confidence_bins(unsure)) is None


@given(JUDGED)
def test_bins_hold_every_stated_confidence_once(rows):
    bins = confidence_bins(judged(*rows))
    assert bins["items"].sum() == sum(confidence is not None for _, confidence, _ in rows)
    for number, _, mean, _ in bins.iter_rows():
        assert number / BINS <= mean + 1e-9
        assert mean - 1e-9 <= (number + 1) / BINS
