"""Options that a text names: by letter, text, ordinal, in lists and ranges; where, and how surely."""

from __future__ import annotations

import pytest

from build_dataset.pipeline.claims import fold
from build_dataset.pipeline.claims.mentions import mentions

OPTIONS = {"A": "青霉素", "B": "肺炎链球菌", "C": "正确", "D": "铁", "E": "60~100次"}
ALIKE = {"A": "甲", "B": "甲", "C": "Iron", "D": "iron salts"}


def named(text, options=OPTIONS, multiple=None):
    """Each mention: labels, its words, its letters, and t(ext alone), w(eak), o(wn: letter and text)."""
    said = fold(text)
    return [
        (
            "".join(one.labels),
            said[one.start : one.end],
            said[one.start : one.letters],
            "".join(mark for mark, is_so in (("t", one.text), ("w", one.weak), ("o", one.full)) if is_so),
        )
        for one in mentions(said, options, multiple)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("选A。", [("A", "A", "A", "")]),
        ("A、B、C", [("ABC", "A、B、C", "A、B、C", "")]),
        ("A,B和C均正确", [("A", "A", "A", ""), ("BC", "B和C", "B和C", ""), ("C", "正确", "", "tw")]),
        ("A-C", [("ABC", "A-C", "A-C", "")]),
        ("A至C", [("ABC", "A至C", "A至C", "")]),
        ("C-A", [("C", "C", "C", ""), ("A", "A", "A", "")]),
        ("A—B—C", [("AB", "A—B", "A—B", ""), ("C", "C", "C", "")]),
        ("第二个选项", [("B", "第二个选项", "第二个选项", "")]),
        ("第三项", [("C", "第三项", "第三项", "")]),
        ("第六个选项", []),
        ("option 3", []),
        ("the last", []),
        ("最后一个选项", [("E", "最后一个选项", "最后一个选项", "")]),
        ("B. 肺炎链球菌", [("B", "B. 肺炎链球菌", "B", "o")]),
        ("B．肺炎 链球菌", [("B", "B.肺炎 链球菌", "B", "o")]),
        ("肺炎链球菌(B)", [("B", "肺炎链球菌(B)", "肺炎链球菌(B)", "o")]),
        ("肺炎链球菌（A）", [("B", "肺炎链球菌", "", "t"), ("A", "A", "A", "")]),
        ("故选肺炎链", [("B", "肺炎链", "", "tw")]),
        ("故选肺", []),
        ("青霉素", [("A", "青霉素", "", "t")]),
        ("缺铁", [("D", "铁", "", "tw")]),
        ("铁", [("D", "铁", "", "tw")]),
        ("60-100次", [("E", "60-100次", "", "t")]),
        ("160~100次", []),
        ("正确", [("C", "正确", "", "tw")]),
        ("a", [("A", "a", "a", "w")]),
        ("ab", [("AB", "ab", "ab", "w")]),
        ("AA", []),
        ("Ab", []),
        ("ABF", []),
        ("ABE", [("ABE", "ABE", "ABE", "")]),
        ("维生素A", []),
        ("A型血", []),
        ("A超", []),
        ("AB型", []),
        ("1 A", [("A", "A", "A", "")]),
        ("I am", []),
        ("a patient", []),
        ('"A"', [("A", "A", "A", "")]),
        ("选项a", [("A", "a", "a", "w")]),
        ("答案是d", [("D", "d", "d", "w")]),
        ("A\nB\nC", [("ABC", "A\nB\nC", "A\nB\nC", "")]),
        ("A\n\nB", [("AB", "A\n\nB", "A\n\nB", "")]),
        ("A B C", [("ABC", "A B C", "A B C", "")]),
        ("A。B。", [("A", "A", "A", ""), ("B", "B", "B", "")]),
        ("A/B", [("AB", "A/B", "A/B", "")]),
        ("A 或 B", [("AB", "A 或 B", "A 或 B", "")]),
        ("青霉素、铁", [("A", "青霉素", "", "t"), ("D", "铁", "", "tw")]),
        ("青霉素和铁", [("A", "青霉素", "", "t"), ("D", "铁", "", "tw")]),
        ("A、青霉素", [("A", "A、青霉素", "A", "o")]),
        ("A。青霉素", [("A", "A", "A", ""), ("A", "青霉素", "", "t")]),
        ("A(青霉素)、B(肺炎链球菌)", [("AB", "A(青霉素)、B(肺炎链球菌", "A(青霉素)、B", "o")]),
        ("A.青霉素、B.肺炎链球菌", [("AB", "A.青霉素、B.肺炎链球菌", "A.青霉素、B", "o")]),
        ("A.青霉素\nB.肺炎链球菌", [("A", "A.青霉素", "A", "o"), ("B", "B.肺炎链球菌", "B", "o")]),
        ("A,B和C用于", [("A", "A", "A", ""), ("BC", "B和C", "B和C", "")]),
        ("C,ABDE均正确", [("C", "C", "C", ""), ("ABDE", "ABDE", "ABDE", ""), ("C", "正确", "", "tw")]),
        ("A、B,D", [("ABD", "A、B,D", "A、B,D", "")]),
        ("青霉素s", [("A", "青霉素", "", "t")]),
        ("60～100次/分", [("E", "60~100次", "", "t")]),
        ("60\\%~100次", []),
        ("x60-100次", []),
        ("正 确", [("C", "正 确", "", "t")]),
        ("A是对的,B是错的", [("A", "A", "A", ""), ("B", "B", "B", "")]),
        ("答案:A、B。\nC(正确)", [("AB", "A、B", "A、B", ""), ("C", "C(正确", "C", "o")]),
        ("A、A、A、B", [("A", "A", "A", ""), ("A", "A", "A", ""), ("AB", "A、B", "A、B", "")]),
        (
            "病因病因病因病因病因病因病因病因病因病因病因病因病因病因病因病因病因病因病因病因病因病因病因病因病因病因病因病因病因病因病因A",
            [("A", "A", "A", "")],
        ),
        (
            "A\u3000\u3000\u3000\u3000\u3000\u3000\u3000\u3000\u3000\u3000\u3000\u3000\u3000\u3000\u3000\u3000\u3000\u3000\u3000\u3000\u3000\u3000\u3000\u3000\u3000\u3000\u3000\u3000\u3000\u3000B",
            [("A", "A", "A", ""), ("B", "B", "B", "")],
        ),
        ("大剂量A、B和青霉素", [("AB", "A、B", "A、B", ""), ("A", "青霉素", "", "t")]),
        ("高血压病A、糖尿病B", [("A", "A", "A", ""), ("B", "B", "B", "")]),
        ("炎症(A)、肿瘤(B)", [("AB", "A)、肿瘤(B", "A)、肿瘤(B", "")]),
        ("不超过5 a", []),
        ("正确答案为 a", [("C", "正确", "", "tw"), ("A", "a", "a", "w")]),
        ("选项 AB", [("AB", "AB", "AB", "")]),
        ("A and B", [("AB", "A and B", "A and B", "")]),
        ("A, B and C are correct", [("ABC", "A, B and C", "A, B and C", "")]),
        ("the second option", [("B", "the second option", "the second option", "")]),
        ("the third one", []),
        ("第二项和第三项", [("BC", "第二项和第三项", "第二项和第三项", "")]),
        ("A项、B项", [("AB", "A项、B", "A项、B", "")]),
        ("A~D均不对", [("ABCD", "A~D", "A~D", "")]),
        ("B-D和A", [("BCDA", "B-D和A", "B-D和A", "")]),
        ("A-青霉素", [("A", "A-青霉素", "A", "o")]),
        ("肺炎链", [("B", "肺炎链", "", "tw")]),
        ("选肺炎", [("B", "肺炎", "", "tw")]),
        ("60-10", [("E", "60-10", "", "tw")]),
        ("A:正确,B:错误", [("A", "A", "A", ""), ("C", "正确", "", "tw"), ("B", "B", "B", "")]),
        ("C. 正确", [("C", "C. 正确", "C", "o")]),
        ("青霉素\n铁", [("A", "青霉素", "", "t"), ("D", "铁", "", "tw")]),
        ("A\n青霉素", [("A", "A\n青霉素", "A", "o")]),
    ],
)
def test_what_a_text_names(text, expected):
    assert named(text) == expected


@pytest.mark.parametrize(
    ("text", "one", "several"),
    [("A\nB\nC", "A|B|C", "ABC"), ("A\n\nB", "A|B", "AB"), ("A.青霉素\nB.肺炎链球菌", "A|B", "AB")],
)
def test_letters_in_lines_of_their_own_are_a_list_where_several_are_meant(text, one, several):
    assert "|".join(labels for labels, *_ in named(text, multiple=False)) == one
    assert "|".join(labels for labels, *_ in named(text, multiple=True)) == several


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("甲", []),
        ("iron", [("C", "iron", "", "t")]),
        ("irons", [("C", "iron", "", "t")]),
        ("ironed", []),
        ("iron salts", [("D", "iron salts", "", "t")]),
        ("Iron salt", [("C", "Iron", "", "t")]),
        ("iron sal", [("C", "iron", "", "t")]),
        ("environ", []),
        ("iron.", [("C", "iron", "", "t")]),
        ("IRON", [("C", "IRON", "", "t")]),
        ("iron s", [("C", "iron", "", "t")]),
        ("iron_x", [("C", "iron", "", "t")]),
        ("2iron", []),
    ],
)
def test_options_are_named_by_whole_words_and_two_alike_by_neither(text, expected):
    assert named(text, ALIKE) == expected


@pytest.mark.parametrize(
    ("text", "labels"),
    [("青霉素B", "A"), ("铁B", "DB"), ("见于A患者", "A"), ("见于AB患者", ""), ("D患者", "D"), ("AD患者", "")],
)
def test_letters_behind_an_option_or_before_patients(text, labels):
    assert "".join(each for each, *_ in named(text)) == labels


CALLS = {"A": "Math", "B": "3.9", "C": "Math.ceil", "D": "len"}


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("Math.floor(3.9) は 3 を返す", ""),
        ("a.b(c)", ""),
        ("print(D)", ""),
        ("print(len(x), A)の结果", ""),
        ("Math.ceil は 4", "C"),
        ("len(D)", "D"),
        ("答案是(D)", "D"),
        ("Answer: (D)", "D"),
        ("the answer(D)", "D"),
        ("查CT(A)、脱水(B)", "AB"),
        ("glucose (B)", "B"),
        ("A.shock(sudden)", "A"),
        ("3.9", "B"),
    ],
)
def test_a_call_or_an_attribute_in_code_names_no_option_unless_all_of_it_is_one(text, labels):
    assert "".join(each for each, *_ in named(text, CALLS)) == labels


@pytest.mark.parametrize(
    ("text", "labels"), [("iron2", ""), ("irony", ""), ("x iron", "C"), ("irons", "C"), ("irones", "C"), ("iron)", "C")]
)
def test_a_plural_names_its_option_and_a_longer_word_none(text, labels):
    assert "".join(each for each, *_ in named(text, ALIKE)) == labels


@pytest.mark.parametrize(
    ("code", "plain"),
    [
        *((0xA0, " "), (0x3000, " "), (0xFF01, "!"), (0xFF5E, "~"), (0x24B6, "A"), (0x24CF, "Z")),
        *((0x1D400, "A"), (0x1D6A3, "z"), (0x1F130, "A"), (0x1F149, "Z")),
        *((0x1F150, "A"), (0x1F169, "Z"), (0x1F170, "A"), (0x1F189, "Z")),
    ],
)
def test_letters_and_signs_of_other_looks_are_plain_ones(code, plain):
    assert fold(chr(code)) == plain
