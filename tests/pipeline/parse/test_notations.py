"""Papers in other notations: their options get labels, what they mark as right is the key."""

from __future__ import annotations

import pytest

from tests.pipeline.parse.short import told

NAMES = ("肝", "胆", "脾", "胃", "肾")


def paper(form, joint="\n"):
    return joint.join(form.format(at=at, name=name) for at, name in enumerate(NAMES, 1))


@pytest.mark.parametrize(
    "form",
    [
        "{at}. {name}病首选的是 {{~%0%{name}甲 ~%100%{name}乙 ~%0%{name}丙 ~%0%{name}丁}}",
        "{at}. {name}病首选的是 {{~{name}甲 ={name}乙 ~{name}丙 ~{name}丁}}",
        "{at}. {name}病首选的是\n[ ] {name}甲\n[x] {name}乙\n[ ] {name}丙\n[ ] {name}丁",
        "{at}. {name}病首选的是\n☐ {name}甲\n☑ {name}乙\n☐ {name}丙\n☐ {name}丁",
        "{at}. {name}病首选的是\nA. {name}甲\n*B. {name}乙\nC. {name}丙\nD. {name}丁",
        "{at}. {name}病首选的是\nA. {name}甲\n√ B. {name}乙\nC. {name}丙\nD. {name}丁",
        "x{at}\t{at}. {name}病首选的是 A. {name}甲 B. {name}乙 C. {name}丙 D. {name}丁\tB\t{name}乙对。",
        "[单选] [B]\n{name}病首选的是\nA. {name}甲\nB. {name}乙\nC. {name}丙\nD. {name}丁",
    ],
)
def test_options_and_keys_of_other_notations_are_read(parse, form):
    outcome = parse(paper(form))
    assert told(outcome) == ["1B", "2B", "3B", "4B", "5B"]
    assert [[one.text for one in question.options] for question in outcome.questions] == [
        [f"{name}{part}" for part in "甲乙丙丁"] for name in NAMES
    ]


def test_a_text_of_a_site_in_one_line_is_cut_at_its_numbers_and_answers(parse):
    form = "{at}. {name}病首选的是（ ）。A. {name}甲 B. {name}乙 C. {name}丙 D. {name}丁正确答案：B解析：{name}乙有效。"
    outcome = parse(paper(form, ""))
    assert told(outcome) == ["1B", "2B", "3B", "4B", "5B"]
    assert outcome.questions[0].explanation == "肝乙有效。"


def test_a_set_in_braces_is_no_list_of_options(parse):
    (question,) = parse("1. 集合{=甲}与下列哪项相同\nA. 甲\nB. 乙\nC. 丙\nD. 丁\n答案：A").questions
    assert len(question.options) == 4
