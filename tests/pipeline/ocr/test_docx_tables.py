"""Tables of questions in Word documents are read like sheets."""

import json
from pathlib import Path

import docx
import pytest

from build_dataset.pipeline.api import build, table
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers.docx_tables import DocxTableReader
from build_dataset.pipeline.ocr.tasks import FileTask, inspect_file

NOUNS = "肝胆脾胃肺心"
OPTIONS = [f"A. {noun}甲\nB. {noun}乙\nC. {noun}丙" for noun in NOUNS]
SHEET = [["题目", "选项", "答案"], *([f"首选{noun}项的是", own, "B"] for noun, own in zip(NOUNS, OPTIONS, strict=True))]


def add_table(document, grid):
    made = document.add_table(len(grid), len(grid[0]))
    for row, record in zip(made.rows, grid, strict=True):
        for cell, text in zip(row.cells, record, strict=True):
            cell.text = text
    return made


def write(path: Path, *grids, text: str = "") -> Path:
    document = docx.Document()
    for line in filter(None, text.split("\n")):
        document.add_paragraph(line)
    for grid in grids:
        add_table(document, grid)
    document.save(str(path))
    return path


def read(path: Path, **params):
    told: list[str] = []
    rows = [json.loads(row.fields) for row in DocxTableReader().rows(path, OcrParams(**params), told)]
    return rows, told


WHOLE = [dict(zip(SHEET[0], row, strict=True)) for row in SHEET[1:]]


def test_a_table_with_a_header_is_read_like_a_sheet(tmp_path):
    path = write(tmp_path / "bank.docx", SHEET, text="内科题库")
    assert read(path) == (WHOLE, [])
    facts = inspect_file(FileTask("bank.docx", path, OcrParams()))
    assert (facts.format, facts.pages, len(facts.rows)) == ("docx_table", None, 6)


@pytest.mark.parametrize("apart", [False, True])
def test_labels_before_the_parts_of_each_question_are_its_columns(tmp_path, apart):
    pairs = [[[name, text] for name, text in zip(SHEET[0], row, strict=True)] for row in SHEET[1:]]
    grids = pairs if apart else [[pair for one in pairs for pair in one]]
    assert read(write(tmp_path / "bank.docx", *grids))[0] == WHOLE


def test_a_long_table_that_is_cut_up_is_one(tmp_path):
    rows, _ = read(write(tmp_path / "bank.docx", SHEET[:4], [SHEET[0], *SHEET[4:]]))
    assert rows == WHOLE


def test_a_cell_that_spans_rows_has_its_text_in_each(tmp_path):
    document = docx.Document()
    made = add_table(document, [["病例", *SHEET[0]], *(["", *row] for row in SHEET[1:])])
    made.cell(1, 0).merge(made.cell(2, 0)).text = "男，45岁，胸痛。"
    document.save(str(tmp_path / "bank.docx"))
    rows, _ = read(tmp_path / "bank.docx")
    assert [row["病例"] for row in rows[:3]] == ["男，45岁，胸痛。", "男，45岁，胸痛。", None]


def test_a_paper_with_a_table_in_it_is_a_paper(tmp_path):
    text = "\n".join(f"{at}. 首选{noun}项的是哪一种药物" for at, noun in enumerate(NOUNS, 1))
    path = write(tmp_path / "paper.docx", SHEET[:2], text=text)
    assert inspect_file(FileTask("paper.docx", path, OcrParams())).format == "docx"


def configured(tmp_path: Path, sources: str) -> Path:
    config = tmp_path / "dataset.toml"
    config.write_text(f'[dataset]\nname = "one"\nraw = "raw"\nbuild = "build"\n{sources}', encoding="utf-8")
    return config


def test_columns_that_are_named_in_dataset_toml_make_a_table_a_bank(tmp_path):
    (tmp_path / "raw").mkdir()
    write(tmp_path / "raw" / "bank.docx", [["甲栏", "乙栏", "丙栏"], *SHEET[1:]])
    config = configured(tmp_path, '[sources."bank.docx"]\nstem = "甲栏"\noptions = "乙栏"\nanswer = "丙栏"\n')
    build(config, last="parse")
    questions = table(config, "parse/questions").to_dicts()
    assert [(one["stem"], one["answer"]) for one in questions] == [(row[0], ["B"]) for row in SHEET[1:]]
    assert [one["text"] for one in questions[0]["options"]] == ["肝甲", "肝乙", "肝丙"]
