"""Pictures much higher than wide, such as long screenshots: pages below each other. Pure."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]

TALL = 2.5
"""Height over width from which a picture is more than one page: telephones' screens have up to 2.3."""

_PAGE = 1.5
"""Height over width of its pages."""

_MOST, _LEAST = 100, 400
"""Pages of one picture at most, and rows of pixels of a page at least."""

_REACH = 0.25
"""Share of a page by which its end may be moved up to stand between two lines."""


def page_count(width: int, height: int) -> int:
    """How many pages a picture of so many pixels is read as."""
    if height <= TALL * width:
        return 1
    return max(1, min(_MOST, math.ceil(height / (_PAGE * width)), height // _LEAST))


def pages(pixels: Pixels) -> list[tuple[int, int]]:
    """First and last row, the last one not included, of the pages of a picture: height x width x 3.

    Each break stands in the middle of the widest white space near its place, so that no line is cut in two.
    """
    height, width = pixels.shape[:2]
    count = page_count(width, height)
    ends = [0]
    for page in range(1, count):
        end = page * height // count
        start = end - int(_REACH * height / count)
        ends.append(start + _calmest(pixels[start:end]))
    return list(pairwise([*ends, height]))


def _calmest(rows: Pixels) -> int:
    """Middle of the longest run of rows that are as even as the evenest one, up to a hundredth of the liveliest."""
    changes = np.abs(np.diff(rows.max(axis=2).astype(np.int16), axis=1)).sum(axis=1)
    low, high = int(changes.min()), int(changes.max())
    calm = np.concatenate([[False], changes <= low + (high - low) // 100, [False]])
    edges = np.flatnonzero(calm[1:] != calm[:-1]).reshape(-1, 2)
    start, stop = edges[(edges[:, 1] - edges[:, 0]).argmax()]
    return int(start + stop) // 2
