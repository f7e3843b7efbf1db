"""The angle at which a page was laid on the scanner, from the lines found on it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, cos, degrees, hypot, radians, sin

from pipeline.ocr.engines.base import Word
from pipeline.ocr.model import Rect

MAX_SKEW = 8.0
"""Degrees; a steeper page is not straightened."""

SLANT = 12.0
"""Degrees off the page's own angle from which a word is a watermark."""

_MIN_ANGLE = 0.15
"""Degrees below which straightening changes nothing: 2 points over the width of a page."""

Point = tuple[float, float]


def page_angle(words: Sequence[Word]) -> float:
    """Median angle of the words in degrees, weighted by their length; 0 when small or unclear.

    Args:
        words: with corners as the text runs: top left, top right, bottom right, bottom left.
    """
    angles = sorted((angle, length) for word in words for angle, length in [_direction(word)])
    angles = [(angle, length) for angle, length in angles if abs(angle) <= MAX_SKEW]
    half = sum(length for _, length in angles) / 2
    for angle, length in angles:
        half -= length
        if half <= 0:
            return angle if abs(angle) >= _MIN_ANGLE else 0.0
    return 0.0


def _direction(word: Word) -> tuple[float, float]:
    """Angle in degrees of a word's middle line, and its length."""
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = word.corners[:4]
    dx, dy = (x1 + x2 - x0 - x3) / 2, (y1 + y2 - y0 - y3) / 2
    return degrees(atan2(dy, dx)), hypot(dx, dy)


def is_slanted(word: Word, angle: float) -> bool:
    """Whether a word of several characters runs at another angle than its page: a watermark."""
    own, length = _direction(word)
    long = len(word.text) > 1 and length > 1.5 * word_height(word)
    return long and SLANT < abs(own - angle) < 90 - SLANT


def word_height(word: Word) -> float:
    """Height of a word across its own direction."""
    (x0, y0), (_, _), (_, _), (x3, y3) = word.corners[:4]
    return hypot(x0 - x3, y0 - y3)


def turn(point: Point, angle: float, centre: Point) -> Point:
    """A point turned clockwise (as seen, y down) by ``angle`` degrees around ``centre``."""
    c, s = cos(radians(angle)), sin(radians(angle))
    x, y = point[0] - centre[0], point[1] - centre[1]
    return centre[0] + c * x - s * y, centre[1] + s * x + c * y


def moved(box: Rect, angle: float, centre: Point) -> Rect:
    """A box whose middle is turned by ``angle`` degrees around ``centre``; its sides stay level."""
    middle = ((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2)
    x, y = turn(middle, angle, centre)
    dx, dy = x - middle[0], y - middle[1]
    return Rect(box.x0 + dx, box.y0 + dy, box.x1 + dx, box.y1 + dy)
