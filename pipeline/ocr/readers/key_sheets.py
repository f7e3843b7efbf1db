"""Sheets of keys without their questions: 题号 | 答案 over 1 | A, in columns abreast, or one row over another."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from build_dataset.pipeline.ocr.interfaces import OnePageReader, RowReader
from build_dataset.pipeline.ocr.model import PageLine
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers.encoding import decode
from build_dataset.pipeline.ocr.readers.header import HEADER_WITHIN, Grid
from build_dataset.pipeline.ocr.readers.tabular import CsvReader, delimiter
from build_dataset.pipeline.ocr.readers.workbook import XlsxReader
from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.columns import option_of, roles_of

_P = Patterns(__name__)
_SHORT = 8  # characters of a cell beside a key that is left out
LARGEST = 500_000
"""Bytes of a file that may be a key, one of 500 answers with their explanations: banks are not read twice."""


class KeySheetReader(OnePageReader):
    """Reads the sheets of CSV and XLSX files that hold numbers and answers alone, as the lines of a printed key."""

    format = "key_sheet"
    engine = "table"
    version = "1"

    def recognises(self, head: bytes, suffix: str) -> bool:  # noqa: ARG002
        """No: a sheet is looked into first."""
        return False

    def holds_key(self, path: Path, found: RowReader, params: OcrParams) -> bool:
        """Return whether a file that another reader takes for a table is nothing but a key."""
        small = isinstance(found, CsvReader | XlsxReader) and path.stat().st_size <= LARGEST
        return small and bool(_lines(path, params))

    def lines(self, path: Path) -> list[PageLine]:
        """Return the lines of the key; none where a sheet is something else."""
        return [PageLine(text, None) for text in _lines(path, OcrParams())]


def _lines(path: Path, params: OcrParams) -> list[str]:
    with path.open("rb") as file:
        is_book = file.read(4) in (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
    text = "" if is_book else decode(path.read_bytes())
    try:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter(text))
        grids = [*XlsxReader().grids(path, params, []).values()] if is_book else [[*rows]]
    except csv.Error:  # the reader of banks says what is wrong
        return []
    found = [key_lines(grid) for grid in grids if any(map(any, grid))]
    return [text for lines in found for text in lines] if all(found) else []


def key_lines(grid: Grid) -> list[str]:
    """Return the lines of a key: titles, numbers with their answers, explanations; none where it is no key."""
    # ``题号 | 答案 | 解析`` over ``1 | A | 见教材`` gives ``1\tA`` and ``【解析】见教材``; other columns are left out.
    records = [record for cells in grid if any(record := [cell.strip() for cell in cells])]
    at = next((at for at, record in enumerate(records[:HEADER_WITHIN]) if _is_head(record)), None)
    head = [] if at is None else records[at]
    if any({"stem", "options"} & {*roles_of(cell)} or option_of(cell) for cell in head if not _is_label(cell)):
        return []  # a bank
    explained = [place for place, cell in enumerate(head) if "explanation" in roles_of(cell)]
    wanted = [place for place, cell in enumerate(head) if _is_label(cell)] or range(max(map(len, records), default=0))
    notes = {place for place, cell in enumerate(head) if "comment" in roles_of(cell)}
    others = {*range(len(head))} - {*wanted, *explained, *notes}
    left_out = [record[place] for record in records for place in others if place < len(record) and record is not head]
    if any(len(cell) > _SHORT or _P.answer.fullmatch(cell) for cell in left_out):
        return []  # what stands beside a key is short and no other key: 单选题, 2分
    lines, entries = list[str](), 0
    for record in records:
        filled = [cell for cell in record if cell]
        if len(filled) == 1 or record is head or _is_head(record):  # a title, the head of a section
            lines += [cell for cell in filled if len(filled) == 1 and not _P.number.fullmatch(cell)]
            continue
        cells = [record[place] for place in wanted if record[place : place + 1] not in ([], [""])]
        if (entry := _entry(cells)) is None:
            return []
        entries += any(map(_P.answer.fullmatch, entry))
        lines += ["\t".join(entry)] if entry else []
        lines += [f"【解析】{record[place]}" for place in explained if record[place : place + 1] not in ([], [""])]
    return lines if entries else []


def _is_label(cell: str) -> bool:
    """Return whether a cell names a column or a row of numbers, or of answers."""
    return bool(_P.numbers.fullmatch(cell) or "answer" in roles_of(cell))


def _is_head(record: Sequence[str]) -> bool:
    """Return whether a row is a header: it names numbers and answers, and has neither."""
    whole = len({bool(_P.numbers.fullmatch(cell)) for cell in record if _is_label(cell)}) > 1
    return whole and not any(_P.number.fullmatch(cell) or _P.answer.fullmatch(cell) for cell in record)


def _entry(cells: Sequence[str]) -> list[str] | None:
    """Return a part of a key, 1 | A | 2 | B, without numbers that have no answer; None where it is anything else."""
    # Behind a label all are numbers, or answers: 答案 | A | B.
    kinds = ["n" if _P.number.fullmatch(cell) else "a" if _P.answer.fullmatch(cell) else "?" for cell in cells]
    if cells and _is_label(cells[0]):
        return [*cells] if _P.row_of_key.fullmatch("".join(kinds)) else None
    kept = [at for at, kind in enumerate(kinds) if kind != "n" or kinds[at + 1 : at + 2] == ["a"]]
    return [cells[at] for at in kept] if _P.pairs_of_key.fullmatch("".join(kinds[at] for at in kept)) else None
