"""Tabular sources: CMB JSON, CMExam CSV and XLSX, JSONL. Rows go on untouched; the parser reads them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pipeline.ocr.params import OcrParams
from pipeline.ocr.readers.encoding import decode, looks_like_text
from schemas.columns import STEM
from schemas.errors import UnreadableDocument

QUESTION_COLUMNS = frozenset(STEM)
"""Names of the column that makes a table one of questions."""

MAX_CELL = 10_000_000
"""Characters of a cell of a CSV file: beyond it a quote was never closed."""


def _dump(row: dict[str, Any]) -> str:
    text = json.dumps(row, ensure_ascii=False)
    return text.encode("utf-8", "replace").decode()  # half of a surrogate pair is no character


def _load(text: str) -> Any:
    """JSON with NaN and infinities as null: they are not JSON, but Python's own writer makes them."""
    return json.loads(text, parse_constant=lambda _: None)


class CmbJsonReader:
    """Files as CMB publishes them: a JSON list of questions with exam_type, question, option, answer."""

    format = "cmb_json"

    def recognises(self, head: bytes, suffix: str) -> bool:
        """Whether it is called JSON, or starts with a list of objects."""
        if not looks_like_text(head):
            return False
        start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
        return suffix == ".json" or (suffix not in (".jsonl", ".ndjson") and _starts_list(start))

    def rows(self, path: Path, params: OcrParams) -> Iterator[str]:  # noqa: ARG002
        """The objects of the list; an item that is none becomes ``{"unparsed": item}``, for the parser to reject.

        Raises:
            UnreadableDocument: ``invalid_json``, or ``unknown_format`` when it is no list of objects.
        """
        try:
            value = _load(decode(path.read_bytes()))
        except (ValueError, RecursionError) as error:  # numbers of thousands of digits are ValueErrors
            raise UnreadableDocument("invalid_json", f"not JSON: {str(error)[:200]}") from error
        if not isinstance(value, list) or 2 * sum(isinstance(row, dict) for row in value) < len(value):
            raise UnreadableDocument("unknown_format", "the JSON is not a list of questions")
        yield from (_dump(row if isinstance(row, dict) else {"unparsed": row}) for row in value)


def _starts_list(start: bytes) -> bool:
    return start[:1] == b"[" and start[1:].lstrip()[:1] == b"{"


class JsonlReader:
    """JSON Lines: one object a line."""

    format = "jsonl"

    def recognises(self, head: bytes, suffix: str) -> bool:
        """Whether it is called so, or its first line is a JSON object."""
        if not looks_like_text(head):
            return False
        if suffix in (".jsonl", ".ndjson"):
            return True
        first = head.lstrip(b"\xef\xbb\xbf \t\r\n").split(b"\n", 1)[0].strip()
        return first[:1] == b"{" and first[-1:] == b"}" and b":" in first and suffix not in (".md", ".json")

    def rows(self, path: Path, params: OcrParams) -> Iterator[str]:  # noqa: ARG002
        """The objects; a line that is none becomes ``{"unparsed": line}``, for the parser to reject.

        Raises:
            UnreadableDocument: ``invalid_json`` when most lines are no objects.
        """
        lines = [line for line in decode(path.read_bytes()).split("\n") if line.strip()]
        rows = [_object(line) for line in lines]
        broken = [number for number, row in enumerate(rows, 1) if row is None]
        if len(broken) > len(rows) / 2:
            raise UnreadableDocument(
                "invalid_json",
                f"{len(broken)} of {len(rows)} lines are not JSON objects, first line {broken[0]}",
            )
        for line, row in zip(lines, rows, strict=True):
            yield _dump({"unparsed": line.strip()} if row is None else row)


def _object(line: str) -> dict[str, Any] | None:
    try:
        value = _load(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


class CsvReader:
    """CMExam's CSV: Question, Options, Answer, Explanation and label columns; other delimiters too."""

    format = "cmexam_csv"

    def recognises(self, head: bytes, suffix: str) -> bool:
        """Whether it is called CSV or TSV and is text."""
        return suffix in (".csv", ".tsv") and looks_like_text(head)

    def rows(self, path: Path, params: OcrParams) -> Iterator[str]:  # noqa: ARG002
        """Each record by column name; empty cells are null.

        Raises:
            UnreadableDocument: ``broken_csv``, ``duplicate_columns``, or ``unknown_columns`` when none holds questions.
        """
        text = decode(path.read_bytes())
        # The module's limit belongs to the whole process: it is only ever raised, and the bound is kept here.
        csv.field_size_limit(max(csv.field_size_limit(), MAX_CELL))
        records = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter(text), strict=True)
        try:
            header = next(records, [])
            _require_question(header)
            for record in records:
                _require_cells(record)
                if any(cell.strip() for cell in record):
                    yield _dump(_row(header, record))
        except csv.Error as error:
            raise UnreadableDocument("broken_csv", f"line {records.line_num}: {error}") from error


def _require_cells(record: Sequence[str]) -> None:
    if len(max(record, key=len, default="")) > MAX_CELL:
        raise csv.Error(f"a cell of more than {MAX_CELL} characters")


def delimiter(text: str) -> str:
    """The delimiter of a CSV file: the one that cuts its first line into most columns."""
    first = text.lstrip("\n\r").split("\n", 1)[0]
    return max(",\t;|", key=first.count)


def _row(header: Sequence[str], record: Sequence[str]) -> dict[str, str | None]:
    """A record by column; cells beyond the header are named by their position."""
    names = [name.strip() or f"column_{index}" for index, name in enumerate(header, 1)]
    names += [f"column_{index}" for index in range(len(names) + 1, len(record) + 1)]
    cells = [*record, *[""] * (len(names) - len(record))]
    return {name: cell if cell.strip() else None for name, cell in zip(names, cells, strict=True)}


def _require_question(header: Sequence[str]) -> None:
    names = [name.strip().casefold() for name in header if name.strip()]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UnreadableDocument("duplicate_columns", f"several columns are named {', '.join(twice)[:200]}")
    if not any(name.strip().casefold() in QUESTION_COLUMNS for name in header):
        found = ", ".join(header)[:200] or "none"
        raise UnreadableDocument(
            "unknown_columns", f"no column is named Question (or 题目, 题干, stem); found: {found}"
        )


class XlsxReader:
    """CMExam's table as an Excel workbook; every sheet with a question column is read."""

    format = "cmexam_xlsx"

    def recognises(self, head: bytes, suffix: str) -> bool:
        """Whether it is a ZIP archive with a workbook, or is called XLSX."""
        return head.startswith(b"PK\x03\x04") and (suffix == ".xlsx" or b"xl/workbook" in head)

    def rows(self, path: Path, params: OcrParams) -> Iterator[str]:
        """Each row by column name, cells as text; empty cells are null.

        Raises:
            UnreadableDocument: ``broken``, or ``unknown_columns`` when no sheet holds questions.
        """
        import fastexcel

        from pipeline.ocr.readers.archive import check_archive

        check_archive(path, params)
        try:
            book = fastexcel.read_excel(path)
            sheets = [book.load_sheet(name, dtypes="string").to_polars() for name in book.sheet_names]
        except Exception as error:
            raise UnreadableDocument("broken", f"not a readable XLSX file: {str(error)[:200]}") from error
        chosen = [
            sheet
            for sheet in sheets
            if any(name.strip().casefold() in QUESTION_COLUMNS for name in sheet.columns)
        ]
        if not chosen:
            _require_question([name for sheet in sheets for name in sheet.columns])
        for sheet in chosen:
            for row in sheet.iter_rows():
                if any(cell is not None and cell.strip() for cell in row):
                    yield _dump(_row(sheet.columns, [cell or "" for cell in row]))
