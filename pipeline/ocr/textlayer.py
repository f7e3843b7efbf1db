"""The text layer of a PDF page: its glyphs as runs in displayed coordinates."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from build_dataset.pipeline.ocr import glyphs
from build_dataset.pipeline.ocr.model import Rect, TextRun
from build_dataset.pipeline.ocr.mupdf import pymupdf

FLAGS = pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP | pymupdf.TEXT_INHIBIT_SPACES
FLAGS |= pymupdf.TEXT_COLLECT_STYLES  # of letters that are printed twice to look bold MuPDF tells one
BREAK_GAP = 0.3
"""Gap in em at which a run ends, far below ``layout.TAB_GAP``: layout decides what the gap means, and a symbol
that the producer printed on its own finds its place inside: the italic n of O(n), .36 em, the 4 of 2⁴(."""
_ASCENT, _DESCENT = 0.88, 0.18
"""Top and bottom of a line's box above and below its baseline, in em: fonts' own values are off by up to 40 %."""
SMALLEST = 2.0  # Points below which nobody reads a glyph: Acrobat puts ones of 1 pt (ZWAdobeF) where a line was edited
Char = tuple[str, float, float, float]  # A character, its left and right edge and its baseline in points


@dataclass(slots=True)
class TextLayer:
    """The content of a page's text layer."""

    runs: list[TextRun] = field(default_factory=list)
    glyphs: int = 0  # Visible characters, watermarks included
    turned: int = 0  # Visible characters that do not run from left to right
    hidden: int = 0  # Characters that are there and not shown, as OCR programs put them behind a scan

    @property
    def text(self) -> str:
        """The visible level characters in stored order, folded."""
        return "".join(run.text for run in self.runs)


def read_text_layer(page: Any) -> tuple[list[dict[str, Any]], TextLayer]:
    """PyMuPDF's description of a page's images, and its runs of text without watermarks."""
    layer = TextLayer()
    lines = [line for block in page.get_text("rawdict", flags=FLAGS)["blocks"] for line in block.get("lines", ())]
    page_width = page.rect.width
    for line in lines:
        dx, dy = line["dir"]
        level = dx > 0.99 and abs(dy) < 0.1  # up to 5.7 degrees
        for span in line["spans"]:
            chars = [(char["c"], char["bbox"][0], char["bbox"][2], char["origin"][1]) for char in span["chars"]]
            visible = len("".join("".join([char[0] for char in chars]).split()))
            layer.glyphs += visible
            if span.get("alpha", 255) == 0 or span["size"] < SMALLEST:
                layer.hidden += visible
            elif not level:
                layer.turned += visible
            elif not _is_watermark(span, page_width):
                layer.runs.extend(_runs(chars, span["size"], span["font"]))
    return page.get_image_info(), layer


def _is_watermark(span: dict[str, Any], page_width: float) -> bool:
    """Return whether a span is faint: transparent, or nearly white, or huge pale letters across the page."""
    color = span["color"]
    red, green, blue = color >> 16 & 255, color >> 8 & 255, color & 255
    lightness = (299 * red + 587 * green + 114 * blue) / 1000
    huge = span["size"] > page_width / 14  # 42 points of A4
    return bool(span.get("alpha", 255) < 100 or lightness > 235 or (huge and lightness > 150))  # of 255


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
