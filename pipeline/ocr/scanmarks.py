"""Rules and figures on the image of a page: what is ink but not text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from pipeline.ocr.engines.base import Word

Pixels = NDArray[np.uint8]
Corners = tuple[int, int, int, int]
"""Left, top, right, bottom in pixels."""

_INK = 170
"""Grey level, 0..255, below which a pixel is ink on a cleaned page."""

_ACROSS, _DOWN = 1 / 20, 1 / 40
"""Shortest rule as a share of the page's width or height: longer than the strokes of any character."""

_MIN_FIGURE = 1 / 18
"""Shortest side of a figure as a share of the page's height: 47 points of A4, three lines of text."""

MAX_MARKS = 400
"""Rules of each direction that are kept, longest first: a grid of 400 cells has about 60."""


def find_marks(pixels: Pixels, words: Sequence[Word]) -> dict[str, list[Corners]]:
    """Rules ``across`` and ``down`` and other large ink (``figures``) of a cleaned, upright page, in pixels.

    Args:
        pixels: RGB, height x width x 3.
        words: what was recognised on it; their ink is text.
    """
    mask = ink(pixels)
    across, down = find_rules(mask)
    boxes = []
    for word in words:
        xs, ys = zip(*word.corners, strict=True)
        boxes.append((int(min(xs)), int(min(ys)), int(max(xs)) + 1, int(max(ys)) + 1))
    return {"across": across, "down": down, "figures": find_figures(mask, [*boxes, *across, *down])}


def ink(pixels: Pixels) -> Pixels:
    """1 where there is ink, else 0."""
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    return np.asarray(grey < _INK, dtype=np.uint8)


def find_rules(mask: Pixels) -> tuple[list[Corners], list[Corners]]:
    """Horizontal and vertical rules of an ink mask."""
    height, width = mask.shape
    across = _lines(mask, (max(20, int(width * _ACROSS)), 1))
    down = _lines(mask, (1, max(20, int(height * _DOWN))))
    return across, down


def _lines(mask: Pixels, kernel: tuple[int, int]) -> list[Corners]:
    # A rule that is slightly turned is a staircase: one pixel of thickness more joins its steps.
    thick = cv2.dilate(mask, np.ones((2, 1) if kernel[1] == 1 else (1, 2), np.uint8))
    opened = cv2.morphologyEx(thick, cv2.MORPH_OPEN, np.ones(kernel[::-1], np.uint8))
    opened = cv2.morphologyEx(opened, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))
    limit = max(6, int(0.006 * max(mask.shape)))
    found = [box for box, _ in _components(opened) if min(box[2] - box[0], box[3] - box[1]) <= limit]
    found.sort(key=lambda box: -max(box[2] - box[0], box[3] - box[1]))
    return sorted(found[:MAX_MARKS])


def _components(mask: Pixels) -> Iterable[tuple[Corners, int]]:
    """Boxes of connected parts of a mask and how many pixels each has."""
    count, _, stats, _ = cv2.connectedComponentsWithStats(mask)
    for left, top, width, height, area in stats[1:count].tolist():
        yield (left, top, left + width, top + height), area


def find_figures(mask: Pixels, known: Sequence[Corners]) -> list[Corners]:
    """Boxes of drawings and pictures: ink that is neither text nor a rule, joined over small gaps.

    Args:
        mask: of ink.
        known: boxes of recognised words and of rules.
    """
    height, width = mask.shape
    rest = mask.copy()
    for left, top, right, bottom in known:
        rest[max(0, top) : bottom, max(0, left) : right] = 0
    reach = max(3, height // 90)
    joined = cv2.morphologyEx(rest, cv2.MORPH_CLOSE, np.ones((reach, reach), np.uint8))
    least = height * _MIN_FIGURE
    found = []
    for box, _ in _components(joined):
        left, top, right, bottom = box
        big = (
            min(right - left, bottom - top) >= least
            and (right - left) * (bottom - top) < 0.8 * height * width
        )
        if big and rest[top:bottom, left:right].mean() > 0.01:
            found.append(box)
    return sorted(found)
