"""Room on a page where lines may have stood that were not read: how much of it makes a question wait."""

from __future__ import annotations

from bisect import bisect_left

import pytest

from pipeline.parse.lines import ParsedLine
from pipeline.parse.paper import finish
from pipeline.parse.rooms import ColumnEdges, has_label, is_complete_line
from pipeline.parse.stage import check_gates, read_paper
from schemas.documents import Box, Line, LineKind
from tests.pipeline.parse.short import DOCUMENT, FOUR, items

THREE = items(1, 2, 3)
STEM = "1. 第1项的第一行文字没有说完它继续写到下一行\n于是对的是\n" + FOUR + "\n" + items(2, 3)
HEAD = items(1, 2) + "\n二、单选题\n" + items(3, 4)
KEY = items(1, 2, 3) + "\n参考答案\n1.A\n解析：甲对。\n2.B\n解析：乙对。\n3.C\n解析：丙对。"
CASES = "（1～2题共用题干）\n男，45岁。上腹痛3天，伴黄疸，发热2天。\n" + items(1, 2, 3, 4)


def page(text, at=-1, extra=0.0, confidence=None, number=1, top=0.0):
    """Lines ten high and five apart, a hundred wide where they are full, with more room before one of them."""
    lines, below = [], top
    for order, line in enumerate(text.split("\n")):
        below += extra if order == at else 0.0
        box = Box(x0=0.0, y0=below, x1=min(5.0 * len(line), 100.0), y1=below + 10)
        told = {"document": "x.pdf", "page": number, "order": order, "column": 0, "kind": LineKind.TEXT}
        lines.append(Line(text=line, box=box, confidence=confidence, **told))
        below += 15
    return lines


def waits(lines):
    paper = read_paper("x.pdf", lines)
    check_gates(paper)
    return {item.item_id[-3:] for item in finish(paper, DOCUMENT).review}


def room(text, at, confidence=None):
    """The least room before a line, in quarters of a tenth of its height, with which something waits, and what."""
    place = bisect_left(
        range(300), True, key=lambda extra: bool(waits(page(text, at, extra / 4, confidence)))
    )
    return place, sorted(waits(page(text, at, place / 4, confidence)))


def ends_short(share, chars):
    """Return whether a line of so many characters of a paper without boxes ends short of its width."""
    pieces = [ParsedLine("甲" * size, 1, None, None, LineKind.TEXT) for size in [*[50] * share, 80, 80]]
    return ColumnEdges(pieces).ends_short(ParsedLine("甲" * chars, 1, None, None, LineKind.TEXT))


def piece(text, end):
    return ParsedLine(text, 1, Box(x0=0.0, y0=0.0, x1=end, y1=10.0), None, LineKind.TEXT)


@pytest.mark.parametrize(
    ("text", "at", "confidence", "expected"),
    [
        (THREE, 1, None, (90, ["001"])),
        (THREE, 1, 0.9, (90, ["001"])),
        (THREE, 2, None, (90, ["001"])),
        (THREE, 2, 0.9, (90, ["001"])),
        (THREE, 4, None, (90, ["001"])),
        (THREE, 4, 0.9, (90, ["001"])),
        (THREE, 5, None, (73, ["001"])),
        (THREE, 5, 0.9, (145, ["001"])),
        (THREE, 6, None, (90, ["002"])),
        (THREE, 6, 0.9, (90, ["002"])),
        (THREE, 10, None, (73, ["002"])),
        (THREE, 10, 0.9, (145, ["002"])),
        (STEM, 1, None, (37, ["001"])),
        (STEM, 2, None, (90, ["001"])),
        (STEM, 3, None, (90, ["001"])),
        (STEM, 6, None, (73, ["001"])),
        (HEAD, 10, None, (90, ["002"])),
        (HEAD, 11, None, (300, [])),
        (HEAD, 12, None, (90, ["003"])),
        (KEY, 15, None, (90, ["003"])),
        (KEY, 16, None, (300, [])),
        (KEY, 17, None, (300, [])),
        (KEY, 18, None, (300, [])),
        (CASES, 1, None, (37, ["001", "002"])),
        (CASES, 2, None, (37, ["001", "002"])),
        (CASES, 3, None, (90, ["001"])),
        (CASES, 7, None, (37, ["001"])),
        (CASES, 12, None, (37, ["002"])),
    ],
)
def test_how_much_room_before_a_line_makes_a_question_wait(text, at, confidence, expected):
    assert room(text, at, confidence) == expected


@pytest.mark.parametrize(
    ("share", "chars", "expected"),
    [
        (48, 29, True),
        (48, 30, True),
        (48, 47, True),
        (48, 48, False),
        (49, 29, True),
        (49, 30, True),
        (49, 47, True),
        (49, 48, False),
        (50, 29, True),
        (50, 30, False),
        (50, 47, False),
        (50, 48, False),
    ],
)
def test_a_line_without_a_box_is_short_against_nearly_the_widest(share, chars, expected):
    assert ends_short(share, chars) is expected


@pytest.mark.parametrize(
    ("text", "end", "expected"),
    [
        ("甲", 59.0, (True, True)),
        ("甲", 60.0, (True, False)),
        ("甲", 79.0, (True, False)),
        ("甲", 80.0, (False, False)),
        ("甲", 100.0, (False, False)),
        ("甲。", 59.0, (True, True)),
        ("甲。", 60.0, (True, False)),
        ("甲。", 79.0, (True, False)),
        ("甲。", 80.0, (True, False)),
        ("甲。", 100.0, (True, False)),
    ],
)
def test_a_line_is_complete_by_its_words_or_two_heights_before_the_edge(text, end, expected):
    edges = ColumnEdges([piece("甲", 100.0)])
    assert (is_complete_line(piece(text, end), edges), edges.ends_short(piece(text, end))) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A. 甲", True),
        ("甲 B. 乙", False),
        ("甲A乙", False),
        ("甲  B. 乙", True),
        ("甲B. 乙", False),
        ("维生素A", False),
    ],
)
def test_a_clear_label_of_an_option(text, expected):
    assert has_label(text) == expected


def pages(ends, begins=0.0):
    """Return what waits of pages of two questions each, one of which lacks its last line, or begins lower."""
    lines = []
    for number in range(1, 13):
        text = items(2 * number - 1, 2 * number)
        text = text.rsplit("\n", 1)[0] if number == 6 and ends else text
        lines += page(text, number=number, top=begins if number == 6 else 0.0)
    return sorted(waits(lines))


@pytest.mark.parametrize(
    ("ends", "begins", "expected"),
    [
        (False, 0.0, []),
        (True, 0.0, ["012"]),
        (False, 9.0, []),
        (False, 9.5, ["010"]),
        (False, 30.0, ["010"]),
    ],
)
def test_a_page_that_ends_higher_or_begins_lower_than_the_others(ends, begins, expected):
    assert pages(ends, begins) == expected
