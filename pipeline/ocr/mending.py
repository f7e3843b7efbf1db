"""Characters that a text layer does not tell, read from the picture of their line."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.characters import UNREADABLE
from pipeline.ocr.engines.base import OcrEngine
from pipeline.ocr.model import PageLine, PageRead, Rect
from pipeline.ocr.readers.base import PageImage
from schemas.documents import LineKind

_LOST = re.compile(f"(?:{UNREADABLE})+")
_BARE = re.compile("(?:^|(?<=[\\t ]))[\ue000-\uf8ff](?=[^\\s])")
"""A private glyph that opens a part of a line: an option's label or a bullet, which the parser knows by its habit."""

_CONTEXT = 3
"""Characters on each side of a lost one by which its place is found."""

_AROUND = 0.35
"""Of a line's height, how much of the page above, below and beside it is looked at."""

Reading = list[Any]
"""[text, confidence] of a line's picture."""


def lost_lines(lines: Sequence[PageLine]) -> list[int]:
    """Indices of lines of text in which characters are lost."""
    return [
        index
        for index, line in enumerate(lines)
        if line.kind is LineKind.TEXT and line.box is not None and _LOST.search(_BARE.sub("", line.text))
    ]


def read_lines(engine: OcrEngine, image: PageImage, boxes: Sequence[Rect]) -> list[Reading]:
    """What the engine reads in each box of a page, words from left to right."""
    return [_read(engine, image, box) for box in boxes]


def _read(engine: OcrEngine, image: PageImage, box: Rect) -> Reading:
    across, down = image.pixels.shape[1] / image.width, image.pixels.shape[0] / image.height
    margin = _AROUND * box.height
    left, right = (round(edge * across) for edge in (box.x0 - margin, box.x1 + margin))
    top, bottom = (round(edge * down) for edge in (box.y0 - margin, box.y1 + margin))
    pixels: NDArray[np.uint8] = image.pixels[max(0, top) : bottom, max(0, left) : right]
    if not pixels.size:
        return ["", 0.0]
    middle = pixels.shape[0] / 2
    words = [
        word
        for word in engine.recognise(np.ascontiguousarray(pixels))
        if word.corners[0][1] < middle < word.corners[2][1]
    ]
    words.sort(key=lambda word: word.corners[0][0])
    sure = min((word.confidence for word in words), default=0.0)
    return ["".join(word.text for word in words), round(sure, 4)]


def mended(page: PageRead, readings: Sequence[Reading]) -> PageRead:
    """The page, lost characters taken from what was read in the pictures of their lines, in place.

    A line that was mended has the confidence of its reading. What is still lost is U+FFFD, so that nothing vanishes
    later: a question with one waits.
    """
    for index, (seen, confidence) in zip(lost_lines(page.lines), readings, strict=True):
        line = page.lines[index]
        text = mend(line.text, seen)
        if text != line.text:
            line.confidence = confidence
        line.text = _LOST.sub(lambda found: _shown(found[0]), text)
    return page


def _shown(lost: str) -> str:
    return "".join("\ufffd" if unicodedata.category(char) == "Cc" else char for char in lost)


def mend(text: str, seen: str) -> str:
    """A line, its lost characters replaced by what stands between the same neighbours in a reading of its picture.

    Nothing is replaced where the neighbours are not found, or found twice. Control characters may stand for nothing:
    some fonts have their space there.
    """
    flat = _flat(seen)
    parts: list[str] = []
    end = 0
    for found in _LOST.finditer(text):
        parts += [text[end : found.start()], _replacement(text, found, flat)]
        end = found.end()
    return "".join([*parts, text[end:]])


def _replacement(text: str, found: re.Match[str], flat: str) -> str:
    lost = found[0]
    before = _flat(text[: found.start()])[-_CONTEXT:]
    after = _flat(text[found.end() :])[:_CONTEXT]
    least = 0 if all(unicodedata.category(char) == "Cc" for char in lost) else 1
    if _LOST.search(before + after) or len(before + after) < 2:
        return lost
    between = rf"(.{{{least},{3 * len(lost)}}}?)"
    ends = re.escape(after) if after else "$"
    places = re.findall(f"{re.escape(before) if before else '^'}(?={between}{ends})", flat)
    return places[0] if len(places) == 1 and not _LOST.search(places[0]) else lost


def _flat(text: str) -> str:
    """Characters without width and spaces, one for one, so that print and recognition compare."""
    folded = (unicodedata.normalize("NFKC", char) for char in text if not char.isspace())
    return "".join(
        new if len(new) == 1 else old
        for old, new in zip((c for c in text if not c.isspace()), folded, strict=True)
    )
