"""Workbooks: XLSX, and the XLS of old Excel and WPS. Every visible sheet that holds questions is read."""

import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from io import BytesIO
from pathlib import Path
from posixpath import basename, dirname, join, normpath
from typing import IO, Any

from build_dataset.pipeline.archives import check_archive
from build_dataset.pipeline.ocr import glyphs
from build_dataset.pipeline.ocr.interfaces import TableRow
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers.header import PICTURE, every_table, with_keys
from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.errors import UnreadableDocument, refused_as

_P = Patterns(__name__)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_DAMAGE = (zipfile.BadZipFile, OSError, NotImplementedError, zlib.error, EOFError, KeyError, SyntaxError)
MAX_CELLS = 60_000_000
"""Cells of the rectangle that a sheet's cells span: libraries lay it out whole (XFD1048576 alone would take 549 GB)."""
_REFERENCE = re.compile(rb"\br\s*=\s*[\"']([A-Z]{1,3})(\d{1,7})[\"']")
_CELL, _STYLE = re.compile(rb"<(?:\w+:)?c\s[^<>]{0,200}>"), re.compile(rb"\bs\s*=\s*[\"'](\d{1,6})[\"']")
"""The beginning of a cell, <c r="B2" s="3">, and its style."""
_BUILT_IN = {"2": "0.00", "4": "#,##0.00", "9": "0%", "10": "0.00%", "12": "# ?/?", "13": "# ??/??"}
"""Formats that styles name by number alone (ECMA-376, part 1, 18.8.30)."""
_FORMULA = re.compile(
    rb"<(?:\w+:)?f\b[^<>]*(?:/>|>[^<]{0,8192}</(?:\w+:)?f>)\s*(</(?:\w+:)?c>|<(?:\w+:)?v\s*/>|<(?:\w+:)?v></)"
)
"""A formula without a value: <c r="D2"><f>CHAR(65)</f></c>."""
_BLOCK = 1 << 20  # bytes read at a time
_WHOLE = 1e15  # From here on spreadsheets round, and show powers of ten: 6.02E+22
_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing}"
_SHIFTS = {"superscript": glyphs.superscript, "subscript": glyphs.subscript}
Place = tuple[int, int]  # Row and column, from 0


class XlsxReader:
    """CMExam's table as a workbook, with a mapping for each of its sheets."""

    format = "cmexam_xlsx"

    def recognises(self, head: bytes, suffix: str) -> bool:
        """Return whether it is a ZIP archive with a workbook or called XLSX, or an old file: XLS, ET (WPS) or XLSX."""
        if head.startswith(_OLE):
            return suffix in (".xls", ".et", ".xlsx")
        return head.startswith(b"PK\x03\x04") and (suffix == ".xlsx" or b"xl/workbook" in head)

    def rows(self, path: Path, params: OcrParams, told: list[str]) -> Iterator[TableRow]:
        """Each row by column name, cells as text; empty cells are null."""
        yield from every_table(with_keys(self.grids(path, params, told), told), frozenset(params.columns), told)

    def grids(self, path: Path, params: OcrParams, told: list[str]) -> dict[str, list[list[str]]]:
        """Return the cells of each visible sheet that has some, as text."""
        from python_calamine import CalamineWorkbook

        data = path.read_bytes()
        if is_zip := data.startswith(b"PK\x03\x04"):
            check_archive(path, params.max_file_mb)
        elif "EncryptedPackage".encode("utf-16-le") in data:
            raise UnreadableDocument("encrypted", "needs a password to be opened; save it without one")
        pictures, shown, rich = _inside(path) if is_zip else ({}, {}, {})
        with refused_as("broken", "not a readable workbook"):
            book = CalamineWorkbook.from_filelike(BytesIO(data))
            hidden = [one.name for one in book.sheets_metadata if not str(one.visible).endswith(".Visible")]
            sheets = [(name, book.get_sheet_by_name(name)) for name in book.sheet_names if name not in hidden]
            grids = {name: _grid(one, pictures.get(name, ()), shown.get(name, {}), rich) for name, one in sheets}
        told += [f"sheet {name} is hidden and was left out" for name in hidden]
        return {name: grid for name, grid in grids.items() if grid}


def _grid(sheet: Any, pictures: tuple[Place, ...], shown: dict[Place, str], rich: dict[str, str]) -> list[list[str]]:
    """The cells of a sheet as text; merged cells have their text in each row that they span."""
    values = sheet.to_python(skip_empty_area=False)
    grid = [[_text(value, rich) for value in row] for row in values]
    for (at, column), code in shown.items():
        cell = values[at][column] if at < len(values) and column < len(values[at]) else None
        if isinstance(cell, int | float):
            grid[at][column] = _as_shown(cell, code)
    for (top, left), (bottom, _) in sheet.merged_cell_ranges or ():
        for row in grid[top + 1 : bottom + 1]:
            row[left] = grid[top][left]
    for at, column in pictures:
        while len(grid) <= at:
            grid.append([])
        grid[at] += [""] * (column + 1 - len(grid[at]))
        grid[at][column] = f"{grid[at][column]}\n{PICTURE}".strip()
    return grid


def _as_shown(number: float, code: str) -> str:
    """A number as a format shows it: 25%, 0.50, 5mg, 1 1/4; where the format rounds, the number itself."""
    found = _P.format.fullmatch(code)  # 0.00, 0%, 0"mg"; None for fractions: # ?/?
    if found is None:
        whole, part = divmod(abs(Fraction(number).limit_denominator(99)), 1)
        return f"{'-' * (number < 0)}{f'{whole} {part}' if whole and part else part or whole}"
    text = _text(float(round(100 * number, 10) if found["percent"] else number), {})
    missing = len(found["decimals"] or "") - len(text.partition(".")[2])
    if missing > 0:
        text += "." * ("." not in text) + missing * "0"
    before, after = (_P.literal.sub(r"\1\2", found[part]) for part in ("before", "after"))
    return f"{before}{text}{found['percent']}{after}".strip()


def _text(value: Any, rich: dict[str, str]) -> str:
    """A cell as it is shown, number formats aside: 2.0 is 2; a date keeps its time, which the parser knows it by."""
    if isinstance(value, str):
        return rich.get(value, value)
    if isinstance(value, float):
        if value.is_integer() and abs(value) < _WHOLE:
            return str(int(value))
        return f"{Decimal(repr(value)):f}" if abs(value) < _WHOLE else repr(value).upper()
    if isinstance(value, date) and not isinstance(value, datetime):
        return f"{value} 00:00:00"
    return str(value) if isinstance(value, datetime | time | timedelta) else str(value).upper()


def _inside(path: Path) -> tuple[dict[str, tuple[Place, ...]], dict[str, dict[Place, str]], dict[str, str]]:
    """Return what the library leaves out: pictures and formats by sheet, texts with raised or lowered characters."""
    # ``UnreadableDocument``: broken; too_large for a sheet to be laid out; no_value of a formula never calculated.
    pictures, shown = dict[str, tuple[Place, ...]](), dict[str, dict[Place, str]]()
    with refused_as("broken", "the archive is cut short or damaged", _DAMAGE), zipfile.ZipFile(path) as archive:
        members = set(archive.namelist())
        for name in sorted(members):
            if name.startswith("xl/worksheets/") and name.endswith(".xml"):
                with archive.open(name) as stream:
                    _check_sheet(stream, basename(name))
        links, formats = _links(archive, "xl/workbook.xml"), _formats(archive)
        for sheet in _parsed(archive, "xl/workbook.xml").iter(f"{_MAIN}sheet"):
            part = next((links[value] for key, value in sheet.items() if key.endswith("}id")), "")
            drawings = [target for target in _links(archive, part).values() if "/drawings/" in target]
            drawn = (_parsed(archive, part) for part in drawings if part in members)
            corners = (one for drawing in drawn for one in drawing.iter(f"{_DRAWING}from"))
            begins = [one for one in corners if one.find(f"..//{_DRAWING}pic") is not None]
            places = ((int(one.findtext(f"{_DRAWING}row")), int(one.findtext(f"{_DRAWING}col"))) for one in begins)
            pictures[sheet.get("name", "")] = tuple(places)
            if formats and part in members:
                tags = (cell[0] for cell in _CELL.finditer(archive.read(part)))
                cells = ((_REFERENCE.search(tag), _STYLE.search(tag)) for tag in tags)
                known = ((at, style[1]) for at, style in cells if at and style and style[1] in formats)
                shown[sheet.get("name", "")] = {(int(at[2]) - 1, _column(at[1]) - 1): formats[key] for at, key in known}
        parts = [name for name in members if name.startswith(("xl/sharedStrings", "xl/worksheets/sheet"))]
        rich = _rich_texts(_parsed(archive, name) for name in parts if b"vertAlign" in archive.read(name))
    return pictures, shown, rich


def _formats(archive: zipfile.ZipFile) -> dict[bytes, str]:
    """The formats of numbers that change what a cell shows, 0.5 as 50%, 1/2 or 0.5mg, by the number of their style."""
    if "xl/styles.xml" not in archive.namelist():
        return {}
    styles = _parsed(archive, "xl/styles.xml")
    codes = dict(_BUILT_IN)
    codes |= {one.get("numFmtId"): one.get("formatCode", "") for one in styles.iter(f"{_MAIN}numFmt")}
    cells = [codes.get(style.get("numFmtId"), "") for style in styles.iterfind(f"{_MAIN}cellXfs/{_MAIN}xf")]
    first = [code.split(";", 1)[0][:200] for code in cells]
    known = [code if _P.format.fullmatch(code) or _P.fraction.fullmatch(code) else "" for code in first]
    return {str(at).encode(): code for at, code in enumerate(known) if code not in ("", "General", "0")}


def _check_sheet(stream: IO[bytes], sheet: str) -> None:
    rows = columns = 0
    rest = b""
    while block := stream.read(_BLOCK):
        text = rest + block
        for cell in _REFERENCE.finditer(text):
            columns, rows = max(columns, _column(cell[1])), max(rows, int(cell[2]))
        if rows * columns > MAX_CELLS:
            detail = f"{sheet} has a cell in row {rows:,}, column {columns:,}: delete what stands far out"
            raise UnreadableDocument("too_large", detail)
        if found := _FORMULA.search(text):
            near = _REFERENCE.finditer(text, max(0, found.start() - 200), found.start())
            where = [b"a cell", *(cell[1] + cell[2] for cell in near)][-1].decode()
            why = f"{sheet}: the formula in {where} was never calculated"
            detail = f"{why}: open the file in a spreadsheet and save it, or paste values"
            raise UnreadableDocument("no_value", detail)
        rest = text[-512:]  # a cell may stand across two blocks


def _column(letters: bytes) -> int:
    return reduce(lambda number, letter: 26 * number + letter - 64, letters, 0)


def _parsed(archive: zipfile.ZipFile, part: str) -> Any:
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    return etree.fromstring(archive.read(part), parser)


def _links(archive: zipfile.ZipFile, part: str) -> dict[str, str]:
    """The parts that a part of a workbook refers to, by the id of the reference."""
    name = f"{dirname(part)}/_rels/{basename(part)}.rels"
    links = _parsed(archive, name) if name in archive.namelist() else ()
    return {link.get("Id"): normpath(join(f"/{dirname(part)}", link.get("Target")))[1:] for link in links}


def _rich_texts(parts: Iterable[Any]) -> dict[str, str]:
    """Texts by how they read without marks, where characters are raised or lowered: 10 and 9/L is 10⁹/L, not 109/L."""
    found, times = dict[str, str](), Counter[str]()
    for item in (item for part in parts for item in part.iter(f"{_MAIN}si", f"{_MAIN}is")):
        flat = marked = ""
        for run in [item, *item.findall(f"{_MAIN}r")]:
            text = run.findtext(f"{_MAIN}t") or ""
            raised = run.find(f"{_MAIN}rPr/{_MAIN}vertAlign")
            shift = _SHIFTS.get("" if raised is None else raised.get("val", ""), str)
            flat, marked = flat + text, marked + shift(text)
        times[flat] += 1
        if marked != flat:
            found[flat] = marked
    return {flat: marked for flat, marked in found.items() if times[flat] == 1}
