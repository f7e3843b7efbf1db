from build_dataset.pipeline.split.draw import SplitDraw


def drawn(sizes, splits, fixed=()):
    """Units of one stratum in their splits, with quotas of 8:1:1."""
    total = sum(sizes)
    quotas = [[total - 2 * (total // 10), total // 10, total // 10]]
    given = {unit: splits[unit] for unit in fixed}
    state = SplitDraw([((0, size),) for size in sizes], quotas, [[0]], given)
    for unit, split in enumerate(splits):
        state.put(unit, split)
    return state


SIZES = [3, 3, 3, 5, 4, 4, 4, 4, 4, 3, 3, 5, 5]
SPLITS = [2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]


def test_groups_that_fit_what_is_left_are_moved():
    state = drawn(SIZES, SPLITS)
    assert state.need[0] == [-4, 2, 2]
    state.repair()
    assert max(map(abs, state.need[0])) <= 2


def test_no_split_is_emptied():
    state = drawn([2, 9, 9, 9], [2, 0, 0, 1])
    state.repair()
    assert set(state.split.values()) == {0, 1, 2}


def test_what_was_released_stays():
    state = drawn(SIZES, SPLITS, fixed=range(len(SIZES)))
    state.repair()
    assert [state.split[unit] for unit in range(len(SIZES))] == SPLITS


def test_strata_within_a_question_are_left_alone():
    state = drawn([1] * 20, [2, 2, 1, 1] + [0] * 16)
    before = dict(state.split)
    state.repair()
    assert state.split == before
