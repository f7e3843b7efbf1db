"""The interface of a reader: one module for each kind of file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from pipeline.ocr.model import PageLine, PageRead
from pipeline.ocr.params import OcrParams
from schemas.documents import ReadMethod
from schemas.errors import UnreadableDocument

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class NeedsOcr:
    """A page whose text has to be recognised from its image."""

    reason: str


@dataclass(slots=True)
class PageImage:
    """A page as pixels."""

    pixels: NDArray[np.uint8]  # RGB, height x width x 3
    width: float  # Width and height of the page in points
    height: float


class TableRow(NamedTuple):
    """A row of a tabular file."""

    fields: str  # A JSON object with the source's own keys
    sheet: str | None = None  # Sheet of a workbook, or table of a page; None where there is one alone


class Reader(Protocol):
    """Recognises one kind of file."""

    format: str  # Name in the documents table

    def recognises(self, head: bytes, suffix: str) -> bool:
        """Return whether a file is of this kind.

        Args:
            head: its first bytes, see ``readers.HEAD``.
            suffix: of its name, lower-case, with the dot.
        """


@runtime_checkable
class PagedReader(Reader, Protocol):
    """A reader of documents with pages. Pages count from 1."""

    def count_pages(self, path: Path, params: OcrParams) -> int:
        """Return how many pages there are.

        Raises:
            UnreadableDocument: ``broken``, ``truncated``, ``encrypted``, ``wrong_encoding``, ``too_large``,
                ``no_pages``, ``no_text``.
        """

    def read(self, path: Path, pages: Sequence[int], params: OcrParams) -> list[PageRead | NeedsOcr]:
        """Each of the pages, or that it needs OCR.

        Raises:
            UnreadableDocument: the file cannot be opened; ``too_large``, a page's content is made to hurt.
        """


class OnePageReader:
    """Shared by readers of documents without layout: one page of lines."""

    engine: str
    version: str
    nothing = "there is nothing but white space in the file"

    def lines(self, path: Path) -> list[PageLine]:
        """Return what is on the page."""
        raise NotImplementedError

    def count_pages(self, path: Path, params: OcrParams) -> int:  # noqa: ARG002
        """One; ``no_text`` where there is nothing on it."""
        if not any(line.text for line in self.lines(path)):
            raise UnreadableDocument("no_text", self.nothing)
        return 1

    def read(self, path: Path, pages: Sequence[int], params: OcrParams) -> list[PageRead | NeedsOcr]:  # noqa: ARG002
        """The one page."""
        lines = self.lines(path)
        return [
            PageRead(0.0, 0.0, ReadMethod.TEXT_LAYER, self.engine, self.version, None, lines) for _ in pages
        ]


@runtime_checkable
class VisualReader(PagedReader, Protocol):
    """A reader of documents whose pages can be looked at."""

    def image(self, path: Path, page: int, params: OcrParams) -> PageImage:
        """Return the page as pixels, for OCR and for cut-outs."""


@runtime_checkable
class RowReader(Reader, Protocol):
    """A reader of tabular files."""

    def rows(self, path: Path, params: OcrParams, told: list[str]) -> Iterator[TableRow]:
        """Return each row, in order.

        Args:
            path: of the file.
            params: of the stage.
            told: takes what people should know: sheets that were left out.

        Raises:
            UnreadableDocument: ``broken``, ``broken_csv``, ``invalid_json``, ``unknown_format``, ``encrypted``,
                ``wrong_encoding``, ``too_large``; ``no_value`` where a formula was never calculated;
                ``duplicate_columns``, ``too_many_columns``; ``unknown_columns`` where nothing looks like questions.
        """
