"""Does a page's text layer cover the text that is printed on it?

Ink that looks like lines of text, and is none of the layer's, is text that only OCR can read: a scan with a digital
head, a page half of which is a picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from pipeline.ocr.model import Rect
from pipeline.ocr.mupdf import pymupdf

DPI = 100
"""Resolution at which lines are looked for: type of 6 pt is 8 pixels high."""

_DARK = 40
"""Least difference between ink and the paper around it, 0..255."""

_LETTER = (4, 34)
"""Height in pixels of what may be a letter: 3 to 24 pt."""

_MIN_LINE = 48
"""Width in pixels of a line of text at least: three or four characters of 10 pt."""

_SHAPE = 2.5
"""Width of a line over its height at least."""

_LETTERS = 4
"""Letters of a line at least."""

Mask = NDArray[np.uint8]


def unread_lines(page: Any, read: Sequence[Rect], areas: Sequence[Rect]) -> float:
    """Length in points of what looks like lines of text and is none of the text layer's.

    Args:
        page: a PyMuPDF page.
        read: boxes of the layer's text as displayed, in points.
        areas: where to look, as displayed.
    """
    pixmap = page.get_pixmap(dpi=DPI, colorspace=pymupdf.csGRAY, alpha=False)
    grey = np.frombuffer(pixmap.samples, dtype=np.uint8).reshape(pixmap.height, pixmap.stride)
    ink = _ink(grey[:, : pixmap.width])
    looked = np.zeros_like(ink)
    _fill(looked, areas, 1, 0.0)
    _fill(looked, read, 0, 1.5)
    return sum(_line_lengths(ink & looked)) * 72 / DPI


def _fill(mask: Mask, boxes: Sequence[Rect], value: int, margin: float) -> None:
    scale = DPI / 72
    for box in boxes:
        left, top = (max(0, int((edge - margin) * scale)) for edge in (box.x0, box.y0))
        right, bottom = (max(0, int((edge + margin) * scale) + 1) for edge in (box.x1, box.y1))
        mask[top:bottom, left:right] = value


def _ink(grey: Mask) -> Mask:
    """Return where something is printed: darker than its surroundings, whatever the paper's own grey."""
    paper = cv2.morphologyEx(grey, cv2.MORPH_CLOSE, np.ones((25, 25), np.uint8))
    return np.asarray(cv2.subtract(paper, grey) > _DARK, dtype=np.uint8)


def _line_lengths(ink: Mask) -> list[float]:
    """Widths in pixels of the rows of letters among the ink."""
    letters, centres = _letters(ink)
    joined = cv2.dilate(letters, np.ones((1, 17), np.uint8))
    count, labels, stats, _ = cv2.connectedComponentsWithStats(joined)
    held = np.bincount(labels[centres[:, 1], centres[:, 0]], minlength=count)
    lengths: list[float] = []
    for label in range(1, count):
        _, _, width, height, _ = stats[label]
        if width >= _MIN_LINE and width >= _SHAPE * height and height <= 1.5 * _LETTER[1]:
            lengths += [float(width)] if held[label] >= _LETTERS else []
    return lengths


def _letters(ink: Mask) -> tuple[Mask, NDArray[np.int64]]:
    """The ink of parts as large as letters, and a point (x, y) inside each box of such a part."""
    _, labels, stats, _ = cv2.connectedComponentsWithStats(ink)
    width, height, area = stats[:, 2], stats[:, 3], stats[:, 4]
    low, high = _LETTER
    chosen = (height >= low) & (height <= high) & (width <= 2 * high) & (area >= 0.1 * width * height)
    chosen[0] = False
    kept = np.asarray(chosen[labels], dtype=np.uint8)
    centres = np.column_stack([stats[chosen, 0] + width[chosen] // 2, stats[chosen, 1] + height[chosen] // 2])
    return kept, centres.astype(np.int64)
