"""An item is split at its marks, and its answer is read in whatever form it is told."""

from __future__ import annotations

import pytest

from pipeline.parse.fields import (
    by_text,
    concluded_answer,
    filled_blank,
    is_coded,
    leading_letters,
    letter_line,
    letters_inside,
    opens_explanation,
    opens_field,
    repeats_answer,
    split_fields,
    stated_answers,
    without_text,
)

OPTIONS = [("A", "青霉素"), ("B", "B超"), ("C", "链霉素。"), ("D", "青霉素")]


def told(text):
    """Head, answers, texts of answers, explanation, verdict, and the marks with their lines."""
    found = split_fields(text)
    marks = [(one.words, one.line, one.answer) for one in found.opened]
    return found.head, found.answers, found.answer_texts, found.explanation, found.verdict, marks


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "1+1\nA.甲\nB.乙\n答案：A\n解析：因为甲",
            (
                "1+1\nA.甲\nB.乙\n",
                ("A",),
                ("A",),
                "因为甲",
                False,
                [("答案：", 3, True), ("解析：", 4, False)],
            ),
        ),
        (
            "题\n答案：AC 因为\n考生答案：B\n解析：乙",
            (
                "题\n",
                ("AC",),
                ("AC 因为",),
                "因为\n乙",
                False,
                [("答案：", 1, True), ("考生答案：B", 2, False), ("解析：", 3, False)],
            ),
        ),
        (
            "题\n【答案】B\n【解析】甲对\n故选B。",
            ("题\n", ("B",), ("B",), "甲对故选B。", False, [("【答案】", 1, True), ("【解析】", 2, False)]),
        ),
        ("题（答案：C）", ("题", ("C",), ("C）",), None, False, [("答案：", 0, True)])),
        ("题\n故选D", ("题\n", ("D",), ("D",), None, False, [("故选", 1, True)])),
        ("题\n答案：√", ("题\n", (), ("√",), "√", True, [("答案：", 1, True)])),
        ("题\n答案：③", ("题\n", (), ("③",), "③", False, [("答案：", 1, True)])),
        (
            "首选\n答案：B\nA.甲\nB.乙\nC.丙",
            ("首选\nA.甲\nB.乙\nC.丙", ("B",), ("B A.甲B.乙C.丙",), None, False, [("答案：", 1, True)]),
        ),
        (
            "首选\n答案：B\nA.甲\nB.乙",
            ("首选\n", ("B",), ("B A.甲B.乙",), "A.甲B.乙", False, [("答案：", 1, True)]),
        ),
        ("题\n答案解析：A。因为", ("题\n", ("A",), (), "因为", False, [("答案解析：", 1, False)])),
        ("题\n解析：A．错误；B。对", ("题\n", (), (), "A．错误；B。对", False, [("解析：", 1, False)])),
        (
            "题\n答案：（1）A （2）CD。因为",
            ("题\n", ("A", "CD"), ("（1）A （2）CD。因为",), "因为", False, [("答案：", 1, True)]),
        ),
        (
            "题\n答案\nA\n解析\n因为",
            ("题\n", ("A",), ("A",), "因为", False, [("答案", 2, True), ("解析", 3, False)]),
        ),
        ("没有", ("没有", (), (), None, False, [])),
    ],
)
def test_an_item_is_split_at_its_marks(text, expected):
    assert told(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A因为", (("A", "因为"), (["A"], "因为"))),
        ("AB。因为", (("AB", "因为"), (["AB"], "因为"))),
        ("A、B 甲", (("AB", "甲"), (["AB"], "甲"))),
        ("C B D", (("C", "B D"), (["C"], "B D"))),
        ("b\n因为", (("B", "因为"), (["B"], "因为"))),
        ("A：③ B：④", ((None, "A：③ B：④"), ([], "A：③ B：④"))),
        ("甲", ((None, "甲"), ([], "甲"))),
        ("（1）A （2）CD。因为", ((None, "（1）A （2）CD。因为"), (["A", "CD"], "因为"))),
        ("ACE 解析：甲", (("ACE", "解析：甲"), (["ACE"], "甲"))),
        ("D和E，甲", (("DE", "甲"), (["DE"], "甲"))),
    ],
)
def test_the_letters_that_a_text_begins_with(text, expected):
    assert (leading_letters(text), stated_answers(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A：③ B：④", True),
        ("A ③", True),
        ("AB", False),
    ],
)
def test_codes_of_choices_are_no_letters(text, expected):
    assert is_coded(text) == expected


@pytest.mark.parametrize(
    ("head", "single", "expected"),
    [
        ("题\nA.甲\nAB", False, ("题\nA.甲", "AB")),
        ("题\nA.甲\nB", False, ("题\nA.甲\nB", None)),
        ("题\nA.甲\nB", True, ("题\nA.甲", "B")),
        ("题\nA.甲\nBA", True, ("题\nA.甲\nBA", None)),
        ("题", True, ("题", None)),
    ],
)
def test_a_line_of_letters_at_the_end(head, single, expected):
    assert letter_line(head, single=single) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("以（C）为", "C"),
        ("（A、C）", "AC"),
        ("（A）与（B）", ""),
        ("（ ）", ""),
    ],
)
def test_letters_in_the_only_bracket(text, expected):
    assert letters_inside(text) == expected


@pytest.mark.parametrize(
    ("stem", "anywhere", "expected"),
    [
        ("首选的是（ B ）", False, ("首选的是（ ）", "B")),
        ("首选的是（B）。", False, ("首选的是（ ）。", "B")),
        ("首选的是(ac)", False, ("首选的是(ac)", None)),
        ("首选的是（CA）", False, ("首选的是（CA）", None)),
        ("首选的是（D）", False, ("首选的是（D）", None)),
        ("以（ C ）为中心", False, ("以（ ）为中心", "C")),
        ("以（C）为中心", False, ("以（C）为中心", None)),
        ("以（C）为中心", True, ("以（ ）为中心", "C")),
        ("以（C）和（B）为中心", True, ("以（C）和（B）为中心", None)),
        ("甲", True, ("甲", None)),
    ],
)
def test_a_blank_that_is_filled_in(stem, anywhere, expected):
    assert filled_blank(stem, ["A", "B", "C"], anywhere=anywhere) == expected


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("链霉素",), "C"),
        (("C 链霉素",), "C"),
        (("青霉素",), None),
        (("B超检查",), "B"),
        (("AC",), None),
        (("AC", "链霉素"), "C"),
        ((), None),
    ],
)
def test_an_answer_that_repeats_an_option(texts, expected):
    assert by_text(texts, OPTIONS) == expected


@pytest.mark.parametrize(
    ("explanation", "texts", "expected"),
    [
        ("链霉素\n因为", ("链霉素",), "因为"),
        ("超\n因为", ("B超",), "因为"),
        ("因为", ("链霉素",), "因为"),
        (None, ("链霉素",), None),
        ("链霉素", ("C链霉素",), None),
    ],
)
def test_an_explanation_without_the_text_of_the_answer(explanation, texts, expected):
    assert without_text(explanation, texts, OPTIONS) == expected


@pytest.mark.parametrize(
    ("explanation", "answer", "expected"),
    [
        ("青霉素", "A", True),
        ("青霉素链霉素", "AC", True),
        ("青霉", "A", False),
        ("链霉素", "AC", True),
        ("", "A", False),
    ],
)
def test_an_explanation_that_says_the_answer_again(explanation, answer, expected):
    assert repeats_answer(explanation, answer, OPTIONS) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("故选C", "C"),
        ("故选：CA。", "AC"),
        ("故选A。又故选B。", None),
        ("故选A。又故选A。", "A"),
        (None, None),
    ],
)
def test_what_an_explanation_concludes(text, expected):
    assert concluded_answer(text) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("答案：A", (True, False)),
        ("答案", (True, False)),
        ("解析", (True, False)),
        ("【解析】甲", (True, True)),
        ("考生答案：A", (True, False)),
        ("故选C", (True, False)),
        ("甲", (False, False)),
        ("A.甲", (False, False)),
    ],
)
def test_lines_that_open_a_field(line, expected):
    assert (opens_field(line), opens_explanation(line)) == expected
