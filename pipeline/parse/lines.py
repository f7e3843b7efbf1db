"""The lines of a paper as the parser sees them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from pipeline.parse.marks import is_section_head
from pipeline.parse.text import fold, private_labels
from schemas.documents import Box, Line, LineKind

REGIONS = (LineKind.FIGURE, LineKind.TABLE, LineKind.FORMULA)


RUNNING_PAGES = 3
"""On how many pages a line must open or close the text to be a running head."""


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


def pieces(lines: Iterable[Line]) -> list[Piece]:
    """The pieces of a document's lines: running heads and feet left out, texts folded, private labels read."""
    kept = [line for line in lines if line.kind not in (LineKind.HEADER, LineKind.FOOTER)]
    kept = _without_running(kept)
    labels = private_labels(line.text for line in kept)
    margins = _margins(kept)
    found: list[Piece] = []
    for line in kept:
        text = line.text.translate(labels) if labels else line.text
        parts = [fold(part) for part in text.split("\n")]
        if line.kind not in REGIONS:
            parts = [part for part in parts if part.strip()]
        centred = _centred(line, margins)
        found.extend(
            Piece(part, line.page, line.box, line.confidence, line.kind, centred=centred) for part in parts
        )
    return found


def _pattern(text: str) -> str:
    """A line without its digits and spaces: what a running head keeps from page to page."""
    return re.sub(r"[\d\s]+", "", text)


def _without_running(lines: list[Line]) -> list[Line]:
    """The lines without running heads; the first of one that names a section stays, as its head."""
    running = _running(lines)
    kept, named = [], set()
    for line in lines:
        pattern = _pattern(line.text)
        if line.kind in REGIONS or pattern not in running:
            kept.append(line)
        elif pattern not in named and is_section_head(fold(line.text)):
            named.add(pattern)
            kept.append(line)
    return kept


def _running(lines: list[Line]) -> set[str]:
    """What stands first or last on three pages or more, apart from page numbers: running heads left over."""
    edges: dict[int, tuple[str, str]] = {}
    for line in lines:
        if line.kind is LineKind.TEXT:
            edges[line.page] = (edges.get(line.page, (line.text,))[0], line.text)
    seen = Counter(pattern for edge in edges.values() for pattern in {_pattern(text) for text in edge})
    return {pattern for pattern, pages in seen.items() if pages >= RUNNING_PAGES and len(pattern) >= 4}


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
