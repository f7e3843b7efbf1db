"""Files that are ZIP archives: DOCX, XLSX."""

from __future__ import annotations

import re
import zipfile
import zlib
from pathlib import Path
from typing import IO

from pipeline.ocr.params import OcrParams
from schemas.errors import UnreadableDocument

_EXPANSION = 4
"""How many times ``max_file_mb`` the contents may take; XML of a Word file takes about ten times its archive."""


def check_archive(path: Path, params: OcrParams) -> None:
    """Make sure that an archive is whole and unpacks to a bearable size.

    Raises:
        UnreadableDocument: ``broken``, ``encrypted``, ``too_large``.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
    except (zipfile.BadZipFile, OSError, NotImplementedError) as error:
        raise UnreadableDocument("broken", f"the archive is cut short or damaged: {error}") from error
    if any(info.flag_bits & 1 for info in infos):
        raise UnreadableDocument("encrypted", "needs a password to be opened; save it without one")
    size = sum(info.file_size for info in infos)
    if size > _EXPANSION * params.max_file_mb * 1_000_000:
        raise UnreadableDocument("too_large", f"unpacks to {size / 1e6:.0f} MB")


MAX_CELLS = 60_000_000
"""Cells of the rectangle that a sheet's cells span: libraries lay it out whole (XFD1048576 alone would take 549 GB)."""
_REFERENCE = re.compile(rb"\br\s*=\s*[\"']([A-Z]{1,3})(\d{1,7})[\"']")
_FORMULA = re.compile(
    rb"<(?:\w+:)?f\b[^<>]*(?:/>|>[^<]{0,8192}</(?:\w+:)?f>)\s*(</(?:\w+:)?c>|<(?:\w+:)?v\s*/>|<(?:\w+:)?v></)"
)
_BLOCK = 1 << 20


def check_sheets(path: Path) -> None:
    """Make sure that a workbook's sheets can be laid out, and that its formulas have values.

    Raises:
        UnreadableDocument: ``too_large``, ``no_value`` where a formula was never calculated: its cell would be empty.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if name.startswith("xl/worksheets/") and name.endswith(".xml"):
                    with archive.open(name) as stream:
                        _check_sheet(stream, name.rpartition("/")[2])
    except (zipfile.BadZipFile, OSError, NotImplementedError, zlib.error, EOFError) as error:
        raise UnreadableDocument("broken", f"the archive is cut short or damaged: {error}") from error


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
            near = max(0, found.start() - 200)
            place = [cell[1] + cell[2] for cell in _REFERENCE.finditer(text, near, found.start())]
            where = place[-1].decode() if place else "a cell"
            raise UnreadableDocument(
                "no_value",
                f"{sheet}: the formula in {where} was never calculated: open the file in a spreadsheet and save it, or "
                "paste values",
            )
        rest = text[-512:]


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number
