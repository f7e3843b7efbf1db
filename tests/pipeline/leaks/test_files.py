import json

import polars as pl
import pytest

from build_dataset.pipeline.leaks.files import read_texts
from build_dataset.schemas.errors import UserError


def write(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


def read(path):
    return [(record.line, record.text) for record in read_texts(path)]


def test_every_line_of_jsonl_is_a_record(tmp_path):
    path = write(
        tmp_path / "a.jsonl", '{"id": 1, "question": "题"}\n\n{"options": ["甲", "乙"], "stem": "问", "n": 2}\n'
    )
    assert read(path) == [(1, "题"), (3, "问\n甲\n乙")]


def test_a_question_and_its_options_stand_side_by_side_wherever_their_keys_are(tmp_path):
    item = {"exam_type": "医师考试", "option": {"A": "甲", "B": "乙"}, "answer": "A", "Question": "题"}
    path = write(tmp_path / "a.json", json.dumps([item], ensure_ascii=False))
    assert read(path) == [(1, "题\n甲\n乙\n医师考试\nA")]


def test_a_json_list_is_read_item_by_item_with_its_lines(tmp_path):
    items = [{"question": f'题 {number} \\ " ] ,'} for number in range(5)]
    path = write(tmp_path / "a.json", "[\n" + ",\n".join(json.dumps(item) for item in items) + "\n]\n")
    assert read(path) == [(number + 2, item["question"]) for number, item in enumerate(items)]
    assert read(write(tmp_path / "b.json", json.dumps(items, indent=1))) == [
        (2 + 3 * number, item["question"]) for number, item in enumerate(items)
    ]


def test_lists_inside_an_object_are_read_too(tmp_path):
    path = write(tmp_path / "a.json", '{"version": 1, "data": [{"question": "一"}, {"question": "二"}]}')
    assert [text for _, text in read(path) if text] == ["一", "二"]


def test_a_csv_names_the_line_where_a_record_begins(tmp_path):
    path = write(tmp_path / "a.csv", 'Answer,Question,Options\nA,题,"A 甲\nB 乙"\nB,问,"A 丙\nB 丁"\n')
    assert read(path) == [(2, "题\nA 甲\nB 乙\nA"), (4, "问\nA 丙\nB 丁\nB")]
    path = write(tmp_path / "b.tsv", "\ufeffquestion\tx\tx\n题\t1\t2\t3\n")
    assert read(path) == [(2, "题\n1\n2\n3")]


def test_parquet_counts_rows(tmp_path):
    pl.DataFrame({"question": ["一", "二"], "options": [["甲"], None]}).write_parquet(tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet") == [(1, "一\n甲"), (2, "二")]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", b'{"question": "x"}\n{broken\n'),
        ("a.json", b'[{"question": "x"}, {broken'),
        ("a.json", b"not json"),
        ("a.json", b"[" * 100_000),
        ("a.parquet", b"not parquet"),
        ("a.csv", b'Question\n"' + b"x" * 100),
    ],
)
def test_a_broken_file_is_told_in_one_line_or_read_as_far_as_it_goes(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    if name == "a.csv":
        assert read(path) == [(2, "x" * 100)]
        return
    with pytest.raises(UserError, match="cannot be read") as caught:
        read(path)
    assert "\n" not in str(caught.value)
    assert name in str(caught.value)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
def test_files_are_read_in_the_encodings_that_office_programs_write(tmp_path, encoding):
    assert read(write(tmp_path / "a.csv", "题目\n下列哪项是正确的", encoding)) == [(2, "下列哪项是正确的")]
