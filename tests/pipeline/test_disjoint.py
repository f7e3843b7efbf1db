from hypothesis import given
from hypothesis import strategies as st

from pipeline.disjoint import DisjointSets

PAIRS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=15)


@given(PAIRS)
def test_sets_are_the_rows_that_pairs_connect(pairs):
    joined = DisjointSets()
    groups = {row: {row} for pair in pairs for row in pair}
    for one, other in pairs:
        joined.union(one, other)
        both = groups[one] | groups[other]
        groups |= dict.fromkeys(both, both)
    expected = sorted({tuple(sorted(group)) for group in groups.values()})
    assert [tuple(rows) for rows in joined.members()] == expected
    assert all(joined.find(row) == min(group) for row, group in groups.items())
    alone = set(range(13)) - groups.keys()
    assert len(joined.sets(range(13))) == len(expected) + len(alone)


def test_rows_of_one_key_are_one_set_and_no_key_joins_nothing():
    joined = DisjointSets()
    joined.union_equal([(3, "a"), (1, None), (2, "b"), (0, "a"), (4, None), (5, "b"), (6, "c")])
    assert joined.members() == [[0, 3], [2, 5]]
    assert joined.sets([6, 5, 3]) == [[3], [5], [6]]
