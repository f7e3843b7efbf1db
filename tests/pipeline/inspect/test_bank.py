"""The view of a bank, made without a run."""

import zipfile

import pytest

from build_dataset.pipeline.inspect.bank import find_bank, view_bank
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.schemas.dataset import DatasetParams, SourceParams
from build_dataset.schemas.errors import UserError

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


def bank(count: int, key: str = "B") -> str:
    rows = (f"首选的药物{number},甲{number},乙{number},{key},\n" for number in range(count))
    return "试题内容,选项A,选项B,正确答案,难度\n" + "".join(rows)


@pytest.mark.parametrize(("rows", "shown"), [(1, 1), (2, 2), (3, 3), (4, 3), (9, 3)])
def test_three_rows_of_each_outcome_are_shown(tmp_path, rows, shown) -> None:
    path = tmp_path / "bank.csv"
    path.write_text(bank(rows) + "没有答案的题,甲,乙,,\n" * rows, encoding="utf-8")
    [table] = view_bank("bank.csv", path, OcrParams(), {})[0]
    assert table.ends["kept"] == rows
    kept = [sample for sample in table.samples if sample.doubt is None]
    assert [sample.row for sample in kept] == [sample.row for sample in table.samples[:shown]]
    assert len(kept) == shown
    told = [sample.doubt for sample in table.samples if sample.doubt is not None]
    assert {line.partition(":")[0] for line in told} == {end for end in table.ends if end != "kept"}
    [table] = view_bank("bank.csv", path, OcrParams(), {}, most=1)[0]
    assert len(table.samples) == len(table.ends)


def test_a_row_without_a_key_is_told_as_the_next_stage_will_take_it(tmp_path) -> None:
    path = tmp_path / "bank.csv"
    path.write_text(bank(2, ""), encoding="utf-8")
    [table] = view_bank("bank.csv", path, OcrParams(), {})[0]
    assert table.ends == {"no_answer": 2}
    assert [sample.doubt for sample in table.samples] == ["no_answer: it has no key; the clean stage rejects it"] * 2


def test_a_file_is_found_by_its_path_inside_and_outside_of_the_papers(tmp_path, monkeypatch) -> None:
    (tmp_path / "raw" / "deep").mkdir(parents=True)
    for name in ("raw/deep/one.csv", "raw/two.csv", "raw/two-more.csv", "else.csv"):
        (tmp_path / name).write_text(bank(1), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    told = dataset(tmp_path / "raw")
    assert find_bank(told, "raw/deep/one.csv")[0] == "deep/one.csv"
    assert find_bank(told, "else.csv")[0] == "else.csv"
    assert find_bank(told, "one")[0] == "deep/one.csv"
    assert find_bank(told, "two.csv")[0] == "two.csv"
    assert find_bank(told, "two") is None
    assert find_bank(dataset(tmp_path / "none"), "one") is None
    assert find_bank(dataset(tmp_path / "none"), "else.csv")[0] == "else.csv"
