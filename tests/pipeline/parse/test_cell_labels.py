"""Labelled options in one cell."""

import pytest

from build_dataset.pipeline.parse.labels import cut_at_labels, labelled_pairs


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A.甲 B.乙 C.丙", ([("A", "甲"), ("B", "乙"), ("C", "丙")], [])),
        ("A.甲B.乙C.丙", ([("A", "甲"), ("B", "乙"), ("C", "丙")], [])),
        ("A.甲 B.乙型C.丙", ([("A", "甲"), ("B", "乙型"), ("C", "丙")], ["A", "B", "C"])),
        ("A、甲、B、乙、C、丙", ([("A", "甲"), ("B", "乙"), ("C", "丙")], [])),
        ("A.甲;B.乙;C.丙", ([("A", "甲"), ("B", "乙"), ("C", "丙")], [])),
        ("①甲②乙③丙", ([("1", "甲"), ("2", "乙"), ("3", "丙")], [])),
        ("(1)甲(2)乙", ([("1", "甲"), ("2", "乙")], [])),
        ("1.甲2.乙3.丙、4.1.5 g", ([("1", "甲"), ("2", "乙"), ("3", "丙、4.1.5 g")], ["1", "2", "3"])),
        ("1. 甲 2. 乙", ([("1", "甲"), ("2", "乙")], [])),
        ("A型 B型 AB型", ([("A", "型"), ("B", "型 AB型")], ["A", "B"])),
        ("A 甲 B 乙", ([("A", "甲"), ("B", "乙")], [])),
        ("A.维生素A、B.丙", ([("A", "维生素A"), ("B", "丙")], [])),
        ("a.甲 b.乙", ([("A", "甲"), ("B", "乙")], [])),
        ("A.甲 C.丙", ([("A", "甲"), ("C", "丙")], [])),
        ("A.甲 B.乙 D.丁", ([("A", "甲"), ("B", "乙"), ("D", "丁")], [])),
        ("A.甲 B.乙 D.丁C.丙", ([("A", "甲"), ("B", "乙"), ("D", "丁C.丙")], [])),
        ("A.甲A.乙", ([("A", "甲A.乙")], [])),
        ("A. 甲\\nB. 乙", ([("A", "甲"), ("B", "乙")], [])),
        ("A.甲<br>B.乙", ([("A", "甲"), ("B", "乙")], [])),
        ("甲", ([], [])),
        ("", ([], [])),
        ("A.甲\nB.乙 C.丙", ([("A", "甲"), ("B", "乙"), ("C", "丙")], [])),
        ("A.甲 B.乙 B.丙", ([("A", "甲"), ("B", "乙 B.丙")], ["B"])),
        ("B.甲 C.乙", ([("B", "甲"), ("C", "乙")], [])),
        ("A.甲 B.乙D.丁", ([("A", "甲"), ("B", "乙D.丁")], [])),
        ("A.甲 B.维生素C、D.丁", ([("A", "甲"), ("B", "维生素C、D.丁")], [])),
        ("c.10/Ld.丁", ([("C", "10/Ld.丁")], [])),
        ("A.甲$$B.乙$$C.丙", ([("A", "甲"), ("B", "乙"), ("C", "丙")], [])),
        ("A.甲|B.乙", ([("A", "甲"), ("B", "乙")], [])),
        ("A.甲; B.乙 C.丙;D.丁", ([("A", "甲"), ("B", "乙"), ("C", "丙"), ("D", "丁")], [])),
        ("Ⓐ甲Ⓑ乙", ([("A", "甲"), ("B", "乙")], [])),
        ("A.型 B.型", ([("A", "型"), ("B", "型")], [])),
        ("A.型一A型 B.型二B型", ([("A", "型一A型"), ("B", "型二B型")], ["A", "B"])),
        ("A.甲 B.维生素C.丙", ([("A", "甲"), ("B", "维生素C.丙")], [])),
        ("A.维生素B.丙C.丁", ([("A", "维生素"), ("B", "丙"), ("C", "丁")], [])),
        ("A.甲B.乙 C.丙D.丁", ([("A", "甲"), ("B", "乙"), ("C", "丙"), ("D", "丁")], list("ABCD"))),
        ("1.甲2.乙4、己3.丙", ([("1", "甲"), ("2", "乙4、己"), ("3", "丙")], [])),
        ("1.甲2.乙3.丙4、己", ([("1", "甲"), ("2", "乙"), ("3", "丙4、己")], ["1", "2", "3"])),
        ("①.甲2.乙③.丙", ([], [])),
    ],
)
def test_the_options_of_a_text_and_those_that_may_hold_another_label(text, expected):
    assert labelled_pairs(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("首选A.甲 B.乙", ("首选A.甲", [("B", "乙")])),
        ("首选\nA.甲\nB.乙", ("首选", [("A", "甲"), ("B", "乙")])),
        ("首选", ("首选", [])),
        ("首选 A.甲 首 A.乙 B.丙", ("首选", [("A", "甲 首 A.乙"), ("B", "丙")])),
        ("A甲\nB乙", ("", [("A", "甲"), ("B", "乙")])),
        ("首选 B.乙 A.甲", ("首选 B.乙", [("A", "甲")])),
        ("A.甲 C.丙 B.乙 C.丁", ("", [("A", "甲 C.丙"), ("B", "乙"), ("C", "丁")])),
        ("A.甲 B.乙\nB.丙\n尾", ("", [("A", "甲 B.乙"), ("B", "丙\n尾")])),
    ],
)
def test_the_text_before_the_first_label(text, expected):
    assert cut_at_labels(text) == expected


@pytest.mark.parametrize(("repeats", "labels"), [(198, "ABC"), (199, "AB"), (200, "A")])
def test_two_hundred_labels_of_a_cell_are_looked_at(repeats, labels):
    cell = "A.甲\n" * repeats + "B.乙\nC.丙"
    assert "".join(label for label, _ in cut_at_labels(cell)[1]) == labels


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A.甲；B.乙；C.丙 D.丁", ["甲", "乙", "丙", "丁"]),
        ("A.甲；B.乙 C.丙 D.丁", ["甲；", "乙", "丙", "丁"]),
        ("A.甲；B.乙；C.丙 D.丁 E.戊", ["甲", "乙", "丙", "丁", "戊"]),
        ("A.甲；B.乙 C.丙 D.丁 E.戊", ["甲；", "乙", "丙", "丁", "戊"]),
    ],
)
def test_a_mark_between_half_of_the_options_is_no_part_of_them(text, expected):
    assert [option for _, option in cut_at_labels(text)[1]] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("B.甲 C.乙 A.丙 B.丁 C.戊 D.己", ("B.甲 C.乙", "ABCD")),
        ("A.甲 B.乙 D.丁 A.一 B.二 C.三", ("", "ABC")),
        ("A.甲 C.乙 D.丁 A.一 B.二", ("", "ACD")),
        ("题干A.甲B.乙\nA.一\nB.二\nC.三", ("题干A.甲B.乙", "ABC")),
        ("甲A.一 B.二 C.三\nA.四\nB.五", ("甲A.一 B.二 C.三", "AB")),
        ("A.甲 B.乙\nC.丙", ("", "AC")),
        ("A 9-year-old boy: what now?\nA. 甲\nB. 乙\nC. 丙", ("A 9-year-old boy: what now?", "ABC")),
    ],
)
def test_the_longest_run_of_labels_with_the_fewest_gaps_is_that_of_the_options(text, expected):
    before, pairs = cut_at_labels(text)
    assert (before, "".join(label for label, _ in pairs)) == expected
