"""Characters of lines: widths, labels of private use, joined paragraphs."""

import pytest
from hypothesis import given, strategies as st

from build_dataset.pipeline.parse.folding import fold, join_lines, structural, width, without_digits
from build_dataset.pipeline.parse.heads import announcement, group_head
from build_dataset.pipeline.parse.keylines import line_pairs
from tests.pipeline.parse.short import items, told


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ａ．１２\u3000乙", "A．12 乙"),
        ("＃＊", "#*"),
        ("a  b", "a  b"),
        ("a   b", "a   b"),
        ("甲 乙", "甲 乙"),
        ("甲\u3000\u3000\u3000乙", "甲   乙"),
        ("甲\u200b乙\x01", "甲乙"),
        ("a\tb", "a\tb"),
        (" 甲 \n", "甲"),
        ("⽉", "月"),
        ("①²℃", "①²℃"),
        ("a\u2003b\u2002c\xa0d", "a b c d"),
    ],
)
def test_widths_are_folded_and_gaps_kept_apart(text, expected):
    assert fold(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("l0.甲", "10.甲"),
        ("1O.甲", "10.甲"),
        ("I2、", "12、"),
        ("|3.", "13."),
        ("lO", "lO"),
        ("OK", "OK"),
        ("Il", "Il"),
    ],
)
def test_letters_that_stand_for_digits(text, expected):
    assert structural(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("甲乙\n丙", "甲乙丙"),
        ("word\nother", "word other"),
        ("甲\nword", "甲word"),
        ("al-\nways", "al-ways"),
        ("-\nb", "-b"),
        ("A1-\n2", "A1-2"),
        ("（1）甲\n（2）乙", "（1）甲\n（2）乙"),
        ("a\tb\nc\td", "a b\nc d"),
        ("a\tb\nc", "a b c"),
        ("  甲  \n\n 乙  丙 ", "甲乙 丙"),
        ("①甲\n②乙", "①甲\n②乙"),
        ("1. 甲\n2. 乙", "1. 甲\n2. 乙"),
        ("x = 1\ny = 2", "x = 1\ny = 2"),
        ("3 ml\nof it", "3 ml of it"),
        ("甲，\nB 超", "甲，B 超"),
    ],
)
def test_lines_of_a_paragraph_are_joined(text, expected):
    assert join_lines(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("a1 甲", (5, "a甲")), ("\u2e7f⺀", (3, "\u2e7f⺀")), ("12 3", (4, ""))]
)
def test_widths_in_half_characters(text, expected):
    assert (width(text), without_digits(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("甲" + " " * 39 + "乙", "甲" + " " * 39 + "乙"),
        ("甲" + " " * 41 + "乙", "甲" + " " * 40 + "乙"),
        ("甲" + "  " + "A.乙", "甲  A.乙"),
        ("甲" + "   " + "A.乙", "甲\tA.乙"),
        ("甲" + "    " + "（B）乙", "甲\t（B）乙"),
        ("甲\x08\x0b\x1f\r乙", "甲乙"),
        ("甲\t乙\n", "甲\t乙"),
    ],
)
def test_gaps_and_control_characters(text: str, expected: str) -> None:
    assert fold(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("a-\nb", "a-b"),
        ("甲-\nb", "甲-b"),
        ("1-\nb", "1-b"),
        ("-\nb", "-b"),
        ("ab-\n甲", "ab-甲"),
        ("a\tb\n丙\td", "a b\n丙 d"),
        ("甲\n乙\td", "甲乙 d"),
        ("甲a\n乙", "甲a乙"),
        ("甲a\n(b", "甲a (b"),
        ("I. 甲\nII. 乙", "I. 甲\nII. 乙"),
        ("甲\n\n\n乙", "甲乙"),
        ("else:\nx = 1", "else:\nx = 1"),
        ("输出什么？\nclass A {\nint x;\n}", "输出什么？\nclass A {\nint x;\n}"),
        ("// a.js\nexport default x;", "// a.js\nexport default x;"),
    ],
)
def test_the_joint_of_two_lines(text: str, expected: str) -> None:
    assert join_lines(text) == expected


@pytest.mark.parametrize(("text", "size"), [("", 0), ("a", 1), ("甲", 2), ("a甲，", 5)])
def test_the_width_of_a_text(text: str, size: int) -> None:
    assert width(text) == size


HYPHENS = "-‐‑‒–―−﹘﹣－"


@pytest.mark.parametrize("sign", HYPHENS)
def test_ranges_are_read_with_every_kind_of_hyphen_dash_and_minus_sign(sign: str) -> None:
    assert [pair.letters for pair in line_pairs(f"1{sign}5 DEBBC")] == list("DEBBC")
    head = group_head(f"（3{sign}5题共用题干）")
    assert head is not None
    assert (head.first, head.last) == (3, 5)
    assert announcement(f"一、单选题（1{sign}40题）").span == (1, 40)


@given(st.text(max_size=40))
def test_structure_is_read_from_a_copy_of_the_same_length(text: str) -> None:
    assert len(structural(text)) == len(text)


def test_texts_keep_their_hyphens_and_lose_the_width_of_their_spaces() -> None:
    assert fold("CK‑MB 升高 5−3\u2009mg") == "CK‑MB 升高 5−3 mg"


@pytest.mark.parametrize("sign", HYPHENS)
def test_a_key_of_ranges_is_applied_whatever_its_hyphens_are(parse, sign: str) -> None:
    paper = items(1, 2, 3, 4, 5) + f"\n参考答案\n1{sign}5 DABBC"
    assert told(parse(paper)) == ["1D", "2A", "3B", "4B", "5C"]
