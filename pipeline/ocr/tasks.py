"""The tasks of worker processes: look at a file, read some of its pages or rows, recognise one page."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from build_dataset.pipeline.ocr import engines
from build_dataset.pipeline.ocr.bounds import limit_resources
from build_dataset.pipeline.ocr.interfaces import NeedsOcr, PagedReader, RowReader, TableRow, VisualReader
from build_dataset.pipeline.ocr.model import PageRead, Rect
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers import find_reader, reader
from build_dataset.pipeline.ocr.readers.docx import DocxReader
from build_dataset.pipeline.ocr.readers.docx_tables import DocxTableReader
from build_dataset.pipeline.ocr.readers.image import ImageReader, PictureFacts
from build_dataset.pipeline.ocr.readers.key_sheets import KeySheetReader
from build_dataset.schemas.errors import UnreadableDocument
from build_dataset.schemas.identity import file_sha256

Out = TypeVar("Out")
_DAMAGE = ("broken", "truncated")  # Reasons that readers give for whatever their libraries stumble on


@dataclass(frozen=True, slots=True)
class FileTask:
    """Look at a file, or read its rows."""

    document: str
    path: Path
    params: OcrParams


@dataclass(frozen=True, slots=True)
class FileFacts:
    """The facts that a first look at a file gives."""

    format: str
    pages: int | None
    rows: tuple[TableRow, ...] | None
    told: tuple[str, ...] = ()  # Notices for the user: sheets that were left out
    picture: PictureFacts | None = None


@dataclass(frozen=True, slots=True)
class PageTask:
    """Read pages of a document."""

    document: str
    path: Path
    format: str
    pages: tuple[int, ...]
    params: OcrParams
    boxes: tuple[Rect, ...] = ()  # Lines of the one page that are read from their pictures; empty for all of the page


def _twice(path: Path, read: Callable[[], Out], damaged: Callable[[Out], bool]) -> Out:
    """Return what is read of a file, at the second attempt where it looks damaged and the disk is sound.

    A disk or network that fails for a moment looks to libraries like damage. Where it still fails an OSError says so.
    """
    try:
        if not damaged(found := read()):
            return found
    except UnreadableDocument as error:
        if error.reason not in _DAMAGE:
            raise
    file_sha256(path)
    return read()


def inspect_file(task: FileTask) -> FileFacts:
    """The format of a file, its number of pages, or its rows when it is tabular."""
    return _twice(task.path, lambda: _look(task), lambda _: False)


def _look(task: FileTask) -> FileFacts:
    found = find_reader(task.path, task.params)
    if isinstance(found, DocxReader):
        tables = DocxTableReader()
        with limit_resources(task.path, task.params.text_timeout):
            found = tables if tables.holds_bank(task.path, task.params) else found
    if not isinstance(found, PagedReader) and not task.params.columns:
        key = KeySheetReader()
        with limit_resources(task.path):
            found = key if key.holds_key(task.path, found, task.params) else found
    if isinstance(found, PagedReader):
        with limit_resources(task.path, task.params.text_timeout):
            pages, most = found.count_pages(task.path, task.params), task.params.max_pages
        if pages > most:
            raise UnreadableDocument("too_large", f"{pages} pages, more than max_pages = {most}")
        picture = found.about(task.path, task.params) if isinstance(found, ImageReader) else None
        return FileFacts(found.format, pages, None, picture=picture)
    with limit_resources(task.path):
        told: list[str] = []
        return FileFacts(found.format, None, _rows(found, task, told), tuple(told))


def _rows(found: RowReader, task: FileTask, told: list[str]) -> tuple[TableRow, ...]:
    most = task.params.max_rows
    rows = tuple(islice(found.rows(task.path, task.params, told), most + 1))
    if len(rows) > most:
        raise UnreadableDocument("too_large", f"more rows than max_rows = {most}")
    if not rows:
        raise UnreadableDocument("no_rows", "there is no row of data in the file")
    return rows


def read_pages(task: PageTask) -> list[dict[str, Any]]:
    """The pages as JSON, each a ``PageRead`` or ``{"needs_ocr": reason}``."""
    found = reader(task.format)
    assert isinstance(found, PagedReader)

    def read() -> list[PageRead | NeedsOcr]:
        with limit_resources(task.path, task.params.text_timeout):
            return found.read(task.path, task.pages, task.params)

    pages = _twice(task.path, read, lambda found: any("broken_page" in (page.reason or "") for page in found))
    return [{"needs_ocr": page.reason} if isinstance(page, NeedsOcr) else page.to_json() for page in pages]


def recognise_page(task: PageTask) -> dict[str, Any]:
    """Return what the OCR engine finds on the task's one page, see ``recognise``; of some lines, ``readings``."""
    from build_dataset.pipeline.ocr.recognise import recognise, reread_box

    found = reader(task.format)
    assert isinstance(found, VisualReader)
    with limit_resources(None, task.params.page_timeout):
        image, engine = found.image(task.path, task.pages[0], task.params), engines.load(task.params)
        if task.boxes:
            return {"readings": [reread_box(engine, image, box) for box in task.boxes]}
        return recognise(engine, image, task.params)
