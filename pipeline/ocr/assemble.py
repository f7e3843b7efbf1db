"""From what was read to the stage's tables, document by document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from pipeline.ocr.exams import Exam
from pipeline.ocr.headers import mark_running_lines
from pipeline.ocr.model import PageRead
from pipeline.ocr.tasks import FileFacts
from pipeline.stage import Failure
from schemas.base import Record
from schemas.documents import Box, Document, Line, Page, RawFile, SourceRow


@dataclass(slots=True)
class DocumentState:
    """A file that is being read."""

    file: RawFile
    path: Path
    facts: FileFacts
    failures: dict[int, Failure] = field(default_factory=dict)
    """Pages that could not be read."""

    @property
    def name(self) -> str:
        """Of the document."""
        return self.file.document

    @property
    def pages(self) -> range:
        """Page numbers; empty for tabular files."""
        return range(1, (self.facts.pages or 0) + 1)


class TableBuilder:
    """Collects tables document by document, as columns, so that no record outlives its document."""

    def __init__(self) -> None:
        self._frames: dict[str, list[pl.DataFrame]] = {}
        self._schemas: dict[str, type[Record]] = {
            "documents": Document,
            "pages": Page,
            "lines": Line,
            "rows": SourceRow,
        }

    def add(self, reading: DocumentState, pages: Sequence[PageRead], exam: Exam) -> None:
        """Add a document with its pages as read (running lines are recognised here), or its rows."""
        mark_running_lines(pages)
        self._add("documents", [_document(reading, exam)])
        self._add("pages", [_page(reading.name, number, page) for number, page in enumerate(pages, 1)])
        self._add(
            "lines",
            [line for number, page in enumerate(pages, 1) for line in lines_of(reading.name, number, page)],
        )
        self._add(
            "rows",
            [
                SourceRow(document=reading.name, row=number, fields=row.fields, sheet=row.sheet)
                for number, row in enumerate(reading.facts.rows or (), 1)
            ],
        )

    def _add(self, table: str, rows: Sequence[Record]) -> None:
        if rows:
            self._frames.setdefault(table, []).append(self._schemas[table].to_frame(rows))

    def tables(self) -> Mapping[str, pl.DataFrame]:
        """All four tables, also where nothing was added."""
        return {
            name: pl.concat([schema.to_frame([]), *self._frames.get(name, [])])
            for name, schema in self._schemas.items()
        }


def _document(reading: DocumentState, exam: Exam) -> Document:
    rows = reading.facts.rows
    return Document(
        document=reading.name,
        sha256=reading.file.sha256,
        format=reading.facts.format,
        pages=reading.facts.pages,
        rows=None if rows is None else len(rows),
        exam_type=exam.exam_type,
        exam_class=exam.exam_class,
        exam_subject=exam.exam_subject,
    )


def _page(document: str, number: int, page: PageRead) -> Page:
    return Page(
        document=document,
        page=number,
        width=round(page.width, 2),
        height=round(page.height, 2),
        method=page.method,
        reason=page.reason,
        engine=page.engine,
        engine_version=page.engine_version,
        confidence=page.confidence,
        turned=page.turned,
        lines=len(page.lines),
    )


def lines_of(document: str, number: int, page: PageRead) -> Iterable[Line]:
    """Return the lines of a page as records."""
    for order, line in enumerate(page.lines):
        box = line.box
        yield Line(
            document=document,
            page=number,
            order=order,
            text=line.text,
            box=Box(x0=box.x0, y0=box.y0, x1=box.x1, y1=box.y1) if box else None,
            confidence=None if line.confidence is None else round(line.confidence, 4),
            column=line.column,
            kind=line.kind,
            other=line.other,
        )
