"""Papers in other notations: their options get labels, what they mark as right is the key."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from build_dataset.pipeline.parse.paper import finish
from build_dataset.pipeline.parse.stage import check_gates, read_paper
from tests.pipeline.parse.conftest import document_of, lines_of
from tests.pipeline.parse.short import told

CIRCLED = "①②③④⑤⑥⑦⑧⑨"
NAMES = ("肝", "胆", "脾", "胃", "肾")


OPTIONS = "A. {name}甲\nB. {name}乙\nC. {name}丙\nD. {name}丁"


def paper(form, joint="\n"):
    return joint.join(
        form.format(at=at, name=name, options=OPTIONS.format(name=name)) for at, name in enumerate(NAMES, 1)
    )


def paper_of(size):
    """A paper of so many questions, an empty line between two."""
    return "\n\n".join(f"{at}. 第{at}例首选的是\n{OPTIONS.format(name=at)}" for at in range(1, size + 1))


def parsed(text):
    read = read_paper("paper.pdf", lines_of(text))
    check_gates(read)
    return finish(read, document_of())


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
        "{at}\n【单选题】\n{name}病首选的是\n窗体顶端\n• A. {name}甲\n• B. {name}乙\n• C. {name}丙\n窗体底端\n答案：B",
        "[单选] [B]\n{name}病首选的是\nA. {name}甲\nB. {name}乙\nC. {name}丙\nD. {name}丁",
    ],
)
def test_options_and_keys_of_other_notations_are_read(parse, form):
    outcome = parse(paper(form))
    assert told(outcome) == ["1B", "2B", "3B", "4B", "5B"]
    assert [[one.text for one in question.options] for question in outcome.questions] == [
        [f"{name}{part}" for part in "甲乙丙丁" if part in form] for name in NAMES
    ]


def test_a_text_of_a_site_in_one_line_is_cut_at_its_numbers_and_answers(parse):
    form = "{at}. {name}病首选的是（ ）。A. {name}甲 B. {name}乙 C. {name}丙 D. {name}丁正确答案：B解析：{name}乙有效。"
    outcome = parse(paper(form, ""))
    assert told(outcome) == ["1B", "2B", "3B", "4B", "5B"]
    assert outcome.questions[0].explanation == "肝乙有效。"


def test_a_set_in_braces_is_no_list_of_options(parse):
    (question,) = parse("1. 集合{=甲}与下列哪项相同\nA. 甲\nB. 乙\nC. 丙\nD. 丁\n答案：A").questions
    assert len(question.options) == 4


LETTERS = st.lists(st.sampled_from("ABCD"), min_size=4, max_size=9)


@given(LETTERS)
def test_dashes_behind_right_options_are_a_key_but_none_behind_every_last_option(letters):
    items = [
        "".join(f"\n{label}. {at}{label}{' -----' * (label == letter)}" for label in "ABCD")
        for at, letter in enumerate(letters)
    ]
    outcome = parsed("\n".join(f"{at}. 首选{at}的是{options}" for at, options in enumerate(items, 1)))
    known = letters if {*letters} != {"D"} else [None] * len(letters)
    assert [(one.answer or [None])[0] for one in outcome.questions] == known


@given(LETTERS, LETTERS)
def test_circled_keys_answer_the_sections_that_they_name(first, second):
    letters = (first, second)
    text = [f"第{part}部分\n" + paper_of(len(keys)) for part, keys in zip("一二", letters, strict=True)]
    text += ["参考答案"]
    text += [
        f"第{part}部分：" + " ".join(f"{CIRCLED[at]}{letter}" for at, letter in enumerate(keys))
        for part, keys in zip("一二", letters, strict=True)
    ]
    assert [one.answer[0] for one in parsed("\n".join(text)).questions] == [*first, *second]


@pytest.mark.parametrize("joint", ["\n", "", " ", "。"])
@given(LETTERS)
def test_answers_of_a_candidate_are_no_key_and_leave_nothing_behind(joint, letters):
    items = zip(paper_of(len(letters)).split("\n\n"), letters, strict=True)
    outcome = parsed("\n".join(f"{item}{joint}我的答案：{letter}\n得分：10分" for item, letter in items))
    assert [(one.answer, one.options[-1].text.rstrip("。")) for one in outcome.questions] == [
        (None, f"{at}丁") for at in range(1, len(letters) + 1)
    ]


@pytest.mark.parametrize("form", ["知情同意\n", "您是否同意参加本次测验？\n", "Do you consent to take part?\n"])
def test_what_is_asked_of_who_takes_part_is_no_lost_question(parse, form):
    outcome = parse(f"{form}A. 同意\nB. 不同意\nC. 不确定\n" + paper("{at}. {name}病首选的是\n{options}\n答案：B"))
    assert (told(outcome), outcome.review) == (["1B", "2B", "3B", "4B", "5B"], [])


CODE = st.lists(
    st.sampled_from(["class Cup { }", "int x = 5;", "}", "void f() {", "// insert here"]), min_size=1, max_size=9
)


@given(st.lists(st.tuples(CODE, st.integers(1, 21)), min_size=5, max_size=9))
def test_numbers_of_lines_of_code_number_no_items_where_a_word_counts_them(codes):
    items = [
        f"Q: {at} Given:\n"
        + "\n".join(f"{number}. {line}" for number, line in enumerate(code, first))
        + f"\nWhat is result {at}?\n{OPTIONS.format(name=at)}\nAnswer: B"
        for at, (code, first) in enumerate(codes, 1)
    ]
    outcome = parsed("\n".join(items))
    assert told(outcome) == [f"{at}B" for at in range(1, len(codes) + 1)]
    assert all(
        line in question.stem for question, (code, _) in zip(outcome.questions, codes, strict=True) for line in code
    )
