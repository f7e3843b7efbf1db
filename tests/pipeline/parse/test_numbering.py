"""Numbers of questions: which irregularity is likelier than which, and what the lines around a number say of it."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from build_dataset.pipeline.parse.heads import GroupHead, NumberCandidate, NumberStyle, number_candidate
from build_dataset.pipeline.parse.lines import ParsedLine
from build_dataset.pipeline.parse.numbering import Boundary, best_chain, unnumbered_items, weigh_candidates
from build_dataset.schemas.documents import LineKind

DOT, BARE, PAREN = NumberStyle.DOT, NumberStyle.BARE, NumberStyle.PAREN
HEAD, KEY = {15: Boundary(0.5)}, {15: Boundary(0.3, key=True)}


def marks(*values: int, weight: float = 1.0, style: NumberStyle = DOT, **more: Any) -> list[NumberCandidate]:
    """Marks on lines 0, 1 …, each a number."""
    return [NumberCandidate(line, value, style, 2, weight, value, **more) for line, value in enumerate(values)]


def price(value: int, *before: int, style: NumberStyle = DOT, boundaries: Mapping[int, Boundary] | None = None) -> int:
    """The least weight, in hundredths, with which a number is taken behind those before it."""
    chain = marks(*before)

    def taken(weight: int) -> bool:
        last = NumberCandidate(len(chain), value, style, 2, weight / 100, value)
        return last in best_chain([*chain, last], boundaries or {})

    return bisect_left(range(2000), True, key=taken)


def lines(text: str) -> list[ParsedLine]:
    return [ParsedLine(line, 1, None, None, LineKind.TEXT) for line in text.split("\n")]


def leaning(text: str, boundaries: Sequence[int] = (), groups: Mapping[int, GroupHead] | None = None) -> str:
    """Return how every line that begins like a question weighs against its form alone: more +, less -, the same =."""
    pieces = lines(text)
    found = [mark for at, one in enumerate(pieces) if (mark := number_candidate(at, one.text))]
    weighed = weigh_candidates(pieces, found, boundaries, groups or {})
    told = zip(found, weighed, strict=True)
    return "".join("=-+"[(one.weight < by_form.weight) + 2 * (one.weight > by_form.weight)] for by_form, one in told)


def test_the_stranger_a_number_is_behind_others_the_more_it_must_have_for_it() -> None:
    three = (1, 2, 3)
    gaps = [price(value, *three) for value in (4, 5, 6, 13)]
    assert gaps == sorted({*gaps})
    styles = [price(4, *three, style=style) for style in (DOT, BARE, PAREN)]
    assert styles == sorted({*styles})
    assert price(4, *three) < price(1, *three) < price(40, *three)
    beginnings = [price(value) for value in (1, 2, 10)]
    assert beginnings == sorted({*beginnings})


def test_a_numbering_begins_again_under_a_head_and_anywhere_inside_a_key() -> None:
    long = tuple(range(1, 16))
    assert price(1, *long, boundaries=KEY) < price(1, *long, boundaries=HEAD) < price(1, *long)
    assert price(7, *long, boundaries=KEY) == price(1, *long, boundaries=KEY)
    assert price(1, *long, boundaries=HEAD) < price(7, *long, boundaries=HEAD)
    assert price(20, *long, boundaries=KEY) < price(20, *long)  # keys leave numbers out


def test_one_question_with_options_is_found_however_late_its_number() -> None:
    assert [mark.value for mark in best_chain(marks(100, weight=1.4), {})] == [100]


@pytest.mark.parametrize(("first", "again", "taken"), [(True, True, True), (False, True, False), (True, False, False)])
def test_a_number_comes_twice_where_options_follow_both(first: bool, again: bool, taken: bool) -> None:
    two = marks(1, 1)
    two = [one._replace(supported=has, options=has) for one, has in zip(two, (first, again), strict=True)]
    assert (best_chain(two, {}) == two) is taken


def test_of_two_equal_chains_the_one_with_near_numbers_is_taken() -> None:
    told = zip((0, 3, 6, 7), marks(1, 2, 2, 3), strict=True)
    found = best_chain([mark._replace(line=line) for line, mark in told], {})
    assert [mark.line for mark in found] == [0, 3, 7]
    assert best_chain([], {}) == []


@pytest.mark.parametrize(
    ("text", "boundaries", "expected"),
    [
        ("1. 甲\nA. 乙\n2. 丙\nA. 丁", [], "++"),
        ("1. 甲\n2. 乙", [], "=="),
        ("1. 甲\n①乙\n②丙\n③丁\nA. ①②\nB. ①③\n2. 戊", [], "+---="),
        ("1. 甲\n①乙\n②丙\n③丁\nA. 甲\nB. 乙\n2. 戊", [], "+===="),
        ("①乙\n②丙\nA. ①②\nB. ①", [], "++"),
        ("1. 甲\n①乙\n②丙\nA. ①②\n", [], "+--"),
        ("1. 甲\n①乙\nA. 甲\n②丙\nA. ①②\n", [], "+=+"),
        ("1. 甲\n（1）乙\n（2）丙\nA. （1）（2）\n2. 戊", [], "+--="),
        ("1. 甲\n①乙\n②丙\n2. 戊\nA. ①②", [], "===+"),
        ("1. 甲\n1. 乙\n2. 丙\nA. 丁", [], "+--"),
        ("1. 甲\n1. 乙\n2. 丙\nA. 丁", [2], "==+"),
        ("5. 甲\n1. 乙\nA. 丁\n2. 丙", [], "=+="),
        ("1. 甲\n1. 乙\n3. 丙\nA. 丁", [], "==+"),
        ("1. 甲\nA. 乙\n解析：\n1. 丙\n2. 丁\n2. 己\nA. 庚", [], "+--+"),
        ("1. 甲\nA. 乙\n解析：\n1. 丙\n2. 丁\n3. 戊", [4], "+--="),
        ("1. 甲\n38.5 mg\nA. 乙", [], "+="),
        ("1. 甲\nA. 乙\n38.5 mg\nA. 丙", [], "++"),
    ],
)
def test_lists_codes_and_quantities_weigh_less_than_questions(text: str, boundaries: list[int], expected: str) -> None:
    assert leaning(text, boundaries) == expected


@pytest.mark.parametrize(
    ("first", "last", "expected"), [(1, 2, "++="), (2, 3, "=++"), (2, None, "==="), (None, None, "===")]
)
def test_the_head_of_a_shared_text_speaks_for_the_numbers_that_it_names(
    first: int | None, last: int | None, expected: str
) -> None:
    named = {0: GroupHead(first, last, options=False, end=0)}
    assert leaning("题干\n1. 甲\n2. 乙\n3. 丙", [0], named) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("甲\nA. 乙\n答案：A\n甲\nA. 乙\n答案：A\n甲\nA. 乙", [(0, 1), (3, 2), (6, 3)]),
        ("甲\nA. 乙\n答案：A\n甲\nA. 乙\n答案：A", []),
        ("A. 乙\n甲\nA. 乙\n甲\nA. 乙\n甲\nA. 乙", []),
        ("甲\nA. 乙\n续\n甲\nA. 乙\n答案：A\n甲\nA. 乙\n答案：A\n甲\nA. 乙", []),
    ],
)
def test_the_line_between_an_answer_and_the_first_option_is_the_stem_of_an_item_without_a_number(
    text: str, expected: object
) -> None:
    assert [(mark.line, mark.value) for mark in unnumbered_items(lines(text))] == expected
