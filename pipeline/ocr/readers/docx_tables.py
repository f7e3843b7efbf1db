"""Tables of questions in Word: a header over rows as in a sheet, or a label before each part of a question."""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from build_dataset.pipeline.ocr.emphasis import OFF, ON
from build_dataset.pipeline.ocr.interfaces import TableRow
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers.docx import Walker, below, opened
from build_dataset.pipeline.ocr.readers.docx_numbering import W, integer
from build_dataset.pipeline.ocr.readers.header import PICTURE, Grid, is_bank, tables_of_document
from build_dataset.schemas.columns import option_of, roles_of
from build_dataset.schemas.documents import LineKind

_BARE = str.maketrans("", "", ON + OFF)  # a key has a column: what is bold in a cell says nothing


class DocxTableReader:
    """Reads Word documents that are little else than tables of questions; `holds_bank` tells."""

    format = "docx_table"

    def recognises(self, head: bytes, suffix: str) -> bool:  # noqa: ARG002
        """No: a Word document is looked into first."""
        return False

    def holds_bank(self, path: Path, params: OcrParams) -> bool:
        """Return whether a Word document is little else than tables with the header of a bank."""
        return is_bank(*_grids(path, params), frozenset(params.columns))

    def rows(self, path: Path, params: OcrParams, told: list[str]) -> Iterator[TableRow]:
        """The rows of every table of questions; tables with one header are one, as a long table is cut up."""
        grids, outside = _grids(path, params)
        runs = [[*run] for _, run in groupby(grids, key=lambda grid: grid[0])]
        joined = [[run[0][0], *(record for grid in run for record in grid[1:])] for run in runs]
        yield from tables_of_document(joined, outside, frozenset(params.columns), told)


def _grids(path: Path, params: OcrParams) -> tuple[list[Grid], int]:
    """The tables of a document, and how many characters stand outside of them."""
    document = opened(path, params)
    walker = Walker(document)
    grids, outside = list[Grid](), 0
    for block in document.element.body:
        tables = [block] if block.tag == f"{W}tbl" else [*below(block, f"{W}tbl")]
        grids += [_upright(grid) for table in tables if (grid := _grid(table, walker))]
        outside += 0 if tables else sum(len(line.text) for line in walker.blocks([block]))
    return grids, outside


def _grid(table: Any, walker: Walker) -> Grid:
    """The cells of a table; one that spans rows has its text in each."""
    grid: Grid = []
    for row in below(table, f"{W}tr"):
        record: list[str] = []
        for cell in below(row, f"{W}tc"):
            span, merged = (cell.find(f"{W}tcPr/{W}{name}") for name in ("gridSpan", "vMerge"))
            goes_on = merged is not None and merged.get(f"{W}val") != "restart"
            above = grid[-1][len(record)] if goes_on and grid and len(record) < len(grid[-1]) else ""
            lines = (PICTURE if line.kind is LineKind.FIGURE else line.text for line in walker.blocks(cell))
            text = above or "\n".join(filter(None, lines)).translate(_BARE)
            record += [text, *[""] * ((integer(span, "val") or 1) - 1)]
        if any(text.strip() for text in record):
            grid.append(record)
    return grid


def _upright(grid: Grid) -> Grid:
    """Return a table with a label before each part (题目 | … / 选项 | … / 答案 | …) as one with a header."""
    pairs = [(record[0].strip(), record[1]) for record in grid if len(record) == 2 and record[0].strip()]
    names = [*dict.fromkeys(name for name, _ in pairs)]
    first = pairs[0][0] if pairs else ""
    named = {role for name in names for role in (*roles_of(name), *["options"] * bool(option_of(name)))}
    labelled = len(pairs) == len(grid) and "stem" in roles_of(first) and "answer" in named
    if not labelled or "stem" in roles_of(grid[0][1]):
        return grid
    questions: list[dict[str, str]] = []
    for name, text in pairs:
        if name == first:
            questions.append({})
        questions[-1][name] = text
    return [names, *([question.get(name, "") for name in names] for question in questions)]
