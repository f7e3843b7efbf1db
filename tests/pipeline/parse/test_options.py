"""Runs of options: every label and layout; letters that are no labels."""

import pytest

from build_dataset.pipeline.parse.folding import fold
from build_dataset.pipeline.parse.labels import find_labels, has_label, opens_option
from build_dataset.pipeline.parse.options import find_run, find_runs

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
        "(A)甲\tB乙\tC丙\tD丁",
    ],
)
def test_a_run_is_read_in_any_label_and_layout(text):
    run = find_run(fold(text))
    assert run is not None
    assert run.options == EXPECTED


@pytest.mark.parametrize("row", ["(A)①②\tB②③\tC③④\tD①④", "A①② B②③ C③④ D①④", "A①②\nB②③\nC③④\nD①④"])
def test_a_letter_alone_may_stand_before_circled_numbers(row):
    """Scans lose brackets: (A)①② B②③."""
    run = find_run(f"应选：①甲 ②乙 ③丙 ④丁\n{row}")
    assert run is not None
    assert run.options == (("A", "①②"), ("B", "②③"), ("C", "③④"), ("D", "①④"))


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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A.甲", [("A", 0, 2, "dotted", 3.0)]),
        ("甲 B.乙", [("B", 2, 4, "dotted", 2.0)]),
        ("甲  B.乙", [("B", 3, 5, "dotted", 2.6)]),
        ("甲   B.乙", [("B", 4, 6, "dotted", 2.6)]),
        ("甲B.乙", [("B", 1, 3, "dotted", 1.5)]),
        ("CA.乙", []),
        ("维生素 A.乙", [("A", 4, 6, "dotted", 0.8)]),
        ("维生素A.乙", [("A", 3, 5, "dotted", 0.8)]),
        ("A,甲", [("A", 0, 2, "comma", 2.4)]),
        ("A：甲", [("A", 0, 2, "comma", 2.4)]),
        ("a.甲", [("A", 0, 2, "lower", 2.3)]),
        ("x a.甲", [("A", 2, 4, "lower", 1.3)]),
        ("甲a.乙", []),
        ("甲  a.乙", [("A", 3, 5, "lower", 1.9)]),
        ("[a]甲", []),
        ("【b】甲", []),
        ("(a)甲", [("A", 0, 3, "lower", 2.3)]),
        ("（A）甲", [("A", 0, 3, "paren", 3.0)]),
        ("【B】甲", [("B", 0, 3, "paren", 3.0)]),
        ("Ⓐ甲", [("A", 0, 1, "circled", 3.0)]),
        ("ⓑ甲", [("B", 0, 1, "circled", 3.0)]),
        ("⒞甲", [("C", 0, 1, "circled", 3.0)]),
        ("🄐甲", [("A", 0, 1, "circled", 3.0)]),
        ("🅓甲", [("D", 0, 1, "circled", 3.0)]),
        ("A 甲", [("A", 0, 1, "bare", 2.0)]),
        ("A甲", [("A", 0, 1, "bare", 2.0)]),
        ("甲\tB 乙", [("B", 2, 3, "bare", 2.0)]),
        ("甲 B 乙", [("B", 2, 3, "bare", 1.0)]),
        ("A.5", [("A", 0, 2, "dotted", 3.0)]),
        ("A:5", [("A", 0, 2, "comma", 2.4)]),
        ("acidB.乙", [("B", 4, 6, "dotted", 1.0)]),
        ("acidB．C", [("B", 4, 6, "dotted", 1.0)]),
        ("protein C、protein S", []),
        ("甲乙C、甲乙 丙丁D、丙丁", []),
        ("sys D、system", [("D", 4, 6, "dotted", 2.0)]),
        ("A、甲 protein C、protein S", [("A", 0, 2, "dotted", 3.0)]),
        ("甲 维生素 A 丙", []),
        ("维生素 A 甲", []),
        ("抗 B. 甲", [("B", 2, 4, "dotted", 0.8)]),
        ("(A) 甲 A. 乙", [("A", 0, 4, "paren", 3.0), ("A", 6, 8, "dotted", 2.0)]),
        ("A .甲", [("A", 0, 3, "dotted", 3.0)]),
        ("  A.甲", [("A", 2, 4, "dotted", 3.0)]),
        ("维A)甲", [("A", 1, 3, "dotted", 0.8)]),
    ],
)
def test_a_label_has_its_place_its_form_and_a_strength(text: str, expected: list[object]) -> None:
    found = find_labels(text)
    told = [(one.letter, one.start, one.end, one.form.value, round(one.strength, 3)) for one in found]
    assert told == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A.DC\nB.CB", (0, ["A DC", "B CB"], 7, 3.0, "dotted", None)),
        ("A.DCA\nB.C", None),
        ("A.D\nB.C", (0, ["A D", "B C"], 6, 3.0, "dotted", None)),
        ("A.I\nB.IIIA", (0, ["A I", "B IIIA"], 6, 3.0, "dotted", None)),
        ("A.DC#\nB.C", None),
        ("A.甲", None),
        ("A.甲\nB.乙 C,丙", (0, ["A 甲", "B 乙", "C 丙"], 10, 2.467, "dotted", None)),
        ("A 甲\nB 乙", (0, ["A 甲", "B 乙"], 5, 2.0, "bare", None)),
        ("a.甲\nb.乙", (0, ["A 甲", "B 乙"], 6, 2.3, "lower", None)),
        ("A.甲 B.乙 A.丙 B.丁", (0, ["A 甲", "B 乙 A.丙 B.丁"], 6, 2.5, "dotted", None)),
        ("A.甲\nB.乙\nA.丙\nB.丁\nC.戊", (8, ["A 丙", "B 丁", "C 戊"], 18, 3.0, "dotted", None)),
        ("A.甲A,乙B.丙", (0, ["A 甲A,乙", "B 丙"], 8, 2.25, "dotted", None)),
        ("A.IL-2B.IL-4C.IL-6D.IL-8", (0, ["A IL-2", "B IL-4", "C IL-6", "D IL-8"], 20, 1.5, "dotted", None)),
        (
            "A.IL-2B.IL-4C.IL-6D.IL-8E.IL-9",
            (0, ["A IL-2", "B IL-4", "C IL-6", "D IL-8", "E IL-9"], 26, 1.5, "dotted", None),
        ),
        ("A. IL-2B.C.IL-6D.IL-8", None),
        ("A.甲\nC.丙\nB.乙", (0, ["A 甲", "B 乙", "C 丙"], 10, 3.0, "dotted", None)),
        ("A.甲\nC.丙\nB.乙\nD.丁", (0, ["A 甲", "B 乙", "C 丙", "D 丁"], 14, 3.0, "dotted", None)),
        ("B.乙\nA.甲\nC.丙", None),
        ("A.甲\nC.丙", None),
        ("a.甲\nc.丙\nb.乙", (0, ["A 甲", "B 乙", "C 丙"], 10, 2.3, "lower", None)),
        ("A,甲\nC,丙\nB,乙", (0, ["A 甲", "B 乙", "C 丙"], 10, 2.4, "comma", None)),
        ("A 甲\nC 丙\nB 乙", (0, ["A 甲C 丙", "B 乙"], 9, 2.0, "bare", None)),
        ("A. 甲 C. 丙 B. 乙", (0, ["A 甲 C. 丙", "B 乙"], 12, 2.5, "dotted", None)),
        ("A型血\nA. 抗A\nB. 抗B", (4, ["A 抗A", "B 抗B"], 12, 3.0, "dotted", None)),
        ("A 甲\nA. 乙\nB 丙", (4, ["A 乙", "B 丙"], 10, 2.5, "dotted", None)),
        ("（A）甲 B. 乙 （B）丙", (0, ["A 甲 B. 乙", "B 丙"], 13, 2.5, "paren", None)),
        ("甲 A 乙  a.丙\nB 丁", (7, ["A 丙", "B 丁"], 12, 1.95, "lower", None)),
        ("A.甲\nA.乙\nB.丙", (4, ["A 乙", "B 丙"], 10, 3.0, "dotted", None)),
        ("A.甲 B.乙 C.丙\nC.丁\nB.戊", (0, ["A 甲", "B 乙 C.丙", "C 丁B.戊"], 14, 2.667, "dotted", None)),
        ("甲A,乙B.丙C.丁", (1, ["A 乙", "B 丙", "C 丁"], 9, 1.3, "dotted", None)),
    ],
)
def test_a_run_is_the_chain_of_the_strongest_labels(text: str, expected: object) -> None:
    assert told(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A.甲\tB.乙\t丙\td.丁", (0, ["A 甲", "B 乙", "C 丙", "D 丁"], 12, 2.325, "dotted", "C")),
        ("A.甲\tB.乙\t丙\tD,丁", (0, ["A 甲", "B 乙", "C 丙", "D 丁"], 12, 2.35, "dotted", "C")),
        ("A.甲\tB.乙\t丙\tD 丁", (0, ["A 甲", "B 乙 丙 D 丁"], 6, 3.0, "dotted", None)),
        ("A.甲\tB.乙\t丙 K.己\tD.丁", (0, ["A 甲", "B 乙", "C 丙 K.己", "D 丁"], 16, 2.5, "dotted", "C")),
        ("A.甲\tB.乙\t丙\tD.丁\tE.戊", (0, ["A 甲", "B 乙", "C 丙", "D 丁", "E 戊"], 16, 2.6, "dotted", "C")),
        ("A.甲\tB.乙\t丙\tD.丁\tE 戊", (0, ["A 甲", "B 乙", "C 丙", "D 丁", "E 戊"], 15, 2.4, "dotted", "C")),
        ("A.甲\tB.乙\t丙\tD.丁\tE,戊", (0, ["A 甲", "B 乙", "C 丙", "D 丁", "E 戊"], 16, 2.48, "dotted", "C")),
        ("A.甲\tB.乙\t丙\tD.丁 E.戊", (0, ["A 甲", "B 乙", "C 丙", "D 丁", "E 戊"], 16, 2.4, "dotted", "C")),
        (
            "A.甲\tB.乙\t丙\tD.丁\tE.戊\tF.己",
            (0, ["A 甲", "B 乙", "C 丙", "D 丁", "E 戊", "F 己"], 20, 2.667, "dotted", "C"),
        ),
        ("A.甲\nB.乙\n丙\nD.丁\n戊", (0, ["A 甲", "B 乙丙D.丁戊"], 6, 3.0, "dotted", None)),
        ("A.甲\n己\nB.乙\n丙\nD.丁", (0, ["A 甲己", "B 乙丙D.丁"], 8, 3.0, "dotted", None)),
        ("A.甲\nB.乙\nD.丁", (0, ["A 甲", "B 乙D.丁"], 6, 3.0, "dotted", None)),
        ("A.甲\nB.乙\n丙\n己\nD.丁", (0, ["A 甲", "B 乙丙己D.丁"], 6, 3.0, "dotted", None)),
        ("A.甲\nC.丙", None),
        ("A.甲\n乙\nC.丙", (0, ["A 甲", "B 乙", "C 丙"], 8, 2.333, "dotted", "B")),
        ("A.甲\n乙\nC.丙\nD.丁", (0, ["A 甲", "B 乙", "C 丙", "D 丁"], 12, 2.5, "dotted", "B")),
        ("A.甲\nB.乙\n丙\nD.丁\nD.己\nE.戊", (0, ["A 甲", "B 乙丙D.丁D.己E.戊"], 6, 3.0, "dotted", None)),
        ("A.甲\nB.乙\n丙\nD.丁\nF.己\nE.戊", (0, ["A 甲", "B 乙丙D.丁F.己E.戊"], 6, 3.0, "dotted", None)),
    ],
)
def test_a_label_is_put_back_between_options_of_one_segment_each(text: str, expected: object) -> None:
    assert told(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("题 A.甲 B.乙\nA.丙 B.丁", [(10, "丙丁")]),
        ("a.甲 b.乙\na.丙 b.丁", [(0, "甲乙"), (8, "丙丁")]),
        ("A,甲 B,乙\nA,丙 B,丁", [(0, "甲乙"), (8, "丙丁")]),
        ("A.甲\nA.丙 B.丁", [(4, "丙丁")]),
        ("A.甲 B.乙\n续\n甲 A.丙 B.丁", [(0, "甲乙续甲 A.丙 B.丁")]),
        ("A 甲\nB 乙", []),
        ("A.甲\nB.乙\tA.丙\tB.丁", [(0, "甲乙"), (8, "丙丁")]),
    ],
)
def test_runs_begin_with_an_a_at_the_start_of_a_line_or_column(text: str, expected: list[object]) -> None:
    found = [(run.start, "".join(option for _, option in run.options)) for run in find_runs(text)]
    assert found == expected


@pytest.mark.parametrize(("first", "last", "single"), [(12, 1, False), (13, 1, True), (18, 28, False), (19, 28, True)])
def test_a_label_is_put_back_behind_at_most_three_fifths_of_the_longest_line(
    first: int, last: int, single: bool
) -> None:
    """The longest line counts as twenty characters at least; columns may be filled."""
    run = find_run(f"A.甲\nB.{'乙' * first}\n丙\nD.{'丁' * last}")
    assert run is not None
    assert (run.repaired is None) is single
    beside = find_run(f"A.甲\tB.{'乙' * first}\t丙\tD.{'丁' * last}")
    assert beside is not None
    assert beside.repaired == "C"


@pytest.mark.parametrize(("between", "found"), [(0, True), (995, True), (998, False)])
def test_a_weak_label_is_reached_over_a_thousand_characters(between: int, found: bool) -> None:
    assert (find_run(f"A 甲{'甲' * between} B 乙") is not None) is found


@pytest.mark.parametrize(("between", "start"), [(0, 6), (1, 7), (300, 306)])
def test_a_run_changes_its_form_for_a_nearer_stronger_label(between: int, start: int) -> None:
    run = find_run(f"甲 A.乙{'丙' * between}\na.丁\nB.戊")
    assert run is not None
    assert run.start == start


@pytest.mark.parametrize(
    ("line", "clear", "opens"),
    [
        ("A 甲", False, True),
        ("a.甲", True, True),
        ("A,甲", True, False),
        ("甲 A.甲", False, False),
        ("甲  A.甲", True, False),
        ("甲  a.甲", False, False),
        ("A.1", True, True),
        ("A.12", True, False),
        ("Ⓐ", True, True),
    ],
)
def test_a_line_holds_a_clear_label_and_opens_an_option(line: str, clear: bool, opens: bool) -> None:
    assert (has_label(line), opens_option(line)) == (clear, opens)


def told(text: str) -> object:
    """Start, options, place of the last text, strength, form and repaired label of the run of a text."""
    run = find_run(text)
    options = [f"{label} {option}" for label, option in run.options] if run else []
    return run and (run.start, options, run.last, round(run.strength, 3), run.form, run.repaired)
