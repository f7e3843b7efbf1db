"""The interfaces of readers, one for each kind of file, and of OCR engines."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import dist
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypeAlias, runtime_checkable

from build_dataset.pipeline.ocr.model import PageLine, PageRead, Unsure
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.schemas.documents import ReadMethod
from build_dataset.schemas.errors import UnreadableDocument

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
Pixels: TypeAlias = "NDArray[np.uint8]"


class NeedsOcr(NamedTuple):
    """A page whose text has to be recognised from its image."""

    reason: str


class PageImage(NamedTuple):
    """A page as pixels, RGB, height x width x 3, and its size in points."""

    pixels: Pixels
    width: float
    height: float


class TableRow(NamedTuple):
    """A row of a tabular file."""

    fields: str  # A JSON object with the source's own keys
    sheet: str | None = None  # Sheet of a workbook, or table of a page; None where there is one alone


class Reader(Protocol):
    """Recognises one kind of file."""

    format: str  # Name in the documents table

    def recognises(self, head: bytes, suffix: str) -> bool:
        """Return whether a file is of this kind, by its first bytes (``readers.HEAD``) and its suffix, ``.pdf``."""


@runtime_checkable
class PagedReader(Reader, Protocol):
    """A reader of documents with pages. Pages count from 1."""

    def count_pages(self, path: Path, params: OcrParams) -> int:
        """Return how many pages there are.

        ``UnreadableDocument``: broken, truncated, encrypted, wrong_encoding, too_large, no_pages, no_text.
        """

    def read(self, path: Path, pages: Sequence[int], params: OcrParams) -> list[PageRead | NeedsOcr]:
        """Each of the pages, or that it needs OCR; ``UnreadableDocument``: no file to open, or a hostile page."""


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
        return [PageRead(0.0, 0.0, ReadMethod.TEXT_LAYER, self.engine, self.version, None, lines) for _ in pages]


@runtime_checkable
class VisualReader(PagedReader, Protocol):
    """A reader of documents whose pages can be looked at."""

    def image(self, path: Path, page: int, params: OcrParams) -> PageImage:
        """Return the page as pixels, for OCR and for cut-outs."""


@runtime_checkable
class RowReader(Reader, Protocol):
    """A reader of tabular files."""

    def rows(self, path: Path, params: OcrParams, told: list[str]) -> Iterator[TableRow]:
        """Return each row, in order; ``told`` takes what people should know: sheets that were left out.

        ``UnreadableDocument``: ``broken``, ``broken_csv``, ``invalid_json``, ``unknown_format``, ``encrypted``,
        ``wrong_encoding``, ``too_large``; ``no_value`` where a formula was never calculated; ``duplicate_columns``,
        ``too_many_columns``; ``unknown_columns`` where nothing looks like questions.
        """


class Doubt(NamedTuple):
    """A character of which an engine is not sure."""

    at: int  # In its word
    sure: float  # Its probability
    gap: float = 0.0  # Probability that a character was overlooked behind it
    others: tuple[tuple[str, float], ...] = ()  # Other characters and their probabilities, likeliest first


@dataclass(frozen=True, slots=True)
class Word:
    """A piece of a line that an engine found: mostly a whole line of one column."""

    text: str
    corners: tuple[tuple[float, float], ...]
    """Four points in pixels: top left, top right, bottom right, bottom left as the text runs."""
    confidence: float  # 0..1
    doubts: tuple[Doubt, ...] | None = None  # None for engines that do not tell
    unsure: tuple[Unsure, ...] = ()  # Once it is decoded

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Return its left, top, right and bottom."""
        xs, ys = zip(*self.corners, strict=True)
        return min(xs), min(ys), max(xs), max(ys)

    @property
    def height(self) -> float:
        """Return its height across its own direction."""
        return dist(self.corners[0], self.corners[3])


class EngineSetup(Protocol):
    """Tells whether an engine can start, and which models it has."""

    packages: ClassVar[tuple[str, ...]] = ()
    """Distributions whose versions can change what is recognised; the first one must be there."""
    requirement: ClassVar[str] = ""  # The first one as pip takes it

    @staticmethod
    def check(params: Any) -> None:
        """Make sure that it can start with these options, without starting it; a ``UserError`` says what to do."""

    @staticmethod
    def models(params: Any) -> list[str]:
        """Parts that can change its text beside package versions: ``name hash`` of models, a program's version."""


class OcrEngine(EngineSetup, Protocol):
    """Recognises the text of images. Made with its own options class; imports what is heavy when it is made."""

    def recognise(self, pixels: Pixels) -> list[Word]:
        """The text of an image (RGB, height x width x 3), in any order."""
