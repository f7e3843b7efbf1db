"""Notations of question lists on the web: the key, its count and verdicts in places of their own."""

import pytest

from tests.pipeline.parse.short import told

ROWS = [("a.", "甲药"), ("b.", "乙药"), ("c.", "丙药"), ("d.", "丁药")]


@pytest.mark.parametrize("right", range(4))
def test_a_star_in_a_cell_before_its_option_is_the_key_and_no_end_of_the_option_above(parse, right):
    rows = "\n".join(("*\t" if at == right else "") + f"{label}\t{text}" for at, (label, text) in enumerate(ROWS))
    outcome = parse("\n".join(f"{number}. 第{number}项首选的是\n{rows}" for number in range(1, 5)))
    assert told(outcome) == [f"{number}{'ABCD'[right]}" for number in range(1, 5)]
    assert [option.text for option in outcome.questions[0].options] == [text for _, text in ROWS]


@pytest.mark.parametrize("said", ["答案是：b", "答案为：B", "正确答案是: B"])
def test_an_answer_is_told_by_a_verb_and_a_colon(parse, said):
    rows = "\n".join(text.upper() for text in ("a. 甲", "b. 乙", "c. 丙", "d. 丁"))
    assert told(parse(f"1. 首选的是\n{rows}\n{said}")) == ["1B"]


def test_how_many_answers_are_right_is_no_part_of_a_stem(parse):
    asked = (
        "{number}. 第{number}项哪些对?(正确答案个数：2个)\nA、甲{number}\nB、乙{number}\nC、丙{number}\n正确答案：A,C"
    )
    outcome = parse("\n\n".join(asked.format(number=number) for number in range(1, 13)))
    assert told(outcome) == [f"{number}AC" for number in range(1, 13)]
    assert outcome.questions[0].stem == "第1项哪些对?"


@pytest.mark.parametrize("verdict", ["(F)", "（T）", "（√）", "（错）"])
def test_a_statement_with_its_verdict_behind_it_is_a_true_false_item(parse, verdict):
    asked = "\n".join(f"{number}. 第{number}项首选的是\nA. 甲\nB. 乙\nC. 丙\n答案：A" for number in range(1, 5))
    assert "-5 true_false" in told(parse(f"{asked}\n5. 甲药优于乙药。{verdict}"))


@pytest.mark.parametrize(
    ("last", "reason"), [("…", "empty_option"), ("..", "empty_option"), ("丁药B.", "label_inside_text")]
)
def test_an_option_that_was_left_out_or_ends_with_a_label_waits(parse, last, reason):
    assert told(parse(f"1. 首选的是\nA. 甲药\nB. 乙药\nC. 丙药\nD. {last}\n答案：A")) == [f"?1 {reason}"]


@pytest.mark.parametrize("line", ["A需求分析B结构设计C程序编制D软件维护", "A甲B乙C丙D丁E戊"])
def test_labels_in_one_line_need_neither_mark_nor_space(parse, line):
    outcome = parse(f"1. 不属于的是（）。\n{line}\n答案：B")
    assert told(outcome) == ["1B"]
    assert "".join(option.label + option.text for option in outcome.questions[0].options) == line


def test_letters_inside_a_sentence_are_no_options(parse):
    outcome = parse("1. A型血与B型血的人，抗体分别是\nA. 甲\nB. 乙\nC. 丙\n答案：B")
    assert outcome.questions[0].stem == "A型血与B型血的人，抗体分别是"


@pytest.mark.parametrize("picture", ["![](https://site.example/a/4.png)", "图https://site.example/a/4.JPG)"])
def test_a_link_to_a_picture_where_a_text_should_be_waits(parse, picture):
    assert told(parse(f"1. 首选的是\nA. 甲药\nB. {picture}\nC. 丙药\n答案：A")) == ["?1 picture_not_read"]


@pytest.mark.parametrize(
    ("stem", "waits"), [("10) The function is", True), ("3．丁药属于", True), ("2.5 mg 的是", False)]
)
def test_a_stem_that_begins_with_another_number_waits(parse, stem, waits):
    outcome = parse(f"1. {stem}\nA. 甲\nB. 乙\nC. 丙\n答案：A")
    assert told(outcome) == (["?1 text_left_over"] if waits else ["1A"])
