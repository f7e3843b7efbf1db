from fractions import Fraction

from hypothesis import given, strategies as st

from build_dataset.pipeline.split.units import OTHER, pool_small, round_cells, totals_by_number, totals_by_share

EIGHT = (Fraction(8, 10), Fraction(1, 10), Fraction(1, 10))


@given(
    st.lists(st.integers(1, 500), min_size=1, max_size=40),
    st.tuples(st.integers(1, 9), st.integers(0, 9), st.integers(0, 9)),
)
def test_rounded_quotas_are_next_to_the_ideal_and_add_up(sizes, ratio):
    total = sum(sizes)
    totals = totals_by_share(total, total, [Fraction(part, sum(ratio)) for part in ratio])
    keys = [(str(number % 3), str(number)) for number in range(len(sizes))]
    rows = round_cells(sizes, keys, totals)
    assert [sum(row) for row in rows] == sizes
    assert [sum(column) for column in zip(*rows, strict=True)] == totals
    for size, row in zip(sizes, rows, strict=True):
        assert all(abs(count - Fraction(size * whole, total)) < 1 for count, whole in zip(row, totals, strict=True))


@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_totals_add_up_and_leave_no_split_empty_when_units_go_round(size, units):
    units = min(size, units)
    rows = totals_by_share(size, units, EIGHT)
    assert sum(rows) == size
    assert min(rows) >= 0
    if units >= 3:
        assert min(rows) >= 1


def test_no_more_splits_are_filled_than_there_are_units():
    assert totals_by_share(3, 1, EIGHT) == [3, 0, 0]
    assert totals_by_share(3, 2, EIGHT) == [2, 0, 1]
    assert totals_by_share(3, 3, EIGHT) == [1, 1, 1]
    assert totals_by_share(2, 2, EIGHT) == [1, 0, 1]
    assert totals_by_share(1, 1, EIGHT) == [1, 0, 0]


def test_a_ratio_of_zero_stays_empty():
    assert totals_by_share(10, 10, (Fraction(9, 10), Fraction(0), Fraction(1, 10))) == [9, 0, 1]


def test_fixed_numbers_leave_the_rest_to_train():
    assert totals_by_number(1000, 1000, 10, 400) == [590, 10, 400]
    assert totals_by_number(410, 410, 10, 400) == [0, 10, 400]
    assert totals_by_number(1000, 1000, 0, 0) == [1000, 0, 0]
    assert totals_by_number(82, 82, 10, 400) == [41, 1, 40]


def test_no_strata_need_no_quotas():
    assert round_cells([], [], [0, 0, 0]) == []


@given(
    st.dictionaries(
        st.tuples(st.sampled_from("ab"), st.sampled_from("cde"), st.sampled_from("fgh")), st.integers(1, 30)
    ),
    st.integers(1, 40),
)
def test_pooling_leaves_at_most_one_small_stratum(counts, minimum):
    final = pool_small(counts, minimum)
    sizes = {}
    for stratum, count in counts.items():
        sizes[final[stratum]] = sizes.get(final[stratum], 0) + count
    assert sum(sizes.values()) == sum(counts.values())
    assert {stratum for stratum, size in sizes.items() if size < minimum} <= {(OTHER,)}
    assert all(final[stratum] == stratum for stratum, count in counts.items() if count >= minimum)


def test_a_small_stratum_is_pooled_with_its_nearest_neighbours():
    counts = {("甲", "A1"): 30, ("甲", "A2"): 4, ("甲", "X"): 7, ("乙", "A1"): 30, ("乙", "X"): 2}
    final = pool_small(counts, 10)
    assert final[("甲", "A2")] == final[("甲", "X")] == ("甲", OTHER)
    assert final[("乙", "X")] == (OTHER,)
    assert final[("乙", "A1")] == ("乙", "A1")
    assert pool_small({("甲", "X"): 2}, 10, keep=1) == {("甲", "X"): ("甲", OTHER)}
