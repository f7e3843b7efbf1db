"""Signs, labels, stems and answers that a whole paper prints alike: they are read, or a person is asked."""

import pytest
from hypothesis import given, strategies as st

from build_dataset.pipeline.parse.folding import join_lines
from build_dataset.pipeline.parse.paper import ParseOutcome, finish
from build_dataset.pipeline.parse.stage import check_gates, read_paper
from tests.pipeline.parse.conftest import document_of, lines_of
from tests.pipeline.parse.short import FOUR, told

ALIKE = "АВСДЕ"  # Cyrillic letters of the shape of A, B, C, and two that stand for D and E
KEYS = st.lists(st.integers(0, 3), min_size=3, max_size=9)


def parse(text: str) -> ParseOutcome:
    """Read a paper, and return the fate of its items."""
    paper = read_paper("paper.txt", lines_of(text))
    check_gates(paper)
    return finish(paper, document_of())


def items(keys, option="{label}. {text}{at}", stem="第{at}项首选的是（ ）", key="\n答案：{letter}"):
    """A paper in which each item has its own texts."""
    lines = []
    for at, right in enumerate(keys, 1):
        lines.append(f"{at}. " + stem.format(at=at))
        pairs = zip("ABCD", "甲乙丙丁", strict=True)
        lines += [option.format(label=label, text=text, at=at, star="") for label, text in pairs]
        lines.append(key.format(letter="ABCD"[right]).strip())
    return "\n".join(line for line in lines if line)


@given(
    keys=st.lists(st.integers(0, 3), min_size=8, max_size=20).filter(lambda keys: {0, 3} <= {*keys}),
    label=st.sampled_from(["{}. ", "{}、", "({})", "{}．", "{} "]),
    sign=st.sampled_from("✔√*★"),
    before=st.booleans(),
    gap=st.sampled_from(["\n", "\t", "   "]),
    row=st.sampled_from([2, 4]),
)
def test_a_mark_between_two_options_is_that_of_the_one_that_the_paper_marks_so(keys, label, sign, before, gap, row):
    if sign == "*" and not before:
        return  # 甲* may name a footnote
    lines = []
    for at, right in enumerate(keys, 1):
        marks = [sign if place == right else "" for place in range(4)]
        texts = (f"甲{at}子", f"乙{at}丑", f"丙{at}寅", f"丁{at}卯")
        each = [label.format(letter) + text for letter, text in zip("ABCD", texts, strict=True)]
        each = [mark + one if before else f"{one} {mark}".strip() for mark, one in zip(marks, each, strict=True)]
        lines += [f"{at}. 第{at}项首选的是（ ）", *(gap.join(each[place : place + row]) for place in range(0, 4, row))]
    found = parse("\n".join(lines))
    assert told(found) == [f"{at}{'ABCD'[right]}" for at, right in enumerate(keys, 1)]
    assert all(one.options[2].text == f"丙{one.number}寅" for one in found.questions)


@pytest.mark.parametrize("number", ["例{}", "例题{}：", "#{}", "题号：{}\n", "序号：{}\n题干："])
@pytest.mark.parametrize("label", ["{}. ", "选项{}：", "选项 {}. "])
@pytest.mark.parametrize("gap", ["\n", "  "])
def test_numbers_and_labels_may_have_words(number, label, gap):
    options = gap.join(label.format(letter) + text for letter, text in zip("ABCD", "甲乙丙丁", strict=True))
    explained = "\n".join(f"选项{letter}：不全对。" for letter in "ABCD")
    text = "\n".join(
        f"{number.format(at)} 第{at}项首选的是\n{options}\n答案：C\n解析：看书。\n{explained}" for at in range(1, 6)
    )
    found = parse(text if label.startswith("{}") else text.replace(explained, ""))
    assert told(found) == [f"{at}C" for at in range(1, 6)]
    assert [[option.text for option in one.options] for one in found.questions] == [[*"甲乙丙丁"]] * 5
    assert [one.stem for one in found.questions] == [f"第{at}项首选的是" for at in range(1, 6)]


@given(KEYS)
def test_cyrillic_letters_of_the_shape_of_latin_ones_label_as_those_do(keys):
    lines = []
    for at, right in enumerate(keys, 1):
        options = [f"{letter}) сөз {at}{letter.lower()}" for letter in ALIKE]
        lines += [f"{at}. Дұрыс сөзді табыңыз {at}.", *options, f"答案：{'ABCD'[right]}"]
    found = parse("\n".join(lines))
    assert told(found) == [f"{at}{'ABCD'[key]}" for at, key in enumerate(keys, 1)]
    assert {len(one.options) for one in found.questions} == {5}


@pytest.mark.parametrize("typed", ["b. ", "B) ", "б) "])
def test_a_label_that_was_typed_wrong_waits(typed):
    label = "{}) " if ")" in typed else "{}. "
    names = "abcd" if typed[0].islower() else "ABCD"
    options = [label.format(name) + text for name, text in zip(names, ("один", "два", "три", "шесть"), strict=True)]
    options[2] = typed + "три"
    told_of = told(parse("\n".join(["1. Что верно?", *options, "答案：A"])))
    assert told_of[0].startswith("?1 ")


@pytest.mark.parametrize(
    ("before", "after"),
    [("инфекции", "из верхних"), ("nồng độ", "protein"), ("la presión", "única"), ("τ", "σ"), ("甲", "乙")],
)
def test_words_of_scripts_with_spaces_keep_theirs_where_lines_meet(before, after):
    spaced = before[-1].isalpha() and before[-1] not in "τ甲"
    assert join_lines(f"{before}\n{after}") == before + (" " if spaced else "") + after


@pytest.mark.parametrize("page", ["【P{}】", "（教材P{}）", "(P{}-19)"])
def test_a_page_of_the_book_behind_stems_is_cut_off_and_kept_as_a_comment(page):
    found = parse(items([0] * 9, stem="第{at}项首选的是（ ）" + page.replace("{}", "1{at}")))
    assert told(found) == [f"{at}A" for at in range(1, 10)]
    assert found.questions[4].stem == "第5项首选的是（ ）"
    assert "15" in (found.questions[4].comment or "")


def test_the_word_over_the_options_is_no_end_of_the_stem():
    found = parse("1. 下列错误的是（ ）。\n选项\n" + FOUR + "\n答案：A")
    assert [one.stem for one in found.questions] == ["下列错误的是（ ）。"]


@pytest.mark.parametrize("joint", ["\n", "\t"])
@given(st.lists(st.integers(0, 3), min_size=8, max_size=12))
def test_one_star_behind_a_label_of_each_item_marks_the_right_option(joint, keys):
    starred = []
    for at, right in enumerate(keys, 1):
        rows = [f"{'ABCD'[n]}) {'* ' if n == right else ''}{text}{at}" for n, text in enumerate("甲乙丙丁")]
        starred.append(f"{at}. 第{at}项首选的是{joint}" + "\n".join(rows))
    found = parse("\n".join(starred))
    assert told(found) == [f"{at}{'ABCD'[key]}" for at, key in enumerate(keys, 1)]
    assert not any("*" in option.text for one in found.questions for option in one.options)


def test_stars_of_pointers_are_no_marks():
    text = "\n".join(f"{at}. What is p{at}?\nA) *p{at}\nB) *q{at}\nC) &p{at}\nD) p{at}\n答案：A" for at in range(1, 10))
    found = parse(text)
    assert [option.text for option in found.questions[0].options] == ["*p1", "*q1", "&p1", "p1"]


@pytest.mark.parametrize("said", ["第{at}题参考答案{letter}。见教材。", "解答：答案选择{letter}。见教材。"])
@given(KEYS)
def test_an_answer_is_read_in_the_words_of_a_solution(said, keys):
    lines = []
    for at, right in enumerate(keys, 1):
        lines += [f"{at}. 第{at}项首选的是", FOUR, said.format(at=at, letter="ABCD"[right])]
    assert told(parse("\n".join(lines))) == [f"{at}{'ABCD'[key]}" for at, key in enumerate(keys, 1)]


@given(KEYS)
def test_an_answer_that_names_its_question_is_no_head_of_the_next_one(keys):
    lines = ["第1题参考答案A。见教材。"]  # question 1 is a picture
    for at, right in enumerate(keys, 2):
        lines += [f"{at}. 第{at}项首选的是", FOUR, f"第{at}题参考答案{'ABCD'[right]}。见教材。"]
    kept = [f"{at}{'ABCD'[key]}" for at, key in enumerate(keys, 2)]
    assert told(parse("\n".join(lines))) == [*kept, "? missing_number"]


@given(st.sets(st.sampled_from("ABCD"), min_size=1, max_size=3))
def test_an_answer_with_the_texts_of_its_options_has_all_their_letters(right):
    texts = {"A": "Walk, slowly", "B": "Assess the wound", "C": "Measure intake", "D": "Teach"}
    options = "\n".join(f"{label}) {text}" for label, text in texts.items())
    said = ", ".join(f"{label}) {texts[label]}" for label in sorted(right))
    found = parse(f"1. Which tasks may be delegated?\n{options}\nAnswer: {said}")
    assert told(found) == ["1" + "".join(sorted(right))]


def test_a_key_that_names_options_that_a_section_lacks_is_that_of_others():
    two = "\n".join(f"{at}. 第{at}项首选的是\nA. 甲\nB. 乙" for at in range(1, 5))
    four = "\n".join(f"{at}. 第{at}项首选的是\n{FOUR}" for at in range(5, 9))
    found = parse(f"{two}\n{four}\n参考答案\n1.D 2.C 3.D 4.C 5.A 6.B 7.C 8.D")
    assert not found.questions


def test_parts_of_a_numbered_case_do_not_go_without_it():
    one = "1)首选的治疗是\n" + FOUR + "\n答案：C\n2)次选的治疗是\n" + FOUR + "\n答案：A"
    outcome = told(parse(f"1.患者,男,60岁,上腹痛3天。查体:黄疸。\n{one}"))
    assert len(outcome) > 1
    assert all(text.startswith("?") for text in outcome)


def test_the_number_of_a_page_before_a_title_opens_no_question():
    text = (
        "1、2023年考试训练卷(后附答案)一、单选题1、" + "经济学理论常常让人觉得枯燥" * 8 + "()。A、甲B、乙C、丙D、丁"
        "【答案】:C【解析】:这是一道题。2、" + "下列说法正确的是" * 4 + "()。A、甲一B、乙一C、丙一D、丁一【答案】:B"
    )
    found = parse(text)
    assert all("训练卷" not in one.stem and "单选题" not in one.stem for one in found.questions)


def test_a_span_of_a_whole_section_is_no_case():
    paper = "\n".join(f"{at}. Question {at} asks?\n{FOUR}\nAnswer: {'ABCD'[at % 4]}" for at in range(1, 21))
    found = parse(f"Section 1: Safety\n(Questions 1–20)\n{paper}")
    assert told(found) == [f"{at}{'ABCD'[at % 4]}" for at in range(1, 21)]
