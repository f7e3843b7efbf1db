"""Thresholds of the parser, each tried on both of its sides."""

from __future__ import annotations

import pytest

from build_dataset.pipeline.parse.answer_cells import (
    AnswerEncoding,
    Given,
    encoding_of,
    letters_of,
    quoted_of,
    read_answer,
)
from build_dataset.pipeline.parse.cells import Options, share
from build_dataset.pipeline.parse.lines import is_traditional
from build_dataset.pipeline.parse.row_texts import numbers_lead, without_options, without_range
from tests.pipeline.parse.short import FOUR, told

PAIRS = [("A", "甲苯"), ("B", "乙醚"), ("C", "丙酮"), ("D", "丁醇")]
CELLS = Options(tuple(PAIRS))


def given(*values: object) -> list[Given]:
    return [Given(value, CELLS) for value in values]


def paper(answers: str, options: str = FOUR) -> str:
    """A question for each letter; ``-`` has no answer, a small letter stands in the blank of its stem."""
    questions = []
    for number, letter in enumerate(answers, 1):
        blank = letter.upper() if letter.islower() else " "
        marked = f"\n答案：{letter}" if letter.isupper() else ""
        questions.append(f"{number}. 第{number}项首选的是（{blank}）\n{options}{marked}")
    return "\n".join(questions)


@pytest.mark.parametrize(
    ("answers", "outcome"),
    [
        ("CC--", ["1C", "2C", "?3 no_answer", "?4 no_answer"]),
        ("C---", ["1C", "2-", "3-", "4-"]),
        ("CCCb", ["1C", "2C", "3C", "?4 answer_in_text"]),
        ("CCb", ["1C", "2C", "3B"]),
    ],
)
def test_half_of_the_questions_make_a_missing_answer_odd_and_a_third_a_habit(parse, answers, outcome):
    assert told(parse(paper(answers))) == outcome


@pytest.mark.parametrize(("number", "waits"), [(6, True), (7, False), (1, False)])
def test_an_answer_to_one_of_the_next_five_questions_inside_an_explanation_is_left_over(parse, number, waits):
    outcome = parse(f"1. 第1项首选的是\n{FOUR}\n答案：C\n解析：因为丙对，见表。{number}.B")
    assert told(outcome) == (["?1 text_left_over"] if waits else ["1C"])


@pytest.mark.parametrize(("length", "waits"), [(61, True), (60, False)])
def test_an_option_of_more_than_sixty_characters_and_four_times_the_others_waits(parse, length, waits):
    options = f"A. 甲\nB. 乙\nC. 丙\nD. {'丁' * length}"
    assert told(parse(f"1. 首选的是\n{options}\n答案：C")) == (["?1 option_too_long"] if waits else ["1C"])


def test_four_fifths_of_traditional_characters_make_a_traditional_paper():
    assert is_traditional(["醫學診療藥", "药"])
    assert not is_traditional(["醫學診療", "药"])
    assert not is_traditional(["大小上下", ""])


@pytest.mark.parametrize(
    ("stems", "lead"),
    [
        ([f"{number}、甲药" for number in range(1, 10)] + ["乙药"], True),
        ([f"{number}、甲药" for number in range(1, 9)] + ["乙药", "丙药"], False),
        (["1、甲药", "2、乙药"], False),
        (["1、甲药", "2、乙药", "3、丙药"], True),
        ([f"{number}、甲药" for number in (1, 2, 3, 9, 4, 8, 5, 7, 6)], False),
    ],
)
def test_nine_of_ten_stems_begin_with_rising_numbers_where_these_number_them(stems, lead):
    assert numbers_lead(stems) is lead


def test_a_range_at_the_end_of_a_stem_names_at_most_twenty_questions():
    assert without_range("共用备选答案【3-22】", 3) == ("共用备选答案", "3–22")
    assert without_range("共用备选答案【3-23】", 3) == ("共用备选答案【3-23】", None)
    assert without_range("疗程为（4-6）", 3) == ("疗程为", "4–6")
    assert without_range("疗程为（5-6）", 3) == ("疗程为（5-6）", None)


def test_options_that_make_up_four_fifths_of_the_end_of_a_stem_repeat_in_it():
    options = [("A", "甲苯"), ("B", "乙醚"), ("C", "丙酮")]
    assert without_options("下列正确的是甲苯或乙醚丙酮", options) == ("下列正确的是甲苯或乙醚丙酮", True)
    assert without_options("下列正确的是甲苯或乙醚及丙酮等", options)[1] is False
    assert without_options("下列正确的是甲苯乙醚丙酮", options) == ("下列正确的是", False)


def test_numbers_of_options_count_from_the_base_that_all_answers_allow():
    assert encoding_of(given(*[1, 2, 3, 4] * 5), printed=False) is AnswerEncoding.FROM_1
    assert encoding_of(given(*[0, 1, 2, 3] * 5), printed=False) is AnswerEncoding.FROM_0
    assert "both 0 and the number of options occur, 1 and 2 times" in str(encoding_of(given(0, 4, 4, 1), printed=False))


@pytest.mark.parametrize(("times", "base"), [(70, AnswerEncoding.FROM_1), (69, None)])
def test_one_in_a_hundred_numbers_that_cannot_be_is_a_typing_error(times, base):
    found = encoding_of(given(0, *[1, 2, 3] * 10, *[4] * times), printed=False)
    assert (found if base else None) == base
    assert base or "both 0" in str(found)


def test_a_number_that_is_never_a_key_in_twenty_answers_is_no_place_of_an_option():
    assert encoding_of(given(*[1, 2, 4] * 6), printed=False) is AnswerEncoding.FROM_1
    assert "3 is never a key, and 4 is" in str(encoding_of(given(*[1, 2, 4] * 7), printed=False))


def test_all_options_may_be_right_and_no_number_beyond_them():
    assert read_answer([0, 1, 2, 3], CELLS, AnswerEncoding.FROM_0) == ["A", "B", "C", "D"]
    assert read_answer([1, 2, 3, 4], CELLS, AnswerEncoding.FROM_1) == ["A", "B", "C", "D"]
    assert read_answer(4, CELLS, AnswerEncoding.FROM_0) is None
    assert read_answer(0, CELLS, AnswerEncoding.FROM_1) is None


def test_an_answer_in_letters_holds_letters_alone_or_one_with_its_own_text():
    assert letters_of("D、B", PAIRS) == ["B", "D"]
    assert letters_of("B. 乙醚", PAIRS) == ["B"]
    assert letters_of("B. 丙酮", PAIRS) is None
    assert letters_of("、", PAIRS) is None
    assert letters_of("B.", [("B", "")]) == ["B"]


def test_texts_of_options_between_marks_are_several_answers():
    assert quoted_of("乙醚；丁醇", PAIRS) == ["B", "D"]
    assert quoted_of("乙醚；戊烷", PAIRS) is None
    assert quoted_of(" 丙酮。", PAIRS) == ["C"]
    assert quoted_of("甲苯", [("A", "甲苯"), ("B", "甲苯。")]) == ["A"]
    assert quoted_of("甲苯.", [("A", "甲苯"), ("B", "甲苯。")]) is None


@pytest.mark.parametrize(
    ("value", "percent", "expected"),
    [
        (0.45, False, 0.45),
        (45, True, 0.45),
        ("45%", False, 0.45),
        ("45％", True, 0.45),
        (1, False, 1.0),
        (1, True, 0.01),
        (1.01, False, None),
        (101, True, None),
        (-0.1, False, None),
        ("无", False, None),
    ],
)
def test_a_share_is_from_0_to_1_and_a_percent_sign_always_means_percent(value, percent, expected):
    assert share(value, percent=percent) == expected


def test_a_numeral_opens_an_item_only_under_a_head_of_items_answered_in_words(parse):
    asked = "一、试述肝硬化的并发症及其处理\n二、试述急性胰腺炎的诊断标准"
    assert [row.reason for row in parse(f"三、简答题\n{asked}").rejects] == ["short_answer"] * 2
    assert parse(f"三、单项选择题\n{asked}").rejects == []
