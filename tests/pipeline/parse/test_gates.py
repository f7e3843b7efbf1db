"""Gates: what is unlike a sound paper waits, and from which share or number on."""

from __future__ import annotations

import re

import pytest

from pipeline.parse.paper import finish
from pipeline.parse.stage import check_gates, read_paper
from tests.pipeline.parse.conftest import lines_of
from tests.pipeline.parse.short import DOCUMENT, FIVE, FOUR, items


def judged(text):
    """Return waiting items (number or end of the id) with their gates, and the reasons to set items aside."""
    paper = read_paper("x.pdf", lines_of(text))
    check_gates(paper)
    outcome = finish(paper, DOCUMENT)
    waits = {
        one.item_id.partition("-")[2]: [one.reason, *re.findall(r"; ([a-z_]+): ", one.detail)]
        for one in outcome.review
    }
    return waits, [one.reason for one in outcome.rejects]


def waiting(text, reason):
    """The ends of the ids that wait for a reason."""
    return [name for name, reasons in judged(text)[0].items() if reason in reasons]


@pytest.mark.parametrize(("size", "expected"), [(1, 0), (2, 0), (3, 7), (4, 6), (5, 5), (9, 1)])
def test_items_without_options_wait_beside_three_with_options(size, expected):
    assert (
        len(
            waiting(
                items(*range(1, size + 1))
                + "\n"
                + "\n".join(f"{at}. 第{at}项试述" for at in range(size + 1, 11)),
                "no_options",
            )
        )
        == expected
    )


@pytest.mark.parametrize(("size", "expected"), [(1, 1), (2, 2), (3, 0)])
def test_items_without_options_wait_beside_as_many_with_options(size, expected):
    assert (
        len(
            waiting(
                items(1, 2) + "\n" + "\n".join(f"{at}. 第{at}项试述" for at in range(3, size + 3)),
                "no_options",
            )
        )
        == expected
    )


@pytest.mark.parametrize(("size", "expected"), [(1, 1), (9, 9), (10, 0), (19, 0)])
def test_a_section_fills_blanks_with_ten_answers_in_half_of_its_stems(size, expected):
    assert (
        len(
            waiting(
                "一、单选题\n"
                + "\n".join(f"{at}. 第{at}项首选的是（B）\n{FOUR}" for at in range(1, size + 1))
                + "\n二、单选题\n"
                + items(*range(1, 41)),
                "answer_in_text",
            )
        )
        == expected
    )


@pytest.mark.parametrize(("size", "expected"), [(1, 1), (3, 3), (4, 0)])
def test_a_third_of_the_stems_with_answers_are_a_habit(size, expected):
    assert (
        len(
            waiting(
                "\n".join(
                    f"{at}. 第{at}项首选的是（{'B' if at <= size else ' '}）\n{FOUR}" for at in range(1, 13)
                ),
                "answer_in_text",
            )
        )
        == expected
    )


@pytest.mark.parametrize(("size", "expected"), [(1, 0), (2, 1), (10, 9), (11, 0)])
def test_numbers_before_the_first_of_ten_are_missing(size, expected):
    assert len(waiting(items(size, size + 1), "missing_number")) == expected


@pytest.mark.parametrize(("size", "expected"), [(4, 0), (5, 1), (6, 2), (8, 4)])
def test_the_key_goes_on_after_the_last_number(size, expected):
    assert (
        len(
            waiting(
                items(1, 2, 3) + "\n参考答案\n" + " ".join(f"{at}.A" for at in range(1, size)),
                "missing_number",
            )
        )
        == expected
    )


@pytest.mark.parametrize(("size", "expected"), [(2, 1), (3, 0), (4, 1)])
def test_a_head_announces_its_items(size, expected):
    assert len(waiting(f"一、单选题（共{size}题）\n{items(1, 2, 3)}", "count_differs")) == expected


@pytest.mark.parametrize(("size", "expected"), [(1, 2), (2, 1), (3, 0)])
def test_items_beyond_the_announced_number_wait(size, expected):
    assert len(waiting(f"一、单选题（共{size}题）\n{items(1, 2, 3)}", "may_hold_another")) == expected


@pytest.mark.parametrize(("size", "expected"), [(1, 0), (2, 0), (3, 1), (4, 1), (9, 1)])
def test_three_questions_of_four_options_make_five_odd(size, expected):
    assert (
        len(waiting(items(*range(1, size + 1)) + "\n" + items(size + 1, options=FIVE), "options_too_many"))
        == expected
    )


@pytest.mark.parametrize(("size", "expected"), [(15, 0), (16, 0), (17, 0), (18, 2), (19, 1)])
def test_nine_of_ten_questions_make_another_number_of_options_odd(size, expected):
    assert (
        len(
            waiting(
                items(*range(1, size + 1)) + "\n" + items(*range(size + 1, 21), options=FIVE),
                "options_too_many",
            )
        )
        == expected
    )


@pytest.mark.parametrize(("size", "expected"), [(8, 0), (9, 0), (10, 2), (11, 1)])
def test_ten_questions_of_a_paper_make_another_number_odd(size, expected):
    assert (
        len(
            waiting(
                "\n".join(
                    f"{['一', '二', '三', '四', '五', '六', '七', '八', '九', '十', '十一', '十二'][at]}、单选题\n"
                    f"{items(at + 1, options=FIVE if at >= size else FOUR)}"
                    for at in range(12)
                ),
                "options_too_many",
            )
        )
        == expected
    )


@pytest.mark.parametrize(("size", "expected"), [(1, 0), (2, 0), (3, 3), (4, 4)])
def test_a_short_line_under_options_of_three_items_is_a_foot(size, expected):
    assert (
        len(
            waiting(
                "\n".join(items(at) + ("\n某网整理" if at <= size else "") for at in range(1, 6)),
                "foot_inside",
            )
        )
        == expected
    )


@pytest.mark.parametrize(("size", "expected"), [(3, 0), (4, 0), (7, 0), (8, 2)])
def test_a_line_of_eight_characters_is_a_foot_in_two_items(size, expected):
    assert (
        len(
            waiting(
                "\n".join(
                    items(at) + ("\n" + "某某网站整理发布"[:size] if at <= 2 else "") for at in range(1, 6)
                ),
                "foot_inside",
            )
        )
        == expected
    )


@pytest.mark.parametrize(("size", "expected"), [(1, 0), (2, 0), (3, 40)])
def test_answers_beyond_the_options_of_a_section(size, expected):
    assert (
        len(
            waiting(
                items(*range(1, 41))
                + "\n参考答案\n"
                + " ".join(f"{at}.{'E' if at <= size else 'A'}" for at in range(1, 41)),
                "options_missing",
            )
        )
        == expected
    )


@pytest.mark.parametrize(("size", "expected"), [(3, 0), (4, 0), (5, 5), (6, 4), (9, 1)])
def test_half_of_the_questions_without_an_answer_are_a_paper_without_a_key(size, expected):
    assert (
        len(
            waiting(
                items(*range(1, 11)) + "\n参考答案\n" + " ".join(f"{at}.A" for at in range(1, size + 1)),
                "no_answer",
            )
        )
        == expected
    )


@pytest.mark.parametrize(("size", "expected"), [(0, 1), (3, 1), (4, 1), (5, 0), (6, 0)])
def test_a_key_that_answers_less_than_half_was_not_read(size, expected):
    assert (
        len(
            waiting(
                items(*range(1, 11)) + "\n参考答案\n" + " ".join(f"{at}.A" for at in range(1, size + 1)),
                "key_not_read",
            )
        )
        == expected
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (items(1, 2, 2, 3), ({"1-002": ["duplicate_number"], "1-002b": ["duplicate_number"]}, [])),
        (f"1. 甲是\nA. 甲\nC. 丙\n{items(2, 3)}", ({"1-001": ["no_options"]}, [])),
        (f"1. 甲是\nA. 甲\nB.\nC. 丙\nD. 丁\n{items(2, 3)}", ({"1-001": ["empty_option"]}, [])),
        (f"1. \n{FOUR}\n{items(2, 3)}", ({"1-001": ["no_stem"]}, [])),
        (f"1. 甲是\n{FOUR}\n答案：F\n{items(2, 3)}", ({"1-001": ["answer_not_in_options"]}, [])),
        (f"1. 甲是\n{FOUR}\n答案：AA\n{items(2, 3)}", ({"1-001": ["answer_not_in_options"]}, [])),
        (f"一、单选题\n1. 甲是\n{FOUR}\n答案：AB\n{items(2, 3)}", ({"1-001": ["several_answers"]}, [])),
        (
            f"{items(1, 2, 3, 4, 5, 5, 6)}\n参考答案\n" + " ".join(f"{at}.A" for at in range(1, 9)),
            (
                {
                    "1-005": ["duplicate_number"],
                    "1-005b": ["duplicate_number"],
                    "1-006": ["answers_disagree"],
                    "1-007": ["missing_number"],
                    "1-008": ["missing_number"],
                },
                [],
            ),
        ),
        (
            f"{items(1, 2, 4, 5)}\n参考答案\n1.A 2.A 3.A 4.A",
            ({"1-004": ["answers_disagree"], "1-005": ["no_answer"], "1-003": ["missing_number"]}, []),
        ),
        (
            f"{items(1, 2, 3)}\n答案：ABC",
            (
                {
                    "1-001": ["joint_answer"],
                    "1-002": ["joint_answer"],
                    "1-003": ["joint_answer", "several_answers"],
                },
                [],
            ),
        ),
        (
            f"3. 首选的是（ ）\n4. 首选的是（ ）\n参考答案\n{items(1, 2)}",
            ({"head1": ["key_not_read"]}, ["no_options", "no_options"]),
        ),
        (items(2, 3, 4), ({"1-001": ["missing_number"]}, [])),
        (f"{items(1, 2, 4, 5)}\n6. 第6项是\n{FOUR}", ({"1-003": ["missing_number"]}, [])),
        (f"一、单选题（1～4题）\n{items(1, 2, 3)}", ({"1-004": ["missing_number"]}, [])),
        (f"本试卷共5题\n{items(1, 2, 3)}", ({"1-004": ["missing_number"], "1-005": ["missing_number"]}, [])),
        (
            f"（1～3题共用题干）\n男，45岁。上腹痛3天，伴黄疸，发热2天。\n{items(2, 3)}",
            ({"1-002": ["may_hold_another"], "1-003": ["may_hold_another"], "1-001": ["missing_number"]}, []),
        ),
        (f"参考答案\n无\n{items(1, 2)}", ({"head1": ["key_not_read"]}, [])),
        (f"{items(1, 2)}\n参考答案\n3. 首选的是（ ）\n乙", ({"head1": ["key_not_read"]}, [])),
        (f"{items(1, 2)}\n某某行\n续行二\n{items(3)}", ({"1-002": ["text_left_over"]}, [])),
        (f"1. 甲是\nA. 甲\nB. 乙\nC. 丙\nD. 丁很长的一个选项一直写到这里\n第二套\n{items(2, 3)}", ({}, [])),
    ],
)
def test_gates_of_a_question_and_of_a_paper(text, expected):
    assert judged(text) == expected
