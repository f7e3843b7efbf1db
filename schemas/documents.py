"""Records of reading: raw files, documents, pages, lines, rows of tabular sources; traces of the parser's decisions."""

from enum import StrEnum
from typing import Self

from build_dataset.schemas.base import Record


class StageManifest(Record):
    """A stage and its manifest."""

    stage: str
    title: str
    manifest: str | None
    """Its ``manifest.json`` without the fingerprint: counts, reasons, facts, params, inputs, outputs, versions; null
    when it has not run."""


class RawFile(Record):
    """A file found under the raw folder."""

    document: str  # Path relative to the raw folder, with forward slashes; the name of the document everywhere.
    sha256: str
    bytes: int


class Document(Record):
    """A file that was read."""

    document: str
    sha256: str
    format: str  # `pdf`, `image`, `docx`, `cmb_json`, `cmexam_csv`, `cmexam_xlsx`, `jsonl`, `text`, `html`.
    pages: int | None  # Pages of a paged document; null for tabular ones.
    rows: int | None  # Rows of a tabular document; null for paged ones.
    files: list[str] | None = None
    """The picture of each page, where it is more than one file; null for others. One of a double page comes twice."""
    exam_type: str | None = None
    exam_class: str | None = None
    exam_subject: str | None = None


class ReadMethod(StrEnum):
    """Origin of a page's text."""

    TEXT_LAYER = "text_layer"
    OCR = "ocr"
    BLANK = "blank"


class Page(Record):
    """A page and how it was read."""

    document: str
    page: int  # From 1.
    width: float  # Width and height in points (1/72 inch), as displayed.
    height: float
    method: ReadMethod
    reason: str | None
    """Reason for choosing OCR over the text layer: ``no_text_layer``, ``garbled``, …; null for sound text layers."""
    engine: str  # `pymupdf`, `rapidocr`, `paddleocr`, `python-docx`, `pillow` …
    engine_version: str
    confidence: float | None
    """Mean recognition confidence in 0..1, weighted by characters; null where nothing was recognised."""
    turned: int = 0
    """Degrees the page was turned counter-clockwise to be read: 0, 90, 180, 270. Boxes are those of the turned page."""
    lines: int


class Box(Record):
    """A rectangle on a page in points, origin top left."""

    x0: float
    y0: float
    x1: float
    y1: float

    def union(self, other: Self) -> Self:
        """The box around both."""
        x0, y0 = min(self.x0, other.x0), min(self.y0, other.y0)
        return type(self)(x0=x0, y0=y0, x1=max(self.x1, other.x1), y1=max(self.y1, other.y1))


class UnsureCharacter(Record):
    """A character of a recognised line that may be wrong, with what stands beside it.

    ``皮肤`` 瘪 ``痒`` (or 瘙): texts are tidied later, so that it is found by its neighbours and not by a number.
    """

    before: str  # Of its line, up to 6 characters.
    text: str  # As it is written; all of the line where the engine tells nothing of characters.
    after: str
    other: str | None = None  # What else it may be, or what was seen where the language decided; null for nothing.
    sure: float  # Probability that it is right, and that nothing was overlooked behind it.
    page: int
    box: Box | None = None


class LineKind(StrEnum):
    """Kind of a line or region."""

    TEXT = "text"
    HEADING = "heading"
    HEADER = "header"
    FOOTER = "footer"
    FIGURE = "figure"
    TABLE = "table"
    FORMULA = "formula"


class Line(Record):
    """A line of text, or a region without text, in reading order."""

    document: str
    page: int
    order: int  # Position in the reading order of the page, from 0.
    text: str  # Empty for regions (figure, table, formula) without text of their own.
    box: Box | None  # Null for formats without layout.
    confidence: float | None
    column: int  # Column of the page, from 0; 0 also for lines that span columns.
    kind: LineKind
    other: str | None = None
    """A second reading of the line where it has other digits, negations, signs, option labels or units; null where it
    has not, or none was made."""
    unsure: list[UnsureCharacter] | None = None  # Null where all are sure, or the engine tells nothing of characters.


class SourceRow(Record):
    """A row of a tabular source (CMB JSON, CMExam CSV/XLSX, JSONL), as it was found."""

    document: str
    row: int  # From 1.
    fields: str  # The row as a JSON object with the source's own keys.
    sheet: str | None = None  # Sheet of a workbook, or table of a page; null where there is one alone.


class Part(StrEnum):
    """Part of a paper that a step of the parser found."""

    NUMBER = "number"  # The number that opens an item.
    HEAD = "head"  # The head it stands under, or a head itself.
    SHARED = "shared"  # A case or options shared with other items.
    OPTIONS = "options"
    ANSWER = "answer"
    EXPLANATION = "explanation"
    KEY = "key"  # Lines that hold answers of several questions.
    RUNNING = "running"  # Heads, feet and page numbers, left out of the text.
    COVER = "cover"  # Title, instructions and whatever else is known to stand before the first question.
    LEFT_OVER = "left_over"  # Text that belongs to no item and has no other known role.


class Span(Record):
    """Lines of a page that follow each other."""

    page: int  # From 1.
    first: int  # `Line.order` of the first line.
    last: int  # `Line.order` of the last line; the same as `first` for one line.


class Step(Record):
    """One decision: what was found, by which rule, where."""

    part: Part
    rule: str  # A short code, for counting: `dot`, `key_list`, `inline` …; docs/parsing.md lists them.
    detail: str | None  # The text seen there, or one sentence for people.
    spans: list[Span]  # Position; empty for text of another document, or if the item's own lines suffice.


class Trace(Record):
    """Trace of an item (kept, set aside or waiting) through the parser; papers have one for all other lines.

    Every line of a paper stands in at least one trace: in those of its items, or in the paper's own.
    Rows of tabular sources have none.
    """

    item_id: str  # A question_id; for the lines that belong to no item, the document's path.
    document: str
    spans: list[Span]  # All its lines, shared ones first; for a paper, all lines that its steps name.
    steps: list[Step]
