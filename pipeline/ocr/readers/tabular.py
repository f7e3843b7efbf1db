"""Tabular sources: CMB JSON, CMExam CSV and XLSX, JSONL. Rows go on untouched; the parser reads them."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pipeline.characters import valid
from pipeline.ocr.params import OcrParams
from pipeline.ocr.readers.encoding import decode, looks_like_text
from pipeline.ocr.readers.header import HEADER_WITHIN, table
from schemas.columns import option_of, plain, roles_of, unguarded, vocabulary
from schemas.errors import UnreadableDocument

MAX_DEPTH = 4
"""Objects within objects until a list of questions is found."""
MAX_CELL = 10_000_000
"""Characters of a cell of a CSV file: beyond it a quote was never closed."""


def _dump(row: dict[str, Any]) -> str:
    return valid(json.dumps(row, ensure_ascii=False))


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

    def rows(self, path: Path, params: OcrParams, told: list[str]) -> Iterator[str]:  # noqa: ARG002
        """The objects of the list; an item that is none becomes ``{"unparsed": item}``, for the parser to reject.

        Raises:
            UnreadableDocument: ``invalid_json``, or ``unknown_format`` when it is no list of objects.
        """
        try:
            value = _load(decode(path.read_bytes()))
        except (ValueError, RecursionError) as error:  # numbers of thousands of digits are ValueErrors
            raise UnreadableDocument("invalid_json", f"not JSON: {str(error)[:200]}") from error
        rows = [*_questions(value)]
        if 2 * sum(isinstance(row, dict) for row in rows) < len(rows) or not rows:
            raise UnreadableDocument("unknown_format", "the JSON holds no list of questions")
        yield from (_dump(row if isinstance(row, dict) else {"unparsed": row}) for row in rows)


def _questions(value: Any, depth: int = 0) -> Iterator[Any]:
    """The questions in a JSON value: a list, or lists under ``data``, ``questions`` …, or objects by their ids."""
    if isinstance(value, list):
        for item in value:
            inner = _inner(item) if depth < MAX_DEPTH and not _is_question(item) else []
            yield from (row for part in inner for row in _questions(part, depth + 1)) if inner else [item]
    elif isinstance(value, dict) and depth < MAX_DEPTH:
        if inner := _inner(value):
            yield from (row for part in inner for row in _questions(part, depth + 1))
        elif value and all(isinstance(item, dict) for item in value.values()):
            yield from ({"id": key, **item} for key, item in value.items())
        elif _is_question(value):
            yield value


def _is_question(value: Any) -> bool:
    """Whether an object has the stem of a question, no list of them under that name."""
    return isinstance(value, dict) and any(
        "stem" in roles_of(key) and not isinstance(part, list) for key, part in value.items()
    )


def _inner(value: Any) -> list[Any]:
    """What an object keeps under a name of lists of questions."""
    names = vocabulary()["containers"]["names"]
    known = value.items() if isinstance(value, dict) else ()
    return [
        part
        for key, part in known
        if plain(key) in names and isinstance(part, list | dict) and part and _holds_objects(part)
    ]


def _holds_objects(part: list[Any] | dict[str, Any]) -> bool:
    items = part if isinstance(part, list) else list(part.values())
    return any(isinstance(item, dict | list) for item in items)


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

    def rows(self, path: Path, params: OcrParams, told: list[str]) -> Iterator[str]:  # noqa: ARG002
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
    """CMExam's CSV: Question, Options, Answer, Explanation and label columns; other headers and delimiters too."""

    format = "cmexam_csv"

    def recognises(self, head: bytes, suffix: str) -> bool:
        """Whether it is called CSV or TSV and is text."""
        return suffix in (".csv", ".tsv") and looks_like_text(head)

    def rows(self, path: Path, params: OcrParams, told: list[str]) -> Iterator[str]:  # noqa: ARG002
        """Each record by column name; empty cells are null.

        Raises:
            UnreadableDocument: ``broken_csv``, ``duplicate_columns``, ``too_many_columns``, or ``unknown_columns``
                when none holds questions.
        """
        text = decode(path.read_bytes())
        # The module's limit belongs to the whole process: it is only ever raised, and the bound is kept here.
        csv.field_size_limit(max(csv.field_size_limit(), MAX_CELL))
        records = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter(text), strict=True)
        try:
            yield from map(_dump, table(_bounded(records), frozenset(params.columns)))
        except csv.Error as error:
            raise UnreadableDocument("broken_csv", f"line {records.line_num}: {error}") from error


def _bounded(records: Iterable[list[str]]) -> Iterator[list[str]]:
    for record in records:
        _require_cells(record)
        yield [unguarded(cell) for cell in record]


def _require_cells(record: Sequence[str]) -> None:
    if len(max(record, key=len, default="")) > MAX_CELL:
        raise csv.Error(f"a cell of more than {MAX_CELL} characters")


def delimiter(text: str) -> str:
    """The delimiter of a CSV file: the one that cuts one of its first lines into most columns.

    Titles above the header have none; text below it may have any.
    """
    first = max(text[:20_000].split("\n")[:HEADER_WITHIN], key=_headers)
    return max(",\t;|", key=first.count)


def _headers(line: str) -> int:
    """How many cells of a line are known headers, whatever delimits them."""
    return sum(bool(roles_of(cell) or option_of(cell)) for cell in re.split(r"[,\t;|]", line[:2000]))


class XlsxReader:
    """CMExam's table as an Excel workbook; every sheet that holds questions is read."""

    format = "cmexam_xlsx"

    def recognises(self, head: bytes, suffix: str) -> bool:
        """Whether it is a ZIP archive with a workbook, or is called XLSX."""
        return head.startswith(b"PK\x03\x04") and (suffix == ".xlsx" or b"xl/workbook" in head)

    def rows(self, path: Path, params: OcrParams, told: list[str]) -> Iterator[str]:
        """Each row by column name, cells as text; empty cells are null.

        Raises:
            UnreadableDocument: ``broken``, or ``unknown_columns`` when no sheet holds questions.
        """
        import fastexcel

        from pipeline.ocr.readers.archive import check_archive, check_sheets

        check_archive(path, params)
        check_sheets(path)
        try:
            book = fastexcel.read_excel(path)
            sheets = {
                name: book.load_sheet(name, header_row=None, dtypes="string").to_polars()
                for name in book.sheet_names
            }
        except Exception as error:
            raise UnreadableDocument("broken", f"not a readable XLSX file: {str(error)[:200]}") from error
        read, refused = 0, UnreadableDocument("unknown_columns", "it has no sheet")
        for name, sheet in sheets.items():
            try:
                for row in table(
                    ([cell or "" for cell in row] for row in sheet.iter_rows()), frozenset(params.columns)
                ):
                    read += 1
                    yield _dump(row)
            except UnreadableDocument as error:
                refused = error
                if sheet.height:
                    told.append(f"sheet {name} was left out: {error.detail}")
        if not read:
            raise refused
