"""Lines of answers: lists, ranges, rows, grids, and the heads over them."""

from __future__ import annotations

import pytest

from pipeline.parse.keylines import answer_lines, answers_apart, grid, key_heads, line_pairs
from pipeline.parse.lines import ParsedLine
from schemas.documents import LineKind


def lines(text, confidence=None):
    return [ParsedLine(line, 1, None, confidence, LineKind.TEXT) for line in text.split("\n")]


def pairs(text):
    return [(pair.number, pair.letters) for pair in line_pairs(text)]


def told_grid(text):
    found = grid(text.split("\n"))
    return found and ([(one.number, one.letters) for one in found.pairs], found.span, found.lines)


def answers(text, confidence=None):
    """For every line of answers its numbers and letters, and all numbers of its row."""
    pieces = lines(text, confidence)
    found = answer_lines(pieces, key_heads(pieces))
    return {
        at: line and ([(one.number, one.letters) for one in line.pairs], line.span)
        for at, line in found.items()
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.A 2.B", [(1, "A"), (2, "B")]),
        ("1-5 ABCDE", [(1, "A"), (2, "B"), (3, "C"), (4, "D"), (5, "E")]),
        ("1-3 AB C BD", [(1, "AB"), (2, "C"), (3, "BD")]),
        ("1-3 AB", []),
        ("3-1 AB", []),
        ("1.A C E", [(1, "ACE")]),
        ("1.C B A", []),
        ("1.A C 2.B", [(1, "AC"), (2, "B")]),
        ("1.A C 3.B", []),
        ("1. # 2.A", [(1, "#"), (2, "A")]),
        ("1a 2b 3c", [(1, "A"), (2, "B"), (3, "C")]),
        ("1a 2b", []),
        ("1a 2b 4c", []),
        ("1√ 2×", [(1, "√"), (2, "×")]),
        ("1 A 200 B", [(1, "A"), (200, "B")]),
        ("1 A 201 B", []),
        ("、1.A", [(1, "A")]),
        ("l.A 2.B", [(1, "A"), (2, "B")]),
        ("1.A 甲", []),
        ("题 1.A", []),
        ("1.ABC", [(1, "ABC")]),
        ("10.D", [(10, "D")]),
        ("1-2 A、B", [(1, "A"), (2, "B")]),
    ],
)
def test_the_answers_of_a_line(text, expected):
    assert pairs(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("题号 1 2 3 4\n答案 A B C D", ([(1, "A"), (2, "B"), (3, "C"), (4, "D")], (1, 2, 3, 4), 2)),
        ("题号 1 2 3 4\n答案 A B C", ([(1, "A"), (2, "B"), (3, "C")], (1, 2, 3, 4), 2)),
        ("题号 1 2 3\n答案 A B C D", None),
        ("1 2 3\nA B C", ([(1, "A"), (2, "B"), (3, "C")], (1, 2, 3), 2)),
        ("1 2\nA B", None),
        ("题号 1 2 3\n答案 ABC", ([(1, "A"), (2, "B"), (3, "C")], (1, 2, 3), 2)),
        ("题号 1 3\n答案 A B", None),
        ("题号\n1\n2\n答案\nA\nB", ([(1, "A"), (2, "B")], (1, 2), 6)),
        ("题号 1 2\n答案 # 井", ([(1, "#"), (2, "#")], (1, 2), 2)),
        (
            "題號 23 2425 26\n答案 A B C D",
            ([(23, "A"), (24, "B"), (25, "C"), (26, "D")], (23, 24, 25, 26), 2),
        ),
        ("题号 1 2", None),
        ("1 2 3\nA B", None),
        ("甲", None),
    ],
)
def test_a_grid_of_numbers_and_answers(text, expected):
    assert told_grid(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.A\n2.B\n3.C", {0: ([(1, "A")], ()), 1: ([(2, "B")], ()), 2: ([(3, "C")], ())}),
        ("1.A\n2.B", {}),
        ("参考答案\n1.A\n2.B", {1: ([(1, "A")], ()), 2: ([(2, "B")], ())}),
        ("参考答案\n甲\n1.A", {}),
        ("1.A 2.B\n3.C", {0: ([(1, "A"), (2, "B")], ()), 1: ([(3, "C")], ())}),
        ("1.A 2.B\n甲\n3.C", {0: ([(1, "A"), (2, "B")], ())}),
        ("1 A C B\n4 D A\n6 B", {}),
        ("参考答案\n1.A\n解析：甲\n2.B", {}),
        ("参考答案\n1.A\n甲对。\n2.B", {}),
        ("题号 1 2 3\n答案 A B", {0: ([(1, "A"), (2, "B")], (1, 2, 3)), 1: None}),
        (
            "题号 1 2 3\n答案 A B\n题号 4 5 6\n答案 A B C",
            {0: ([], (1, 2, 3)), 1: None, 2: ([(4, "A"), (5, "B"), (6, "C")], (4, 5, 6)), 3: None},
        ),
        ("习题答案\n1.A", {1: ([(1, "A")], ())}),
        ("习题答案\n甲\n乙\n丙\n1.A", {}),
        ("习题答案\n甲\n乙\n1.A", {}),
        ("答案\nA", {}),
        ("答案\nA\nB", {}),
        ("一、单选题\n1.A", {}),
    ],
)
def test_lines_of_answers_in_a_paper(text, expected):
    assert answers(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("题号 1 2 3\n答案 A B", {0: ([], (1, 2, 3)), 1: None}),
        ("题号 1 2 3\n答案 A B C", {0: ([(1, "A"), (2, "B"), (3, "C")], (1, 2, 3)), 1: None}),
    ],
)
def test_a_short_row_that_was_recognised_is_not_read(text, expected):
    assert answers(text, 0.9) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("参考答案：1-5 ABCDE", ["参考答案：", "1-5 ABCDE"]),
        ("多选题：1.ABC 2.BD", ["多选题：", "1.ABC 2.BD"]),
        ("多选题：1.ABC", ["多选题：", "1.ABC"]),
        ("参考答案：1.A", ["参考答案：1.A"]),
        ("1.A 2.B 3.\nC 4.D", ["1.A 2.B 3. C 4.D", ""]),
        ("1.A 2.B\n3.C", ["1.A 2.B", "3.C"]),
        ("甲1.A 2.B", ["甲1.A 2.B"]),
        ("参考答案\n题", ["参考答案", "题"]),
    ],
)
def test_answers_stand_apart_from_their_head(text, expected):
    assert [piece.text for piece in answers_apart(lines(text))] == expected
