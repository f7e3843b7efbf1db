"""Lines of answers: lists, ranges, rows, grids, and the heads over them."""

from dataclasses import replace

import pytest

from build_dataset.pipeline.parse.keylines import answer_lines, grid, key_heads, line_pairs, split_answer_lines
from build_dataset.pipeline.parse.lines import ParsedLine
from build_dataset.schemas.documents import LineKind


def lines(text, confidence=None):
    return [ParsedLine(line, 1, None, confidence, LineKind.TEXT) for line in text.split("\n")]


def paired(pairs):
    return " ".join(f"{pair.number}{pair.letters}" for pair in pairs)


def numbered(count):
    return "\n".join(f"{at}.A" for at in range(1, count + 1))


def answers(text, confidence=None):
    """For every line of answers its numbers with their letters, and all numbers of its row."""
    pieces = lines(text, confidence)
    found = answer_lines(pieces, key_heads(pieces))
    rows = {at: line and " ".join(map(str, line.span)) for at, line in found.items()}
    return {at: line and paired(line.pairs) + f" of {rows[at]}" * bool(line.span) for at, line in found.items()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.A 2.B", "1A 2B"),
        ("1-5 ABCDE", "1A 2B 3C 4D 5E"),
        ("1-3 AB C BD", "1AB 2C 3BD"),
        ("1-3 AB", ""),
        ("3-1 AB", ""),
        ("1.A C E", "1ACE"),
        ("1.C B A", ""),
        ("1.A C 2.B", "1AC 2B"),
        ("1.A C 3.B", ""),
        ("1. # 2.A", "1# 2A"),
        ("1a 2b 3c", "1A 2B 3C"),
        ("1a 2b", ""),
        ("1a 2b 4c", ""),
        ("1√ 2×", "1√ 2×"),
        ("1 A 200 B", "1A 200B"),
        ("1 A 201 B", ""),
        ("、1.A", "1A"),
        ("l.A 2.B", "1A 2B"),
        ("1.A 甲", ""),
        ("题 1.A", ""),
        ("1.ABC", "1ABC"),
        ("10.D", "10D"),
        ("1-2 A、B", "1A 2B"),
        ("1 A 199 B", "1A 199B"),
        ("200 A 1 B", "200A 1B"),
        ("1 A 201 B 2 C", ""),
        ("1.a 2.b 3.c", "1A 2B 3C"),
        ("1.a 2.b", ""),
        ("1.a 2.b 4.d", ""),
        ("1.a 2.B 3.c", ""),
        ("1.A、C 2.B", "1AC 2B"),
        ("1.A、C 3.B", ""),
        ("5.A C 6.B", "5AC 6B"),
        ("1.√ 3.×", "1√ 3×"),
        ("1.送分 3.A", "1# 3A"),
        ("1-2 AB CD", "1AB 2CD"),
        ("1-4 AB CD", "1A 2B 3C 4D"),
        ("1-3 AB CD", ""),
        ("1-1 A", "1A"),
        ("2-1 A", ""),
        ("1-0 A", ""),
        ("1-3 A B CD", "1A 2B 3CD"),
        ("1.A\t2.B", "1A 2B"),
        ("1.（A） 2.B", "1A 2B"),
        ("5.C B D", ""),
        ("5.C B", ""),
        ("5.B C", "5BC"),
        ("1.A或B 2.C", "1# 2C"),
        ("1.A,C,E 2.B", "1ACE 2B"),
        ("1.A、C", "1AC"),
        ("1.ACA", "1ACA"),
        ("1.A C A", ""),
        ("7-9 ABC 10.D", "7A 8B 9C 10D"),
        ("7-9 AB 10.D", ""),
    ],
)
def test_the_answers_of_a_line(text, expected):
    assert paired(line_pairs(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("题号 1 2 3 4\n答案 A B C D", ("1A 2B 3C 4D", "1 2 3 4", 2)),
        ("题号 1 2 3 4\n答案 A B C", ("1A 2B 3C", "1 2 3 4", 2)),
        ("题号 1 2 3\n答案 A B C D", None),
        ("1 2 3\nA B C", ("1A 2B 3C", "1 2 3", 2)),
        ("1 2\nA B", None),
        ("题号 1 2 3\n答案 ABC", ("1A 2B 3C", "1 2 3", 2)),
        ("题号 1 3\n答案 A B", None),
        ("题号\n1\n2\n答案\nA\nB", ("1A 2B", "1 2", 6)),
        ("题号 1 2\n答案 # 井", ("1# 2#", "1 2", 2)),
        ("题号 1 2", None),
        ("1 2 3\nA B", None),
        ("甲", None),
        ("题号 1 2\nA B", None),
        ("1 2\n答案 A B", None),
        ("题号 1 2 3\nA B C", ("1A 2B 3C", "1 2 3", 2)),
        ("1 2 3\n答案 A B C", ("1A 2B 3C", "1 2 3", 2)),
        ("1 2 3\n答案 A B", None),
        ("题号 1\n答案 A", ("1A", "1", 2)),
        ("题号 1\n答案 AB", ("1AB", "1", 2)),
        ("题号 1 2\n答案 AB", ("1A 2B", "1 2", 2)),
        ("题号 1 2\n答案 ABC", ("1ABC", "1 2", 2)),
        ("题号 1 2 3\n答案 A B", ("1A 2B", "1 2 3", 2)),
        ("题号 2 3 4\n答案 A B C", ("2A 3B 4C", "2 3 4", 2)),
        ("题号 2 4\n答案 A B", None),
        ("题号\n1\n2\n\n答案\nA\nB", None),
        ("题号\n1\n2\n答案\nA", ("1A", "1 2", 5)),
        ("题号 1 2\n答案 A *", ("1A 2*", "1 2", 2)),
        ("题号 1 2 3 4\n答案\nA\nB\nC\nD", ("1A 2B 3C 4D", "1 2 3 4", 6)),
        ("题号\n答案 A B", None),
        ("题号 \n答案", None),
        ("1 2 3 4\nABCD", ("1A 2B 3C 4D", "1 2 3 4", 2)),
        ("1 2 3 4\nA BCD E F", ("1A 2BCD 3E 4F", "1 2 3 4", 2)),
        ("题号 0 1\n答案 A B", ("0A 1B", "0 1", 2)),
    ],
)
def test_a_grid_of_numbers_and_answers_has_labels_or_three_cells(text, expected):
    found = grid(text.split("\n"))
    assert (found and (paired(found.pairs), " ".join(map(str, found.span)), found.lines)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.A\n2.B\n3.C", {0: "1A", 1: "2B", 2: "3C"}),
        ("1.A\n2.B", {}),
        ("参考答案\n1.A\n2.B", {1: "1A", 2: "2B"}),
        ("参考答案\n甲\n1.A", {}),
        ("1.A 2.B\n3.C", {0: "1A 2B", 1: "3C"}),
        ("1.A 2.B\n甲\n3.C", {0: "1A 2B"}),
        ("1 A C B\n4 D A\n6 B", {}),
        ("参考答案\n1.A\n解析：甲\n2.B", {}),
        ("参考答案\n1.A\n甲对。\n2.B", {}),
        ("题号 1 2 3\n答案 A B", {0: "1A 2B of 1 2 3", 1: None}),
        ("题号 1 2 3\n答案 A B\n题号 4 5 6\n答案 A B C", {0: " of 1 2 3", 1: None, 2: "4A 5B 6C of 4 5 6", 3: None}),
        ("习题答案\n1.A", {1: "1A"}),
        ("习题答案\n甲\n乙\n丙\n1.A", {}),
        ("习题答案\n甲\n乙\n1.A", {}),
        ("答案\nA", {}),
        ("答案\nA\nB", {}),
        ("一、单选题\n1.A", {}),
        ("1 A C B\n5 D A B", {}),
        ("1 A C B\n甲", {}),
        ("甲\n1 A C B", {}),
        ("参考答案\n一、单选题\n1.A\n2.B\n二、多选题\n1.AB", {2: "1A", 3: "2B", 5: "1AB"}),
        ("参考答案\n一、\n1.A", {2: "1A"}),
        ("参考答案\n1.A\n甲\n2.B", {}),
        ("1.A 2.B\n\n3.C", {0: "1A 2B", 2: "3C"}),
        ("1.A\n2.B\n3.C\n4.D", {0: "1A", 1: "2B", 2: "3C", 3: "4D"}),
        ("1.A\n2.B\n4.C", {}),
        ("1.A\n3.B\n4.C", {}),
        ("1.√\n2.√\n3.√", {}),
        ("1.A\n2.√\n3.C", {}),
        ("5.A\n6.B\n7.C\n甲\n8.D", {0: "5A", 1: "6B", 2: "7C"}),
        ("参考答案\n1.A\n甲对。\n3.B", {1: "1A"}),
        ("参考答案\n1.A\n2.B\n甲对。", {1: "1A", 2: "2B"}),
        ("参考答案\n1.A\n甲对。\n1.B", {1: "1A"}),
        ("参考答案\n甲对。\n1.A\n2.B", {}),
        ("参考答案\n1.A\nA. 甲\n2.B", {}),
        ("参考答案\n1.A\n（1）A. 甲\n2.B", {1: "1A"}),
        ("参考答案\n1.A 2.B\n解析：甲", {1: "1A 2B"}),
        ("参考答案\n一、单选题\n1.A\n解析：甲\n2.B", {}),
        ("参考答案\n1.A\n一、单选题\n2.B", {1: "1A", 3: "2B"}),
        ("参考答案\n1.A\n一、单选题\n解析：甲", {}),
        ("参考答案\n1.A\n甲对。\n解析：乙\n2.B", {}),
        ("参考答案\n1.A\n（1～2题共用题干）\n解析：甲", {1: "1A"}),
        (f"参考答案\n{numbered(10)}\n解析：甲", {at: f"{at}A" for at in range(1, 11)}),
        (f"参考答案\n{numbered(11)}\n解析：甲", {at: f"{at}A" for at in range(1, 12)}),
        ("题号 1 2 3\n答案 A B\n题号 4 5 6\n答案 A B", {0: " of 1 2 3", 1: None, 2: "4A 5B of 4 5 6", 3: None}),
        (
            "题号 1 2 3\n答案 A B\n题号 5 6 7\n答案 A B C",
            {0: "1A 2B of 1 2 3", 1: None, 2: "5A 6B 7C of 5 6 7", 3: None},
        ),
        (
            "题号 1 2 3\n答案 A B C\n题号 4 5 6\n答案 A B",
            {0: "1A 2B 3C of 1 2 3", 1: None, 2: "4A 5B of 4 5 6", 3: None},
        ),
    ],
)
def test_rows_columns_and_lists_of_answers(text, expected):
    assert answers(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("题号 1 2 3\n答案 A B", {0: " of 1 2 3", 1: None}),
        ("题号 1 2 3\n答案 A B C", {0: "1A 2B 3C of 1 2 3", 1: None}),
        ("题号 1 2 3\n答案 A B\n题号 4 5 6\n答案 A B", {0: " of 1 2 3", 1: None, 2: " of 4 5 6", 3: None}),
        ("题号 1 2 3\n答案 A B C\n题号 4 5 6\n答案 A B", {0: "1A 2B 3C of 1 2 3", 1: None, 2: " of 4 5 6", 3: None}),
    ],
)
def test_every_short_row_that_was_recognised_is_empty(text, expected):
    assert answers(text, 0.9) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("参考答案：1-5 ABCDE", ["参考答案：", "1-5 ABCDE"]),
        ("多选题：1.ABC 2.BD", ["多选题：", "1.ABC 2.BD"]),
        ("多选题：1.ABC", ["多选题：", "1.ABC"]),
        ("参考答案：1.A", ["参考答案：1.A"]),
        ("1.A 2.B\n3.C", ["1.A 2.B", "3.C"]),
        ("甲1.A 2.B", ["甲1.A 2.B"]),
        ("参考答案\n题", ["参考答案", "题"]),
        ("参考答案：1.A 2.B", ["参考答案：", "1.A 2.B"]),
        ("习题答案 1.A 2.B", ["习题答案", "1.A 2.B"]),
        ("一、 1.A", ["一、", "1.A"]),
        ("单选题：1.A 2.B\n3.C", ["单选题：", "1.A 2.B", "3.C"]),
        ("3.\nC", ["3.", "C"]),
        ("1.A 2.\n3.C 4.D", ["1.A 2.", "3.C 4.D"]),
        ("1.A 2.\n甲", ["1.A 2.", "甲"]),
        ("12\nA", ["12", "A"]),
        (f"多选题：{'甲' * 52}题：1.A", [f"多选题：{'甲' * 52}题：", "1.A"]),
        ("参考答案：", ["参考答案："]),
        ("一、单选题（每题1分）：1-3 ABC", ["一、单选题（每题1分）：", "1-3 ABC"]),
        ("甲题：1.A 2.B", ["甲题：1.A 2.B"]),
        ("10.A 11.C 1\n3.C 14.D", ["10.A 11.C 1", "3.C 14.D"]),
        (f"参考答案：{' ' * 54}1.A 2.B", ["参考答案：", "1.A 2.B"]),
        (f"参考答案：{' ' * 55}1.A 2.B", [f"参考答案：{' ' * 55}1.A 2.B"]),
    ],
)
def test_a_line_of_answers_holds_whole_answers_and_nothing_else(text, expected):
    assert [piece.text for piece in split_answer_lines(lines(text))] == expected


def test_a_grid_begins_at_a_line() -> None:
    texts = ["甲", "题号 1 2", "答案 A B"]
    assert [found and found.lines for found in (grid(texts, at) for at in range(4))] == [None, 2, None, None]


@pytest.mark.parametrize(("between", "answered"), [(8, False), (9, False), (10, True), (11, True)])
def test_an_explanation_within_eleven_lines_makes_the_answers_of_a_key_entries(between: int, answered: bool) -> None:
    text = "参考答案\n1.A\n" + "一、单选题\n" * between + "解析：甲对"
    assert answers(text) == ({1: "1A"} if answered else {})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("习题答案\n1.A", [0]),
        ("习题答案\n甲\n乙\n1.A", [0]),
        ("习题答案\n甲\n乙\n丙\n1.A", []),
        ("习题答案\n甲\n题号 1 2\n答案 A B", [0]),
        ("习题答案\n12. 答案：A", [0]),
        ("习题答案\n12. 甲", []),
        ("习题答案\nl2. 答案", [0]),
        ("参考答案", [0]),
        ("答案\nA", []),
        ("答案\nA\n甲", []),
        ("答案\nA\nB", [0]),
        ("答案\n甲\nA", [0]),
        ("答案\nA。\n问题1：B", [0]),
        ("答案\n问题1：A\n问题2：B", []),
        ("答案\n问题1：A\n甲", []),
        ("答案\n 問題1：A\n問題2：B", []),
        ("答案\nA\nB\n甲", [0]),
        ("甲\n参考答案\n1.A", [1]),
    ],
)
def test_lines_that_open_a_key(text: str, expected: list[int]) -> None:
    assert sorted(key_heads(lines(text))) == expected


def test_answers_behind_their_head_are_not_centred() -> None:
    centred = [replace(piece, centred=True) for piece in lines("参考答案：1.A 2.B\n参考答案")]
    assert [(piece.text, piece.centred) for piece in split_answer_lines(centred)] == [
        ("参考答案：", True),
        ("1.A 2.B", False),
        ("参考答案", True),
    ]
