"""Numbers of questions: the price of every irregularity, to a hundredth of a question."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from build_dataset.pipeline.parse.heads import GroupHead, NumberCandidate, NumberStyle, number_candidate
from build_dataset.pipeline.parse.lines import ParsedLine
from build_dataset.pipeline.parse.numbering import Boundary, best_chain, unnumbered_items, weigh_candidates
from build_dataset.schemas.documents import LineKind

DOT, BARE, PAREN = NumberStyle.DOT, NumberStyle.BARE, NumberStyle.PAREN


def marks(*told, style=DOT, **more):
    """Marks on lines 0, 1 …, each a number with its weight."""
    return [NumberCandidate(line, value, style, 2, weight, value, **more) for line, (value, weight) in enumerate(told)]


def price(before, value, style=DOT, boundaries=None, **more):
    """The least weight, in hundredths, with which a further number is taken into the chain."""

    def taken(weight):
        last = NumberCandidate(len(before), value, style, 2, weight / 100, value, **more)
        return last in best_chain([*before, last], boundaries or {})

    return bisect_left(range(2000), True, key=taken)


def lines(text):
    return [ParsedLine(line, 1, None, None, LineKind.TEXT) for line in text.split("\n")]


def weighed(text, boundaries=(), groups=None):
    """Number, weight, support and options of the marks 1. 2. … of a text."""
    pieces = lines(text)
    found = [
        NumberCandidate(at, int(piece.text[0]), DOT, 2, 1.0, int(piece.text[0]))
        for at, piece in enumerate(pieces)
        if piece.text[:1].isdigit()
    ]
    known = weigh_candidates(pieces, found, boundaries, groups or {})
    return [(mark.value, round(mark.weight, 3), mark.supported, mark.options) for mark in known]


THREE = marks((1, 1.0), (2, 1.0), (3, 1.0))
LONG = marks(*((value, 1.0) for value in range(1, 16)))


@pytest.mark.parametrize(
    ("value", "style", "expected"),
    [
        (4, DOT, 1),
        (5, DOT, 81),
        (6, DOT, 131),
        (13, DOT, 360),
        (14, DOT, 365),
        (4, BARE, 41),
        (4, PAREN, 151),
        (5, PAREN, 231),
        (1, DOT, 300),
        (2, DOT, 201),
        (3, DOT, 101),
        (40, DOT, 420),
    ],
)
def test_the_price_of_a_gap_of_another_style_and_of_a_restart(value, style, expected):
    assert price(THREE, value, style) == expected


@pytest.mark.parametrize(
    ("value", "boundaries", "expected"),
    [
        (1, {3: Boundary(0.5)}, 51),
        (2, {3: Boundary(0.5)}, 51),
        (3, {3: Boundary(0.5)}, 201),
        (4, {3: Boundary(0.5)}, 101),
        (6, {3: Boundary(0.5)}, 81),
        (30, {3: Boundary(0.5)}, 415),
        (1, {3: Boundary(0.3, key=True)}, 31),
        (2, {3: Boundary(0.3, key=True)}, 31),
        (3, {3: Boundary(0.3, key=True)}, 31),
        (4, {3: Boundary(0.3, key=True)}, 31),
        (6, {3: Boundary(0.3, key=True)}, 21),
        (30, {3: Boundary(0.3, key=True)}, 415),
        (1, {3: Boundary(3.0)}, 295),
        (2, {3: Boundary(3.0)}, 300),
        (3, {3: Boundary(3.0)}, 201),
        (4, {3: Boundary(3.0)}, 101),
        (6, {3: Boundary(3.0)}, 81),
        (30, {3: Boundary(3.0)}, 415),
    ],
)
def test_the_price_of_a_restart_under_a_head(value, boundaries, expected):
    assert price(marks((2, 1.0), (3, 1.0), (4, 1.0)), value, DOT, boundaries) == expected


@pytest.mark.parametrize(
    ("value", "boundaries", "expected"),
    [
        (1, {}, 801),
        (2, {}, 1011),
        (7, {}, 901),
        (16, {}, 1),
        (24, {}, 431),
        (25, {}, 481),
        (26, {}, 1251),
        (27, {}, 1261),
        (40, {}, 1301),
        (99, {}, 1301),
        (1, {15: Boundary(3.0)}, 301),
        (2, {15: Boundary(3.0)}, 511),
        (7, {15: Boundary(3.0)}, 561),
        (16, {15: Boundary(3.0)}, 1),
        (24, {15: Boundary(3.0)}, 431),
        (25, {15: Boundary(3.0)}, 481),
        (26, {15: Boundary(3.0)}, 751),
        (27, {15: Boundary(3.0)}, 761),
        (40, {15: Boundary(3.0)}, 801),
        (99, {15: Boundary(3.0)}, 801),
        (1, {15: Boundary(0.3, key=True)}, 31),
        (2, {15: Boundary(0.3, key=True)}, 31),
        (7, {15: Boundary(0.3, key=True)}, 31),
        (16, {15: Boundary(0.3, key=True)}, 1),
        (24, {15: Boundary(0.3, key=True)}, 91),
        (25, {15: Boundary(0.3, key=True)}, 101),
        (26, {15: Boundary(0.3, key=True)}, 481),
        (27, {15: Boundary(0.3, key=True)}, 491),
        (40, {15: Boundary(0.3, key=True)}, 531),
        (99, {15: Boundary(0.3, key=True)}, 531),
    ],
)
def test_the_price_of_a_restart_after_many_questions(value, boundaries, expected):
    assert price(LONG, value, DOT, boundaries) == expected


@pytest.mark.parametrize(("value", "expected"), [(1, 1), (2, 6), (3, 11), (10, 46), (25, 121), (26, 121), (100, 121)])
def test_the_price_of_a_late_beginning(value, expected):
    assert price([], value) == expected


@pytest.mark.parametrize(
    ("value", "first", "again", "expected"),
    [
        (2, True, True, 60),
        (2, True, False, 101),
        (2, False, True, 101),
        (2, False, False, 101),
        (3, True, True, 1),
        (3, True, False, 1),
        (3, False, True, 1),
        (3, False, False, 1),
    ],
)
def test_the_price_of_a_number_that_comes_twice(value, first, again, expected):
    before = marks((1, 1.0), (2, 1.0), supported=first, options=first)
    assert price(before, value, supported=True, options=again) == expected


def test_a_far_number_costs_a_little_more():
    near, far = (NumberCandidate(line, 2, DOT, 2, 0.05, 2) for line in (400, 600))
    assert price(marks((1, 1.0)), 2) == 1
    assert best_chain([*marks((1, 1.0)), near], {})[-1] is near
    assert far not in best_chain([*marks((1, 1.0)), far], {})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1. 甲\nA. 乙\n2. 丙\nA. 丁", [(1, 1.4, True, True), (2, 1.4, True, True)]),
        ("1. 甲\n2. 乙", [(1, 1.0, False, False), (2, 1.0, False, False)]),
        ("1. 甲\n答案：A\n2. 乙", [(1, 1.0, True, False), (2, 1.0, False, False)]),
        (
            "1. 甲\n1. 乙\n2. 丙\n3. 丁\nA. 戊\n2. 己\nA. 庚",
            [
                (1, 1.4, True, True),
                (1, 0.5, False, False),
                (2, 0.5, False, False),
                (3, 0.5, False, False),
                (2, 1.4, True, True),
            ],
        ),
        (
            "1. 甲\nA. 乙\n解析：\n1. 丙\n2. 丁\n2. 己\nA. 庚",
            [(1, 1.4, True, True), (1, 0.5, False, False), (2, 0.5, False, False), (2, 1.4, True, True)],
        ),
    ],
)
def test_what_follows_a_number_gives_it_weight(text, expected):
    assert weighed(text) == expected


@pytest.mark.parametrize(("between", "options"), [(28, True), (29, False)])
def test_options_follow_a_number_within_thirty_lines(between, options):
    assert weighed("1. 甲\n" + "乙\n" * between + "A. 丙") == [(1, 1.4 if options else 1.0, options, options)]


def test_the_head_of_a_shared_text_names_its_numbers():
    named = {0: GroupHead(1, 2, options=False, end=2)}
    assert weighed("题干\n1. 甲\n2. 乙\n3. 丙", [0], named) == [
        (1, 1.5, False, False),
        (2, 1.5, False, False),
        (3, 1.0, False, False),
    ]


@pytest.mark.parametrize(("stems", "found"), [(3, 3), (2, 0)])
def test_a_paper_without_numbers_has_three_items_or_more(stems, found):
    text = "\n".join("甲\nA. 乙\nB. 丙\n答案：A" for _ in range(stems))
    assert [mark.value for mark in unnumbered_items(lines(text))] == list(range(1, found + 1))


@pytest.mark.parametrize(("plain", "found"), [(9, 9), (8, 0)])
def test_nine_of_ten_items_without_numbers_have_one_line_before_their_options(plain, found):
    items = ["甲\nA. 乙\nB. 丙\n答案：A"] * plain + ["甲\n乙\nA. 乙\nB. 丙\n答案：A"] * (10 - plain)
    assert len(unnumbered_items(lines("\n".join(items)))) == found


def weights(
    text: str, boundaries: Sequence[int] = (), groups: Mapping[int, GroupHead] | None = None
) -> list[tuple[int, int, float, bool, bool]]:
    """Line, number, weight, support and options of every line that begins like a question."""
    pieces = lines(text)
    found = [mark for at, one in enumerate(pieces) if (mark := number_candidate(at, one.text))]
    return [
        (mark.line, mark.value, round(mark.weight, 3), mark.supported, mark.options)
        for mark in weigh_candidates(pieces, found, boundaries, groups or {})
    ]


@pytest.mark.parametrize(
    ("text", "boundaries", "expected"),
    [
        (
            "1. 甲\n①乙\n②丙\n③丁\nA. ①②\nB. ①③\n2. 戊",
            [],
            [
                (0, 1, 1.4, True, True),
                (1, 1, 0.0, False, False),
                (2, 2, 0.0, False, False),
                (3, 3, 0.0, False, False),
                (6, 2, 1.0, False, False),
            ],
        ),
        (
            "1. 甲\n①乙\n②丙\n③丁\nA. 甲\nB. 乙\n2. 戊",
            [],
            [
                (0, 1, 1.4, True, True),
                (1, 1, 0.3, False, False),
                (2, 2, 0.3, False, False),
                (3, 3, 0.3, False, False),
                (6, 2, 1.0, False, False),
            ],
        ),
        ("①乙\n②丙\nA. ①②\nB. ①", [], [(0, 1, 0.7, True, True), (1, 2, 0.7, True, True)]),
        (
            "1. 甲\n①乙\nA. ①②\n2. 戊",
            [],
            [(0, 1, 1.4, True, True), (1, 1, 0.3, False, False), (3, 2, 1.0, False, False)],
        ),
        (
            "1. 甲\n①乙\n②丙\nA. ①②\n",
            [],
            [(0, 1, 1.4, True, True), (1, 1, 0.0, False, False), (2, 2, 0.0, False, False)],
        ),
        (
            "1. 甲\n①乙\nA. 甲\n②丙\nA. ①②\n",
            [],
            [(0, 1, 1.4, True, True), (1, 1, 0.3, False, False), (3, 2, 0.7, True, True)],
        ),
        (
            "1. 甲\n②乙\n③丙\nA. ①②\n",
            [],
            [(0, 1, 1.4, True, True), (1, 2, 0.3, False, False), (2, 3, 0.3, False, False)],
        ),
        (
            "1. 甲\n（1）乙\n（2）丙\nA. （1）（2）\n2. 戊",
            [],
            [(0, 1, 1.4, True, True), (1, 1, 0.0, False, False), (2, 2, 0.0, False, False), (4, 2, 1.0, False, False)],
        ),
        (
            "1. 甲\n①乙\n②丙\n2. 戊\nA. ①②",
            [],
            [(0, 1, 1.0, False, False), (1, 1, 0.3, False, False), (2, 2, 0.3, False, False), (3, 2, 1.4, True, True)],
        ),
        (
            "1. 甲\n①乙\n②丙\n③丁\n⑤戊\nA. ①②",
            [],
            [
                (0, 1, 1.4, True, True),
                (1, 1, 0.3, False, False),
                (2, 2, 0.3, False, False),
                (3, 3, 0.3, False, False),
                (4, 5, 0.3, False, False),
            ],
        ),
        (
            "1. 甲\n1. 乙\n2. 丙\nA. 丁",
            [],
            [(0, 1, 1.4, True, True), (1, 1, 0.5, False, False), (2, 2, 0.5, False, False)],
        ),
        (
            "1. 甲\n1. 乙\n2. 丙\nA. 丁",
            [2],
            [(0, 1, 1.0, False, False), (1, 1, 1.0, False, False), (2, 2, 1.4, True, True)],
        ),
        (
            "1. 甲\n1. 乙\n2. 丙\nA. 丁",
            [0],
            [(0, 1, 1.4, True, True), (1, 1, 0.5, False, False), (2, 2, 0.5, False, False)],
        ),
        (
            "1. 甲\n1. 乙\n2. 丙\nA. 丁",
            [3],
            [(0, 1, 1.4, True, True), (1, 1, 0.5, False, False), (2, 2, 0.5, False, False)],
        ),
        (
            "5. 甲\n1. 乙\nA. 丁\n2. 丙",
            [],
            [(0, 5, 1.0, False, False), (1, 1, 1.4, True, True), (3, 2, 1.0, False, False)],
        ),
        (
            "1. 甲\n1. 乙\n3. 丙\nA. 丁",
            [],
            [(0, 1, 1.0, False, False), (1, 1, 1.0, False, False), (2, 3, 1.4, True, True)],
        ),
        (
            "1. 甲\n1. 乙\n2. 丙\n3. 丁",
            [],
            [
                (0, 1, 1.0, False, False),
                (1, 1, 1.0, False, False),
                (2, 2, 1.0, False, False),
                (3, 3, 1.0, False, False),
            ],
        ),
        (
            "1. 甲\nA. 乙\n解析：\n1. 丙\n2. 丁\n2. 己\nA. 庚",
            [],
            [(0, 1, 1.4, True, True), (3, 1, 0.5, False, False), (4, 2, 0.5, False, False), (5, 2, 1.4, True, True)],
        ),
        (
            "1. 甲\nA. 乙\n解析：\n1. 丙\n2. 丁\n3. 戊",
            [4],
            [(0, 1, 1.4, True, True), (3, 1, 0.5, False, False), (4, 2, 0.5, False, False), (5, 3, 1.0, False, False)],
        ),
        (
            "1. 甲\nA. 乙\n解析：\n1. 丙\n2. 丁\n3. 戊",
            [5],
            [(0, 1, 1.4, True, True), (3, 1, 0.5, False, False), (4, 2, 0.5, False, False), (5, 3, 0.5, False, False)],
        ),
        ("1. 甲\n38.5 mg\nA. 乙", [], [(0, 1, 1.4, True, True), (1, 38, -0.2, False, False)]),
        ("1. 甲\nA. 乙\n38.5 mg\nA. 丙", [], [(0, 1, 1.4, True, True), (2, 38, 0.2, True, True)]),
        ("1. 甲\n38.5 mg\nA. 乙", [1], [(0, 1, 1.4, True, True), (1, 38, 0.2, True, True)]),
        ("38.5 mg\nA. 乙", [], [(0, 38, 0.2, True, True)]),
        ("1. 甲 A. 乙\n2. 甲答案：B", [], [(0, 1, 1.4, True, True), (1, 2, 1.0, True, False)]),
        ("7 甲\n答案：A\n8 \nA. 甲", [], [(0, 7, 1.0, True, True), (2, 8, 0.45, False, False)]),
    ],
)
def test_lists_codes_and_quantities_weigh_less_than_questions(
    text: str, boundaries: list[int], expected: object
) -> None:
    assert weights(text, boundaries) == expected


@pytest.mark.parametrize(("between", "coded"), [(28, True), (29, False)])
def test_the_codes_of_statements_follow_within_thirty_lines(between: int, coded: bool) -> None:
    found = weights("1. 甲\n①乙\n②丙\n" + "续\n" * between + "A. ①②")
    assert [weight for _, _, weight, _, _ in found] == [1.0, *[0.0 if coded else 0.3] * 2]


@pytest.mark.parametrize(("between", "listed"), [(27, True), (28, False)])
def test_an_explanation_follows_its_number_within_thirty_lines(between: int, listed: bool) -> None:
    found = weights("1. 甲\nA. 乙\n" + "续\n" * between + "解析：\n1. 丙\n2. 丁")
    assert [weight for _, _, weight, _, _ in found] == [1.4, *[0.5 if listed else 1.0] * 2]


@pytest.mark.parametrize(("between", "waits"), [(28, True), (29, True), (30, False), (31, False)])
def test_an_item_waits_thirty_lines_for_its_options(between: int, waits: bool) -> None:
    found = weights("1. 甲\n" + "续\n" * between + "38.5 mg\nA. 乙")
    assert found[1][2:] == ((-0.2, False, False) if waits else (0.2, True, True))


@pytest.mark.parametrize(
    ("at", "first", "last", "expected"),
    [
        (0, 1, 2, [1.5, 1.5, 1.0, 1.0]),
        (0, 2, 3, [1.0, 1.5, 1.5, 1.0]),
        (0, 2, None, [1.0, 1.0, 1.0, 1.0]),
        (0, None, None, [1.0, 1.0, 1.0, 1.0]),
        (4, 4, 5, [1.0, 1.0, 1.0, 1.5]),
        (0, 1, 4, [1.5, 1.5, 1.5, 1.0]),
    ],
)
def test_the_nearest_head_of_a_shared_text_names_its_numbers(
    at: int, first: int | None, last: int | None, expected: list[float]
) -> None:
    named = {at: GroupHead(first, last, options=False, end=0)}
    found = weights("题干\n1. 甲\n2. 乙\n3. 丙\n题\n4. 甲", [0, 4], named)
    assert [weight for _, _, weight, _, _ in found] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("甲\nA. 乙\n答案：A\n甲\nA. 乙\n答案：A\n甲\nA. 乙", [(0, 1), (3, 2), (6, 3)]),
        ("A. 乙\n甲\nA. 乙\n甲\nA. 乙\n甲\nA. 乙", []),
        ("甲\nA. 乙\n续\n甲\nA. 乙\n答案：A\n甲\nA. 乙\n答案：A\n甲\nA. 乙", []),
        ("题\n甲\nA. 乙\n答案：A\n甲\nA. 乙\n答案：A\n甲\nA. 乙\n答案：A\n甲\nA. 乙", []),
    ],
)
def test_the_line_between_an_answer_and_the_first_option_is_a_stem(text: str, expected: object) -> None:
    assert [(mark.line, mark.value) for mark in unnumbered_items(lines(text))] == expected


def spread(*told: tuple[int, int, float], **more: Any) -> list[NumberCandidate]:
    """Marks by line, number and weight."""
    return [NumberCandidate(line, value, DOT, 2, weight, value, **more) for line, value, weight in told]


def test_a_far_number_costs_a_tenth_at_most() -> None:
    for line, least in ((1, 1), (500, 6), (1000, 11), (5000, 11)):
        taken = [
            hundredths
            for hundredths in range(20)
            if len(best_chain(spread((0, 1, 1.0), (line, 2, hundredths / 100)), {})) == 2
        ]
        assert min(taken) in (least - 1, least)


def test_of_two_equal_chains_the_one_with_near_numbers_is_taken() -> None:
    found = best_chain(spread((0, 1, 1.0), (3, 2, 1.0), (6, 2, 1.0), (7, 3, 1.0)), {})
    assert [mark.line for mark in found] == [0, 3, 7]
    assert best_chain([], {}) == []
    assert best_chain(spread((0, 1, 0.0)), {}) == []


def test_a_head_before_all_numbers_costs_nothing() -> None:
    found = best_chain(spread((1, 1, 1.0), (2, 2, 1.0)), {0: Boundary(0.5), 2: Boundary(9.0)})
    assert [mark.value for mark in found] == [1, 2]


def test_a_number_comes_twice_after_one_of_several() -> None:
    several = NumberCandidate(0, 1, DOT, 2, 1.1, 2)
    again = NumberCandidate(1, 1, DOT, 2, 1.0, 1, supported=True, options=True)
    assert [mark.line for mark in best_chain([several, again], {})] == [0, 1]
    plain = several._replace(last=1, supported=False)
    assert [mark.line for mark in best_chain([plain, again], {})] == [0]
    told = plain._replace(supported=True)
    assert [mark.line for mark in best_chain([told, again], {})] == [0, 1]
    answered = again._replace(options=False)
    assert [mark.line for mark in best_chain([told, answered], {})] == [0, 1]
    assert [mark.line for mark in best_chain([told._replace(options=True), answered], {})] == [0]
    assert [mark.line for mark in best_chain([told, again._replace(style=PAREN)], {})] == [0]
