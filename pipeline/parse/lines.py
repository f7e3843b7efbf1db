"""The lines of a paper as the parser sees them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pipeline.parse.heads import split_heads
from pipeline.parse.running import without_running
from pipeline.parse.text import fold, private_labels
from schemas.documents import Box, Line, LineKind
from schemas.trace import Span

REGIONS = (LineKind.FIGURE, LineKind.TABLE, LineKind.FORMULA)


@dataclass(frozen=True, slots=True)
class Piece:
    """A line, or a region, in reading order over the whole document."""

    text: str
    """Folded; side-by-side parts are separated by tabs; empty for regions."""
    page: int
    box: Box | None
    confidence: float | None
    kind: LineKind
    centred: bool = False
    """Whether it stands in the middle of its column, as headings do."""
    in_table: bool = False
    """Whether it stands inside a table's region."""
    order: int = 0
    """Its line's place in the reading order of the page."""
    other: str | None = None
    """A second reading of its line, where that differs in what matters."""


def pieces(lines: Iterable[Line]) -> list[Piece]:
    """The pieces of a document's lines: running heads and feet left out, texts folded, private labels read."""
    kept = [line for line in lines if line.kind not in (LineKind.HEADER, LineKind.FOOTER)]
    kept = without_running(kept)
    labels = private_labels(line.text for line in kept)
    margins = _margins(kept)
    tables = [line for line in kept if line.kind is LineKind.TABLE]
    found: list[Piece] = []
    for line in kept:
        text = line.text.translate(labels) if labels else line.text
        parts = [fold(part) for part in text.split("\n")]
        if line.kind not in REGIONS:
            parts = [head for part in parts if part.strip() for head in split_heads(part)]
        centred = _centred(line, margins)
        cell = line.kind is LineKind.TEXT and any(_inside(line, table) for table in tables)
        found.extend(
            Piece(
                part, line.page, line.box, line.confidence, line.kind, centred, cell, line.order, line.other
            )
            for part in parts
        )
    return found


def spans(found: Iterable[Piece]) -> list[Span]:
    """Where pieces stand: runs of lines, page by page."""
    places = sorted({(piece.page, piece.order) for piece in found})
    runs: list[Span] = []
    for page, order in places:
        if runs and runs[-1].page == page and runs[-1].last + 1 == order:
            runs[-1] = Span(page=page, first=runs[-1].first, last=order)
        else:
            runs.append(Span(page=page, first=order, last=order))
    return runs


def _inside(line: Line, region: Line) -> bool:
    """Whether the middle of a line lies in a region of its page."""
    if line.page != region.page or line.box is None or region.box is None:
        return False
    x, y = (line.box.x0 + line.box.x1) / 2, (line.box.y0 + line.box.y1) / 2
    return region.box.x0 <= x <= region.box.x1 and region.box.y0 <= y <= region.box.y1


Margins = dict[int, tuple[float, float]]


def _margins(lines: list[Line]) -> Margins:
    """Left and right edge of the text of every column, over all pages."""
    margins: Margins = {}
    for line in lines:
        if line.box is None or line.kind is not LineKind.TEXT:
            continue
        left, right = margins.get(line.column, (line.box.x0, line.box.x1))
        margins[line.column] = min(left, line.box.x0), max(right, line.box.x1)
    return margins


def _centred(line: Line, margins: Margins) -> bool:
    """Whether both sides of a line are about equally and clearly empty (a fifth of the column each)."""
    if line.box is None or line.column not in margins or "\t" in line.text:
        return False
    left, right = margins[line.column]
    width = right - left
    before, after = line.box.x0 - left, right - line.box.x1
    return width > 0 and min(before, after) > 0.2 * width and abs(before - after) < 0.1 * width


def place_of(piece: Piece) -> tuple[int, int]:
    """Where a line stands in its document: page and order."""
    return piece.page, piece.order
