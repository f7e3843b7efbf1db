"""A small typesetter: blocks of Chinese exam text flow into the columns of A4 pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import pymupdf

from renderer.figures import FIGURES

WIDTH, HEIGHT = 595.0, 842.0
MARGIN = 62.0
TOP, BOTTOM = 78.0, 770.0
_NOT_FIRST = "，。；：！？、）】》”’％%℃/～"
_NOT_LAST = "（【《“‘＜≥≤"
_SCRIPTS = {
    **{char: (digit, -0.36) for char, digit in zip("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789", strict=True)},
    **{char: (digit, 0.16) for char, digit in zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True)},
}
_SCRIPT_SIZE = 0.62
LEADING = 1.5


@cache
def font() -> pymupdf.Font:
    """The font that ships inside PyMuPDF and has Chinese glyphs (Droid Sans Fallback)."""
    return pymupdf.Font("cjk")


@dataclass(frozen=True)
class Text:
    """A paragraph.

    Attributes:
        size: font size in points.
        indent: of the first line, in em.
        hang: of the following lines, in em.
        before: space above in points.
        centred: set in the middle of the column.
        spanning: set across both columns.
    """

    text: str
    size: float = 10.5
    indent: float = 0.0
    hang: float = 0.0
    before: float = 0.0
    centred: bool = False
    spanning: bool = False


@dataclass(frozen=True)
class Cells:
    """Texts side by side at equal distances: short options on one line."""

    texts: tuple[str, ...]
    columns: int
    size: float = 10.5
    indent: float = 1.6


@dataclass(frozen=True)
class Figure:
    """A vector drawing by its name in ``FIGURES``."""

    name: str
    height: float = 84.0


@dataclass(frozen=True)
class Table:
    """A ruled table; the first row is its head."""

    rows: tuple[tuple[str, ...], ...]
    size: float = 9.5
    wide_first: float = 1.0


Block = Text | Cells | Figure | Table


def width_of(text: str, size: float) -> float:
    """Width of a line in points, super- and subscripts at their own size."""
    return sum(_char_width(char, size) for char in text)


def _char_width(char: str, size: float) -> float:
    shown, scale = (_SCRIPTS[char][0], _SCRIPT_SIZE) if char in _SCRIPTS else (char, 1.0)
    return float(font().text_length(shown, size * scale))


def wrap(text: str, size: float, width: float, indent: float = 0.0, hang: float = 0.0) -> list[str]:
    """Break a paragraph into lines, not before closing nor after opening punctuation nor inside a word."""
    lines: list[str] = []
    line, used = "", indent
    for token in _tokens(text):
        needed = width_of(token, size)
        if line and used + needed > width:
            lines.append(line.rstrip(" "))
            line, used = "", hang
            token = token.lstrip(" ")
            needed = width_of(token, size)
        line += token
        used += needed
    return [*lines, line] if line else lines


def _tokens(text: str) -> Iterator[str]:
    """Pieces that may not be broken: words, numbers with units, characters with their punctuation."""
    token = ""
    for index, char in enumerate(text):
        token += char
        following = text[index + 1 : index + 2]
        both_latin = _latin(char) and following != "" and _latin(following)
        if both_latin or char in _NOT_LAST or (following and following in _NOT_FIRST):
            continue
        yield token
        token = ""
    if token:
        yield token


def _latin(char: str) -> bool:
    return (char.isascii() and not char.isspace()) or char in _SCRIPTS or char in "μ×"


class Sheet:
    """Pages being filled, column by column."""

    def __init__(self, columns: int, gap: float = 24.0) -> None:
        self.document = pymupdf.open()
        self._columns = columns
        self._gap = gap
        self._page: pymupdf.Page | None = None
        self._column = 0
        self._top = TOP
        self._y = TOP

    def set(self, blocks: Sequence[Block]) -> None:
        """Set blocks one below the other, opening columns and pages as needed."""
        for block in blocks:
            if isinstance(block, Text):
                self._set_text(block)
            elif isinstance(block, Cells):
                self._set_cells(block)
            elif isinstance(block, Figure):
                self._set_figure(block)
            else:
                self._set_table(block)

    def _width(self) -> float:
        return (WIDTH - 2 * MARGIN - self._gap * (self._columns - 1)) / self._columns

    def _left(self) -> float:
        return MARGIN + self._column * (self._width() + self._gap)

    def _room(self, height: float) -> pymupdf.Page:
        if self._page is None:
            self._page = self.document.new_page(width=WIDTH, height=HEIGHT)
        elif self._y + height > BOTTOM:
            self._column += 1
            if self._column == self._columns:
                self._page = self.document.new_page(width=WIDTH, height=HEIGHT)
                self._column, self._top = 0, TOP
            self._y = self._top
        return self._page

    def _set_text(self, block: Text) -> None:
        width = WIDTH - 2 * MARGIN if block.spanning else self._width()
        em = block.size
        self._y += block.before
        for index, line in enumerate(wrap(block.text, em, width, block.indent * em, block.hang * em)):
            page = self._room(em * LEADING)
            x = self._left() + (block.indent if index == 0 else block.hang) * em
            if block.centred:
                x = self._left() + (width - width_of(line, em)) / 2
            write(page, x, self._y + em, line, em)
            self._y += em * LEADING
        if block.spanning:
            self._y += 6
            self._top = self._y

    def _set_cells(self, block: Cells) -> None:
        step = (self._width() - block.indent * block.size) / block.columns
        for start in range(0, len(block.texts), block.columns):
            page = self._room(block.size * LEADING)
            for index, text in enumerate(block.texts[start : start + block.columns]):
                x = self._left() + block.indent * block.size + index * step
                write(page, x, self._y + block.size, text, block.size)
            self._y += block.size * LEADING

    def _set_figure(self, block: Figure) -> None:
        page = self._room(block.height + 12)
        box = pymupdf.Rect(self._left() + 24, self._y + 4, self._left() + self._width() - 24, 0)
        box.y1 = box.y0 + block.height
        FIGURES[block.name](page, box)
        self._y += block.height + 12

    def _set_table(self, block: Table) -> None:
        row_height = block.size * 1.9
        page = self._room(row_height * len(block.rows) + 12)
        columns = len(block.rows[0])
        left, top = self._left() + 8, self._y + 4
        unit = (self._width() - 16) / (columns - 1 + block.wide_first)
        edges = [left] + [left + unit * (index + block.wide_first) for index in range(columns)]
        for index, row in enumerate(block.rows):
            y = top + index * row_height
            for cell, text in enumerate(row):
                x = (edges[cell] + edges[cell + 1] - width_of(text, block.size)) / 2
                write(page, x, y + block.size * 1.3, text, block.size)
        bottom = top + row_height * len(block.rows)
        for index in range(len(block.rows) + 1):
            y = top + index * row_height
            page.draw_line((edges[0], y), (edges[-1], y), width=0.6)
        for x in edges:
            page.draw_line((x, top), (x, bottom), width=0.6)
        self._y = bottom + 8


def write(page: pymupdf.Page, x: float, y: float, text: str, size: float) -> None:
    """Write a line at its baseline; super- and subscripts are small and shifted, as printers set them."""
    writer = pymupdf.TextWriter(page.rect)
    run = ""
    for char in text:
        if char in _SCRIPTS:
            x, run = _append(writer, x, y, run, size), ""
            digit, shift = _SCRIPTS[char]
            x = _append(writer, x, y + shift * size, digit, size * _SCRIPT_SIZE)
        else:
            run += char
    _append(writer, x, y, run, size)
    writer.write_text(page)


def _append(writer: pymupdf.TextWriter, x: float, y: float, run: str, size: float) -> float:
    if not run:
        return x
    writer.append((x, y), run, font=font(), fontsize=size)
    return x + float(font().text_length(run, size))


def furnish(document: pymupdf.Document, header: str, footer: str) -> None:
    """Put running heads, footers and page numbers on every page."""
    for number, page in enumerate(document, start=1):
        write(page, MARGIN, 52, header, 8.5)
        page.draw_line((MARGIN, 58), (WIDTH - MARGIN, 58), width=0.5)
        foot = f"{footer}　　第{number}页　共{len(document)}页"
        write(page, (WIDTH - width_of(foot, 8.5)) / 2, 802, foot, 8.5)


def to_bytes(document: pymupdf.Document, title: str) -> bytes:
    """The PDF with subset fonts and nothing that changes from run to run: no dates, no random id."""
    document.subset_fonts()
    stamp = "D:20240301080000+08'00'"
    document.set_metadata({"title": title, "creationDate": stamp, "modDate": stamp, "producer": "", "creator": ""})
    return bytes(document.tobytes(garbage=3, deflate=True, use_objstms=1, no_new_id=True))
