"""Runs of options: every label and layout; letters that are no labels."""

from __future__ import annotations

import pytest

from pipeline.parse.options import find_run, find_runs
from pipeline.parse.text import fold, private_labels

EXPECTED = (("A", "甲"), ("B", "乙"), ("C", "丙"), ("D", "丁"))


@pytest.mark.parametrize(
    "text",
    [
        "A.甲\nB.乙\nC.丙\nD.丁",
        "A. 甲\tB. 乙\tC. 丙\tD. 丁",
        "A. 甲\tB. 乙\nC. 丙\tD. 丁",
        "A.甲 B.乙 C.丙 D.丁",
        "A.甲B.乙C.丙D.丁",
        "A、甲 B、乙 C、丙 D、丁",
        "A．甲　B．乙　C．丙　D．丁",
        "Ａ．甲\nＢ．乙\nＣ．丙\nＤ．丁",
        "(A)甲\t(B)乙\t(C)丙\t(D)丁",
        "（A）甲（B）乙（C）丙（D）丁",
        "【A】甲【B】乙【C】丙【D】丁",
        "Ⓐ甲 Ⓑ乙 Ⓒ丙 Ⓓ丁",
        "A 甲\nB 乙\nC 丙\nD 丁",
        "A甲\nB乙\nC丙\nD丁",
        "A.甲\nB.乙\nc.丙\nD.丁",
        "A,甲\nB.乙\nC,丙\nD.丁",
        "A:甲\nB:乙\nC:丙\nD:丁",
        "A.\n甲\nB.\n乙\nC.\n丙\nD.\n丁",
        "A.甲\nB.乙\nC丙\nD.丁",
        "A. 甲\tC. 丙\nB. 乙\tD. 丁",
    ],
)
def test_a_run_is_read_in_any_label_and_layout(text):
    run = find_run(fold(text))
    assert run is not None
    assert run.options == EXPECTED


@pytest.mark.parametrize(
    "stem",
    [
        "补充维生素A. 之后，",
        "缺乏维生素A、维生素D时，",
        "血型为A型、B型者，",
        "甲、A、B两组比较，",
        "IgA 肾病，",
        "应用(A)方案时，",
    ],
)
def test_letters_in_the_stem_are_no_options(stem):
    text = f"{stem}应选\nA. 甲\nB. 乙\nC. 丙\nD. 丁"
    run = find_run(text)
    assert run is not None
    assert (run.start, run.options) == (text.index("\nA.") + 1, EXPECTED)


def test_letters_inside_an_option_do_not_cut_it():
    run = find_run("A. 维生素B缺乏\nB. 维生素C、维生素D缺乏\nC. 抗D. 抗体\nD. 丁")
    assert run is not None
    assert [text for _, text in run.options] == ["维生素B缺乏", "维生素C、维生素D缺乏", "抗D. 抗体", "丁"]


def test_a_run_begins_at_a():
    assert find_run("B. 乙\nC. 丙\nD. 丁") is None


def test_one_label_is_no_run():
    assert find_run("A. 甲") is None


def test_up_to_eleven_options_are_read():
    letters = "ABCDEFGHIJK"
    run = find_run("\n".join(f"{letter}. 第{letter.lower()}项" for letter in letters))
    assert run is not None
    assert "".join(label for label, _ in run.options) == letters


def test_an_option_over_two_lines_is_one_text():
    run = find_run("A. 肾小\n球肾炎\nB. acute\nnephritis\nC. 丙\nD. 丁")
    assert run is not None
    assert run.options[:2] == (("A", "肾小球肾炎"), ("B", "acute nephritis"))


def test_decimals_are_options():
    run = find_run("A.0.5\tB.1.5\tC.2.5\tD.3.5")
    assert run is not None
    assert [text for _, text in run.options] == ["0.5", "1.5", "2.5", "3.5"]


def test_a_missing_label_is_put_back_where_there_is_one_way():
    run = find_run("A. 甲\tB. 乙\t丙\tD. 丁")
    assert run is not None
    assert run.options == EXPECTED
    assert run.repaired == "C"


def test_a_missing_label_is_not_guessed():
    run = find_run(
        "A. 甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲\nB. 乙乙乙乙乙乙乙乙乙乙乙乙乙乙乙乙乙乙乙乙乙\n续\n丙\nD. 丁"
    )
    assert run is None or len(run.options) == 2


def test_runs_one_after_the_other_are_told_apart():
    assert len(find_runs("题干\nA.甲 B.乙\nA.丙 B.丁\nA.戊 B.己")) == 3


def test_private_use_glyphs_that_stand_where_labels_stand_are_labels():
    lines = ["\ue18c甲\t\ue18d乙", "\ue18e丙\t\ue18f丁"] * 5 + ["\uf0b7项目"]
    table = private_labels(lines)
    assert table == {0xE18C: "A.", 0xE18D: "B.", 0xE18E: "C.", 0xE18F: "D."}


@pytest.mark.parametrize("line", ["c丙", "C丙", "(c)丙", "c.丙", "c,丙", "（c）丙"])
def test_a_label_read_as_a_small_letter_or_without_its_mark_leaves_no_trace(line):
    run = find_run(f"A.甲\nB.乙\n{line}\nD.丁")
    assert run is not None
    assert run.options == EXPECTED


def test_a_label_that_may_be_part_of_a_word_waits(parse):
    outcome = parse("1. 下列哪项正确\nA.甲乙\nB.乙丙\nCARDS时\nD.丁戊")
    assert [item.reason for item in outcome.review] == ["label_put_back"]


def test_stages_of_a_disease_are_options_and_no_row_of_answers():
    assert find_run("哪一級？\nA.I\nB.II\nC.IIIA\nD.IIIB").options == (
        ("A", "I"), ("B", "II"), ("C", "IIIA"), ("D", "IIIB"),
    )  # fmt: skip


def test_a_list_of_named_things_holds_no_labels():
    run = find_run("何者缺乏？\nA.甲\nB.protein C、protein S缺乏\nC.丙\nD.丁")
    assert [text for _, text in run.options] == ["甲", "protein C、protein S缺乏", "丙", "丁"]


@pytest.mark.parametrize("note", ["（难度系数B）", "[2分]", "【2019年真题】", "（易）"])
def test_a_note_behind_the_last_options_is_no_text_of_theirs(parse, note):
    paper = "\n".join(f"{number}. 第{number}项\nA. 甲\nB. 乙\nC. 丙{note}" for number in range(1, 5))
    outcome = parse(paper)
    assert {question.options[-1].text for question in outcome.questions} == {"丙"}
    assert {question.comment for question in outcome.questions} == {note}
