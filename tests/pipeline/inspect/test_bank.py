"""The view of a bank, made without a run."""

from __future__ import annotations

import zipfile

import pytest

from pipeline.inspect.bank import find_bank, view_bank
from pipeline.ocr.params import OcrParams
from schemas.dataset import DatasetParams, SourceParams
from schemas.errors import UserError

TABLE = "某题库,,,,\n试题内容,选项A,选项B,正确答案,难度\n首选的药物,甲,乙,B,A\n错误的说法,丙,丁,见解析,B\n"


def dataset(raw):
    return DatasetParams(name="x", raw=raw, build=raw / "build")


def test_columns_and_rows_are_shown_with_what_became_of_them(tmp_path):
    (tmp_path / "bank.csv").write_text(TABLE, encoding="utf-8")
    assert find_bank(dataset(tmp_path), "bank") == ("bank.csv", tmp_path / "bank.csv")
    view = view_bank("bank.csv", tmp_path / "bank.csv", OcrParams(), {})
    ((table,), _) = view
    assert (table.columns["stem"], table.columns["options"]) == ("试题内容", "A=选项A B=选项B")
    assert table.ends == {"kept": 1, "answer_not_read": 1}
    assert table.samples[0].question.answer == ["B"]
    assert table.samples[1].doubt.startswith("answer_not_read")


def test_a_bank_in_an_archive_is_found_by_its_name_in_the_tables(tmp_path):
    with zipfile.ZipFile(tmp_path / "banks.zip", "w") as archive:
        archive.writestr("2024/bank.csv", TABLE)
        archive.writestr("2023/old.csv", TABLE)
    document, path = find_bank(dataset(tmp_path), "bank.csv")
    assert document == "banks.zip/2024/bank.csv"
    assert view_bank(document, path, OcrParams(), {})[0][0].ends == {"kept": 1, "answer_not_read": 1}
    assert find_bank(dataset(tmp_path), "banks.zip") is None  # two: the name says too little


def test_what_the_configuration_says_is_tried_without_a_run(tmp_path):
    (tmp_path / "bank.csv").write_text(TABLE, encoding="utf-8")
    tables, _ = view_bank("bank.csv", tmp_path / "bank.csv", OcrParams(), {None: SourceParams(stem="题面")})
    stopped = tables[0]
    assert "题面" in stopped.told[0]
    assert [sample.question for sample in stopped.samples] == [None, None]


def test_a_file_that_is_no_table_is_left_to_the_page_of_papers(tmp_path):
    (tmp_path / "paper.txt").write_text("1. 题", encoding="utf-8")
    assert view_bank("paper.txt", tmp_path / "paper.txt", OcrParams(), {}) is None
    assert find_bank(dataset(tmp_path), "none") is None
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(UserError, match="empty_file"):
        view_bank("empty.csv", tmp_path / "empty.csv", OcrParams(), {})
