"""Thresholds of the parser, each tried on both of its sides."""

import pytest

from tests.pipeline.parse.short import FOUR, told


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


def test_a_numeral_opens_an_item_only_under_a_head_of_items_answered_in_words(parse):
    asked = "一、试述肝硬化的并发症及其处理\n二、试述急性胰腺炎的诊断标准"
    assert [row.reason for row in parse(f"三、简答题\n{asked}").rejects] == ["short_answer"] * 2
    assert parse(f"三、单项选择题\n{asked}").rejects == []
