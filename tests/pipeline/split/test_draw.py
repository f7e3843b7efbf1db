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


def steps(seed: int, **more: int) -> list[str]:
    state = collection(seed, **more)
    found = []
    for step in (state.draw, state.repair, state.balance):
        step()
        found.append(told(state)[0])
    return [*found, " ".join(",".join(map(str, row)) for row in state.need)]


GOLDEN: dict[tuple[int, int, int, int], list[str]] = {
    (70, 24, 5, 0): [
        "222002110012110000000200",
        "222002110011110000000200",
        "222002110011110000002200",
        "1,0,-1 -1,0,1 0,0,0 0,0,0",
    ],
    (70, 20, 8, 2): [
        "22212002002001000002",
        "20012202002001000001",
        "22012222002001000000",
        "0,0,0 0,0,0 -1,1,0 3,-3,0",
    ],
    (71, 20, 8, 2): [
        "00202002002221100000",
        "00101022202221100200",
        "00101022200221100200",
        "0,1,-1 0,-1,1 -1,0,1 1,1,-2",
    ],
    (72, 20, 8, 2): [
        "00220222000012022100",
        "00220222010012020100",
        "00220222010012022000",
        "0,1,-1 0,0,0 1,-1,0 -1,1,0",
    ],
    (73, 24, 5, 0): [
        "200022012202021110000000",
        "100022012222021100000001",
        "100022012222021000000001",
        "-1,1,0 1,-1,0 0,0,0 0,0,0",
    ],
    (74, 24, 5, 0): [
        "022022121200020010001000",
        "022022121200020010022100",
        "022021121200010010022100",
        "1,0,-1 -1,0,1 0,1,-1 0,-1,1",
    ],
    (74, 20, 8, 2): [
        "21200222121100100000",
        "20200222021101000000",
        "21200222021101100000",
        "1,0,-1 6,0,-6 0,0,0 1,-1,0",
    ],
    (75, 20, 8, 2): [
        "00002200020021202020",
        "01000200210021202010",
        "01002200210021202210",
        "-2,1,1 1,-1,0 1,0,-1 0,-2,2",
    ],
    (76, 20, 8, 2): [
        "00202212002002002020",
        "01202202002012002010",
        "01200202002012002010",
        "1,0,-1 0,-1,1 -1,1,0 -2,1,1",
    ],
    (77, 20, 8, 2): [
        "01202202102000020012",
        "21202202102000002012",
        "21202100102000002012",
        "0,0,0 0,0,0 0,1,-1 0,-1,1",
    ],
    (78, 24, 5, 0): [
        "220020200102200200100200",
        "220020000101200200102200",
        "220020000111200200112200",
        "1,-1,0 -1,1,0 1,-1,0 0,1,-1",
    ],
    (79, 24, 5, 0): [
        "022220201022010010000020",
        "022220201021010210000100",
        "022220101021010200000120",
        "-1,1,0 1,-1,0 0,0,0 0,0,0",
    ],
    (79, 20, 8, 2): [
        "02220001000120202000",
        "00210201002110022000",
        "00210201012110022000",
        "2,-1,-1 1,0,-1 -2,1,1 2,-1,-1",
    ],
    (3, 30, 4, 0): [
        "220022212012022010100000000010",
        "220022212012022010100000000010",
        "220022212012022010100000000010",
        "0,0,0 0,0,0 0,0,0 0,0,0",
    ],
    (5, 18, 5, 0): ["002221000111000000", "202221000111000000", "202221000111000000", "0,0,0 0,0,0 0,1,-1 -1,0,1"],
    (6, 40, 3, 0): [
        "2222221212020201000210000000000000000100",
        "2222221212020201000210000000000000000100",
        "2222221212020201000210000000000000000100",
        "0,0,0 0,0,0 0,0,0 0,0,0",
    ],
    (10, 9, 4, 0): ["210000202", "210000202", "210000202", "0,0,0 0,0,0 0,0,0 -1,1,0"],
    (11, 28, 5, 5): [
        "0202220201202121020010010001",
        "0202220201202121020010010001",
        "0202220201202120020010010100",
        "-1,1,0 1,-1,0 1,-2,1 -2,2,0",
    ],
}


@pytest.mark.parametrize("case", GOLDEN)
def test_units_go_where_they_went(case: tuple[int, int, int, int]) -> None:
    seed, units, most, fixed = case
    assert steps(seed, units=units, most=most, fixed=fixed) == GOLDEN[case]


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
