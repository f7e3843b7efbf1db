"""Word documents, numbered as a reader sees them."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls, qn
from PIL import Image

from pipeline.ocr.params import OcrParams
from pipeline.ocr.readers.docx import DocxReader
from pipeline.ocr.readers.docx_numbering import Numbering, chinese, format_number, roman
from schemas.documents import LineKind
from schemas.errors import UnreadableDocument


def read(path: Path):
    (page,) = DocxReader().read(path, [1], OcrParams())
    return page.lines


def add_list(document, levels, list_id: int) -> None:
    """Define a list: (format, pattern) for each level."""
    root = document.part.numbering_part.element
    parts = "".join(
        f'<w:lvl w:ilvl="{depth}"><w:start w:val="1"/><w:numFmt w:val="{style}"/><w:lvlText w:val="{text}"/></w:lvl>'
        for depth, (style, text) in enumerate(levels)
    )
    abstract = f'<w:abstractNum {nsdecls("w")} w:abstractNumId="{list_id}">{parts}</w:abstractNum>'
    root.insert(0, parse_xml(abstract))
    root.append(
        parse_xml(f'<w:num {nsdecls("w")} w:numId="{list_id}"><w:abstractNumId w:val="{list_id}"/></w:num>')
    )


def add_numbered(document, text: str, list_id: int, depth: int = 0):
    paragraph = document.add_paragraph(text)
    paragraph._p.get_or_add_pPr().append(
        parse_xml(f'<w:numPr {nsdecls("w")}><w:ilvl w:val="{depth}"/><w:numId w:val="{list_id}"/></w:numPr>')
    )
    return paragraph


def test_automatic_numbers_and_letters_are_written_out(tmp_path):
    document = docx.Document()
    add_list(document, [("decimal", "%1、"), ("upperLetter", "%2.")], 77)
    for stem in ("题干一", "题干二"):
        add_numbered(document, stem, 77)
        for option in ("甲", "乙"):
            add_numbered(document, option, 77, 1)
    document.save(tmp_path / "a.docx")
    assert [line.text for line in read(tmp_path / "a.docx")] == [
        "1、 题干一",
        "A. 甲",
        "B. 乙",
        "2、 题干二",
        "A. 甲",
        "B. 乙",
    ]


def test_a_style_can_number(tmp_path):
    document = docx.Document()
    document.add_paragraph("第一", style="List Number")
    document.add_paragraph("第二", style="List Number")
    document.save(tmp_path / "a.docx")
    assert [line.text for line in read(tmp_path / "a.docx")] == ["1. 第一", "2. 第二"]


@pytest.mark.parametrize(
    ("value", "style", "text"),
    [
        (3, "upperLetter", "C"),
        (28, "lowerLetter", "bb"),
        (4, "lowerRoman", "iv"),
        (12, "chineseCountingThousand", "十二"),
        (3, "decimalEnclosedCircle", "③"),
        (2, "ideographTraditional", "乙"),
        (7, "decimalFullWidth", "７"),
        (5, "someFutureFormat", "5"),
    ],
)
def test_number_formats(value, style, text):
    assert format_number(value, style) == text


def test_numerals():
    assert [chinese(value) for value in (1, 10, 11, 20, 105, 110, 999)] == [
        *("一", "十", "十一", "二十", "一百零五", "一百一十", "九百九十九")
    ]
    assert [roman(value) for value in (4, 9, 14, 1990)] == ["IV", "IX", "XIV", "MCMXC"]


def test_tables_are_rows_with_tabs_after_their_region(tmp_path):
    document = docx.Document()
    table = document.add_table(2, 3)
    for row, cells in enumerate((("题号", "1", "2"), ("答案", "A", "B"))):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text
    document.save(tmp_path / "a.docx")
    assert [(line.kind, line.text) for line in read(tmp_path / "a.docx")] == [
        (LineKind.TABLE, ""),
        (LineKind.TEXT, "题号\t1\t2"),
        (LineKind.TEXT, "答案\tA\tB"),
    ]


def test_pictures_breaks_scripts_and_deleted_text(tmp_path):
    document = docx.Document()
    picture = io.BytesIO()
    Image.new("RGB", (20, 20), "red").save(picture, "PNG")
    picture.seek(0)
    paragraph = document.add_paragraph("1. 如图")
    paragraph.add_run().add_picture(picture)
    paragraph = document.add_paragraph("A. 10")
    paragraph.add_run("9").font.superscript = True
    paragraph.add_run().add_break()
    paragraph.add_run("B. CO")
    paragraph.add_run("2").font.subscript = True
    deleted = parse_xml(f"<w:del {nsdecls('w')}><w:r><w:delText>旧</w:delText></w:r></w:del>")
    paragraph._p.append(deleted)
    document.save(tmp_path / "a.docx")
    assert [(line.kind, line.text) for line in read(tmp_path / "a.docx")] == [
        (LineKind.TEXT, "1. 如图"),
        (LineKind.FIGURE, ""),
        (LineKind.TEXT, "A. 10⁹"),
        (LineKind.TEXT, "B. CO₂"),
    ]


def test_options_set_with_spaces_or_tabs_are_parted_by_tabs(tmp_path):
    document = docx.Document()
    document.add_paragraph("A.甲    B.乙\tC.丙　　D.丁")
    document.add_paragraph("正确的是（    ）。")
    document.save(tmp_path / "a.docx")
    assert [line.text for line in read(tmp_path / "a.docx")] == [
        "A.甲\tB.乙\tC.丙\tD.丁",
        "正确的是（    ）。",
    ]


def test_a_list_that_starts_anew_counts_from_there():
    root = parse_xml(
        f'<w:numbering {nsdecls("w")}><w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0">'
        '<w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl></w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/>'
        '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num></w:numbering>'
    )
    numbering = Numbering.read(root)
    assert [numbering.label(name, 0) for name in ("1", "1", "2", "2")] == ["1. ", "2. ", "1. ", "2. "]
    assert root.tag == qn("w:numbering")


def test_damaged_archives_are_refused(tmp_path):
    path = tmp_path / "a.docx"
    docx.Document().save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UnreadableDocument, match="broken"):
        DocxReader().count_pages(path, OcrParams())


def test_an_archive_that_unpacks_to_gigabytes_is_refused(tmp_path):
    path = tmp_path / "a.docx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"0" * 5_000_000)
    with pytest.raises(UnreadableDocument, match="too_large"):
        DocxReader().count_pages(path, OcrParams(max_file_mb=1))


def with_xml(path, *parts):
    """A document whose body begins with these elements, as text without their namespace."""
    document = docx.Document()
    for place, part in enumerate(parts):
        document.element.body.insert(place, parse_xml(part))
    document.save(path)
    return path


def element(text):
    name, rest = re.match(r"<(w:\w+)(.*)", text, re.DOTALL).groups()
    return f"<{name} {nsdecls('w')}{rest}"


def table(cell, depth):
    inner = table(cell, depth - 1) if depth else f"<w:p><w:r><w:t>{cell}</w:t></w:r></w:p>"
    return f"<w:tbl><w:tr><w:tc>{inner}<w:p/></w:tc></w:tr></w:tbl>"


@pytest.mark.parametrize("depth", [0, 1, 3, 14])
def test_tables_in_tables_are_read_once(tmp_path, depth):
    lines = read(with_xml(tmp_path / "a.docx", element(table("甲", depth))))
    assert [line.text for line in lines if line.kind is LineKind.TEXT] == ["甲"]


def test_rows_in_content_controls_are_read(tmp_path):
    row = "<w:sdt><w:sdtContent><w:tr><w:tc><w:p><w:r><w:t>甲</w:t></w:r></w:p></w:tc></w:tr></w:sdtContent></w:sdt>"
    lines = read(with_xml(tmp_path / "a.docx", element(f"<w:tbl>{row}</w:tbl>")))
    assert [line.text for line in lines if line.text] == ["甲"]


@pytest.mark.parametrize("code", ["D800", "zzzz", "-1", "110000", "9" * 5000, ""])
def test_a_symbol_that_is_no_character_is_unreadable_and_costs_nothing_else(tmp_path, code):
    run = f'<w:p><w:r><w:t>甲</w:t><w:sym w:font="x" w:char="{code}"/><w:t>乙</w:t></w:r></w:p>'
    lines = read(with_xml(tmp_path / "a.docx", element(run)))
    assert [line.text for line in lines] == ["甲\ufffd乙"]


@pytest.mark.parametrize("damage", ["", 'w:val="zzzz"', 'w:val="99999999999"', 'w:val=""'])
@pytest.mark.parametrize("tag", ["numId", "ilvl", "position", "vertAlign"])
def test_a_damaged_attribute_costs_that_attribute_alone(tmp_path, tag, damage):
    inside = f"<w:{tag} {damage}/>"
    where = f"<w:pPr><w:numPr>{inside}</w:numPr></w:pPr>" if tag in ("numId", "ilvl") else ""
    run = f"<w:rPr>{inside}</w:rPr>" if not where else ""
    paragraph = f"<w:p>{where}<w:r>{run}<w:t>甲</w:t></w:r></w:p>"
    assert [line.text for line in read(with_xml(tmp_path / "a.docx", element(paragraph)))] == ["甲"]
