"""Images of lines: cut from the page, put level, brought to a recogniser's height."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

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

_WIDTHS = 32
"""Images are padded to multiples of this width: OpenVINO prepares for each width that it meets."""

_BATCH = 1280
"""Pixels of width in a batch: fewer calls for short lines, no more memory than one long line takes."""

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
    corners = box
    if high > _TALL * wide:
        corners, wide, high = np.roll(box, -1, axis=0), high, wide
    # First at the line's own size, then to the recogniser's: one step blurs what is enlarged.
    own = (int(wide), int(high))
    target = np.array([[0, 0], [own[0], 0], [own[0], own[1]], [0, own[1]]], dtype=np.float32)
    turn = cv2.getPerspectiveTransform(np.ascontiguousarray(corners, dtype=np.float32), target)
    level = cv2.warpPerspective(page, turn, own, flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    width = max(STEP, math.ceil(HEIGHT * own[0] / own[1] * squeeze))
    return np.asarray(cv2.resize(level, (width, HEIGHT)), dtype=np.uint8)


def batches(images: Sequence[Pixels]) -> Iterator[tuple[list[int], NDArray[np.float32]]]:
    """Indices of images of like width, and their pixels as a recogniser takes them, -1..1, narrow ones first."""
    order = sorted(range(len(images)), key=lambda index: (images[index].shape[1], index))
    start = 0
    while start < len(order):
        width = _padded(images[order[start]])
        stop = start
        while (
            stop < len(order)
            and _padded(images[order[stop]]) == width
            and (stop == start or (stop - start + 1) * width <= _BATCH)
        ):
            stop += 1
        chosen = order[start:stop]
        values = np.zeros((len(chosen), 3, HEIGHT, width), dtype=np.float32)
        for row, index in enumerate(chosen):
            image = images[index]
            values[row, :, :, : image.shape[1]] = image.transpose(2, 0, 1) / np.float32(127.5) - np.float32(1)
        yield chosen, values
        start = stop


def _padded(image: Pixels) -> int:
    return -(-image.shape[1] // _WIDTHS) * _WIDTHS
