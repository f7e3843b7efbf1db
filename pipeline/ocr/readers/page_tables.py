"""Tables of questions in web pages and in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipeline.ocr.params import OcrParams
from pipeline.ocr.readers.base import TableRow
from pipeline.ocr.readers.encoding import decode, looks_like_text
from pipeline.ocr.readers.header import every_table
from pipeline.ocr.readers.webpage import parsed, texts
from schemas.columns import option_of, roles_of
from schemas.errors import UnreadableDocument

_MARKDOWN = (".md", ".txt")
_OUTSIDE = 200
"""Characters outside of the tables from which people are told: a title and a date are fewer."""
_SPANS = 1000
"""Rows or columns that a cell of a table may span; HTML's own limit for columns."""
_RULE = re.compile(r"\s{0,9}\|?[\s|:-]{3,2000}")
"""The line under the header of a Markdown table: | --- | :-: |."""
_PIPE = re.compile(r"(?<!\\)\|")

Grid = list[list[str]]


class PageTableReader:
    """Tables of questions in HTML (also what websites export as XLS) and in Markdown."""

    format = "table"

    def recognises(self, head: bytes, suffix: str) -> bool:
        """Return whether the page is little else than tables, the first of which has the header of a bank."""
        if suffix not in (".html", ".htm", ".xls", *_MARKDOWN) or not looks_like_text(head):
            return False
        try:
            grids, outside = _grids(decode(head[: head.rfind(b"\n") + 1] or head), suffix)
        except UnreadableDocument:
            return False
        inside = sum(len(cell) for grid in grids for record in grid for cell in record)
        named = (
            [{*roles_of(cell), *(["options"] if option_of(cell) else [])} for cell in grids[0][0]]
            if grids
            else []
        )
        return inside > outside and {"stem", "options", "answer"} <= {
            role for roles in named for role in roles
        }

    def rows(self, path: Path, params: OcrParams, told: list[str]) -> Iterator[TableRow]:
        """The rows of every table of questions."""
        grids, outside = _grids(decode(path.read_bytes()), path.suffix.lower())
        named = {f"table {number}": grid for number, grid in enumerate(grids, 1)}
        yield from every_table(named, frozenset(params.columns), told)
        if outside > _OUTSIDE:
            told.append(f"{outside:,} characters outside of its tables were left out")


def _grids(text: str, suffix: str) -> tuple[list[Grid], int]:
    """The tables of a page, and how many characters stand outside of them."""
    if suffix in _MARKDOWN:
        return _pipe_tables(text)
    return _html_tables(text) if "<table" in text.lower() else ([], 0)


def _html_tables(text: str) -> tuple[list[Grid], int]:
    """The tables that hold no others."""
    root = parsed(text)
    found = [table for table in root.iter("table") if table.find(".//table") is None]
    grids = [grid for table in found if (grid := _grid(table))]
    inside = sum(len(line) for table in found for line in texts(table))
    return grids, sum(len(line) for line in texts(root)) - inside


def _grid(table: Any) -> Grid:
    """The cells of a table; one that spans rows has its text in each."""
    grid: Grid = []
    below: dict[int, tuple[int, str]] = {}  # by column: rows that a cell above goes on for, and its text
    for row in table.iter("tr"):
        record: list[str] = []
        for cell in (cell for cell in row if cell.tag in ("td", "th")):
            _fill(record, below)
            text = "\n".join(texts(cell))
            width, height = (_span(cell.get(name)) for name in ("colspan", "rowspan"))
            if height > 1:
                below[len(record)] = (height - 1, text)
            record += [text, *[""] * (width - 1)]
        _fill(record, below)
        grid.append(record)
    return grid


def _fill(record: list[str], below: dict[int, tuple[int, str]]) -> None:
    while len(record) in below:
        left, text = below.pop(len(record))
        if left > 1:
            below[len(record)] = (left - 1, text)
        record.append(text)


def _span(stated: str | None) -> int:
    return min(int(stated), _SPANS) if stated and stated.strip().isdecimal() else 1


def _pipe_tables(text: str) -> tuple[list[Grid], int]:
    """Lines with pipes that follow a header with a rule under it."""
    grids: list[Grid] = []
    outside, inside = 0, False
    lines = text.splitlines()
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if "|" in line and "|" in following and _RULE.fullmatch(following):
            grids.append([])
            inside = True
        inside = inside and "|" in line
        if inside and not _RULE.fullmatch(line):
            grids[-1].append([_cell(part) for part in _PIPE.split(line.strip().strip("|"))])
        elif not inside:
            outside += len(line.strip())
    return grids, outside


def _cell(text: str) -> str:
    plain = re.sub(r"(\*\*|__|`)(?=\S)(.{1,2000}?)(?<=\S)\1", r"\2", text.strip().replace("\\|", "|"))
    return re.sub(r"<br\s{0,3}/?>", "\n", plain)
