"""Images of lines: cut from the page, put level, brought to a recogniser's height."""

from __future__ import annotations

import math

import cv2
import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
Box = NDArray[np.float32]
"""Four corners in pixels, clockwise from the top left as the text runs."""

HEIGHT = 48
"""Pixels, as PP-OCR's recognisers want it."""

STEP = 8
"""Pixels of width for each of a recogniser's steps."""

_NARROWEST, _GROWTH, _EVEN = 48, 1.1, 16
"""Images are padded to one of these widths: each a tenth more than the one before, and a multiple of 16 pixels.
OpenVINO keeps 2 to 5 MB for every shape that it meets: multiples of 32 in batches of any number made 98 shapes of
2,800 lines, these make 31 with 1.5 % more padding. A line by itself takes as long as its share of a batch."""

_TALL = 1.5
"""A box this many times as high as wide stands on end and is laid down, as PaddleOCR does."""


def cut(page: Pixels, box: Box, squeeze: float) -> Pixels | None:
    """The image of a line, ``HEIGHT`` pixels high; None for a box without area.

    Args:
        page: height x width x 3.
        box: of the line.
        squeeze: factor on its width.
    """
    top, bottom = np.linalg.norm(box[0] - box[1]), np.linalg.norm(box[2] - box[3])
    left, right = np.linalg.norm(box[0] - box[3]), np.linalg.norm(box[1] - box[2])
    wide, high = float(max(top, bottom)), float(max(left, right))
    if min(wide, high) < 2:
        return None
    corners, page = _around(page, box)
    if high > _TALL * wide:
        corners, wide, high = np.roll(corners, -1, axis=0), high, wide
    # First at the line's own size, then to the recogniser's: one step blurs what is enlarged.
    own = (int(wide), int(high))
    target = np.array([[0, 0], [own[0], 0], [own[0], own[1]], [0, own[1]]], dtype=np.float32)
    turn = cv2.getPerspectiveTransform(np.ascontiguousarray(corners, dtype=np.float32), target)
    level = cv2.warpPerspective(page, turn, own, flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    width = max(STEP, math.ceil(HEIGHT * own[0] / own[1] * squeeze))
    return np.asarray(cv2.resize(level, (width, HEIGHT)), dtype=np.uint8)


def _around(page: Pixels, box: Box) -> tuple[Box, Pixels]:
    """A box and the piece of the page around it: OpenCV warps no image with a side of 32,767 pixels."""
    left, top = (max(0, math.floor(side) - _MARGIN) for side in box.min(axis=0))
    right, bottom = (math.ceil(side) + _MARGIN for side in box.max(axis=0))
    return box - np.array([left, top], dtype=np.float32), page[top:bottom, left:right]


_MARGIN = 4
"""Pixels around a box that interpolation may look at."""


def squeezed(image: Pixels, factor: float) -> Pixels:
    """A line, narrower by ``factor``."""
    if factor == 1:
        return image
    width = max(STEP, math.ceil(image.shape[1] * factor))
    return np.asarray(cv2.resize(image, (width, HEIGHT), interpolation=cv2.INTER_AREA), dtype=np.uint8)


def values_of(image: Pixels) -> NDArray[np.float32]:
    """A line as a recogniser takes it: 1 x 3 x ``HEIGHT`` x padded width, -1..1."""
    width = image.shape[1]
    values = np.zeros((1, 3, HEIGHT, padded(width)), dtype=np.float32)
    values[0, :, :, :width] = image.transpose(2, 0, 1) / np.float32(127.5) - np.float32(1)
    return values


def padded(width: int) -> int:
    """The width in pixels to which an image of this width is padded."""
    found = _NARROWEST
    while found < width:
        found = max(found + _EVEN, math.ceil(found * _GROWTH / _EVEN) * _EVEN)
    return found
