"""Rows of tabular sources: fields under every name they come with, wrong rows with a reason."""

import json
from collections import Counter
from typing import Any

import polars as pl
import pytest

from build_dataset.pipeline.parse.columns import Unclear
from build_dataset.pipeline.parse.row_ids import with_former_names, with_ids
from build_dataset.pipeline.parse.rows import RowError, questions_of, sources_of
from build_dataset.schemas.documents import Document, SourceRow

DOCUMENT = Document(document="rows.jsonl", sha256="cd" * 32, format="jsonl", pages=None, rows=1, exam_type="医师考试")
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


def test_a_row_with_a_repeated_key_is_rejected_with_the_key():
    with pytest.raises(RowError, match="the key 'answer' stands twice"):
        question_of(row({"unparsed": "{}", "why": "the key 'answer' stands twice"}), DOCUMENT)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"option": {"A": "甲", "C": "丙"}}, "options_not_contiguous"),
        ({"answer": "见解析"}, "answer_not_read"),
        ({"answer": {"key": "A", "or": "B"}}, "answer_not_read"),
        ({"answer": "CCD"}, "answer_not_read"),
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


def test_a_number_of_people_that_cannot_be_is_absent():
    assert one({**CMEXAM, "respondents": 10**30}).respondents is None


def test_fields_nested_beyond_reason_are_rejected():
    deep = SourceRow(document="rows.jsonl", row=1, fields="[" * 100_000)
    with pytest.raises(RowError, match="not_json"):
        question_of(deep, DOCUMENT)


def test_cmexam_rows_all_parse(shared_data):
    lines = (shared_data / "cmexam" / "val_dev.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [SourceRow(document="rows.jsonl", row=n, fields=line) for n, line in enumerate(lines, 1)]
    source = questions_of(rows, DOCUMENT)
    found = source.rows
    assert len(found) == 3400
    doubted = Counter(reason for one in source.caught().readings for reason, _ in one.doubts)
    # Explanations of other questions, and keys that they correct; stems whose beginning was lost.
    assert doubted == {"explanation_disagrees": 5, "case_missing": 3}
    for source, (question, _) in found:
        stated = json.loads(source.fields)
        texts = [f"{option.label} {option.text}" for option in question.options]
        assert [text.strip() for text in stated["Options"].split("\n")] == texts


def test_rows_with_counts_of_right_answers_have_their_accuracy(shared_data):
    stated = json.loads((shared_data / "human" / "human_accuracy_69.json").read_text(encoding="utf-8"))
    for number, fields in enumerate(stated, 1):
        question, doubts = question_of(row(fields, number), DOCUMENT)
        assert doubts == []
        assert question.human_accuracy == pytest.approx(fields["n_right"] / fields["n_total"])
        assert "".join(question.answer) == fields["answer"].replace("@", "")


CHOICE = {"A": "甲药", "B": "乙药", "C": "丙药"}


def table(*rows: dict[str, Any], sheet: str | None = None, document: str = "rows.jsonl") -> list[SourceRow]:
    return [
        SourceRow(document=document, row=at, sheet=sheet, fields=json.dumps(fields, ensure_ascii=False))
        for at, fields in enumerate(rows, 1)
    ]


def asked(stem: str, **more: Any) -> dict[str, Any]:
    return {"题干": stem, **CHOICE, "答案": "A", **more}


def found_in(*rows: dict[str, Any]) -> list[Any]:
    """The question and the reasons of its doubts, or the reason of the error, of each row."""
    return [
        found.reason if isinstance(found, RowError) else (found[0], [why for why, _ in found[1]])
        for _, found in questions_of(table(*rows), DOCUMENT).rows
    ]


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        (["1", "0.5"], [1.0, 0.5]),
        (["1", "50"], [0.01, 0.5]),
        (["1", "1.5"], [0.01, 0.015]),
        (["1", "50%"], [1.0, 0.5]),
        (["101", "50"], [None, 0.5]),
        (["0.5", "-2"], [0.5, None]),
    ],
)
def test_accuracies_above_one_are_percentages_as_all_of_their_column(shares, expected):
    read = found_in(*[asked(f"问{at}", 正确率=share) for at, share in enumerate(shares)])
    assert [question.human_accuracy for question, _ in read] == [
        None if one is None else pytest.approx(one) for one in expected
    ]


@pytest.mark.parametrize(
    ("right", "total", "expected"),
    [(3, 4, 0.75), (4, 4, 1.0), (5, 4, None), (0, 4, 0.0), (0, 0, None), (None, 4, None)],
)
def test_no_more_people_are_right_than_were_asked(right, total, expected):
    ((question, _),) = found_in(asked("问一", 答对人数=right, 作答人数=total))
    assert question.human_accuracy == expected


def cases(*told: str | None, **more: Any) -> list[int]:
    """The rows whose case may be that of a row above."""
    rows = [asked(f"问{at}", 病例=case or "", **more) for at, case in enumerate(told, 1)]
    return [at for at, one in enumerate(found_in(*rows), 1) if "case_missing" in one[1]]


def test_eight_rows_below_a_case_may_be_on_it():
    assert cases("甲", *[None] * 10) == [2, 3, 4, 5, 6, 7, 8, 9]
    assert cases(None, "甲", None) == [3]
    assert cases("甲", None, "乙", None) == [2, 4]
    assert cases("甲", "甲", "乙", None) == []
    assert cases(*[None] * 3) == []
    assert cases("甲", None, 题型="A3/A4") == [2]
    assert cases("甲", None, 题型="A1") == []
    assert cases("甲", None, 题组="一") == []


def test_a_row_that_is_no_question_counts_below_a_case():
    rows = [asked("问一", 病例="甲"), {"题干": "", "病例": ""}, asked("问三", 病例="")]
    read = found_in(*rows)
    assert (read[1], read[2][1]) == ("no_stem", ["case_missing"])


def test_a_doubt_about_a_case_names_its_row():
    rows = [asked("问一", 病例=""), asked("问二", 病例="甲"), asked("问三", 病例="")]
    (_, found) = questions_of(table(*rows), DOCUMENT).rows[2]
    assert not isinstance(found, RowError)
    assert found[1] == [("case_missing", "the case of row 2 may be its own too")]


def test_sheets_are_tables_of_their_own():
    one, two = table(asked("问一", id="7"), sheet="一"), table(asked("问二", id="7"), sheet="二")
    alone, (first, second) = sources_of(one, DOCUMENT, {}), sources_of([*one, *two], DOCUMENT, {})
    assert [(table.name, table.part) for table in (*alone, first, second)] == [
        ("rows.jsonl", ""),
        ("rows.jsonl#一", ""),
        ("rows.jsonl#二", "#二"),
    ]
    assert [source.own_ids for source in (first, second)] == [{1: "7"}, {1: "7"}]


def test_an_id_that_comes_twice_is_none():
    read = questions_of(table(asked("问一", id="7"), asked("问二", id="8"), asked("问三", id="8")), DOCUMENT)
    assert read.own_ids == {1: "7"}


def test_rows_that_say_the_same_are_counted():
    (source,) = with_ids([questions_of(table(*[asked("问一")] * 3), DOCUMENT)])
    ids = [found[0].question_id for _, found in source.rows if not isinstance(found, RowError)]
    assert ids == [ids[0], f"{ids[0]}-2", f"{ids[0]}-3"]


def released(rows: list[dict[str, Any]], changed: int, document: str = "old.jsonl") -> pl.DataFrame:
    """The ids under which rows were released from a file, some with other words since."""
    old = Document(document=document, sha256="cd" * 32, format="jsonl", pages=None, rows=1)
    found = [one for _, one in questions_of(table(*rows, document=document), old).rows]
    questions = [one[0] for one in found if not isinstance(one, RowError)]
    return pl.DataFrame(
        {
            "question_id": [question.question_id for question in questions],
            "content_hash": ["0" if at < changed else question.content_hash for at, question in enumerate(questions)],
            "document": [document] * len(questions),
        }
    )


@pytest.mark.parametrize(("changed", "kept"), [(0, True), (1, True), (2, True), (3, False), (4, False)])
def test_a_renamed_file_keeps_ids_half_of_which_say_what_they_said(changed, kept):
    rows = [asked(f"问{at}", id=str(at)) for at in range(4)]
    ids = released(rows, changed)
    (source,) = with_former_names([questions_of(table(*rows), DOCUMENT)], ids)
    named = [found[0].question_id for _, found in source.rows if not isinstance(found, RowError)]
    assert (named == ids["question_id"].to_list()) is kept


def test_a_file_that_was_released_under_its_own_name_takes_no_other():
    rows = [asked(f"问{at}", id=str(at)) for at in range(4)]
    own, other = released(rows, 4, "rows.jsonl"), released(rows, 0)
    (source,) = with_former_names([questions_of(table(*rows), DOCUMENT)], pl.concat([own, other]))
    named = [found[0].question_id for _, found in source.rows if not isinstance(found, RowError)]
    assert named == own["question_id"].to_list()


@pytest.mark.parametrize(
    ("change", "stem", "answer", "doubts"),
    [
        ({}, "首选的药是", ["A"], []),
        ({"题干": "首选的药是（B）。", "答案": None}, "首选的药是（ ）。", ["B"], []),
        ({"题干": "首选的药是（A）。"}, "首选的药是（ ）。", ["A"], []),
        ({"题干": "首选的药是（B）。"}, "首选的药是（B）。", ["A"], ["answer_in_text"]),
        ({"题干": "以（A）为先的药是"}, "以（A）为先的药是", ["A"], ["answer_in_text"]),
        ({"题干": "以（B）为先的药是"}, "以（B）为先的药是", ["A"], []),
        ({"答案": "丁药"}, "首选的药是", None, ["answer_not_read"]),
        ({"答案": "AB", "题型": "单选题"}, "首选的药是", ["A", "B"], ["several_answers"]),
        ({"答案": "AB", "题型": "多选题"}, "首选的药是", ["A", "B"], []),
        ({"答案": "A或B", "题型": "单选题"}, "首选的药是", ["A", "B"], []),
        ({"解析": "故选B"}, "首选的药是", ["A"], ["explanation_disagrees"]),
        ({"C": "A.丙药"}, "首选的药是", ["A"], ["label_inside_text"]),
        ({"B": ""}, "首选的药是", ["A"], ["options_not_contiguous"]),
        ({"B": "", "解析": "故选C"}, "首选的药是", ["A"], ["options_not_contiguous", "explanation_disagrees"]),
        ({"B": "", "解析": "故选A"}, "首选的药是", ["A"], ["options_not_contiguous"]),
        ({"B": "", "解析": "故选C", "答案": None}, "首选的药是", None, ["options_not_contiguous"]),
    ],
)
def test_a_row_and_its_doubts(change, stem, answer, doubts):
    others = [asked(f"问{at}", 题型="单选题", 解析="无") for at in range(8)]
    question, why = found_in(*others, {**asked("首选的药是", 题型="单选题", 解析="无"), **change})[-1]
    assert (question.stem, question.answer, why) == (stem, answer, doubts)


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({}, "A1"),
        ({"题型": "A2"}, "A2"),
        ({"题型": "A2", "答案": "AB"}, "A2"),
        ({"题型": "多选题"}, "X"),
        ({"答案": "AB"}, "X"),
        ({"答案": "A或B"}, "A1"),
        ({"病例": "男，45岁"}, "A3/A4"),
        ({"题干": "患者，男，45岁，上腹痛三天伴黄疸发热寒战呕吐"}, "A2"),
    ],
)
def test_the_type_of_a_row(change, kind):
    ((question, _),) = found_in({**asked("首选的药是"), **change})
    assert question.question_type == kind


@pytest.mark.parametrize(
    ("rows", "reasons"),
    [
        ([{"题干": "问", "答案": "对"}], ["true_false"]),
        ([{"题干": "问", "答案": "A"}], ["no_options"]),
        ([{"question": "薬は飲むだけでよい。○か×か？", "isCorrect": False}], ["true_false"]),
        ([{"text": "薬", "isCorrect": False}], ["no_options"]),
        ([{"question": "問", "option": "薬", "isCorrect": False}], ["no_options"]),
        ([{"题干": "问", "答案": "A", "题型": "判断题"}], ["true_false"]),
        ([{"题干": "问", "答案": "A", "题型": "单选题"}], ["no_options"]),
        ([asked("问"), {"题干": "问二", "答案": "错"}], ["true_false"]),
        ([asked("问"), {"题干": "问二", "答案": "A"}], ["no_options"]),
        ([asked("问"), {"题干": ""}], ["no_stem"]),
    ],
)
def test_a_row_that_is_no_question_tells_why(rows, reasons):
    assert [one for one in found_in(*rows) if isinstance(one, str)] == reasons


def test_figures_groups_and_exams_of_a_row():
    full = asked("问", 图片="a.png", 题组="7", exam_type="甲", exam_class="乙", exam_subject="丙", 备注="丁")
    (read, _), (bare, _) = found_in(full, asked("问二", 图片=""))
    assert (read.attachments, bare.attachments) == (["figure"], None)
    assert (read.group_id[-2:], bare.group_id) == ("-7", None)
    assert [read.exam_type, read.exam_class, read.exam_subject, read.comment] == list("甲乙丙丁")
    assert (bare.exam_type, bare.exam_class) == ("医师考试", None)


def test_what_people_must_know_of_a_table():
    keyed, bare = asked("问一"), {"题干": "问二", **CHOICE}
    told = [questions_of(table(*rows), DOCUMENT).notices() for rows in ([keyed], [keyed | {"答案": ""}], [bare, bare])]
    assert told[0] == []
    assert [one[0].split(",")[0] for one in told[1:]] == [
        "no column holds the key of 1 question",
        "no column holds the key of 2 questions",
    ]
    stopped = questions_of(table({"题干": "问", "答案": "A"}), DOCUMENT).notices()
    assert stopped[0].startswith("1 row not read: no column holds the options")
    assert questions_of(table({"题干": "问", "答案": "对"}), DOCUMENT).notices() == []


def test_what_a_source_tells_of_a_question_is_carried_and_null_where_it_does_not():
    told = {"年份": "2019年", "章节": "第二章 循环", "分值": 1.5, "链接": "https://a.example/1", "科目": "内科"}
    (whole, _), (bare, _) = found_in(asked("问一", **told), asked("问二", 链接="见下"))
    parts = ("year", "chapter", "points", "link", "exam_subject")
    assert [getattr(whole, part) for part in parts] == ["2019年", "第二章 循环", 1.5, "https://a.example/1", "内科"]
    assert [getattr(bare, part) for part in parts] == [None] * 5


def reasons(rows: list[dict[str, Any]]) -> list[list[str]]:
    """Return the doubts about each row of a table."""
    read = questions_of([row(fields, number) for number, fields in enumerate(rows, 1)], DOCUMENT)
    return [[] if isinstance(found, RowError) else [reason for reason, _ in found[1]] for _, found in read.rows]


def test_letters_that_one_row_alone_has_before_its_options_may_be_words():
    rows = [{"question": f"第{at}题选", "options": ["头痛", "发热", "咳嗽"], "answer": "A"} for at in range(9)]
    viral = [*rows[:4], rows[4] | {"options": ["A 型肝炎", "B 型肝炎", "C 型肝炎"]}, *rows[5:]]
    assert reasons(viral) == [[], [], [], [], ["label_inside_text"], [], [], [], []]
    assert reasons([one | {"options": ["A 头痛", "B 发热", "C 咳嗽"]} for one in rows]) == [[]] * 9


@pytest.mark.parametrize("key", ["CEC", "C,E,C", ["C", "E", "C"]])
def test_a_key_that_names_a_letter_twice_waits(key):
    options = dict(zip("ABCDE", ("心", "肝", "脾", "肺", "肾"), strict=True))
    assert reasons([{"question": "五脏之一是", "options": options, "answer": key}]) == [["answer_not_read"]]


def test_a_material_that_is_the_stem_again_is_no_case():
    fields = {"material": "脾的功能是", "question": "脾的功能是", "options": ["统血", "藏血"], "answer": "A"}
    assert one(fields).shared_stem is None
