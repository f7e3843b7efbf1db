"""The text layer of a PDF page: its glyphs as runs in displayed coordinates."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from build_dataset.pipeline.ocr import glyphs
from build_dataset.pipeline.ocr.model import Rect, TextRun
from build_dataset.pipeline.ocr.mupdf import pymupdf

FLAGS = pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP | pymupdf.TEXT_INHIBIT_SPACES
BREAK_GAP = 0.3
"""Gap in em at which a run ends, far below ``layout.TAB_GAP``: layout decides what the gap means, and a symbol
that the producer printed on its own finds its place inside: the italic n of O(n), .36 em, the 4 of 2⁴(."""
_ASCENT, _DESCENT = 0.88, 0.18
"""Top and bottom of a line's box above and below its baseline, in em: fonts' own values are off by up to 40 %."""
SMALLEST = 2.0
"""Points below which nobody reads a glyph: Acrobat puts ones of 1 pt (ZWAdobeF) where a line was edited."""
MAX_GLYPHS = 60_000  # Glyphs of one page that are looked at: a dense A3 page has about 8,000
Char = tuple[str, float, float, float]  # A character, its left and right edge and its baseline in points


@dataclass(slots=True)
class TextLayer:
    """The content of a page's text layer."""

    runs: list[TextRun] = field(default_factory=list)
    glyphs: int = 0  # Visible characters, watermarks and copies of fake bold included
    turned: int = 0  # Visible characters that do not run from left to right
    hidden: int = 0  # Characters that are there and not shown, as OCR programs put them behind a scan

    @property
    def text(self) -> str:
        """The visible level characters in stored order, folded."""
        return "".join(run.text for run in self.runs)


def read_text_layer(page: Any) -> tuple[list[dict[str, Any]], TextLayer]:
    """PyMuPDF's description of a page's images, and its runs of text without watermarks and copies of fake bold."""
    layer = TextLayer()
    images, blocks = _extract(page)
    lines = [line for block in blocks for line in block.get("lines", ())]
    doubtful = _overlapping([line["bbox"] for line in lines])
    matrix = page.rotation_matrix if page.rotation else None
    page_width = page.rect.width
    seen: set[tuple[str, int, int]] = set()
    for index, line in enumerate(lines):
        level = _is_level(line["dir"], matrix)
        spans = [(span, _chars(span, matrix)) for span in line["spans"]]
        # A character that begins before the middle of the previous one may be printed twice.
        steps = pairwise(char for _, chars in spans for char in chars)
        copied = index in doubtful or any(2 * after[1] < before[1] + before[2] for before, after in steps)
        for span, chars in spans:
            visible = len("".join("".join([char[0] for char in chars]).split()))
            layer.glyphs += visible
            if span.get("alpha", 255) == 0 or span["size"] < SMALLEST:
                layer.hidden += visible
            elif not level:
                layer.turned += visible
            elif not _is_watermark(span, page_width) and layer.glyphs <= MAX_GLYPHS:
                if copied:
                    chars = _without_copies(chars, span["size"], seen)
                layer.runs.extend(_runs(chars, span["size"], span["font"]))
    return images, layer


def _extract(page: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Images and text blocks, in one pass over a page without images: a pass takes 0.7 ms of a page's 4."""
    textpage = page.get_textpage(flags=FLAGS | pymupdf.TEXT_PRESERVE_IMAGES)
    images: list[dict[str, Any]] = textpage.extractIMGINFO()
    if images:  # with images the text would come with their pixels
        textpage = page.get_textpage(flags=FLAGS)
    blocks: list[dict[str, Any]] = textpage.extractRAWDICT()["blocks"]
    return images, blocks


def _is_level(direction: tuple[float, float], matrix: Any) -> bool:
    dx, dy = direction
    if matrix is not None:
        dx, dy = dx * matrix.a + dy * matrix.c, dx * matrix.b + dy * matrix.d
    return dx > 0.99 and abs(dy) < 0.1  # up to 5.7 degrees


def _chars(span: dict[str, Any], matrix: Any) -> list[Char]:
    """The characters of a span in displayed coordinates."""
    if matrix is None:
        return [(char["c"], char["bbox"][0], char["bbox"][2], char["origin"][1]) for char in span["chars"]]
    turned: list[Char] = []
    for char in span["chars"]:
        box = pymupdf.Rect(char["bbox"]) * matrix
        turned.append((char["c"], box.x0, box.x1, (pymupdf.Point(char["origin"]) * matrix).y))
    return turned


def _overlapping(boxes: list[tuple[float, float, float, float]]) -> set[int]:
    """Indices of lines that stand in another's place for the width of a letter: perhaps fake bold."""
    found: set[int] = set()
    active: list[int] = []
    for index in sorted(range(len(boxes)), key=lambda index: boxes[index][1]):
        x0, y0, x1, y1 = boxes[index]
        active = [other for other in active if boxes[other][3] > y0]
        for other in active:
            left, top, right, bottom = boxes[other]
            low = min(y1 - y0, bottom - top)
            if min(x1, right) - max(x0, left) > 0.2 * low and min(y1, bottom) - max(y0, top) > 0.5 * low:
                found |= {index, other}
        active.append(index)
    return found


def _without_copies(chars: list[Char], size: float, seen: set[tuple[str, int, int]]) -> list[Char]:
    """Characters that were not printed here before: fake bold prints them two to four times.

    A copy lies over the first by more than half of its width; letters beside each other never do.
    """
    down = max(1.0, 0.12 * size)  # points between copies, one below the other
    kept: list[Char] = []
    for char in chars:
        reach = max(0.3, 0.25 * (char[2] - char[1]))
        x, y = round(char[1] / reach), round(char[3] / down)
        near = any((char[0], x + i, y + j) in seen for i in (-1, 0, 1) for j in (-1, 0, 1))
        if not near or char[0].isspace():
            kept.append(char)
        seen.add((char[0], x, y))
    return kept


def _is_watermark(span: dict[str, Any], page_width: float) -> bool:
    """Return whether a span is faint: transparent, or nearly white, or huge pale letters across the page."""
    color = span["color"]
    red, green, blue = color >> 16 & 255, color >> 8 & 255, color & 255
    lightness = (299 * red + 587 * green + 114 * blue) / 1000
    if span.get("alpha", 255) < 100 or lightness > 235:  # of 255
        return True
    return bool(span["size"] > page_width / 14 and lightness > 150)  # 42 points of A4


def _runs(chars: list[Char], size: float, font: str) -> Iterator[TextRun]:
    """The runs of a span: a wide gap, a step back or another baseline ends one."""
    narrow, back, shift = BREAK_GAP * size, -0.5 * size, 0.05 * size  # a step back: kerning, overprints
    part: list[str] = []
    left = right = end = base = start = 0.0
    spaced = False
    for text, x0, x1, y in chars:
        if text.isspace():
            spaced = True
            continue
        if part:
            if not back < x0 - end < narrow or not -shift <= y - base <= shift:
                yield _run(part, font, size, (left, right, start), spaced)
                part = []
            elif spaced:
                part.append(" ")
        if not part:
            left, right, start = x0, x1, y
        elif x1 > right:
            right = x1
        left = min(left, x0)
        part.append(text)
        end, base, spaced = x1, y, False
    if part:
        yield _run(part, font, size, (left, right, start), spaced)


def _run(part: list[str], font: str, size: float, place: tuple[float, float, float], spaced: bool) -> TextRun:
    left, right, baseline = place
    text = glyphs.fold("".join(part), font)
    box = Rect(left, baseline - _ASCENT * size, right, baseline + _DESCENT * size)
    return TextRun(text, box, baseline, size, space_after=spaced)
