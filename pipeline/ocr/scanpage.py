"""Lines of a page from its recognised words: straightened, laid out, watermarks left out. Pure."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import atan2, cos, degrees, hypot, radians, sin
from typing import Any

import numpy as np

from build_dataset.pipeline.ocr import layout
from build_dataset.pipeline.ocr.flatten import unflatten
from build_dataset.pipeline.ocr.glyphs import is_cjk
from build_dataset.pipeline.ocr.interfaces import Doubt, Word
from build_dataset.pipeline.ocr.language.counts import Language
from build_dataset.pipeline.ocr.language.decoding import decode
from build_dataset.pipeline.ocr.model import PageLine, PageRead, Rect, TextRun, Unsure
from build_dataset.pipeline.ocr.regions import Drawing, cell_rules, find_scan_regions
from build_dataset.schemas.documents import ReadMethod

_DESCENT = 0.2  # Distance that a line's box reaches below its baseline, in heights of the box
MAX_SKEW = 8.0  # Degrees; a steeper page is not straightened
SLANT = 12.0  # Degrees off the page's own angle from which a word is a watermark
_LARGE, _ROWS = 1.8, 0.3
"""Size of a watermark's word beside the words that it stands among, and distance of their rows beside its own size."""
_MIN_ANGLE = 0.15  # Degrees below which straightening changes nothing: 2 points over the width of a page
_LABEL = re.compile(r"(?:^|(?<=[\t ]))[(（]?([A-H8])(?:\s?[.．、)）:：]\s?(?=\D)|(?=[^\W\dA-Za-z_]))")
_HALF = re.compile("[(（][A-H][)）][(（][A-H][^)）]")  # (C) and (D甲
Point = tuple[float, float]


def words_of(rows: Sequence[Sequence[Any]], legibility: float = 1.0) -> list[Word]:
    """Return stored words; their places are in points. Confidence is lowered where the engine tells no doubts."""
    corners = [tuple(zip(row[1:9:2], row[2:9:2], strict=True)) for row in rows]
    doubts = [tuple(Doubt(*doubt) for doubt in row[10]) if len(row) > 10 else None for row in rows]
    sure = [row[9] * (legibility if told is None else 1) for row, told in zip(rows, doubts, strict=True)]
    return [Word(row[0], *rest) for row, *rest in zip(rows, corners, sure, doubts, strict=True)]


def page_angle(words: Sequence[Word]) -> float:
    """Median angle of the words in degrees, weighted by their length; 0 when small or unclear."""
    angles = [found for found in sorted(map(_direction, words)) if abs(found[0]) <= MAX_SKEW]
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
    """Return whether a word of several characters runs at another angle than its page: a watermark."""
    own, length = _direction(word)
    long = len(word.text) > 1 and length > 1.5 * word.height  # a single 字 has no direction
    return long and SLANT < abs(own - angle) < 90 - SLANT


def is_across_rows(word: Word, words: Sequence[Word]) -> bool:
    """Return whether a word is as high as two rows of the words beside it: one of a watermark, 网 behind options."""
    low, high = word.box[1], word.box[3]
    middles = sorted((one.box[1] + one.box[3]) / 2 for one in words if word_size(one) * _LARGE < word_size(word))
    within = [middle for middle in middles if low < middle < high]
    return len(within) > 1 and within[-1] - within[0] > _ROWS * word_size(word)


def word_size(word: Word) -> float:
    """Return the lesser side of a word's box: a word may stand on end."""
    return min(word.height, _direction(word)[1])


def rotate_point(point: Point, angle: float, centre: Point) -> Point:
    """A point turned clockwise (as seen, y down) by ``angle`` degrees around ``centre``."""
    c, s = cos(radians(angle)), sin(radians(angle))
    x, y = point[0] - centre[0], point[1] - centre[1]
    return centre[0] + c * x - s * y, centre[1] + s * x + c * y


def rotate_box(box: Rect, angle: float, centre: Point) -> Rect:
    """A box whose middle is turned by ``angle`` degrees around ``centre``; its sides stay level."""
    middle = (box.x0 + box.x1) / 2
    x, y = rotate_point((middle, box.middle), angle, centre)
    dx, dy = x - middle, y - box.middle
    return Rect(box.x0 + dx, box.y0 + dy, box.x1 + dx, box.y1 + dy)


def _size(word: Word, box: Rect) -> float:
    """Font size of a word in points: the width of an ideograph, else a share of the box's height.

    Detection draws boxes 1.2 to 1.6 times as high as the type, by an amount that varies from word to word.
    """
    height = word.height
    ideographs = sum(map(is_cjk, word.text))
    if ideographs >= 4 and ideographs >= 0.8 * len(word.text):
        return min(max(box.width / len(word.text), 0.55 * height), height)
    return 0.72 * height


def _part(text: str, at: int, box: Rect) -> Rect:
    """Return about where a character of a word stands: ideographs are twice as wide as letters."""
    widths = [2 if is_cjk(char) else 1 for char in text]
    step = box.width / max(1, sum(widths))
    left = box.x0 + step * sum(widths[:at])
    return Rect(left, box.y0, left + step * sum(widths[at : at + 1]), box.y1)


def to_page(seen: dict[str, Any], reason: str, engine: str, version: str, language: Language | None = None) -> PageRead:
    """The page that ``recognise`` saw, laid out in lines.

    Slanted words (watermarks) are left out; a slightly turned page is straightened for layout, not its boxes.
    Words with doubts are decoded with ``language``; the page's legibility lowers the confidence of others.
    """
    words = words_of(seen["words"], seen["legibility"])
    if language is not None and all(word.doubts is not None for word in words):
        words = decode(words, language)
    angle = page_angle(words)
    centre = (seen["width"] / 2, seen["height"] / 2)
    runs = []
    for word in (word for word in words if not is_slanted(word, angle) and not is_across_rows(word, words)):
        level = replace(word, corners=tuple(rotate_point(point, -angle, centre) for point in word.corners))
        box = Rect(*level.box)
        baseline = box.y1 - _DESCENT * box.height
        unsure = tuple(one._replace(box=_part(word.text, one.at, box)) for one in word.unsure)
        runs.append(TextRun(word.text, box, baseline, _size(word, box), word.confidence, unsure=unsure))
    frame = Rect(0.0, 0.0, seen["width"], seen["height"])
    marks = (seen["marks"].get(kind, ()) for kind in ("across", "down", "figures"))
    across, down, figures = ([rotate_box(Rect(*box), -angle, centre) for box in boxes] for boxes in marks)
    drawing = Drawing(across, down, [], figures)
    regions = find_scan_regions(drawing, runs, frame)
    lines = layout.arrange(runs, regions, frame, cell_rules(drawing, regions))
    _mend_labels(lines)
    nodes = np.array(seen["nodes"]) if "nodes" in seen else None

    def as_it_was(box: Rect) -> Rect:
        turned = rotate_box(box, angle, centre) if angle else box
        return turned if nodes is None else unflatten(turned, nodes, seen["width"], seen["height"])

    for line in lines:
        line.box = line.box and as_it_was(line.box)
        line.unsure = tuple(one._replace(box=one.box and as_it_was(one.box)) for one in line.unsure)
    if turned := seen["turned"]:
        reason += f": turned by {turned} degrees"
    elif seen["legibility"] < 1:
        reason += ": dark or uneven paper"
    return PageRead(frame.x1, frame.y1, ReadMethod.OCR, engine, version, reason, lines, turned)


def _mend_labels(lines: Sequence[PageLine]) -> None:
    """Make an 8 between the labels A and C the B that it is, and close the bracket of (D甲 behind (C), in place."""
    labels = [(line, found.start(1)) for line in lines for found in _LABEL.finditer(line.text)]
    for (last, start), (line, at) in reversed([*pairwise(labels)]):
        pair = last.text[max(0, start - 1) : start + 2] + line.text[max(0, at - 1) : at + 2]
        if _HALF.fullmatch(pair) and ord(pair[4]) == ord(pair[1]) + 1:
            line.text = f"{line.text[: at + 1]}){line.text[at + 1 :]}"
            line.unsure += (Unsure(pair[3:5], ")", line.text[at + 2 : at + 8], None, 1.0, at + 1),)
    for before, (line, at), after in zip(labels, labels[1:], labels[2:], strict=False):
        if "".join(one.text[start] for one, start in (before, (line, at), after)) == "A8C":
            line.text = f"{line.text[:at]}B{line.text[at + 1 :]}"
            line.unsure += (Unsure("", "B", line.text[at + 1 : at + 8], "8", 1.0, at),)
