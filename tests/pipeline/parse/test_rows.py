"""Rows of tabular sources: fields under every name they come with, wrong rows with a reason."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pipeline.parse.columns import Unclear
from pipeline.parse.rows import RowError, questions_of
from schemas.documents import Document, SourceRow

DOCUMENT = Document(
    document="rows.jsonl", sha256="cd" * 32, format="jsonl", pages=None, rows=1, exam_type="医师考试"
)
CMB = {
    "exam_type": "医师考试",
    "exam_class": "执业医师",
    "exam_subject": "口腔执业医师",
    "question": "患者，男性，11岁，跌伤右前臂。治疗首选",
    "answer": "D",
    "question_type": "单项选择题",
    "option": {"A": "内固定", "B": "骨牵引", "C": "皮牵引", "D": "手法复位", "E": ""},
}
CMEXAM = {
    "Question": "首选的药物是",
    "Options": "A 阿司匹林 肠溶片\nB 维生素 C\nC 丙\nD 无\nE 戊",
    "Answer": "B",
    "Explanation": "因为乙对",
    "Disease Group": "某病",
}


def row(fields: Any, number: int = 7) -> SourceRow:
    return SourceRow(document="rows.jsonl", row=number, fields=json.dumps(fields, ensure_ascii=False))


def question_of(source: SourceRow, document: Document):
    """The question of a document with one row."""
    read = questions_of([source], document)
    if isinstance(read.columns, Unclear):
        raise RowError(read.columns.reason, read.columns.detail)
    ((_, found),) = read.rows
    if isinstance(found, RowError):
        raise found
    return found


def one(fields: Any):
    question, doubts = question_of(row(fields), DOCUMENT)
    assert doubts == []
    return question


def test_a_cmb_row_is_a_question():
    question = one(CMB)
    assert (question.number, question.section, question.question_type) == (7, None, "A2")
    assert [option.label for option in question.options] == list("ABCD")
    assert (question.answer, question.exam_class) == (["D"], "执业医师")
    assert question.question_id == f"r-{question.content_hash}"


def test_an_item_with_several_answers_is_an_x_item():
    assert one({**CMB, "question_type": "多项选择题", "answer": "ABD"}).question_type == "X"
    _, doubts = question_of(row({**CMB, "answer": "ABD"}), DOCUMENT)
    assert doubts[0][0] == "several_answers"


def test_a_cmexam_row_keeps_options_whole():
    question = one(CMEXAM)
    assert [option.text for option in question.options] == ["阿司匹林 肠溶片", "维生素 C", "丙", "无", "戊"]
    assert (question.answer, question.explanation) == (["B"], "因为乙对")
    assert question.exam_type == "医师考试"


@pytest.mark.parametrize(
    "options",
    [
        ["甲", "乙", "丙", "丁"],
        ["A. 甲", "B. 乙", "C. 丙", "D. 丁"],
        [
            {"label": "A", "text": "甲"},
            {"label": "B", "text": "乙"},
            {"label": "C", "text": "丙"},
            {"label": "D", "text": "丁"},
        ],
        {"A": "甲", "B": "乙", "C": "丙", "D": "丁"},
        '{"A": "甲", "B": "乙", "C": "丙", "D": "丁"}',
        "A.甲\nB.乙\nC.丙\nD.丁",
        "A 甲\nB 乙\nC 丙\nD 丁",
        "A甲\nB乙\nC丙\nD丁",
        "A.甲 B.乙 C.丙 D.丁",
        "甲\n乙\n丙\n丁",
    ],
)
def test_options_come_in_every_shape(options):
    question = one({"stem": "下列哪项正确", "options": options, "answer": "A"})
    assert [(option.label, option.text) for option in question.options] == list(
        zip("ABCD", "甲乙丙丁", strict=True)
    )


def test_options_come_in_columns_of_their_own():
    question = one({"question": "下列哪项正确", "A": "甲", "B": "乙", "C": "丙", "answer": "C"})
    assert [option.text for option in question.options] == ["甲", "乙", "丙"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("ABD", "ABD"),
        ("A,B,D", "ABD"),
        ("DBA", "ABD"),
        (["A", "B"], "AB"),
        ("b", "B"),
        ("Ｂ", "B"),
        ("丙", "C"),
        ("['A', 'B']", "AB"),
        ("B.", "B"),
        ("C. 丙", "C"),
        (["丙", "D. 无"], "CD"),
    ],
)
def test_answers_come_in_every_shape(value, expected):
    assert "".join(one({**CMEXAM, "Answer": value}).answer) == expected


@pytest.mark.parametrize("value", [None, "", "nan", "NaN", float("nan"), "  "])
def test_an_absent_answer_is_null(value):
    assert one({**CMEXAM, "Answer": value}).answer is None


@pytest.mark.parametrize(
    ("fields", "accuracy", "respondents"),
    [
        ({"n_right": 78, "n_total": 148}, 78 / 148, 148),
        ({"Correct": "335", "Respondents": "412"}, 335 / 412, 412),
        ({"accuracy": 0.53}, 0.53, None),
        ({"accuracy": "53%"}, 0.53, None),
        ({"正确率": "53.0％", "答题人数": "120"}, 0.53, 120),
        ({"human_accuracy": 53}, 0.53, None),
        ({"accuracy": "nan"}, None, None),
        ({"accuracy": "1%"}, 0.01, None),
        ({"accuracy": -3}, None, None),
        ({}, None, None),
    ],
)
def test_human_accuracy_is_read_from_shares_and_counts(fields, accuracy, respondents):
    question = one({**CMEXAM, **fields})
    assert question.human_accuracy == pytest.approx(accuracy)
    assert question.respondents == respondents


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        (["a"], "not_an_object"),
        ("text", "not_an_object"),
        (3, "not_an_object"),
        ({"answer": "A"}, "no_stem"),
        ({"question": "  ", "option": {"A": "甲"}}, "no_stem"),
        ({"question": "问", "answer": "A"}, "no_options"),
        ({"question": "问", "Options": "甲乙丙"}, "no_options"),
        ({"question": "问", "options": []}, "no_options"),
    ],
)
def test_a_wrong_row_is_rejected_with_a_reason(fields, reason):
    with pytest.raises(RowError) as error:
        question_of(row(fields), DOCUMENT)
    assert error.value.reason == reason


def test_a_row_that_is_no_json_is_rejected():
    with pytest.raises(RowError, match="not_json"):
        question_of(SourceRow(document="rows.jsonl", row=1, fields="{"), DOCUMENT)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"option": {"A": "甲", "C": "丙"}}, "options_not_contiguous"),
        ({"answer": "见解析"}, "answer_not_read"),
        ({"answer": {"key": "A"}}, "answer_not_read"),
        ({"answer": "A. 骨牵引"}, "answer_not_read"),
        ({"option": {"A": "A", "B": "B", "C": "AB", "D": "O"}, "answer": "AB"}, "answer_not_read"),
    ],
)
def test_what_reading_left_open_waits(change, reason):
    _, doubts = question_of(row({**CMB, **change}), DOCUMENT)
    assert doubts[0][0] == reason


def test_our_own_rows_read_back():
    stated = {
        "stem": "下列哪项正确",
        "shared_stem": "男，45岁。",
        "group_id": "g1",
        "question_type": "A3/A4",
        "options": [{"label": "A", "text": "甲"}, {"label": "B", "text": "乙"}],
        "answer": ["B"],
        "human_accuracy": 0.4,
        "respondents": 10,
    }
    question = one(stated)
    named = {**stated, "group_id": question.group_id}
    assert question.model_dump(mode="json", include=set(stated)) == named
    assert question.group_id.endswith("-g1")


def test_letters_that_belong_to_the_options_of_a_list_stay():
    texts = ["A族链球菌", "B超", "C反应蛋白", "D二聚体"]
    assert [option.text for option in one({"stem": "首选", "options": texts, "answer": "A"}).options] == texts


@pytest.mark.parametrize(("other", "expected"), [("B", "AB"), ("骨牵引", "C")])
def test_how_the_other_rows_answer_settles_what_can_be_read_in_two_ways(other, expected):
    both = {"question": "血型是", "options": ["A", "B", "AB", "O"], "answer": "AB"}
    plain = {**CMB, "answer": other}
    found = [found for _, found in questions_of([row(both, 1), row(plain, 2)], DOCUMENT).rows]
    assert "".join(found[0][0].answer) == expected


def test_a_column_of_accuracies_has_one_scale():
    rows = [row({**CMEXAM, "正确率": value}, number) for number, value in enumerate([85, 1, "50%", None], 1)]
    found = [found[0].human_accuracy for _, found in questions_of(rows, DOCUMENT).rows]
    assert found == [0.85, 0.01, 0.5, None]


def test_a_number_of_people_that_cannot_be_is_absent():
    assert one({**CMEXAM, "respondents": 10**30}).respondents is None


def test_fields_nested_beyond_reason_are_rejected():
    deep = SourceRow(document="rows.jsonl", row=1, fields="[" * 100_000)
    with pytest.raises(RowError, match="not_json"):
        question_of(deep, DOCUMENT)


def test_cmexam_rows_all_parse(shared_data):
    lines = (shared_data / "cmexam" / "val_dev.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [SourceRow(document="rows.jsonl", row=n, fields=line) for n, line in enumerate(lines, 1)]
    found = questions_of(rows, DOCUMENT).rows
    assert len(found) == 3400
    for source, (question, doubts) in found:
        stated = json.loads(source.fields)
        texts = [f"{option.label} {option.text}" for option in question.options]
        assert not doubts
        assert [text.strip() for text in stated["Options"].split("\n")] == texts


def test_rows_with_counts_of_right_answers_have_their_accuracy(shared_data):
    stated = json.loads((shared_data / "human" / "human_accuracy_69.json").read_text(encoding="utf-8"))
    for number, fields in enumerate(stated, 1):
        question, doubts = question_of(row(fields, number), DOCUMENT)
        assert doubts == []
        assert question.human_accuracy == pytest.approx(fields["n_right"] / fields["n_total"])
        assert "".join(question.answer) == fields["answer"].replace("@", "")
