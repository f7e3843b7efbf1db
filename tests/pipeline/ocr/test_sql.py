"""Dumps of SQL: the rows of INSERT under the names of their columns."""

import json
from pathlib import Path

import pytest

from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers.databases import SqlReader
from build_dataset.schemas.errors import UnreadableDocument

HEAD = "INSERT INTO questions (content, options, answer, tags, year) VALUES\n"


def read(tmp_path: Path, text: str) -> list[dict[str, str]]:
    path = tmp_path / "dump.sql"
    path.write_text(text, encoding="utf-8")
    return [json.loads(row.fields) for row in SqlReader().rows(path, OcrParams(), [])]


@pytest.mark.parametrize("options", ["""'["甲", "乙"]'""", """'["甲", "乙"]'::json""", """E'["甲", "乙"]'::jsonb"""])
@pytest.mark.parametrize("tags", ["'内科'", "ARRAY['内科', '急诊']", "ARRAY['内科']::text[]", "NULL"])
def test_casts_and_arrays_of_postgresql_are_one_value(tmp_path, options, tags):
    (row,) = read(tmp_path, f"{HEAD}('首选的是', {options}, 'B', {tags}, 2024);")
    assert (row["content"], row["options"], row["answer"], row["year"]) == ("首选的是", '["甲", "乙"]', "B", "2024")


def test_values_that_do_not_fit_the_columns_are_refused_and_never_shifted(tmp_path):
    with pytest.raises(UnreadableDocument) as found:
        read(tmp_path, f"{HEAD}('首选的是', '[]', 'B', 'x', 2024), ('次选的是', '[]', 'B', 2024);")
    assert "row 2 of questions has 4 values under 5 columns" in found.value.detail


@pytest.mark.parametrize("value", ["b'1'", "NOW()", "CURRENT_TIMESTAMP(6)", "'2024'", '"2024"'])
def test_calls_and_texts_in_double_quotes_are_one_value(tmp_path, value):
    (row,) = read(tmp_path, f"{HEAD}('首选的是', \"甲,乙\", 'B', 'x', {value});")
    assert (row["options"], row["answer"], row["tags"]) == ("甲,乙", "B", "x")


@pytest.mark.parametrize("numbered", [True, False])
@pytest.mark.parametrize("flag", ["is_correct", "checked", "isRight"])
def test_options_in_a_table_of_their_own_stand_beside_their_questions(tmp_path, numbered, flag):
    ids = ("id, ", "7, ", "9, ") if numbered else ("", "", "")
    first, second = ("7", "9") if numbered else ("1", "2")
    text = f"INSERT INTO titles ({ids[0]}name) VALUES ({ids[1]}'首选的是哪一种药物'), ({ids[2]}'次选的是哪一种药物');\n"
    rows = [(first, "甲", 0), (first, "乙", 1), (second, "丙", 1), (second, "丁", 0)]
    text += "".join(f"INSERT INTO choice (title_id, content, {flag}) VALUES ({a}, '{b}', {c});\n" for a, b, c in rows)
    found = read(tmp_path, text)
    assert [row["question"] for row in found] == ["首选的是哪一种药物", "次选的是哪一种药物"]
    assert [json.loads(row["options"]) for row in found] == [
        [["甲", False], ["乙", True]],
        [["丙", True], ["丁", False]],
    ]


def test_remarks_and_queries_between_values_are_no_values_and_arrays_are_lists(tmp_path):
    query = "(SELECT id FROM tests WHERE name = 'a (b)' AND of = (SELECT 1) LIMIT 1)"
    (row,) = read(tmp_path, f"{HEAD}({query}, -- the test, it's\n '[]', ARRAY['B', 'C'], 'x', 2024);")
    assert (row["content"], row["answer"], row["year"]) == (query, '["B", "C"]', "2024")


TEXTS = ["甲", "乙", "丙"]


def asked(size: int) -> str:
    """Questions 1, 2, … whose key is the first option, the second, …."""
    return "".join(
        f"INSERT INTO questions (qid, qns) VALUES ({at}, '第{at}例患者首选的治疗是');\n" for at in range(1, size + 1)
    )


@pytest.mark.parametrize("size", [3, 8])
def test_the_options_of_a_question_may_be_one_row_of_a_second_table(tmp_path, size):
    rows = "".join(
        f"INSERT INTO answers (id, qid, A, B, C, key_) VALUES ({9 * at}, {at}, '甲', '乙', '丙', '{'ABC'[at % 3]}');\n"
        for at in range(1, size + 1)
    )
    found = read(tmp_path, asked(size + 1) + rows)
    assert found.pop()["A"] is None  # it has no row there
    assert [(row["question"][:2], row["A"], row["C"], row["key_"]) for row in found] == [
        (f"第{at}", "甲", "丙", "ABC"[at % 3]) for at in range(1, size + 1)
    ]


def test_a_column_of_escaped_markup_is_its_text_and_others_stay(tmp_path):
    rows = "('首选的是', '&lt;p&gt;A、甲&lt;/p&gt;&lt;p&gt;B、乙&lt;/p&gt;', 'B', 'x', 2024)"
    (row,) = read(tmp_path, f"{HEAD}{rows};")
    assert row["options"].split() == ["A、甲", "B、乙"]
    (row,) = read(tmp_path, f"{HEAD}('a &lt; b', '甲|乙', 'B', 'x', 2024);")
    assert row["content"] == "a &lt; b"


def test_the_columns_of_an_index_are_none_of_the_table(tmp_path):
    index = "UNIQUE INDEX uk (id ASC, content DESC) USING BTREE"
    table = f"CREATE TABLE questions (\n id int NOT NULL,\n content text,\n {index}\n) ENGINE = InnoDB;"
    (row,) = read(tmp_path, f"{table}\nINSERT INTO questions VALUES (1, '首选的是');")
    assert row == {"id": "1", "content": "首选的是"}


@pytest.mark.parametrize("right", ["1", "2"])
def test_questions_of_a_chapter_are_none_of_its_options(tmp_path, right):
    chapters = "INSERT INTO chapter (id, title) VALUES (7, '第一章'), (8, '第二章');\n"
    rows = ", ".join(f"({at}, {7 + at % 2}, '第{at}例患者首选的治疗是', '甲', '乙', '{right}')" for at in range(8))
    found = read(
        tmp_path,
        f"{chapters}INSERT INTO question (id, chapter_id, question, answer_1, answer_2, correct_answer) VALUES {rows};",
    )
    assert [row["question"] for row in found if "question" in row] == [f"第{at}例患者首选的治疗是" for at in range(8)]


def test_a_table_of_answers_names_its_question_beside_explanations_and_a_broken_table(tmp_path):
    text = "INSERT DELAYED IGNORE INTO users (id, name) VALUES (1);\n" + "".join(
        f"REPLACE INTO question (id, question) VALUES ({at}, '第{at}例患者首选的治疗是');\n" for at in (1, 2, 3)
    )
    rows = ", ".join(
        f"({9 * at + n}, {at}, '{one}', {int(n == at % 3)}, '因为{one}与本例不符')"
        for at in (1, 2, 3)
        for n, one in enumerate(TEXTS)
    )
    found = read(tmp_path, f"{text}INSERT INTO answer (id, id_question, answer, correct, answer_expl) VALUES {rows};")
    right = [[text for text, is_right in json.loads(row["options"]) if is_right] for row in found]
    assert right == [[TEXTS[at % 3]] for at in (1, 2, 3)]
