"""The draw of small made-up collections, to the unit: which lots go where, and what is moved to mend the quotas."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction

import pytest

from build_dataset.pipeline.split.draw import Contents, SplitDraw
from build_dataset.pipeline.split.units import round_cells, totals_by_share

POTS = [[0, 1], [2, 3]]


def collection(seed: int, units: int = 24, most: int = 5, fixed: int = 0) -> SplitDraw:
    """Singles, groups and groups that stand in two strata, with quotas of 7:1:2 in two pots of two strata."""
    lots = random.Random(seed)
    contents: list[Contents] = []
    for _ in range(units):
        stratum, size = lots.randrange(4), max(1, lots.randrange(-2, most + 1))
        other = (stratum + 1, lots.randrange(1, 3)) if stratum < 3 and lots.random() < 0.2 else None
        contents.append(((stratum, size), other) if other else ((stratum, size),))
    sizes = Counter(dict.fromkeys(range(4), 0))
    for content in contents:
        sizes.update(dict(content))
    quotas = []
    for pot in POTS:
        whole = sum(sizes[stratum] for stratum in pot)
        totals = totals_by_share(whole, units, [Fraction(7, 10), Fraction(1, 10), Fraction(2, 10)])
        quotas += round_cells([sizes[stratum] for stratum in pot], [(str(stratum),) for stratum in pot], totals)
    given = {unit: lots.randrange(3) for unit in lots.sample(range(units), fixed)}
    return SplitDraw(contents, quotas, POTS, given)


def told(state: SplitDraw) -> tuple[str, list[list[int]]]:
    """The split of each unit, and what the strata still need."""
    return "".join(str(state.split[unit]) for unit in sorted(state.split)), state.need


def of_one(quota: list[int], *sizes: int, splits: str = "", fixed: int = 0) -> SplitDraw:
    """Units of one stratum, the first of them in their splits, the first few of those fixed."""
    given = {unit: int(splits[unit]) for unit in range(fixed)}
    state = SplitDraw([((0, size),) for size in sizes], [quota], [[0]], given)
    for unit, split in enumerate(splits):
        state.put(unit, int(split))
    return state


def test_the_lowest_lots_that_fit_go_to_test_then_to_validation() -> None:
    def drawn(quota: list[int], *sizes: int, **more: int) -> tuple[str, list[list[int]]]:
        state = of_one(quota, *sizes)
        state.draw()
        return told(state)

    assert drawn([6, 1, 2], *[1] * 9) == ("221000000", [[0, 0, 0]])
    assert drawn([6, 2, 2], 3, 2, 2, 1, 1, 1) == ("021000", [[0, 0, 0]])
    assert drawn([6, 0, 0], 3, 3) == ("00", [[0, 0, 0]]), "none is filled that nobody wants"
    assert drawn([8, 1, 1], 4, 3, 3) == ("021", [[4, -2, -2]]), "the units that harm least fill empty splits"
    assert drawn([2, 1, 1], 4) == ("0", [[-2, 1, 1]]), "one unit is not taken out of train"
    assert drawn([2, 1, 1], 2, 2) == ("20", [[0, 1, -1]])


def test_single_questions_make_up_for_what_a_pot_lacks() -> None:
    """Of the stratum that is furthest behind, the lowest lot goes in; of that ahead, the highest goes out."""
    quotas = [[8, 1, 1], [16, 2, 2]]
    contents: list[Contents] = [((0, 1),)] * 10 + [((1, 1),)] * 20

    def balanced(first: str, second: str, fixed: tuple[int, ...] = ()) -> str:
        splits = {unit: int(split) for unit, split in enumerate(first + second)}
        state = SplitDraw(contents, quotas, [[0, 1]], {unit: splits[unit] for unit in fixed})
        for unit, split in splits.items():
            state.put(unit, split)
        state.balance()
        return told(state)[0]

    assert balanced("0" * 10, "0" * 20) == "2100000000" + "22110000000000000000"
    assert balanced("2" * 10, "0" * 20) == "2221000000" + "11" + "0" * 18
    assert balanced("0" * 10, "0" * 20, (0, 10)) == "0210000000" + "02211" + "0" * 15
    assert balanced("2100000000", "2211" + "0" * 16) == "2100000000" + "2211" + "0" * 16


@pytest.mark.parametrize("seed", range(12))
def test_each_step_brings_strata_nearer_to_their_quotas_and_moves_nothing_that_was_given(seed: int) -> None:
    state = collection(seed, units=20, most=8, fixed=2)
    given = dict(state.split)

    def away() -> int:
        return sum(need**2 for row in state.need for need in row)

    state.draw()
    drawn = away()
    state.repair()
    assert away() <= drawn
    state.balance()
    assert {unit: state.split[unit] for unit in given} == given
    assert len(state.split) == 20
