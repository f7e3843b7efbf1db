"""Tables made to harm: one line each, bounded memory."""

import zipfile
from contextlib import suppress
from pathlib import Path

import pytest

from build_dataset.pipeline.ocr.interfaces import TableRow
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.tasks import FileTask, inspect_file
from build_dataset.schemas.errors import UnreadableDocument

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def workbook(path: Path, sheet: str, before: str = "") -> Path:
    """An XLSX file with one sheet, its XML as given."""
    relation = '<Relationship Id="r1" Type="{}/{}" Target="{}"/>'
    relations = f'<Relationships xmlns="{PACKAGE}/relationships">{relation}</Relationships>'
    kinds = (
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", f'<Types xmlns="{PACKAGE}/content-types">{kinds}</Types>')
        archive.writestr("_rels/.rels", relations.format(OFFICE, "officeDocument", "xl/workbook.xml"))
        sheets = '<sheets><sheet name="s" sheetId="1" r:id="r1"/></sheets>'
        archive.writestr("xl/workbook.xml", f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}">{sheets}</workbook>')
        archive.writestr("xl/_rels/workbook.xml.rels", relations.format(OFFICE, "worksheet", "worksheets/s1.xml"))
        content = f'{before}<worksheet xmlns="{MAIN}"><sheetData>{sheet}</sheetData></worksheet>'
        archive.writestr("xl/worksheets/s1.xml", content)
    return path


def cells(row: int, values: list[str]) -> str:
    letters = [chr(65 + at) if at < 26 else chr(64 + at // 26) + chr(65 + at % 26) for at in range(len(values))]
    inner = "".join(
        f'<c r="{letter}{row}" t="inlineStr"><is><t>{value}</t></is></c>'
        for letter, value in zip(letters, values, strict=True)
    )
    return f'<row r="{row}">{inner}</row>'


HEADER = cells(1, ["题目", "选项A", "选项B", "答案"])
QUESTION = cells(2, ["题干", "甲", "乙", "A"])


def refused(path: Path) -> UnreadableDocument:
    with pytest.raises(UnreadableDocument) as caught:
        inspect_file(FileTask(path.name, path, OcrParams()))
    assert "\n" not in caught.value.detail
    return caught.value


@pytest.mark.parametrize("first", [HEADER + QUESTION, ""])
def test_a_cell_at_the_last_corner_of_a_sheet_is_refused_before_it_is_laid_out(tmp_path, first):
    far = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    found = refused(workbook(tmp_path / "a.xlsx", first + far))
    assert (found.reason, "row 1,048,576, column 16,384" in found.detail) == ("too_large", True)


def test_sixteen_thousand_columns_are_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("题目,答案" + ",x" * 16_382 + "\n题干,A" + ",y" * 16_382 + "\n", encoding="utf-8")
    assert refused(path).reason == "too_many_columns"


def test_a_formula_that_was_never_calculated_does_not_become_an_absent_answer(tmp_path):
    row = QUESTION.replace('<c r="D2" t="inlineStr"><is><t>A</t></is></c>', '<c r="D2"><f>CHAR(65)</f></c>')
    found = refused(workbook(tmp_path / "a.xlsx", HEADER + row))
    assert (found.reason, "formula in D2" in found.detail) == ("no_value", True)
    row = row.replace("</f>", "</f><v>A</v>").replace('r="D2"', 'r="D2" t="str"')
    facts = inspect_file(FileTask("b.xlsx", workbook(tmp_path / "b.xlsx", HEADER + row), OcrParams()))
    assert facts.rows == (('{"题目": "题干", "选项A": "甲", "选项B": "乙", "答案": "A"}', "s"),)


def test_an_external_entity_is_not_read(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("geheim", encoding="utf-8")
    entity = f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file://{secret}">]>'
    path = workbook(tmp_path / "a.xlsx", HEADER + QUESTION.replace("题干", "题干&amp;e;&e;"), entity)
    rows: tuple[TableRow, ...] = ()
    with suppress(UnreadableDocument):
        rows = inspect_file(FileTask("a.xlsx", path, OcrParams())).rows
    assert "geheim" not in "".join(row.fields for row in rows)


def test_a_workbook_that_unpacks_without_end_is_refused(tmp_path):
    path = tmp_path / "a.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
        archive.writestr("xl/worksheets/s1.xml", b" " * 60_000_000)
    with pytest.raises(UnreadableDocument, match="too_large"):
        inspect_file(FileTask("a.xlsx", path, OcrParams(max_file_mb=10)))
