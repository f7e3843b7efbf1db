"""OCR of the image of one page: cleaning, turning, flattening, recognition."""

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from build_dataset.pipeline.ocr.flatten import Flat, Floats, flatten
from build_dataset.pipeline.ocr.images import Corners, clean_page, find_marks, fit_opencv, legibility
from build_dataset.pipeline.ocr.interfaces import OcrEngine, PageImage, Pixels, Word
from build_dataset.pipeline.ocr.lone import with_overlooked
from build_dataset.pipeline.ocr.model import Rect
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers.image import page_breaks

_AROUND = 0.35
"""Of a line's height, how much of the page above, below and beside it is looked at when it is read by itself."""
LineReading = list[Any]  # [text, confidence] of a line's picture
_DOUBT = 0.8
"""Mean confidence of characters below which a page may stand on its head: .1 to .7; upright on poor photographs .86."""


def recognise(engine: OcrEngine, image: PageImage, params: OcrParams) -> dict[str, Any]:
    """Return what the engine finds on a page, as JSON.

    Sizes are in points, once upright; ``turned`` are the degrees the page was turned counter-clockwise to read it;
    ``words`` are [text, x0, y0, x1, y1, x2, y2, x3, y3, confidence] with their corners, and their doubts where the
    engine tells them; ``marks`` are boxes of rules ``across`` and ``down`` and of other ink (``figures``). Of a page
    that was flattened these stand on the flat page; ``nodes`` say where on the page as it was (``flatten.Flat``).
    """
    breaks = page_breaks(image.pixels)
    alone = len(breaks) == 1  # nobody photographs a long screenshot from the side
    parts = [_see(engine, image.pixels[top:end], params, alone=alone) for top, end in breaks]
    tops = [0, *accumulate(part.height for part in parts)]
    turned = parts[0].turned
    width, height = (image.height, image.width) if turned % 180 else (image.width, image.height)
    across, down = width / parts[0].width, height / tops[-1]
    words, marks = list[list[Any]](), dict[str, list[list[float]]]()
    for part, top in zip(parts, tops, strict=False):
        for word in part.words:
            corners = [round(edge, 2) for x, y in word.corners for edge in (x * across, (y + top) * down)]
            doubts = [] if word.doubts is None else [word.doubts]
            words.append([word.text, *corners, round(word.confidence, 4), *doubts])
        for kind, boxes in part.marks.items():
            places = ((x0 * across, (y0 + top) * down, x1 * across, (y1 + top) * down) for x0, y0, x1, y1 in boxes)
            marks.setdefault(kind, []).extend([round(edge, 1) for edge in place] for place in places)
    nodes = parts[0].nodes
    return {
        "width": round(width, 2),
        "height": round(height, 2),
        "turned": turned,
        "legibility": round(min(part.legibility for part in parts), 4),
        "words": words,
        "marks": marks,
        **({} if nodes is None else {"nodes": nodes.round(5).tolist()}),
    }


def reread_box(engine: OcrEngine, image: PageImage, box: Rect) -> LineReading:
    """Return what the engine reads in a box of a page, words from left to right."""
    across, down = image.pixels.shape[1] / image.width, image.pixels.shape[0] / image.height
    margin = _AROUND * box.height
    left, right = (round(edge * across) for edge in (box.x0 - margin, box.x1 + margin))
    top, bottom = (round(edge * down) for edge in (box.y0 - margin, box.y1 + margin))
    pixels = image.pixels[max(0, top) : bottom, max(0, left) : right]
    if not pixels.size:
        return ["", 0.0]
    pixels = fit_opencv(pixels)
    middle = pixels.shape[0] / 2  # lines above and below are seen in part
    seen = engine.recognise(np.ascontiguousarray(pixels))
    words = [word for word in seen if word.corners[0][1] < middle < word.corners[2][1]]
    words.sort(key=lambda word: word.corners[0][0])
    return ["".join(word.text for word in words), round(min((word.confidence for word in words), default=0.0), 4)]


class _Seen(NamedTuple):
    """The lines and regions of an image, in its pixels."""

    width: int
    height: int
    words: list[Word]
    marks: dict[str, list[Corners]]
    legibility: float
    turned: int  # Degrees by which it was turned counter-clockwise to be read
    nodes: Floats | None  # See ``flatten.Flat``


def _see(engine: OcrEngine, pixels: Pixels, params: OcrParams, *, alone: bool) -> _Seen:
    """Return what is on an image, which is turned upright and flattened first if it is a page ``alone``."""
    pixels = fit_opencv(pixels)
    cleaned = clean_page(pixels) if params.clean_images else pixels
    if alone:
        turned, flat, words = read_upright(engine, cleaned, flatten if params.clean_images else Flat)
    else:
        turned, flat, words = 0, Flat(cleaned), engine.recognise(cleaned)
    words = with_overlooked(engine, flat.pixels, words)
    believed = legibility(pixels)
    # Shadows and hands on a photograph look like figures, so it is not searched for any.
    marks = find_marks(flat.pixels, words) if believed == 1 else {}
    height, width = flat.pixels.shape[:2]
    return _Seen(width, height, words, marks, believed, turned, flat.nodes)


def read_upright(
    engine: OcrEngine, pixels: Pixels, level: Callable[[Pixels], Flat] = Flat
) -> tuple[int, Flat, list[Word]]:
    """Degrees by which an image was turned counter-clockwise to be upright, the turned image and its words.

    ``level`` flattens the image before it is read.
    """

    def read(angle: int) -> tuple[int, Flat, list[Word]]:
        flat = level(np.ascontiguousarray(np.rot90(pixels, angle // 90)))
        return angle, flat, engine.recognise(flat.pixels)

    _, _, words = first = read(0)
    if len(words) < 3:  # too few to tell how the page lies
        return first
    sides = [word.box for word in words if len(word.text) > 1]  # one character lies no way
    on_end = sum(bottom - top > 1.5 * (right - left) for left, top, right, bottom in sides)
    if len(sides) > 2 and on_end > 0.6 * len(sides):  # figures have some upright labels
        # Engines may read vertical lines with confidence. The page is turned anyway: its rows run from top to bottom.
        return max((read(angle) for angle in (90, 270)), key=lambda attempt: _readability(attempt[2]))
    if mean_confidence(words) < _DOUBT:
        return max(first, read(180), key=lambda attempt: _readability(attempt[2]))
    return first


def _readability(words: Sequence[Word]) -> float:
    """Return the mean confidence, lowered for fewer than 20 characters: a few sure words do not outweigh a page."""
    return mean_confidence(words) * min(1.0, sum(len(word.text) for word in words) / 20)


def mean_confidence(words: Sequence[Word]) -> float:
    """Of a character, on average; 0 for no words. Some engines tell the product over a word, which long ones lower."""
    weight = sum(len(word.text) for word in words)
    sure = (word.confidence ** (1 if word.doubts is None else 1 / max(1, len(word.text))) for word in words)
    return sum(one * len(word.text) for one, word in zip(sure, words, strict=True)) / weight if weight else 0.0
