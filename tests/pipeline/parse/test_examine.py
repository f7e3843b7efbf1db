"""Cross-examination: what contradicts itself, or may hold what was not found, waits with its evidence."""

from __future__ import annotations

import re

import pytest

from benchmarks.papers.silent import printed_lines
from pipeline.parse.answers import concluded
from pipeline.parse.finish import finish
from pipeline.parse.paper import judge, read_paper
from tests.pipeline.parse.short import CASE, DOCUMENT, FOUR, THREE, items, told


def waits(outcome, number):
    """Why a question waits: names of gates."""
    name = f"{number:03d}"
    found = [item.detail for item in outcome.review if item.item_id.endswith(name)]
    return [reason for detail in found for reason in re.findall(r"(?:^|; )([a-z_]+): ", detail)]


@pytest.mark.parametrize(
    ("explanation", "letters"),
    [
        ("甲最常见，故选C。", "C"),
        ("故选：B．\n【点评】本题考查基础", "B"),
        ("综上，本题选AD", "AD"),
        ("所以答案为B", "B"),
        ("故不选A", None),
        ("故选A。又故选B。", None),
        ("应选用青霉素", None),
    ],
)
def test_the_conclusion_of_an_explanation_is_read(explanation, letters):
    assert concluded(explanation) == letters


@pytest.mark.parametrize(
    ("stem", "explanation", "key", "against"),
    [
        ("下列哪项对", "乙最常见，故选B。", "B", False),
        ("下列哪项对", "乙最常见，故选B。", "A", True),
        ("下列正确的是", "A错误，B正确，C错误，D错误。", "D", True),
        ("下列错误的是", "A、B、D项正确，C项错误。", "C", False),
        ("下列错误的是", "A、B、D项正确，C项错误。", "A", True),
        ("下列哪项不符合", "B错误。", "B", False),
        ("下列哪项符合", "本题考查基本概念。", "A", False),
    ],
)
def test_a_key_against_its_explanation_waits(parse, stem, explanation, key, against):
    outcome = parse(f"1. {stem}\n{FOUR}\n答案：{key}\n解析：{explanation}")
    assert ("explanation_disagrees" in waits(outcome, 1)) == against


def test_the_question_before_a_lost_number_waits_unless_it_is_shown_to_be_alone(parse):
    swallowed = parse(f"{THREE}\n第4项的题干没有编号\n{items(5, 6)}")
    assert waits(swallowed, 3) == ["may_hold_another"]
    assert told(parse(f"{THREE}\n{items(5, 6)}")) == ["1-", "2-", "3-", "5-", "6-", "? missing_number"]


def test_questions_on_a_case_wait_where_it_may_hold_a_lost_question(parse):
    case = f"（4～6题共用题干）\n{CASE}\n第4项没有编号\n"
    outcome = parse(f"{THREE}\n{case}{items(5, 6)}")
    assert {number: waits(outcome, number) for number in (5, 6)} == {
        5: ["may_hold_another"],
        6: ["may_hold_another"],
    }


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("A. 甲\nB. 乙\nC. 丙\nD. 丁 8～9题共用备选答案", "case_inside"),
        ("A. 甲\nB. 乙\nC. 丙\nD. 丁 第3页", "foot_inside"),
        ("A. 甲\nB. 乙\nC. 丙\nD. 丁二、多项选择题", "text_left_over"),
        ("A. 甲\nB. 乙\nC. 乙\nD. 丁", "options_alike"),
        ("A. 甲\nB. 乙\nC. 丙\ufffd\nD. 丁", "unreadable_characters"),
        ("A. x＝，y\nB. 乙\nC. 丙\nD. 丁", "empty_place"),
        ("A. 甲\nB. 乙\nC. 丙\nD. 丁\nD. 戊", "label_inside_text"),
        ("(A)甲\n(B)乙\n(C)丙 与（E）丁", "label_inside_text"),
        (f"A. 甲\nB. 乙\nC. 丙\nD. 丁{'后面的文字' * 20}", "option_too_long"),
    ],
)
def test_what_looks_strange_inside_a_question_waits(parse, options, reason):
    assert reason in waits(parse(f"1. 下列何者正确\n{options}"), 1)


def test_lines_under_options_that_repeat_are_a_foot(parse):
    outcome = parse("\n".join(f"{items(number)}\n某某网站整理发布 {number}" for number in range(1, 5)))
    assert [waits(outcome, number) for number in range(1, 5)] == [["foot_inside"]] * 4


def test_another_number_of_options_than_all_others_waits(parse):
    outcome = parse(f"{items(1, 2, 3, 4)}\n5. 第5项\nA. 甲\nB. 乙\nC. 丙\n6. 第6项\n{FOUR}\nE. 戊")
    assert (waits(outcome, 5), waits(outcome, 6)) == ([], [])  # two of six are no exception
    outcome = parse(f"{items(1, 2, 3, 4)}\n5. 第5项\nA. 甲\nB. 乙\nC. 丙")
    assert waits(outcome, 5) == ["options_missing"]


def test_a_question_that_speaks_of_a_patient_whom_nobody_presented_waits(parse):
    outcome = parse(f"{items(1, 2)}\n3. 该患者首选的检查是\n{FOUR}")
    assert waits(outcome, 3) == ["case_missing"]


def test_room_for_a_line_inside_a_question_tells_of_one_that_was_not_read():
    page = items(1, 2, 3, 4, 5).split("\n")
    page[13] = "C. 丙之后还有很长很长的一行文字一直写到右边为止的内容，它在下一行继续"
    whole = printed_lines([page], "x.pdf", boxes=True)
    torn = [line if line.order <= 13 else line.model_copy(update={"box": _lower(line.box)}) for line in whole]
    kept = []
    for lines in (whole, torn):
        paper = read_paper("x.pdf", lines)
        judge(paper)
        kept.append([question.number for question in finish(paper, DOCUMENT).questions])
    assert kept == [[1, 2, 3, 4, 5], [1, 2, 4, 5]]


def _lower(box):
    return box.model_copy(update={"y0": box.y0 + 16, "y1": box.y1 + 16})


def test_sound_papers_do_not_wait(parse):
    assert parse(items(*range(1, 11))).review == []
