"""Puts pages together to tables, document by document: running heads and feet, and the exam of a paper."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import polars as pl

from build_dataset.pipeline.ocr.model import EDGE, PageLine, PageRead, Unsure
from build_dataset.pipeline.ocr.tasks import FileFacts
from build_dataset.pipeline.patterns import Patterns
from build_dataset.pipeline.stage import Failure
from build_dataset.schemas.base import Record
from build_dataset.schemas.documents import Box, Document, Line, LineKind, Page, RawFile, SourceRow, UnsureCharacter
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.taxonomy import cmb_catalogue

_P = Patterns(__name__)
_TABLES: dict[str, type[Record]] = {"documents": Document, "pages": Page, "lines": Line, "rows": SourceRow}
MIN_SHARE = 0.5  # Share of the pages on which a text must stand in the same place, with other digits allowed
_MARGIN = 0.05  # Share of its height that a page is white above its first line, at least
MOVED = 12.0  # Points by which what stands in one place of all pages moves on scans
_CHINESE = "一二三四五六七八九十"
MANIFEST = "manifest.csv"


@dataclass
class DocumentState:
    """A file that is being read."""

    file: RawFile
    path: Path
    facts: FileFacts
    failures: dict[int, Failure] = field(default_factory=dict)  # Pages that could not be read
    parts: tuple[DocumentState, ...] = ()  # The pictures that are its pages, where it is more than one file

    def __post_init__(self) -> None:
        """Note how the file is now."""
        self.state = self.state_of_file()

    def state_of_file(self) -> tuple[int, int]:
        """Return size and time of the last change, by which a file that changes is noticed."""
        if self.parts:
            states = [part.state_of_file() for part in self.parts]
            return sum(size for size, _ in states), max(time for _, time in states)
        try:
            found = self.path.stat()
        except OSError:
            return 0, 0
        return found.st_size, found.st_mtime_ns

    @property
    def name(self) -> str:
        """Of the document."""
        return self.file.document

    def origin(self, page: int) -> tuple[str, int]:
        """Return the hash of the file that holds a page, and its number there."""
        for part in self.parts:
            if page in part.pages:
                return part.file.sha256, page
            page -= len(part.pages)
        return self.file.sha256, page

    @property
    def pages(self) -> range:
        """Page numbers; empty for tabular files."""
        return range(1, (self.facts.pages or 0) + 1)

    @property
    def sound(self) -> list[int]:
        """The pages that did not fail."""
        return [page for page in self.pages if page not in self.failures]


def build_tables(read: Iterable[tuple[DocumentState, Sequence[PageRead], Exam]]) -> dict[str, pl.DataFrame]:
    """Make the tables of documents with their pages or rows, one by one: no record outlives its document."""
    frames = {name: [schema.to_frame([])] for name, schema in _TABLES.items()}
    for reading, pages, exam in read:
        mark_running_lines(pages)
        numbered = list(enumerate(pages, 1))
        name = reading.name
        told = [{**page.facts(), "lines": len(page.lines), "confidence": page.confidence} for page in pages]
        records: dict[str, Sequence[Record]] = {
            "documents": [document_of(reading, exam)],
            "pages": [Page(document=name, page=number, **facts) for number, facts in enumerate(told, 1)],
            "lines": [line for number, page in numbered for line in lines_of(name, number, page)],
        }
        frames["rows"].append(rows_of(reading))
        for table, rows in records.items():
            frames[table].append(_TABLES[table].to_frame(rows))
    return {name: pl.concat(parts) for name, parts in frames.items()}


def rows_of(reading: DocumentState) -> pl.DataFrame:
    """Return the ``SourceRow`` table of a tabular file."""
    rows = enumerate(reading.facts.rows or (), 1)
    return pl.DataFrame(((reading.name, at, *row) for at, row in rows), SourceRow.polars_schema(), orient="row")


def document_of(reading: DocumentState, exam: Exam) -> Document:
    """Return the record of a file and its exam."""
    rows = reading.facts.rows
    return Document(
        document=reading.name,
        sha256=reading.file.sha256,
        format=reading.facts.format,
        pages=reading.facts.pages,
        rows=None if rows is None else len(rows),
        files=[part.name for part in reading.parts for _ in part.pages] or None,
        **exam._asdict(),
    )


def lines_of(document: str, number: int, page: PageRead) -> Iterable[Line]:
    """Return the lines of a page as records."""
    for order, line in enumerate(page.lines):
        told = {name: getattr(line, name) for name in ("text", "column", "kind", "other")}
        box = Box(**line.box._asdict()) if line.box else None
        sure = None if line.confidence is None else round(line.confidence, 4)
        unsure = [_unsure(one, number) for one in line.unsure] or None
        yield Line(document=document, page=number, order=order, box=box, confidence=sure, unsure=unsure, **told)


def _unsure(one: Unsure, page: int) -> UnsureCharacter:
    own = {name: getattr(one, name) for name in ("before", "text", "after", "other", "sure")}
    box = Box(**{edge: round(at, 1) for edge, at in one.box._asdict().items()}) if one.box else None
    return UnsureCharacter(**own, page=page, box=box)


def mark_running_lines(pages: Sequence[PageRead]) -> None:
    """Set kind header or footer on lines at the edges that repeat from page to page, and on page numbers.

    A line repeats when the same text stands at the top (or bottom) of at least half of the pages with text, and of two.
    One number in it may differ if it counts the pages: heads of sections (一、A1型题, 二、A2型题) are no running heads.
    """
    _mark_furniture(pages)
    with_text = [page for page in pages if page.lines]
    seen: Counter[tuple[LineKind, str]] = Counter()
    for number, page in enumerate(with_text):
        seen.update({(kind, shape) for line, kind in _edge_lines(page) for shape in _shapes(line, number)})
    needed = max(2.0, MIN_SHARE * len(with_text))  # of two pages both
    for number, page in enumerate(with_text):
        for line, kind in list(_edge_lines(page)):
            repeats = any(seen[kind, shape] >= needed for shape in _shapes(line, number))
            if repeats or _is_page_number(line, kind, page):
                line.kind = kind


def _mark_furniture(pages: Sequence[PageRead]) -> None:
    """Set kind header on figures that stand in one place on half of the pages, and on their labels: QR codes, logos.

    On papers of two pages only near the edge: two questions may have a figure each.
    """
    figures = [[line for line in page.lines if line.kind is LineKind.FIGURE and line.box] for page in pages]
    boxes = [[line.box for line in own if line.box and not line.text] for own in figures]
    for page, own, mine in zip(pages, figures, boxes, strict=True):
        for box in mine:
            gaps = ([max(abs(a - b) for a, b in zip(box, two, strict=True)) for two in others] for others in boxes)
            same = sum(min(apart, default=MOVED) < MOVED for apart in gaps)
            margin = min(box.x0, box.y0, page.width - box.x1, page.height - box.y1) < EDGE * page.width
            if same >= max(2 if margin else 3, MIN_SHARE * len(pages)):
                for line in own:
                    if line.box and line.box.overlap(box) > 0.5 * line.box.area:
                        line.kind = LineKind.HEADER


def _edge_lines(page: PageRead) -> Iterator[tuple[PageLine, LineKind]]:
    """Lines of text near the top or bottom edge; a photograph shows more than the page."""
    lines = [(line, line.box) for line in page.lines if line.box is not None and page.height > 0]
    least = _MARGIN * page.height if page.method == "ocr" else page.height
    top = max(0.0, min((box.y0 for _, box in lines), default=0.0) - least)
    end = min(page.height, max((box.y1 for _, box in lines), default=page.height) + least)
    for line, box in ((line, box) for line, box in lines if line.text):
        if box.y1 <= top + EDGE * page.height:
            yield line, LineKind.HEADER
        elif box.y0 >= end - EDGE * page.height:
            yield line, LineKind.FOOTER


def _shapes(line: PageLine, page: int) -> set[str]:
    """The text, and the text with each of its numbers as its distance from the page's; none for questions."""
    if _P.content.match(line.text):
        return set()
    text = unicodedata.normalize("NFKC", "".join(line.text.split()))  # 2101 may be read as 2¹⁰¹
    numbers = [(*found.span(), chinese_number(found[0]) - page) for found in _P.number.finditer(text)]
    return {text, *(f"{text[:start]}#{distance}{text[end:]}" for start, end, distance in numbers)}


def chinese_number(number: str) -> int:
    """A number in digits, or in Chinese up to 99."""
    if number[0] not in _CHINESE:
        return int(number)
    tens, ten, ones = number.rpartition("十")  # 二十三: 二, 十, 三
    return 10 * (_CHINESE.find(tens or "一") + 1) * bool(ten) + _CHINESE.find(ones or " ") + 1


def _is_page_number(line: PageLine, kind: LineKind, page: PageRead) -> bool:
    """Return whether a line is a number alone, outermost on the page: a lone option or cell stands further in."""
    if not _P.page_number.match(line.text) or _P.content.match(line.text):
        return False
    assert line.box is not None
    own, boxes = line.box, [one.box for one in page.lines if one.box and one.text and one is not line]
    top, end = min((box.y0 for box in boxes), default=0.0), max((box.y1 for box in boxes), default=0.0)
    outside = own.y1 <= EDGE * page.height or own.y0 >= (1 - EDGE) * page.height
    return outside and len(boxes) > 1 and (top >= own.y0 - 2 if kind is LineKind.HEADER else end <= own.y1 + 2)


class Exam(NamedTuple):
    """The place of a document in CMB's catalogue; None where nothing says so."""

    exam_type: str | None = None
    exam_class: str | None = None
    exam_subject: str | None = None


def exam_of(document: str, manifest: Mapping[str, Exam]) -> Exam:
    """Return the exam by the manifest, else by folders in Chinese or English; a subcategory implies its category."""
    if document in manifest:
        return manifest[document]
    names = {part.strip().casefold() for part in PurePosixPath(document).parts[:-1]}
    exam_type = chosen = None
    for category in cmb_catalogue():
        if {category.zh.casefold(), category.en.casefold()} & names:
            exam_type = category.zh
        for subcategory in category.subcategories:
            named = {subcategory.zh.casefold(), subcategory.en.casefold()} & names
            if named and exam_type in (None, category.zh):
                exam_type, chosen = category.zh, subcategory
    if chosen is None:
        return Exam(exam_type)
    return Exam(exam_type, chosen.zh, next((name for name in chosen.subjects if name.casefold() in names), None))


def read_manifest(raw: Path) -> dict[str, Exam]:
    """``manifest.csv`` of the raw folder: columns document, exam_type, exam_class, exam_subject.

    ``UserError``: it cannot be read, has other columns, or names a document twice with different exams.
    """
    path = raw / MANIFEST
    if not path.is_file():
        return {}
    try:
        rows = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig")))
        unknown = sorted(set(rows.fieldnames or ()) - {"document", *Exam._fields})
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"raw/{MANIFEST}: cannot be read as a UTF-8 CSV file ({error})") from error
    if unknown or "document" not in (rows.fieldnames or ()):
        found = ", ".join(rows.fieldnames or ()) or "none"
        raise UserError(f"raw/{MANIFEST}: columns must be document, {', '.join(Exam._fields)}; found {found}")
    exams: dict[str, Exam] = {}
    for row in rows:
        document = (row["document"] or "").strip()
        exam = Exam(*((row.get(name) or "").strip() or None for name in Exam._fields))
        if document and exams.setdefault(document, exam) != exam:
            raise UserError(f"raw/{MANIFEST}: {document} stands there twice with different exams: keep one")
    return exams
