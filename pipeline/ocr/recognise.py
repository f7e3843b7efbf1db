"""OCR of the image of one page: cleaning, turning, recognition."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.ocr.images import Corners, clean_page, find_marks, fit_opencv, legibility
from pipeline.ocr.interfaces import OcrEngine, PageImage, Word
from pipeline.ocr.model import Rect
from pipeline.ocr.params import OcrParams
from pipeline.ocr.readers.image import page_breaks

Pixels = NDArray[np.uint8]
_AROUND = 0.35
"""Of a line's height, how much of the page above, below and beside it is looked at when it is read by itself."""
LineReading = list[Any]  # [text, confidence] of a line's picture
_DOUBT = 0.6
"""Mean confidence below which a page may stand on its head: those have .1 to .4, poor upright ones more."""


def recognise(engine: OcrEngine, image: PageImage, params: OcrParams) -> dict[str, Any]:
    """Return what the engine finds on a page.

    Returns:
        JSON: ``width`` and ``height`` in points once upright; ``turned``, degrees the page was turned
        counter-clockwise to read it; ``legibility``, see ``images.legibility``; ``words`` as [text, x0, y0,
        x1, y1, x2, y2, x3, y3, confidence] with corners in points; ``marks``, boxes in points of rules
        ``across`` and ``down`` and of other ink (``figures``).
    """
    breaks = page_breaks(image.pixels)
    turn = len(breaks) == 1  # nobody photographs a long screenshot from the side
    seen = _below_each_other([_see(engine, image.pixels[top:end], params, turn=turn) for top, end in breaks])
    width, height = (image.height, image.width) if seen.turned % 180 else (image.width, image.height)
    across, down = width / seen.width, height / seen.height
    return {
        "width": round(width, 2),
        "height": round(height, 2),
        "turned": seen.turned,
        "legibility": round(seen.legibility, 4),
        "words": [_word_json(word, across, down) for word in seen.words],
        "marks": {
            kind: [
                [round(value, 1) for value in (x0 * across, y0 * down, x1 * across, y1 * down)]
                for x0, y0, x1, y1 in boxes
            ]
            for kind, boxes in seen.marks.items()
        },
    }


def reread_box(engine: OcrEngine, image: PageImage, box: Rect) -> LineReading:
    """Return what the engine reads in a box of a page, words from left to right."""
    across, down = image.pixels.shape[1] / image.width, image.pixels.shape[0] / image.height
    margin = _AROUND * box.height
    left, right = (round(edge * across) for edge in (box.x0 - margin, box.x1 + margin))
    top, bottom = (round(edge * down) for edge in (box.y0 - margin, box.y1 + margin))
    pixels: NDArray[np.uint8] = image.pixels[max(0, top) : bottom, max(0, left) : right]
    if not pixels.size:
        return ["", 0.0]
    middle = pixels.shape[0] / 2  # lines above and below are seen in part
    seen = engine.recognise(np.ascontiguousarray(pixels))
    words = [word for word in seen if word.corners[0][1] < middle < word.corners[2][1]]
    words.sort(key=lambda word: word.corners[0][0])
    sure = min((word.confidence for word in words), default=0.0)
    return ["".join(word.text for word in words), round(sure, 4)]


@dataclass(slots=True)
class _Seen:
    """The lines and regions of an image, in its pixels."""

    width: int
    height: int
    words: list[Word]
    marks: dict[str, list[Corners]]
    legibility: float
    turned: int  # Degrees by which it was turned counter-clockwise to be read


def _see(engine: OcrEngine, pixels: Pixels, params: OcrParams, *, turn: bool) -> _Seen:
    """Return what is on an image, which is turned upright first where ``turn`` allows it."""
    pixels = fit_opencv(pixels)
    cleaned = clean_page(pixels) if params.clean_images else pixels
    turned, words = read_upright(engine, cleaned) if turn else (0, engine.recognise(cleaned))
    upright = np.ascontiguousarray(np.rot90(cleaned, turned // 90))
    believed = legibility(pixels)
    # Shadows and hands on a photograph look like figures, so it is not searched for any.
    marks = find_marks(upright, words) if believed == 1 else {}
    return _Seen(upright.shape[1], upright.shape[0], words, marks, believed, turned)


def _below_each_other(parts: Sequence[_Seen]) -> _Seen:
    """Parts of a picture as one."""
    if len(parts) == 1:
        return parts[0]
    whole = _Seen(parts[0].width, 0, [], {}, min(part.legibility for part in parts), 0)
    for part in parts:
        top = whole.height
        for word in part.words:
            whole.words.append(replace(word, corners=tuple((x, y + top) for x, y in word.corners)))
        for kind, boxes in part.marks.items():
            moved = [(x0, y0 + top, x1, y1 + top) for x0, y0, x1, y1 in boxes]
            whole.marks.setdefault(kind, []).extend(moved)
        whole.height += part.height
    return whole


def _word_json(word: Word, across: float, down: float) -> list[Any]:
    corners = [round(value, 2) for x, y in word.corners for value in (x * across, y * down)]
    return [word.text, *corners, round(word.confidence, 4)]


def read_upright(engine: OcrEngine, pixels: Pixels) -> tuple[int, list[Word]]:
    """Degrees by which an image was turned counter-clockwise to be upright, and the words in the turned image.

    Lines that stand on end show quarter turns. A page on its head reads with low confidence and reads
    better the other way up.
    """
    words = engine.recognise(pixels)
    if len(words) < 3:  # too few to tell how the page lies
        return 0, words
    if sum(_stands_on_end(word) for word in words) > 0.6 * len(words):  # figures have some upright labels
        # Engines turn vertical lines and may read them with confidence. The page is turned anyway, because its rows
        # run from top to bottom.
        return max((_turned(engine, pixels, angle) for angle in (90, 270)), key=_readability)
    if mean_confidence(words) < _DOUBT:
        return max((0, words), _turned(engine, pixels, 180), key=_readability)
    return 0, words


def _turned(engine: OcrEngine, pixels: Pixels, angle: int) -> tuple[int, list[Word]]:
    return angle, engine.recognise(np.ascontiguousarray(np.rot90(pixels, angle // 90)))


def _readability(attempt: tuple[int, list[Word]]) -> float:
    """Return the mean confidence, lowered for fewer than 20 characters: a few sure words do not outweigh a page."""
    words = attempt[1]
    return mean_confidence(words) * min(1.0, sum(len(word.text) for word in words) / 20)


def _stands_on_end(word: Word) -> bool:
    left, top, right, bottom = word.box
    return len(word.text) > 1 and bottom - top > 1.5 * (right - left)


def mean_confidence(words: Sequence[Word]) -> float:
    """Weighted by characters; 0 for no words."""
    weight = sum(len(word.text) for word in words)
    return sum(word.confidence * len(word.text) for word in words) / weight if weight else 0.0
