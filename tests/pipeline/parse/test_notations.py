"""Papers in other notations: their options get labels, what they mark as right is the key."""

import pytest
from hypothesis import given, strategies as st

from build_dataset.pipeline.parse.paper import finish
from build_dataset.pipeline.parse.stage import check_gates, read_paper
from build_dataset.schemas.documents import LineKind
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
        "{at}. {name}病首选的是\n- {name}甲\n+ {name}乙\n- {name}丙\n- {name}丁",
        "{at}. {name}病首选的是\n- [] {name}甲\n[x] {name}乙\n- [] {name}丙\n- [] {name}丁",
        "{at}. {name}病首选的是\n- a) {name}甲\n- b) {name}乙 X\n- c) {name}丙\n- d) {name}丁",
        "[单选]{at}.{name}病首选的是\nA. {name}甲\nB. {name}乙\nC. {name}丙\nD. {name}丁\n答案:B",
        "G1A0{at} (B) [97.3{at}]\n{name}病首选的是\nA. {name}甲\nB. {name}乙\nC. {name}丙\nD. {name}丁\n~~",
        "{at}. {name}病首选的是\nA. {name}甲\nB. {name}乙\nC. {name}丙\nD. {name}丁\nAntwort\nAntwort: B",
        "C{at}. {name}病首选的是\nA. {name}甲\nB. {name}乙\nC. {name}丙\nD. {name}丁\n答案:B",
        "Bài {at}: {name}病首选的是\nA. {name}甲\nB. {name}乙\nC. {name}丙\nD. {name}丁\nĐáp án: B",
        "{at}. {name}病首选的是？B\nA. {name}甲\nB. {name}乙\nC. {name}丙\nD. {name}丁",
        "{at}. {name}病首选的是\n[ ] a. {name}甲\n[ ] b. {name}乙\n[ ] c. {name}丙\n✅ Réponse correcte : b",
        "{at}. {name}病首选的是\nА) {name}甲\nБ) {name}乙\nВ) {name}丙\nГ) {name}丁\nОтвет: Б",
        "{at}. {name}病首选的是\nأ) {name}甲\nب) {name}乙\nج) {name}丙\nد) {name}丁\nالإجابة: ب",
        "{at}. {name}病首选的是\n(क) {name}甲\n(ख) {name}乙\n(ग) {name}丙\n(घ) {name}丁\nउत्तर: (ख)",
        "{at}. {name}病首选的是\nα. {name}甲\nβ. {name}乙\nγ. {name}丙\nδ. {name}丁\nΣωστή απάντηση: β",
        "{at}. {name}病首选的是？ ক. {name}甲 খ. {name}乙 গ. {name}丙 ঘ. {name}丁\nউত্তর: খ",
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


@given(LETTERS)
def test_signs_of_a_list_alone_say_nothing_of_its_items(letters):
    items = (f"{at}. 第{at}例首选的是\n{OPTIONS.format(name=at)}\n答案：{one}" for at, one in enumerate(letters, 1))
    outcome = parsed("\n".join(f"{item}\n解析：依据{at}：\n- 甲\n- 乙" for at, item in enumerate(items)))
    assert [one.answer[0] for one in outcome.questions] == letters
    assert all(one.explanation.endswith("- 甲\n- 乙") or "- 甲- 乙" in one.explanation for one in outcome.questions)


def headed(items):
    """A paper whose file calls the first line of each item a heading."""
    lines = lines_of("\n".join(items))
    opens = {item.split("\n")[0] for item in items}
    lines = [line.model_copy(update={"kind": LineKind.HEADING}) if line.text in opens else line for line in lines]
    read = read_paper("paper.md", lines)
    check_gates(read)
    return finish(read, document_of("paper.md"))


@given(st.permutations(range(1, 7)), LETTERS)
def test_a_heading_over_each_question_opens_it_whatever_number_it_names(numbers, letters):
    letters = (letters * 2)[:6]
    items = [
        f"Exam X topic 1 question {number} discussion\nA team asks for part {number}.\nWhich part is it?\n"
        + "\n".join(f"{label}: {label.lower()}{number}" for label in "ABCD")
        + f"\nAnswer: {letter}\nView on X"
        for number, letter in zip(numbers, letters, strict=True)
    ]
    questions = headed(items).questions
    assert [one.stem for one in questions] == [f"A team asks for part {n}. Which part is it?" for n in numbers]
    assert [one.answer[0] for one in questions] == letters


@pytest.mark.parametrize("told_as", ["Reference", "Explained here: {at}", "см. главу"])
@given(LETTERS)
def test_what_stands_under_the_boxes_of_an_item_explains_it(told_as, letters):
    items = [
        f"Q{at}. What is part {at}?\n"
        + "\n".join(f"[{'x' if label == letter else ' '}] {label.lower()}{at}" for label in "ABCD")
        + f"\n{told_as.format(at=at)}"
        for at, letter in enumerate(letters, 1)
    ]
    questions = headed(items).questions
    assert [(one.answer[0], one.options[-1].text) for one in questions] == [
        (letter, f"d{at}") for at, letter in enumerate(letters, 1)
    ]


@given(LETTERS, LETTERS)
def test_items_without_numbers_before_the_first_number_are_read(first, second):
    bare = [f"第{at}例首选的是\n{OPTIONS.format(name=at)}\nANSWER: {letter}" for at, letter in enumerate(first)]
    numbered = zip(paper_of(len(second)).split("\n\n"), second, strict=True)
    outcome = parsed("\n".join([*bare, *(f"{item}\nANSWER: {letter}" for item, letter in numbered)]))
    assert [one.answer[0] for one in outcome.questions] == [*first, *second]


@given(st.sampled_from("ABCD"), st.sampled_from("ABCD"), st.sampled_from(["甲", "丙", "丁"]))
def test_a_letter_alone_among_the_options_that_is_not_the_answer_stops_the_question(answer, other, after):
    options = OPTIONS.format(name="肝").replace(after, f"{after}\n{other}")
    outcome = parsed(f"1. 肝病首选的是（{answer}）\n{options}\n2. 胆病首选的是（B）\n{OPTIONS.format(name='胆')}")
    assert (told(outcome)[:1] == [f"1{answer}"]) <= (answer == other)


@pytest.mark.parametrize("beside", [" или {other}", " may be {other}", "，有的书为 {other}"])
@given(st.permutations("ABCD"))
def test_an_answer_with_another_letter_behind_it_waits(beside, letters):
    said = f"{letters[0]}{beside.format(other=letters[1])}"
    assert not parsed(f"1. 肝病首选的是\n{OPTIONS.format(name='肝')}\nAnswer: {said}").questions


def test_an_explanation_that_goes_through_options_gives_an_item_no_options():
    items = (
        f"{at}. 第{at}例首选的是（图）\n答案：B\n解析：本题考查{at}。\nA. 甲错误\nB. 乙正确\nC. 丙错误"
        for at in range(1, 9)
    )
    assert not parsed("\n".join(items)).questions
