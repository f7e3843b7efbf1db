"""Word documents, numbered as a reader sees them."""

import io
import re
from pathlib import Path

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls, qn
from hypothesis import given, strategies as st
from PIL import Image

from build_dataset.pipeline.ocr.model import PageRead
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers import docx as docx_reader
from build_dataset.pipeline.ocr.readers.docx import DocxReader
from build_dataset.schemas.documents import LineKind, ReadMethod
from build_dataset.schemas.errors import UnreadableDocument


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
    root.append(parse_xml(f'<w:num {nsdecls("w")} w:numId="{list_id}"><w:abstractNumId w:val="{list_id}"/></w:num>'))


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
    assert [line.text for line in read(tmp_path / "a.docx")] == ["A.甲\tB.乙\tC.丙\tD.丁", "正确的是（    ）。"]


def test_damaged_archives_are_refused(tmp_path):
    path = tmp_path / "a.docx"
    docx.Document().save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UnreadableDocument, match="broken"):
        DocxReader().count_pages(path, OcrParams())


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


BODY = docx.Document()


def walked(*parts: str) -> list[tuple[str, str]]:
    """Lines of these elements, kind and text."""
    walker = docx_reader.Walker(BODY)
    return [(line.kind.value, line.text) for line in walker.blocks([parse_xml(element(part)) for part in parts])]


def paragraphs(*texts: str) -> str:
    return "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in texts)


@pytest.mark.parametrize(
    ("head", "suffix", "read"),
    [
        (b"PK\x03\x04", ".docx", True),
        (b"PK\x03\x04 word/document.xml", ".zip", True),
        (b"PK\x03\x04", ".zip", False),
        (b"word/document.xml", ".docx", False),
    ],
)
def test_a_document_is_told_by_its_first_bytes(head: bytes, suffix: str, read: bool) -> None:
    assert DocxReader().recognises(head, suffix) == read


@pytest.mark.parametrize(
    ("size", "points"),
    [
        ('<w:pgSz w:w="11906" w:h="16838"/>', (595.3, 841.9)),
        ('<w:pgSz w:w="20"/>', (1.0, 0.0)),
        ('<w:pgSz w:w="x" w:h="40"/>', (0.0, 2.0)),
        ("", (0.0, 0.0)),
    ],
)
def test_the_one_page_has_the_size_that_the_document_states(
    tmp_path: Path, size: str, points: tuple[float, float]
) -> None:
    document = docx.Document()
    body = document.element.body
    body.remove(body.find(qn("w:sectPr")))
    body.append(parse_xml(f"<w:sectPr {nsdecls('w')}>{size}</w:sectPr>"))
    document.save(tmp_path / "a.docx")
    assert DocxReader().count_pages(tmp_path / "a.docx", OcrParams()) == 1
    blank, again = DocxReader().read(tmp_path / "a.docx", [1, 1], OcrParams())
    assert isinstance(blank, PageRead)
    assert blank == again
    assert (blank.width, blank.height) == points
    assert (blank.method, blank.reason, blank.engine, blank.lines) == (
        ReadMethod.BLANK, "no_content", "python-docx", [],
    )  # fmt: skip


def test_a_page_with_a_line_is_read(tmp_path: Path) -> None:
    (page,) = DocxReader().read(with_xml(tmp_path / "a.docx", element(paragraphs("甲"))), [1], OcrParams())
    assert isinstance(page, PageRead)
    assert (page.method, page.reason, len(page.lines)) == (ReadMethod.TEXT_LAYER, None, 1)


@pytest.mark.parametrize(
    ("properties", "shown"),
    [
        ('<w:position w:val="3"/>', "2"),
        ('<w:position w:val="4"/>', "²"),
        ('<w:position w:val="5"/>', "²"),
        ('<w:position w:val="-3"/>', "2"),
        ('<w:position w:val="-4"/>', "₂"),
        ('<w:position w:val="-12"/>', "₂"),
        ('<w:position w:val="-31"/>', "₂"),
        ('<w:position w:val="-"/>', "2"),
        ('<w:position w:val="x9"/>', "2"),
        ('<w:position w:val="-x"/>', "2"),
        ('<w:vertAlign w:val="superscript"/>', "²"),
        ('<w:vertAlign w:val="subscript"/>', "₂"),
        ('<w:vertAlign w:val="baseline"/>', "2"),
        ('<w:vertAlign w:val="baseline"/><w:position w:val="9"/>', "2"),
        ('<w:vertAlign w:val="baseline"/><w:position w:val="-9"/>', "2"),
        ('<w:vertAlign w:val="subscript"/><w:position w:val="9"/>', "₂"),
        ('<w:vertAlign w:val="superscript"/><w:position w:val="-9"/>', "²"),
        ("", "2"),
    ],
)
def test_a_run_is_a_script_from_two_points_on(properties: str, shown: str) -> None:
    run = f"<w:p><w:r><w:rPr>{properties}</w:rPr><w:t>2</w:t></w:r></w:p>"
    assert walked(run) == [("text", shown)]


def test_signs_of_a_run_are_characters() -> None:
    signs = "".join(f"<w:t>{at}</w:t><w:{name}/>" for at, name in enumerate(("tab", "ptab", "noBreakHyphen")))
    assert walked(f"<w:p><w:r>{signs}<w:t>x</w:t><w:br/><w:t>y</w:t><w:cr/><w:t/></w:r></w:p>") == [
        ("text", "0\t1\t2-x"),
        ("text", "y"),
    ]
    symbols = '<w:sym w:font="Symbol" w:char="F061"/><w:sym w:font="x" w:char="41"/>'
    assert walked(f"<w:p><w:r>{symbols}</w:r></w:p>") == [("text", "αA")]


def test_text_that_is_not_printed_is_left_out() -> None:
    gone = "<w:r><w:t>{}</w:t></w:r>"
    hidden = "".join(f"<w:{name}>{gone.format('x')}</w:{name}>" for name in ("del", "moveFrom"))
    kept = "".join(f"<w:{name}>{gone.format('y')}</w:{name}>" for name in ("ins", "hyperlink", "smartTag"))
    code = "<w:r><w:instrText>PAGE</w:instrText></w:r>"
    assert walked(f"<w:p>{hidden}{kept}{code}</w:p>") == [("text", "yyy")]


@pytest.mark.parametrize(("count", "layout"), [(1, False), (2, False), (3, True)])
def test_a_table_with_three_paragraphs_in_a_cell_is_a_layout(count: int, layout: bool) -> None:
    texts = [f"第{at}段" for at in range(count)]
    cells = f"<w:tc>{paragraphs(*texts)}</w:tc><w:tc>{paragraphs('乙')}</w:tc>"
    found = walked(f"<w:tbl><w:tr>{cells}</w:tr><w:tr><w:tc><w:p/></w:tc></w:tr></w:tbl>")
    lines = [*texts, "乙"] if layout else [f"{' '.join(texts)}\t乙"]
    assert found == [("table", ""), *(("text", line) for line in lines)]


def test_a_table_within_a_cell_is_a_region_after_its_row() -> None:
    inner = f"<w:tbl><w:tr><w:tc>{paragraphs('乙')}</w:tc></w:tr></w:tbl>"
    found = walked(f"<w:tbl><w:tr><w:tc>{paragraphs('甲')}{inner}</w:tc></w:tr></w:tbl>")
    assert found == [("table", ""), ("text", "甲 乙"), ("table", "")]


MATH = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'


@pytest.mark.parametrize(
    ("inside", "found"),
    [
        ("<w:r><w:object/></w:r>", ["formula"]),
        ("<w:r><w:object/><w:object/></w:r>", ["formula"] * 2),
        ("<w:r><w:object><w:control/></w:object></w:r>", []),  # a button
        ('<w:r><w:object><w:pict style="width:0.05pt;height:0pt"/></w:object></w:r>', []),
        (f"<m:oMath {MATH}/>", []),
        (f"<m:oMath {MATH}><m:strange/></m:oMath>", ["formula"]),
        (f"<m:oMath {MATH}><m:strange/></m:oMath><w:r><w:object/></w:r>", ["formula"] * 2),
        (f"<m:oMath {MATH}><m:r><m:t>x</m:t></m:r></m:oMath>", ["text"]),
    ],
)
def test_what_is_not_read_of_formulas_is_a_region(inside: str, found: list[str]) -> None:
    assert [kind for kind, _ in walked(f"<w:p>{inside}</w:p>")] == found


def drawing(width: object, height: object) -> str:
    return f'<w:drawing><wp:inline xmlns:wp="wp"><wp:extent cx="{width}" cy="{height}"/></wp:inline></w:drawing>'


def pict(style: str, inside: str = '<v:imagedata xmlns:v="v"/>') -> str:
    return f'<w:pict><v:shape xmlns:v="v" style="{style}">{inside}</v:shape></w:pict>'


@pytest.mark.parametrize(
    ("picture", "seen"),
    [
        (drawing(127_000, 127_000), False),
        (drawing(127_001, 127_000), True),
        (drawing(127_000, 127_001), True),
        (drawing(1, 900_000), True),
        (drawing("x", 1), True),
        (drawing(1, "x"), True),
        ("<w:drawing/>", True),
        (pict("width:10pt;height:10pt"), False),
        (pict("width:10.5pt;height:9pt"), True),
        (pict("width:9pt;height:10.5pt"), True),
        (pict("height:9pt"), True),
        (pict(""), True),
        (pict("margin-left:800pt"), True),
        (pict("margin-left:801pt"), False),
        (pict("margin-left:-900pt"), True),
        (pict("margin-left:900pt;width:9pt;height:9pt"), False),
        (pict("width:50pt", "<v:x/>"), False),
        (pict("width:50pt;height:50pt", '<v:imagedata style="width:1pt;height:1pt"/>'), True),
    ],
)
def test_a_picture_is_seen_unless_it_is_a_dot_or_off_the_page(picture: str, seen: bool) -> None:
    assert walked(f"<w:p><w:r>{picture}</w:r></w:p>") == [("figure", "")] * seen


def test_pictures_and_text_of_a_text_box_come_once_and_after_its_paragraph() -> None:
    box = f"<w:txbxContent>{paragraphs('乙')}<w:p><w:r>{drawing(9 * 10**6, 1)}</w:r></w:p></w:txbxContent>"
    other = f"<mc:Fallback xmlns:mc='{docx_reader._MC[1:-1]}'><w:pict>{box}</w:pict></mc:Fallback>"
    shape = f"<w:r><w:drawing>{box}</w:drawing>{other}</w:r>"
    assert walked(f"<w:p><w:r><w:t>甲</w:t></w:r>{shape}</w:p>") == [("text", "甲"), ("text", "乙"), ("figure", "")]


def placed(text: str, height: int, relative: str = "page") -> str:
    """A paragraph that is a text box alone, at a height on its page."""
    names = "xmlns:wp='http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing'"
    place = f"<wp:positionV relativeFrom='{relative}'><wp:posOffset>{height}</wp:posOffset></wp:positionV>"
    box = f"<w:txbxContent>{paragraphs(text)}</w:txbxContent>"
    return f"<w:p><w:r><w:drawing><wp:anchor {names}>{place}{box}</wp:anchor></w:drawing></w:r></w:p>"


@given(st.permutations(range(6)))
def test_text_boxes_that_are_placed_on_a_page_are_read_from_top_to_bottom(order: list[int]) -> None:
    boxes = [placed(str(at), 1000 * at) for at in order]
    shown = [("text", str(at)) for at in range(6)]
    assert walked(paragraphs("始"), *boxes, paragraphs("终")) == [("text", "始"), *shown, ("text", "终")]
    assert walked(*(placed(str(at), 1000 * at, "paragraph") for at in order)) == [("text", str(at)) for at in order]


def test_paragraphs_in_content_controls_and_revisions_are_read() -> None:
    inner = paragraphs("甲")
    wrapped = [f"<w:{name}>{inner}</w:{name}>" for name in ("sdt", "sdtContent", "ins", "customXml", "smartTag")]
    assert walked(*wrapped, f"<w:other>{inner}</w:other>") == [("text", "甲")] * 5


def styled(list_of_style: str, own: str, text: str = "甲") -> list[str]:
    """Labels of two paragraphs with a style that names a list, and with what they name themselves."""
    document = docx.Document()
    levels = [("decimal", "%1."), ("upperLetter", "%2)"), ("lowerLetter", "%3)")]
    add_list(document, levels, 77)
    style = f'<w:style {nsdecls("w")} w:styleId="S"><w:pPr><w:numPr>{list_of_style}</w:numPr></w:pPr></w:style>'
    document.styles.element.append(parse_xml(style))
    walker = docx_reader.Walker(document)
    run = f"<w:r><w:t>{text}</w:t></w:r>"
    paragraph = f'<w:p><w:pPr><w:pStyle w:val="S"/>{own}</w:pPr>{run}</w:p>'
    return [line.text for line in walker.blocks([parse_xml(element(paragraph))] * 2)]


LIST = '<w:numId w:val="77"/>'


@pytest.mark.parametrize(
    ("list_of_style", "own", "labels"),
    [
        (LIST, "", ["1. 甲", "2. 甲"]),
        (f'<w:ilvl w:val="1"/>{LIST}', "", ["A) 甲", "B) 甲"]),
        (f'<w:ilvl w:val="1"/>{LIST}', '<w:numPr><w:ilvl w:val="0"/></w:numPr>', ["1. 甲", "2. 甲"]),
        (f'<w:ilvl w:val="1"/>{LIST}', '<w:numPr><w:ilvl w:val="2"/></w:numPr>', ["a) 甲", "b) 甲"]),
        (f'<w:ilvl w:val="1"/>{LIST}', f"<w:numPr>{LIST}</w:numPr>", ["1. 甲", "2. 甲"]),
        (LIST, '<w:numPr><w:numId w:val="0"/></w:numPr>', ["甲", "甲"]),
        ("", f"<w:numPr>{LIST}</w:numPr>", ["1. 甲", "2. 甲"]),
        ("", "", ["甲", "甲"]),
        ('<w:numId w:val="0"/>', "", ["甲", "甲"]),
    ],
)
def test_a_paragraph_is_numbered_by_its_own_list_else_by_that_of_its_style(
    list_of_style: str, own: str, labels: list[str]
) -> None:
    assert styled(list_of_style, own) == labels


def test_a_paragraph_without_text_is_not_counted() -> None:
    assert styled(LIST, "", " ") == []
