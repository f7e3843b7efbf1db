"""Numbers before their lines: detection, which sees a page made small, overlooks a lone 1; reading glues 11 to A."""

import re
from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np

from build_dataset.pipeline.ocr.images import Corners
from build_dataset.pipeline.ocr.interfaces import OcrEngine, Pixels, Word

_INK = 160  # Grey level, 0..255, below which a pixel is ink: a thin 1 is blurred
_EM = 0.75  # Size of type as a share of the height of a word's box
_REACH = 5.0  # Distance in em from a number to its line, at most
_WIDE = 2.2  # Width in em of a number of three digits
_APART = 0.7  # White space in em after a number that stands by itself: between letters there is up to .3
_MOST = 30  # Numbers looked at on a page: each costs the reading of a few characters
_CONTEXT = 4  # Em of the line that are read with its number, so that it is no longer alone
_SAME = 1  # First characters of the line that must be read as before; of one that begins with a digit twice as many


def with_numbers(engine: OcrEngine, pixels: Pixels, words: Sequence[Word]) -> list[Word]:
    """Return the words of an upright page with the numbers left of lines that are not among them, none glued."""
    if not words:
        return []
    em = _EM * float(np.median([_height(word) for word in words]))
    found = [_apart(word, pixels, em) for word in words]
    for box, word in _candidates(pixels, words, em)[:_MOST]:
        read = sorted(engine.recognise(_beside(pixels, box, word, em)), key=lambda one: one.box[0])
        text = "".join("".join(one.text for one in read).split())
        line = "".join(word.text.split())
        start = line[: 2 * _SAME if line[:1].isdecimal() else _SAME]
        number = text[: text.find(start, 1)] if start in text[1:5] else ""
        if re.fullmatch(r"\d{1,3}[.．、]?", number):
            left, right, middle, half = float(box[0]), float(box[2]), _level(word, box[0]), _height(word) / 2
            low, high = middle - half, middle + half  # as high as its line, in whose row it stands
            corners = ((left, low), (right, low), (right, high), (left, high))
            own = read[0].doubts and tuple(doubt for doubt in read[0].doubts if doubt.at < len(number))
            found.append(Word(number, corners, min(one.confidence for one in read), own))
    return found


def _apart(word: Word, pixels: Pixels, em: float) -> Word:
    """Return a word with a space after the number that begins it, where white space parts the two: 11 A向甲借款."""
    number = re.match(r"\d{1,3}(?=[^\W\d_])", word.text)
    left, middle = int(word.box[0]), _level(word, word.box[0])
    top, bottom = max(0, int(middle - 0.5 * em)), int(middle + 0.5 * em)
    part = pixels[top:bottom, max(0, left) : left + round(4 * em)]
    if not number or not part.size:
        return word
    inked = np.flatnonzero(part.min(axis=(0, 2)) < _INK)
    gaps = np.flatnonzero(np.diff(inked) > _APART * em)
    near = gaps.size and inked[gaps[0]] - inked[0] < (0.3 + 0.6 * len(number[0])) * em
    if not near:
        return word
    moved = tuple(doubt._replace(at=doubt.at + (doubt.at >= number.end())) for doubt in word.doubts or ())
    text = f"{number[0]} {word.text[number.end() :]}"
    return replace(word, text=text, doubts=None if word.doubts is None else moved)


def _height(word: Word) -> float:
    (x0, y0), *_, (x3, y3) = word.corners
    return float(np.hypot(x3 - x0, y3 - y0))


def _level(word: Word, x: float) -> float:
    """Return the height of a word's middle line, which may be tilted, at a place beside it."""
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = word.corners[:4]
    slope = (y1 + y2 - y0 - y3) / max(1.0, x1 + x2 - x0 - x3)
    return (y0 + y3) / 2 + slope * (x - (x0 + x3) / 2)


def _candidates(pixels: Pixels, words: Sequence[Word], em: float) -> list[tuple[Corners, Word]]:
    """Return ink the size of a number that no word covers, each with the word that it stands before."""
    ink = np.asarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY) < _INK, dtype=np.uint8)
    for word in words:
        cv2.fillConvexPoly(ink, np.array(word.corners, np.int32), (0,))
    joined = cv2.morphologyEx(
        ink, cv2.MORPH_CLOSE, np.ones((round(0.3 * em) + 1, round(0.4 * em) + 1), np.uint8)
    )  # 1, 2 of 12
    _, _, stats, _ = cv2.connectedComponentsWithStats(joined)
    sized = (stats[:, 3] > 0.5 * em) & (stats[:, 3] < 1.3 * em) & (stats[:, 2] < _WIDE * em) & (stats[:, 2] > 0.05 * em)
    found = []
    for left, top, wide, high, _ in stats[sized].tolist():
        row = [word for word in words if abs(_level(word, left) - top - high / 2) < 0.5 * em]
        after = [word for word in row if -0.3 * em < word.box[0] - left - wide < _REACH * em]
        beside = any(word.box[0] < left < word.box[2] + 2 * em for word in row)
        if after and not beside:
            found.append(((left, top, left + wide, top + high), min(after, key=lambda word: word.box[0])))
    return found


def _beside(pixels: Pixels, box: Corners, word: Word, em: float) -> Pixels:
    """Return a picture of the number close to the beginning of its line."""
    middles = (box[1] + box[3]) / 2, _level(word, word.box[0])
    half, pad = 0.5 * _height(word) + 0.1 * em, round(0.15 * em)
    start = max(0, round(word.box[0]) - pad)
    parts = []
    for middle, left, right in (
        (middles[0], max(0, box[0] - pad), box[2] + pad),
        (middles[1], start, start + round(_CONTEXT * em)),
    ):
        top = max(0, round(middle - half))
        parts.append(pixels[top : top + round(2 * half), left:right])
    high = max(part.shape[0] for part in parts)
    padded = [np.pad(part, ((0, high - part.shape[0]), (0, pad), (0, 0)), constant_values=255) for part in parts]
    row = np.concatenate(padded, axis=1)
    return np.ascontiguousarray(np.pad(row, ((pad * 6, pad * 6), (pad * 4, pad * 4), (0, 0)), constant_values=255))
