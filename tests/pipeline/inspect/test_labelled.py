"""Questions that were labelled elsewhere are read like any bank, and their labels by the dimensions' names."""

import json

import polars as pl
import pytest

from build_dataset.pipeline.inspect.bank import read_labelled
from build_dataset.schemas.errors import UserError
from tests.annotation.test_reviewed import labels


def test_cmexam_s_own_csv_is_read(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(
        "Question,Options,Answer,Explanation,Clinical Department,Disease Group,Area of Competency,"
        "Medical Discipline,Difficulty level\n"
        '首选的药物,"A 甲 乙\nB 丙",AB,,内科,循环系统疾病,疾病治疗,临床医学,2\n'
        '无标签,"A 甲",A,,,,,,\n',
        encoding="utf-8",
    )
    (found,) = read_labelled(path)
    assert found.labels == labels(difficulty="较易")
    assert [(option.label, option.text) for option in found.question.options] == [("A", "甲 乙"), ("B", "丙")]
    assert found.question.answer == ["A", "B"]
    assert found.question.explanation is None


def test_jsonl_and_parquet_with_our_names_say_the_same(tmp_path):
    row = {
        "stem": "题",
        "options": [{"label": "A", "text": "甲"}, {"label": "B", "text": "乙"}],
        "answer": ["A"],
        "competency": "疾病治疗",
    }
    (tmp_path / "x.jsonl").write_text(json.dumps(row, ensure_ascii=False), encoding="utf-8")
    pl.DataFrame([row]).write_parquet(tmp_path / "x.parquet")
    first, second = read_labelled(tmp_path / "x.jsonl"), read_labelled(tmp_path / "x.parquet")
    assert [(each.question.stem, each.labels) for each in first] == [
        (each.question.stem, each.labels) for each in second
    ]
    assert first[0].labels == {"competency": labels()["competency"]}


@pytest.mark.parametrize(
    "options",
    [
        ["甲", "乙"],
        {"A": "甲", "B": "乙"},
        "A. 甲\nB、乙",
        [{"label": "A", "text": "甲"}, {"label": "B", "text": "乙"}],
    ],
)
@pytest.mark.parametrize("answer", ["AB", "a,b", ["A", "B"]])
def test_options_and_keys_are_read_as_people_write_them(tmp_path, options, answer):
    row = {"stem": "题", "options": options, "answer": answer, "competency": "疾病治疗", "exam_class": "中医执业医师"}
    (tmp_path / "x.jsonl").write_text(json.dumps(row, ensure_ascii=False), encoding="utf-8")
    (found,) = read_labelled(tmp_path / "x.jsonl")
    assert [(option.label, option.text) for option in found.question.options] == [("A", "甲"), ("B", "乙")]
    assert found.question.answer == ["A", "B"]
    assert found.question.exam_class == "中医执业医师"


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("x.txt", "", "x.txt"),
        ("x.csv", "a,b\n1,2\n", "unknown_columns"),
        ("x.csv", 'stem,options,answer\n题,"A. 甲\nB. 乙",A\n', "no labelled question"),
        ("x.csv", 'stem,options,answer,competency\n题,"A. 甲\nB. 乙",A,没有\n', "row 1: '没有' is no label"),
        ("x.parquet", "junk", "unknown_format"),
        ("x.jsonl", "{", "invalid_json"),
        ("gone.csv", None, "no file"),
    ],
)
def test_a_file_that_cannot_be_used_is_told_in_one_line(tmp_path, name, content, says):
    path = tmp_path / name
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(UserError, match=says) as error:
        read_labelled(path)
    assert "\n" not in str(error.value)
