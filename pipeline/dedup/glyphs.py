"""Characters that look alike on paper, by their pictures: no list has to know them.

The pictures come from the font inside PyMuPDF, blurred as a scan blurs them.
"""

from __future__ import annotations

import io
from functools import cache

import numpy as np
import pymupdf
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter, ImageFont

_SIZE, _MARGIN, _BLUR = 32, 4, 2.0
_ALIKE = 0.935
"""Least correlation of two pictures: one in a thousand pairs of common characters reaches it (己 / 已 .95, 髂 / 骼 .98,
瘘 / 瘦 .97; 栓 / 膜 .86, 雷 / 依 .85, 轻 / 中 .59)."""
_RATHER_ALIKE = 0.89
"""The same where something else vouches for the two being one: one in ten pairs."""
_TYPED = frozenset(["0oO", "1lI|", "一—─-", "5S"])
"""Signs that keyboards and recognition exchange."""


def look_alike(first: str, second: str, *, loosely: bool = False) -> bool:
    """Whether two characters are easily taken for each other."""
    if any(first in signs and second in signs for signs in _TYPED):
        return True
    return float((_picture(first) * _picture(second)).sum()) >= (_RATHER_ALIKE if loosely else _ALIKE)


@cache
def _picture(char: str) -> NDArray[np.float32]:
    """A character's picture, so that the sum of products of two is their correlation."""
    edge = _SIZE + 2 * _MARGIN
    drawn = Image.new("L", (edge, edge))
    ImageDraw.Draw(drawn).text((_MARGIN, 0), char, font=_font(), fill=255)
    pixels = np.asarray(drawn.filter(ImageFilter.GaussianBlur(_BLUR)), np.float32)
    centred: NDArray[np.float32] = pixels - pixels.mean()
    centred /= max(float(np.linalg.norm(centred)), 1e-9)
    return centred


@cache
def _font() -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(io.BytesIO(pymupdf.Font("cjk").buffer), _SIZE)
