"""A printed paper as a PDF with a text layer."""

from __future__ import annotations

from collections.abc import Sequence

import pymupdf

SIZE, LEADING, MARGIN = 10.5, 16.0, 48.0
"""Font size, distance of baselines and margins in points."""
PAGE = (595.0, 842.0)
COLUMN_GAP = 24.0


def to_pdf(pages: Sequence[Sequence[str]], *, columns: int = 1) -> bytes:
    """One PDF page a page of lines; what tabs part stands in columns of equal width.

    Args:
        pages: lines of text.
        columns: of the page: the first half of a page's lines stands left, the second right.
    """
    document = pymupdf.open()
    font = pymupdf.Font("cjk")
    for lines in pages:
        page = document.new_page(width=PAGE[0], height=PAGE[1])
        writer = pymupdf.TextWriter(page.rect)
        half = -(-len(lines) // columns)
        width = (PAGE[0] - 2 * MARGIN - (columns - 1) * COLUMN_GAP) / columns
        for index, line in enumerate(lines):
            left = MARGIN + (index // half) * (width + COLUMN_GAP)
            _write(writer, font, line, left, MARGIN + (1 + index % half) * LEADING, width)
        writer.write_text(page)
    return bytes(document.tobytes(deflate=True, no_new_id=True))


def _write(writer: pymupdf.TextWriter, font: pymupdf.Font, line: str, left: float, base: float, width: float) -> None:
    cells = line.split("\t")
    for place, cell in enumerate(cells):
        if cell.strip():
            writer.append((left + place * width / len(cells), base), cell, font=font, fontsize=SIZE)
