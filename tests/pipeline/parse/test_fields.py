"""An item is split at its marks, and its answer is read in whatever form it is told."""

import pytest

from build_dataset.pipeline.parse.fields import (
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

OPTIONS = [("A", "青霉素"), ("B", "B超"), ("C", "链霉素。"), ("D", "青霉素"), ("E", ""), ("F", "CT检查")]


def told(text):
    """Head, answers, texts of answers, explanation, and the marks by their lines; a star marks an answer."""
    found = split_fields(text)
    marks = [f"{one.words}@{one.line}{'*' * one.answer}" for one in found.opened] + ["√×"] * found.verdict
    return found.head, " ".join(found.answers), "|".join(found.answer_texts), found.explanation, " ".join(marks)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1+1\nA.甲\nB.乙\n答案：A\n解析：因为甲", ("1+1\nA.甲\nB.乙\n", "A", "A", "因为甲", "答案：@3* 解析：@4")),
        (
            "题\n答案：AC 因为\n考生答案：B\n解析：乙",
            ("题\n", "AC", "AC 因为", "因为\n乙", "答案：@1* 考生答案：B@2 解析：@3"),
        ),
        ("题\n【答案】B\n【解析】甲对\n故选B。", ("题\n", "B", "B", "甲对故选B。", "【答案】@1* 【解析】@2")),
        ("题（答案：C）", ("题", "C", "C）", None, "答案：@0*")),
        ("题\n故选D", ("题\n", "D", "D", None, "故选@1*")),
        ("题\n答案：√", ("题\n", "", "√", "√", "答案：@1* √×")),
        ("题\n答案：③", ("题\n", "", "③", "③", "答案：@1*")),
        ("首选\n答案：B\nA.甲\nB.乙\nC.丙", ("首选\n\nA.甲\nB.乙\nC.丙", "B", "B A.甲B.乙C.丙", None, "答案：@1*")),
        ("首选\n答案：B\nA.甲\nB.乙", ("首选\n", "B", "B A.甲B.乙", "A.甲B.乙", "答案：@1*")),
        ("题\n答案解析：A。因为", ("题\n", "A", "", "因为", "答案解析：@1")),
        ("题\n解析：A．错误；B。对", ("题\n", "", "", "A．错误；B。对", "解析：@1")),
        ("题\n答案：（1）A （2）CD。因为", ("题\n", "A CD", "（1）A （2）CD。因为", "因为", "答案：@1*")),
        ("题\n答案\nA\n解析\n因为", ("题\n", "A", "A", "因为", "答案@2* 解析@3")),
        ("没有", ("没有", "", "", None, "")),
        ("题\n答案：A\n知识点：甲\n解析：因为", ("题\n", "A", "A", "因为", "答案：@1* 解析：@3")),
        ("题\n知识点：甲\n答案：A", ("题\n知识点：甲\n", "A", "A", None, "答案：@2*")),
        ("题\n答案：A\n0.0分\n解析：乙", ("题\n", "A", "A", "乙", "答案：@1* 解析：@3")),
        (
            "题\n答案：A\n我的答案：B\n解析：乙\n故选A。",
            ("题\n", "A", "A", "乙故选A。", "答案：@1* 我的答案：B@2 解析：@3"),
        ),
        ("题\n故选A。\n答案：B", ("题\n", "A B", "A。|B", None, "故选@1* 答案：@2*")),
        ("题\n故选A。\n故选B。", ("题\n", "A", "A。故选B。", "故选B。", "故选@1*")),
        ("题\n答案：对\n解析：乙", ("题\n", "", "对", "对\n乙", "答案：@1* 解析：@2 √×")),
        ("题\n答案：甲", ("题\n", "", "甲", "甲", "答案：@1*")),
        ("题\n答案：甲\n答案：错", ("题\n", "", "甲|错", "甲\n错", "答案：@1* 答案：@2* √×")),
        ("题（答案：C", ("题", "C", "C", None, "答案：@0*")),
        ("首选\n答案：B。见\nA.甲\nB.乙\nC.丙", ("首选\n", "B", "B。见A.甲B.乙C.丙", "见A.甲B.乙C.丙", "答案：@1*")),
        (
            "首选\nA.甲\nB.乙\n答案：B\nA.丙\nB.丁\nC.戊",
            ("首选\nA.甲\nB.乙\n", "B", "B A.丙B.丁C.戊", "A.丙B.丁C.戊", "答案：@3*"),
        ),
        ("题\n答案解析：A，因为", ("题\n", "A", "", "因为", "答案解析：@1")),
        ("题\n答案解析：A", ("题\n", "A", "", None, "答案解析：@1")),
        ("题\n答案与解析：A 本题考查", ("题\n", "A", "", "本题考查", "答案与解析：@1")),
        ("题\n答案及解析：A 型肝炎", ("题\n", "", "", "A 型肝炎", "答案及解析：@1")),
        ("题\n答案：A\n选项B：错误", ("题\n", "A", "A选项B：错误", "选项B：错误", "答案：@1*")),
        ("题\n解析：A。因为", ("题\n", "A", "", "因为", "解析：@1")),
        ("题\n解答：AB。因为", ("题\n", "AB", "", "因为", "解答：@1")),
        ("题\n【答案解析】C；因为", ("题\n", "C", "", "因为", "【答案解析】@1")),
        ("题\n解析：A，因为", ("题\n", "", "", "A，因为", "解析：@1")),
        ("题\n答案：A\n解析：甲\n点评：乙", ("题\n", "A", "A", "甲\n乙", "答案：@1* 解析：@2 点评：@3")),
        ("答案：A", ("", "A", "A", None, "答案：@0*")),
        ("题\n\n答案：A\n\n解析：甲", ("题\n\n", "A", "A", "甲", "答案：@2* 解析：@4")),
        ("题\n答案：A B D", ("题\n", "ABD", "A B D", None, "答案：@1*")),
        ("题\n解析：甲\n答案：A", ("题\n", "A", "A", "甲", "解析：@1 答案：@2*")),
    ],
)
def test_an_item_is_split_at_its_marks_in_any_order(text, expected):
    assert told(text) == expected


@pytest.mark.parametrize(
    ("text", "letters", "stated"),
    [
        ("A因为", ("A", "因为"), (["A"], "因为")),
        ("AB。因为", ("AB", "因为"), (["AB"], "因为")),
        ("A、B 甲", ("AB", "甲"), (["AB"], "甲")),
        ("C B D", ("C", "B D"), (["C"], "B D")),
        ("b\n因为", ("B", "因为"), (["B"], "因为")),
        ("A：③ B：④", (None, "A：③ B：④"), ([], "A：③ B：④")),
        ("甲", (None, "甲"), ([], "甲")),
        ("（1）A （2）CD。因为", (None, "（1）A （2）CD。因为"), (["A", "CD"], "因为")),
        ("ACE 解析：甲", ("ACE", "解析：甲"), (["ACE"], "甲")),
        ("D和E，甲", ("DE", "甲"), (["DE"], "甲")),
        ("A", ("A", ""), (["A"], "")),
        ("AB", ("AB", ""), (["AB"], "")),
        ("A、B", ("AB", ""), (["AB"], "")),
        ("A B", ("AB", ""), (["AB"], "")),
        ("A B D", ("ABD", ""), (["ABD"], "")),
        ("A D B", ("A", "D B"), (["A"], "D B")),
        ("A. B", ("A", "B"), (["A"], "B")),
        ("A.B超检查", ("A", "B超检查"), (["A"], "B超检查")),
        ("C、A", ("C", "A"), (["C"], "A")),
        ("C B", ("C", "B"), (["C"], "B")),
        ("D, 因为", ("D", "因为"), (["D"], "因为")),
        ("b", ("B", ""), (["B"], "")),
        ("b 因为", (None, "b 因为"), ([], "b 因为")),
        ("（A）甲", ("A", "甲"), (["A"], "甲")),
        ("A项错误", (None, "A项错误"), ([], "A项错误")),
        ("A或B", (None, "A或B"), ([], "A或B")),
        ("（1）A（2）B", (None, "（1）A（2）B"), (["A", "B"], "")),
        ("①A②CD 解析：甲", (None, "①A②CD 解析：甲"), (["A", "CD"], "甲")),
        ("（1）A。甲", (None, "（1）A。甲"), (["A"], "甲")),
        ("①A", (None, "①A"), (["A"], "")),
        ("问题1：A 问题2：B", (None, "问题1：A 问题2：B"), (["A", "B"], "")),
        ("A\n\n因为", ("A", "因为"), (["A"], "因为")),
        ("AB，；因为", ("AB", "因为"), (["AB"], "因为")),
        ("BA", ("BA", ""), (["BA"], "")),
        ("AA", ("AA", ""), (["AA"], "")),
    ],
)
def test_letters_and_parts_that_open_an_answer(text, letters, stated):
    assert (leading_letters(text), stated_answers(text)) == (letters, stated)


@pytest.mark.parametrize(("text", "expected"), [("A：③ B：④", True), ("A ③", True), ("AB", False), ("B :①②③;", False)])
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
        ("题\nA", True, ("题", "A")),
        ("题\nA", False, ("题\nA", None)),
        ("题\nAB", False, ("题", "AB")),
        ("题\nBA", False, ("题\nBA", None)),
        ("题\nAA", False, ("题\nAA", None)),
        ("题\nABCDEFGHIJK", False, ("题", "ABCDEFGHIJK")),
        ("题\n A ", True, ("题", "A")),
        ("题\nA\n", True, ("题", "A")),
    ],
)
def test_letters_alone_on_the_last_line_stand_in_order(head, single, expected):
    assert letter_line(head, single=single) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("以（C）为", "C"),
        ("（A、C）", "AC"),
        ("（A）与（B）", ""),
        ("（ ）", ""),
        ("（B C）者", "BC"),
        ("甲", ""),
        ("[D]甲", "D"),
        ("（a）", ""),
    ],
)
def test_one_bracket_holds_letters(text, expected):
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
        ("(a)分类(b)焚烧(c)回收，按顺序是", False, ("(a)分类(b)焚烧(c)回收，按顺序是", None)),
        ("首选的是（B）", False, ("首选的是（ ）", "B")),
        ("首选的是（ A、C ）", False, ("首选的是（ ）", "AC")),
        ("首选的是（a）", False, ("首选的是（ ）", "A")),
        ("首选的是（b）", False, ("首选的是（ ）", "B")),
        ("首选的是（AA）", False, ("首选的是（AA）", None)),
        ("首选的是___B___", False, ("首选的是（ ）", "B")),
        ("首选的是（B", False, ("首选的是（ ）", "B")),
        ("首选的是B）", False, ("首选的是（ ）", "B")),
        ("（B）是首选", False, ("（ ）是首选", "B")),
        ("以（B）为（C）", True, ("以（B）为（ ）", "C")),
        ("以（B）为主（A）", True, ("以（B）为主（ ）", "A")),
        ("以（ B ）为（ C ）者", False, ("以（ B ）为（ C ）者", None)),
        ("（ ）", True, ("（ ）", None)),
        ("以（A,B）为", True, ("以（ ）为", "AB")),
    ],
)
def test_one_blank_is_filled_in_with_letters_of_options_in_order(stem, anywhere, expected):
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
        (("C链霉素",), "C"),
        (("D链霉素",), None),
        (("A青霉素",), "A"),
        (("B超",), "B"),
        (("B超，检查",), "B"),
        (("B",), None),
        (("ABCDEFGHIJK",), None),
        (("ABCDEFGHIJKA",), None),
        (("CT检查后",), "F"),
        (("超",), None),
        (("",), None),
        (("甲", "链霉素"), "C"),
        (("青霉素", "链霉素"), "C"),
        (("链霉素", "B超"), "C"),
    ],
)
def test_the_first_text_that_one_option_repeats_is_the_answer(texts, expected):
    assert by_text(texts, OPTIONS) == expected


@pytest.mark.parametrize(
    ("explanation", "texts", "expected"),
    [
        ("链霉素\n因为", ("链霉素",), "因为"),
        ("超\n因为", ("B超",), "因为"),
        ("因为", ("链霉素",), "因为"),
        (None, ("链霉素",), None),
        ("链霉素", ("C链霉素",), None),
        ("霉素\n因为", ("链霉素",), "因为"),
        ("链霉\n因为", ("链霉素",), "链霉\n因为"),
        ("因为\n链霉素。", ("C 链霉素",), "因为"),
        ("因为\n甲", ("甲",), "因为"),
        ("", ("链霉素",), None),
        ("链霉素", (), "链霉素"),
        ("素\n因为", ("X链霉素",), "因为"),
        ("因为", ("XX链霉素", "链霉素"), "因为"),
        ("链霉素\n因为", ("XX链霉素",), "链霉素\n因为"),
    ],
)
def test_a_line_that_ends_the_text_of_the_answer_is_no_explanation(explanation, texts, expected):
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
        ("甲最常见，故选C。", "C"),
        ("故选：B．\n【点评】本题考查基础", "B"),
        ("综上，本题选AD", "AD"),
        ("所以答案为B", "B"),
        ("故不选A", None),
        ("应选用青霉素", None),
        ("为明确诊断应选择B超检查（A对）", None),
        ("最早升高，故选C反应蛋白", None),
        ("故选B肺炎", "B"),
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
        ("解析甲", (False, False)),
        ("故选A", (True, False)),
        ("A", (False, False)),
        ("  解析：甲", (True, True)),
        ("答", (True, False)),
        ("甲 答案：A", (True, False)),
    ],
)
def test_a_line_opens_an_answer_or_an_explanation(line, expected):
    assert (opens_field(line), opens_explanation(line)) == expected
