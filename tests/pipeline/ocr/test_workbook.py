"""Workbooks as people make them: nothing that a sheet shows is lost or taken for something else."""

import json
import shutil
import subprocess
import zipfile
from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import pytest
from lxml import etree
from openpyxl import Workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.drawing.image import Image
from PIL import Image as Picture

from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers import find_reader, workbook
from build_dataset.pipeline.parse.columns import Unclear
from build_dataset.pipeline.parse.rows import RowError, SourceTable, sources_of
from build_dataset.schemas.dataset import SourceParams
from build_dataset.schemas.documents import Document, SourceRow
from build_dataset.schemas.errors import UnreadableDocument

Flips = Callable[[Callable[[int], object], Sequence[int]], list[object]]
HEADER = ["材料", "题目", "A", "B", "答案"]


def row(at: int) -> list[str | None]:
    return ["", f"第{at}问，正确的是", f"甲{at}", f"乙{at}", "AB"[at % 2]]


def read(book: Workbook, path: Path, told: list[str] | None = None, **declared: SourceParams) -> list[SourceTable]:
    book.save(path)
    params = OcrParams(columns=tuple(name for one in declared.values() for name in one.headers()))
    rows = [*find_reader(path, params).rows(path, params, told if told is not None else [])]
    document = Document(document=path.name, sha256="ab" * 32, format="x", pages=None, rows=len(rows))
    numbered = [SourceRow(document=path.name, row=at, **one._asdict()) for at, one in enumerate(rows, 1)]
    return sources_of(numbered, document, declared)


def doubts(source: SourceTable) -> list[list[str]]:
    return [[reason for reason, _ in found[1]] for _, found in source.rows if not isinstance(found, RowError)]


@pytest.fixture
def book():
    made = Workbook()
    made.active.title = "单选题"
    for line in [HEADER, *map(row, range(6))]:
        made.active.append(line)
    return made


def test_each_sheet_has_a_mapping_of_its_own(book, tmp_path):
    other = book.create_sheet("English")
    for line in [["No", "Question", "Options", "Answer"], *([at, f"Which {at}?", "x\ny", at % 2] for at in range(6))]:
        other.append(line)
    judged = book.create_sheet("判断题")
    for line in [["题目", "答案"], ["地球是圆的。", "对"]]:
        judged.append(line)
    chinese, english, refused = read(book, tmp_path / "bank.xlsx")
    assert [found[0].answer for _, found in chinese.rows] == [["A"], ["B"]] * 3
    assert [found[0].answer for _, found in english.rows] == [["A"], ["B"]] * 3
    assert isinstance(refused.columns, Unclear)
    assert ([found.reason for _, found in refused.rows], refused.notices()) == (["true_false"], [])
    assert english.name == "bank.xlsx#English"


def test_one_sheet_can_be_configured_alone(book, tmp_path):
    book.create_sheet("x").append(["问句", "A", "B", "答案"])
    book["x"].append(["第九问", "甲", "乙", "A"])
    _, second = read(book, tmp_path / "bank.xlsx", x=SourceParams(stem="问句"))
    assert second.rows[0][1][0].stem == "第九问"


def test_a_hidden_sheet_is_left_out_and_named(book, tmp_path):
    book.create_sheet("旧").append(HEADER)
    book["旧"].append(row(99))
    book["旧"].sheet_state = "hidden"
    told: list[str] = []
    (source,) = read(book, tmp_path / "bank.xlsx", told)
    assert (len(source.rows), told) == (6, ["sheet 旧 is hidden and was left out"])


def test_a_merged_case_belongs_to_each_of_its_questions(book, tmp_path):
    book.active["A2"] = "男，40岁，腹痛。"
    book.active.merge_cells("A2:A4")
    (source,) = read(book, tmp_path / "bank.xlsx")
    cases = [found[0].shared_stem for _, found in source.rows]
    assert cases == ["男，40岁，腹痛。"] * 3 + [None] * 3


def test_raised_digits_stay_raised(book, tmp_path):
    raised = TextBlock(InlineFont(vertAlign="superscript"), "9")
    book.active["C2"] = CellRichText("白细胞10", raised, "/L")
    (source,) = read(book, tmp_path / "bank.xlsx")
    assert source.rows[0][1][0].options[0].text == "白细胞10⁹/L"


def test_pictures_and_dates_in_place_of_texts_wait(book, tmp_path):
    Picture.new("RGB", (9, 9)).save(tmp_path / "p.png")
    book.active["D3"] = None
    book.active.add_image(Image(tmp_path / "p.png"), "D3")
    book.active["C5"] = date(2024, 3, 5)
    book.active["C6"] = '_xlfn.DISPIMG("ID_1",1)'
    (source,) = read(book, tmp_path / "bank.xlsx")
    picture, became_date = ["picture_not_read"], ["text_became_date"]
    assert doubts(source) == [[], picture, [], became_date, picture, []]


def test_a_bank_without_a_key_is_told_of(book, tmp_path):
    book.active.delete_cols(5)
    (source,) = read(book, tmp_path / "bank.xlsx")
    assert source.notices()[0].startswith("no column holds the key of 6 questions")


@pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is not installed")
def test_a_workbook_of_excel_97_is_read_under_the_name_of_a_new_one(book, tmp_path):
    book.save(tmp_path / "new.xlsx")
    profile = f"-env:UserInstallation=file://{tmp_path}/profile"
    command = ["soffice", profile, "--headless", "--convert-to", "xls", "--outdir", str(tmp_path)]
    subprocess.run([*command, str(tmp_path / "new.xlsx")], check=True, capture_output=True)
    old = (tmp_path / "new.xls").rename(tmp_path / "old.xlsx")
    assert [*find_reader(old, OcrParams()).rows(old, OcrParams(), [])] == [
        *find_reader(tmp_path / "new.xlsx", OcrParams()).rows(tmp_path / "new.xlsx", OcrParams(), [])
    ]


@pytest.mark.parametrize(
    ("number", "code", "shown"),
    [
        (0.25, "0%", "25%"),
        (0.125, "0.00%", "12.50%"),
        (0.07, "0%", "7%"),
        (5, '0"%"', "5%"),
        (5, '0"mg"', "5mg"),
        (0.5, "0.00", "0.50"),
        (0.125, "0.0", "0.125"),
        (3, '[Red]"约"0"天"', "约3天"),
        (0.5, "# ?/?", "1/2"),
        (1.25, "# ??/??", "1 1/4"),
        (-1 / 3, "# ?/?", "-1/3"),
        (6.02e23, "General", "6.02E+23"),
        (1.5e-7, "General", "0.00000015"),
    ],
)
def test_a_number_is_read_as_its_format_shows_it(book, tmp_path, number, code, shown):
    sheet = book.active
    sheet["C3"], sheet["C3"].number_format = number, code
    (source,) = read(book, tmp_path / "bank.xlsx")
    found = source.rows[1][1]
    assert not isinstance(found, RowError)
    assert found[0].options[0].text == shown


def test_parts_that_are_no_sheets_do_not_bound_the_sheets(book, tmp_path):
    book.save(tmp_path / "bank.xlsx")
    with zipfile.ZipFile(tmp_path / "bank.xlsx", "a") as archive:
        for name in ("xl/notes.xml", "xl/worksheets/notes.txt"):
            archive.writestr(name, '<c r="XFD1048576"/>')
    assert len([*workbook.XlsxReader().rows(tmp_path / "bank.xlsx", OcrParams(), [])]) == 6


def test_no_file_is_read_that_a_part_of_a_workbook_names(tmp_path):
    (tmp_path / "secret.dtd").write_text('<!ENTITY told "secret">')
    (tmp_path / "secret.txt").write_text("secret")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        told = f'<!DOCTYPE a SYSTEM "{tmp_path}/secret.dtd" [<!ENTITY text SYSTEM "{tmp_path}/secret.txt">]>'
        archive.writestr("a.xml", f"{told}<a><b>&text;</b></a>")
        archive.writestr("inner.xml", '<!DOCTYPE a [<!ENTITY text "much">]><a>&text;</a>')
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        root = workbook._parsed(archive, "a.xml")
        assert root.getroottree().docinfo.externalDTD is None
        assert "".join(root.itertext(tag="b")) == ""
        assert workbook._parsed(archive, "inner.xml").text is None


@pytest.mark.parametrize(
    ("letters", "number"), [(b"A", 1), (b"Z", 26), (b"AA", 27), (b"AZ", 52), (b"BA", 53), (b"XFD", 16384)]
)
def test_columns_are_counted_in_letters(letters, number):
    assert workbook._column(letters) == number


def check(text: bytes) -> str:
    try:
        workbook._check_sheet(BytesIO(text), "s.xml")
    except UnreadableDocument as error:
        return f"{error.reason}: {error.detail}"
    return ""


def test_a_reference_across_two_blocks_is_seen(flips):
    formula = b'<c r="C7"><f>CHAR(65)</f></c>'

    def seen(before: int) -> str:
        return check(b" " * before + formula)

    edge = 1 << 20
    assert {seen(edge - cut) for cut in (0, 5, 12, 20, len(formula))} == {
        "no_value: s.xml: the formula in C7 was never calculated: open the file in a spreadsheet and save it, "
        "or paste values"
    }
    assert flips(lambda more: "no_value" in check(b"<f>" + b"x" * more + b"</f></c>"), range(8185, 8200)) == [8193]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (2.0, "2"),
        (2.5, "2.5"),
        (999_999_999_999_999.0, "999999999999999"),
        (1e15, "1000000000000000.0"),
        (1e16, "1E+16"),
        (-1e16, "-1E+16"),
        (1e-7, "0.0000001"),
        (True, "TRUE"),
        (date(2024, 3, 5), "2024-03-05 00:00:00"),
        (datetime(2024, 3, 5, 6, 7), "2024-03-05 06:07:00"),  # noqa: DTZ001
        (time(6, 7), "06:07:00"),
        (timedelta(hours=3), "3:00:00"),
        ("text", "text"),
        ("109/L", "10⁹/L"),
    ],
)
def test_cells_are_shown_as_text(value, shown):
    assert workbook._text(value, {"109/L": "10⁹/L"}) == shown


def test_texts_that_stand_once_flat_and_once_raised_stay_flat(book, tmp_path):
    raised = TextBlock(InlineFont(vertAlign="superscript"), "9")
    lowered = TextBlock(InlineFont(vertAlign="subscript"), "2")
    book.active["C2"], book.active["C3"] = CellRichText("10", raised), "109"
    book.active["C4"] = CellRichText("CO", lowered)
    (source,) = read(book, tmp_path / "bank.xlsx")
    assert [found[0].options[0].text for _, found in source.rows[:3]] == ["109", "109", "CO₂"]


def test_a_picture_beside_text_and_beyond_the_last_row_is_marked(book, tmp_path):
    Picture.new("RGB", (9, 9)).save(tmp_path / "p.png")
    book.active.add_image(Image(tmp_path / "p.png"), "D3")
    book.active.add_image(Image(tmp_path / "p.png"), "B10")
    book.save(tmp_path / "bank.xlsx")
    found = [*find_reader(tmp_path / "bank.xlsx", OcrParams()).rows(tmp_path / "bank.xlsx", OcrParams(), [])]
    rows = [json.loads(one.fields) for one in found]
    assert [rows[1]["B"], rows[-1]["题目"], len(rows)] == ["乙1\n<img>", "<img>", 7]


@pytest.mark.parametrize(
    ("head", "suffix", "read"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", ".xls", True),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", ".et", True),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", ".doc", False),
        (b"PK\x03\x04", ".xlsx", True),
        (b"PK\x03\x04 xl/workbook.xml", ".zip", True),
        (b"PK\x03\x04", ".zip", False),
        (b"xl/workbook", ".xlsx", False),
    ],
)
def test_a_workbook_is_told_by_its_first_bytes(head, suffix, read):
    assert workbook.XlsxReader().recognises(head, suffix) == read


def test_the_rectangle_of_a_sheet_has_sixty_million_cells_at_most(flips: Flips) -> None:
    assert flips(lambda row: check(b'<c r="JUN1"/><c r="A%d"/>' % row) == "", range(8_190, 8_200)) == [8_197]
    assert check(b'<c r="H7500000"/>') == ""
    assert check(b'<c r="H7500001"/>').startswith("too_large: s.xml has a cell in row 7,500,001, column 8")
    assert check(b'<c r="EU397351"/>').endswith("row 397,351, column 151: delete what stands far out")


def test_a_formula_is_named_by_the_reference_near_before_it(flips: Flips) -> None:
    def named(far: int) -> bool:
        return "in C7" in check(b'<c r="C7"' + b" " * far + b"><f>CHAR(65)</f></c>")

    assert flips(named, range(150, 250)) == [194]
    assert "in C7" in check(b'r="C7"><f>CHAR(65)</f></c>')
    assert "in C8" in check(b'<c r="C7"><v>1</v></c><c r="C8"><f>CHAR(65)</f></c>')


def test_a_formula_across_two_blocks_begins_among_the_last_bytes_of_the_first(flips: Flips) -> None:
    formula = b"<f>" + b"x" * 600 + b"</f></c>"
    assert flips(lambda cut: check(b" " * ((1 << 20) - cut) + formula) != "", range(510, 516)) == [513]


@pytest.mark.parametrize(
    ("cell", "missing"),
    [
        (b"<f>A1</f><v>2</v></c>", False),
        (b"<f>A1</f><v></v></c>", True),
        (b"<f>A1</f><v/></c>", True),
        (b"<f>A1</f> <v /></c>", True),
        (b"<f/></c>", True),
        (b"<x:f>A1</x:f></x:c>", True),
        (b"<v>2</v></c>", False),
    ],
)
def test_a_formula_needs_a_value(cell: bytes, missing: bool) -> None:
    assert (
        check(b'<c r="C7">' + cell)
        == (
            "no_value: s.xml: the formula in C7 was never calculated: open the file in a spreadsheet and save it, "
            "or paste values"
        )
        * missing
    )


def laid_out(
    values: list[list[object]],
    pictures: tuple[workbook.Place, ...] = (),
    shown: dict[workbook.Place, str] | None = None,
    merged: object = None,
) -> list[list[str]]:
    sheet = SimpleNamespace(to_python=lambda skip_empty_area: values, merged_cell_ranges=merged)
    return workbook._grid(sheet, pictures, shown or {}, {})


def test_a_picture_widens_its_row_as_far_as_it_stands() -> None:
    assert laid_out([["a", "b"]], ((0, 1),)) == [["a", "b\n<img>"]]
    assert laid_out([["a"]], ((0, 3),)) == [["a", "", "", "<img>"]]
    assert laid_out([["a"]], ((2, 1),)) == [["a"], [], ["", "<img>"]]
    assert laid_out([["a", "b", "c"]], ((0, 0), (0, 0))) == [["a\n<img>\n<img>", "b", "c"]]


def test_formats_of_cells_that_hold_no_number_change_nothing() -> None:
    places = [(row, column) for row in range(4) for column in range(4)]
    assert laid_out([["a", 0.5], [2.0]], (), dict.fromkeys(places, "0%")) == [["a", "50%"], ["200%"]]
    assert laid_out([[0.5, 1.5]], (), {(0, 1): "0%"}) == [["0.5", "150%"]]
    assert laid_out([[date(2024, 3, 5)]], (), {(0, 0): "0%"}) == [["2024-03-05 00:00:00"]]


def test_merged_cells_have_their_text_in_the_first_column_of_each_row() -> None:
    values: list[list[object]] = [["a", "b"], ["", ""], ["", ""], ["", "c"]]
    assert laid_out(values, merged=[((0, 0), (2, 1))]) == [["a", "b"], ["a", ""], ["a", ""], ["", "c"]]
    assert laid_out(values, merged=[((0, 1), (0, 1))]) == values
    assert laid_out(values, merged=[((2, 1), (3, 1))]) == [["a", "b"], ["", ""], ["", ""], ["", ""]]


def test_what_stands_left_of_and_above_a_table_moves_none_of_its_places(tmp_path: Path) -> None:
    made = Workbook()
    for row, cells in ((3, ("题目", "A", "答案")), (4, ("问", 0.5, "A"))):
        for column, value in enumerate(cells, 3):
            made.active.cell(row, column, value)
    made.active["D4"].number_format = "0%"
    made.save(tmp_path / "a.xlsx")
    (found,) = workbook.XlsxReader().rows(tmp_path / "a.xlsx", OcrParams(), [])
    assert json.loads(found.fields) == {"column_1": None, "column_2": None, "题目": "问", "A": "50%", "答案": "A"}


@pytest.mark.parametrize(
    ("number", "code", "shown"),
    [
        (0.0, "# ?/?", "0"),
        (-0.5, "# ?/?", "-1/2"),
        (-1.5, "# ?/?", "-1 1/2"),
        (2.0, "# ?/?", "2"),
        (1 / 99, "# ??/??", "1/99"),
        (1 / 100, "# ??/??", "1/99"),
        (0.123456789012345, "0%", "12.3456789012%"),
        (0.29, "0%", "29%"),
        (1.0, "0.00", "1.00"),
        (1.5, "0.0", "1.5"),
        (1.5, "0", "1.5"),
        (1234.5, "#,##0.00", "1234.50"),
        (5, 'General" g"', "5 g"),
        (-2, "0.0", "-2.0"),
    ],
)
def test_a_format_adds_signs_and_never_rounds(number: float, code: str, shown: str) -> None:
    assert workbook._as_shown(number, code) == shown


MAIN = workbook._MAIN[1:-1]
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def archive_of(path: Path, **parts: str) -> Path:
    """Write an archive whose parts stand under xl; in their names _ stands for a folder."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in parts.items():
            archive.writestr(f"xl/{name.replace('__', '/')}.xml", text)
    return path


def styles(formats: dict[str, str], cells: list[str]) -> str:
    own = "".join(f'<numFmt numFmtId="{name}" formatCode="{code}"/>' for name, code in formats.items())
    used = "".join(f'<xf numFmtId="{name}"/>' for name in cells)
    return f'<styleSheet xmlns="{MAIN}"><numFmts>{own}</numFmts><cellXfs>{used}</cellXfs></styleSheet>'


def test_formats_that_change_what_a_number_shows_are_known_by_their_style(tmp_path: Path) -> None:
    long = {length: f"0&quot;{'x' * (length - 3)}&quot;" for length in (200, 201)}
    own = {"170": "0.0;[Red]-0.0;x", "171": "yyyy-mm-dd", "172": "0", "173": long[200], "174": long[201], "175": ""}
    used = ["0", "2", "9", "12", "13", "14", *own, "999"]
    path = archive_of(tmp_path / "a.zip", styles=styles(own, used))
    with zipfile.ZipFile(path) as archive:
        assert workbook._formats(archive) == {
            b"1": "0.00",
            b"2": "0%",
            b"3": "# ?/?",
            b"4": "# ??/??",
            b"6": "0.0",
            b"9": long[200].replace("&quot;", '"'),
        }
    with zipfile.ZipFile(archive_of(tmp_path / "b.zip")) as archive:
        assert workbook._formats(archive) == {}


CELLS = """<c r="B2" s="1"><v>0.5</v></c><c s='1' r='AA10'/><c r="C4"/><c r="D4" s="0"/><c s="1"/>"""
SHEET = f'<worksheet xmlns="{MAIN}"><sheetData><row>{CELLS}</row></sheetData></worksheet>'


def test_a_sheet_without_a_part_has_no_formats_and_no_pictures(tmp_path: Path) -> None:
    sheets = '<sheet name="a" r:id="r1"/><sheet name="b"/><sheet name="c" r:id="r2"/>'
    book = f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{sheets}</sheets></workbook>'
    targets = ("worksheets/sheet1.xml", "worksheets/absent.xml")
    links = "".join(f'<Relationship Id="r{at}" Target="{target}"/>' for at, target in enumerate(targets, 1))
    path = archive_of(tmp_path / "a.zip", workbook=book, styles=styles({}, ["0", "9"]), worksheets__sheet1=SHEET)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("xl/_rels/workbook.xml.rels", f'<Relationships xmlns="{PACKAGE}">{links}</Relationships>')
    pictures, shown, rich = workbook._inside(path)
    assert (pictures, shown, rich) == ({"a": (), "b": (), "c": ()}, {"a": {(1, 1): "0%", (9, 26): "0%"}}, {})


def test_an_archive_without_a_workbook_is_broken(tmp_path: Path) -> None:
    with pytest.raises(UnreadableDocument, match="cut short or damaged"):
        workbook._inside(archive_of(tmp_path / "a.zip", worksheets__sheet1=SHEET))


def test_texts_with_raised_characters_are_known_by_how_they_read_without() -> None:
    def run(text: str, raised: str = "") -> str:
        mark = f'<rPr><vertAlign val="{raised}"/></rPr>' if raised else ""
        return f"<r>{mark}<t>{text}</t></r>"

    items = [
        run("10") + run("9", "superscript") + run("/L"),
        run("CO") + run("2", "subscript"),
        run("x") + run("1", "baseline"),
        "<t>plain</t>",
        run("a") + run("2", "superscript"),
        "<t>a2</t>",
    ]
    part = etree.fromstring(
        f'<sst xmlns="{MAIN}">{"".join(f"<si>{item}</si>" for item in items)}<is>{items[1]}y</is></sst>'
    )
    assert workbook._rich_texts([part]) == {"109/L": "10⁹/L"}
    assert workbook._rich_texts([]) == {}


@pytest.mark.parametrize(
    ("ids", "keyed"),
    [(["Q1", "Q2", "Q3"], True), (["Q1", "Q3"], True), (["Q1", "Q1", "Q3"], False), (["Q1", "Q8"], False), ([], False)],
)
def test_a_sheet_of_ids_and_answers_is_the_key_of_the_sheet_with_these_ids(tmp_path, ids, keyed):
    made, told = Workbook(), list[str]()
    for line in [["ID", "Question", "A", "B"], *([f"Q{at}", f"第{at}问", "甲", "乙"] for at in (1, 2, 3))]:
        made.active.append(line)
    second = made.create_sheet("Keys")
    for line in [["ID", "Answer"], *([name, "B"] for name in ids)]:
        second.append(line)
    (source, *others) = read(made, tmp_path / "x.xlsx", told)
    answers = {f"Q{row.row}": found[0].answer for row, found in source.rows}
    assert others == []
    assert {name for name, answer in answers.items() if answer} == ({*ids} if keyed else set())
    assert ("sheet Keys is the key of sheet Sheet" in told) is keyed
