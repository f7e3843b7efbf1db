"""OCR of one page: pixels, cleaning, recognition; and from what was recognised to lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pipeline.ocr import engines, layout, mending, skew, tall
from pipeline.ocr.engines.base import OcrEngine, Word
from pipeline.ocr.glyphs import is_cjk
from pipeline.ocr.model import PageRead, Rect, Run
from pipeline.ocr.params import OcrParams
from pipeline.ocr.readers import reader
from pipeline.ocr.readers.base import PagedReader
from pipeline.ocr.regions import Drawing, cell_rules, find_scan_regions
from schemas.documents import ReadMethod

if TYPE_CHECKING:
    from pipeline.ocr.scanmarks import Corners

Pixels = NDArray[np.uint8]

_DESCENT = 0.2
"""How far a line's box reaches below its baseline, in heights of the box."""

_DOUBT = 0.75
"""Mean confidence below which a page may stand on its head: upright pages, also poor ones, are above."""


def recognise(path: Path, file_format: str, page: int, params: OcrParams) -> dict[str, Any]:
    """What the engine finds on a page.

    Returns:
        JSON: ``width`` and ``height`` in points once upright; ``turned``, degrees the page was turned
        counter-clockwise to read it; ``legibility``, see ``images.legibility``; ``words`` as [text, x0, y0,
        x1, y1, x2, y2, x3, y3, confidence] with corners in points; ``marks``, boxes in points of rules
        ``across`` and ``down`` and of other ink (``figures``).

    Raises:
        UnreadableDocument: the page has no image that could be read.
    """
    found = reader(file_format)
    assert isinstance(found, PagedReader)
    image = found.image(path, page, params)
    engine = engines.load(params)
    breaks = tall.pages(image.pixels)
    if len(breaks) == 1:
        turned, seen = _see(engine, image.pixels, params)
    else:  # nobody photographs a long screenshot from the side
        parts = [_see(engine, image.pixels[top:bottom], params, turn=False)[1] for top, bottom in breaks]
        turned, seen = 0, _below_each_other(parts)
    width, height = (image.height, image.width) if turned % 180 else (image.width, image.height)
    across, down = width / seen.width, height / seen.height
    return {
        "width": round(width, 2),
        "height": round(height, 2),
        "turned": turned,
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


def reread(
    path: Path, file_format: str, page: int, boxes: Sequence[Rect], params: OcrParams
) -> list[mending.Reading]:
    """What the engine reads in boxes of a page; raises as ``recognise`` does."""
    found = reader(file_format)
    assert isinstance(found, PagedReader)
    return mending.read_lines(engines.load(params), found.image(path, page, params), boxes)


@dataclass(slots=True)
class _Seen:
    """What is on an image, in its pixels."""

    width: int
    height: int
    words: list[Word]
    marks: dict[str, list[Corners]]
    legibility: float


def _see(engine: OcrEngine, pixels: Pixels, params: OcrParams, *, turn: bool = True) -> tuple[int, _Seen]:
    """Degrees by which an image was turned counter-clockwise to be read, and what is on it then."""
    from pipeline.ocr.images import clean, legibility, within_reach
    from pipeline.ocr.scanmarks import find_marks

    pixels = within_reach(pixels)
    cleaned = clean(pixels) if params.clean_images else pixels
    turned, words = read_upright(engine, cleaned) if turn else (0, engine.recognise(cleaned))
    upright = np.ascontiguousarray(np.rot90(cleaned, turned // 90))
    believed = legibility(pixels)
    # Shadows and hands on a photograph look like figures, so it is not searched for any.
    marks = find_marks(upright, words) if believed == 1 else {}
    return turned, _Seen(upright.shape[1], upright.shape[0], words, marks, believed)


def _below_each_other(parts: Sequence[_Seen]) -> _Seen:
    """Parts of a picture as one."""
    whole = _Seen(parts[0].width, 0, [], {}, min(part.legibility for part in parts))
    for part in parts:
        top = whole.height
        for word in part.words:
            corners = tuple((x, y + top) for x, y in word.corners)
            whole.words.append(Word(word.text, corners, word.confidence))
        for kind, boxes in part.marks.items():
            moved = [(x0, y0 + top, x1, y1 + top) for x0, y0, x1, y1 in boxes]
            whole.marks.setdefault(kind, []).extend(moved)
        whole.height += part.height
    return whole


def _word_json(word: Word, across: float, down: float) -> list[Any]:
    corners = [round(value, 2) for x, y in word.corners for value in (x * across, y * down)]
    return [word.text, *corners, round(word.confidence, 4)]


def read_upright(engine: OcrEngine, pixels: Pixels) -> tuple[int, list[Word]]:
    """The words of an image, turned by 90, 180 or 270 degrees when it was not upright.

    Lines that stand on end show quarter turns. A page on its head reads with low confidence and reads
    better the other way up.

    Returns:
        Degrees the image was turned counter-clockwise, and the words in the turned image.
    """
    words = engine.recognise(pixels)
    if len(words) < 3:
        return 0, words
    if sum(_stands_on_end(word) for word in words) > 0.6 * len(words):
        # Engines turn lines that stand on end and may read them with confidence: the page is turned anyway,
        # because its rows run from top to bottom.
        return max((_turned(engine, pixels, angle) for angle in (90, 270)), key=_readability)
    if mean_confidence(words) < _DOUBT:
        return max((0, words), _turned(engine, pixels, 180), key=_readability)
    return 0, words


def _turned(engine: OcrEngine, pixels: Pixels, angle: int) -> tuple[int, list[Word]]:
    return angle, engine.recognise(np.ascontiguousarray(np.rot90(pixels, angle // 90)))


def _readability(attempt: tuple[int, list[Word]]) -> float:
    """Confidence first, but a few sure words do not outweigh a page of them."""
    words = attempt[1]
    return mean_confidence(words) * min(1.0, sum(len(word.text) for word in words) / 20)


def _drawing(marks: dict[str, list[list[float]]], angle: float, centre: skew.Point) -> Drawing:
    """The marks of a scanned page, straightened."""

    def boxes(kind: str) -> list[Rect]:
        return [skew.moved(Rect(*box), -angle, centre) for box in marks.get(kind, ())]

    return Drawing(boxes("across"), boxes("down"), [], boxes("figures"))


def _size(word: Word, box: Rect) -> float:
    """Font size of a word in points: the width of an ideograph, else a share of the box's height.

    Detection draws boxes 1.2 to 1.6 times as high as the type, by an amount that varies from word to word.
    """
    height = skew.word_height(word)
    ideographs = sum(map(is_cjk, word.text))
    if ideographs >= 4 and ideographs >= 0.8 * len(word.text):
        return min(max(box.width / len(word.text), 0.55 * height), height)
    return 0.72 * height


def _stands_on_end(word: Word) -> bool:
    xs, ys = zip(*word.corners, strict=True)
    return len(word.text) > 1 and max(ys) - min(ys) > 1.5 * (max(xs) - min(xs))


def mean_confidence(words: Sequence[Word]) -> float:
    """Weighted by characters; 0 for no words."""
    weight = sum(len(word.text) for word in words)
    return sum(word.confidence * len(word.text) for word in words) / weight if weight else 0.0


def to_page(value: dict[str, Any], reason: str, engine: str, version: str) -> PageRead:
    """The page that ``recognise`` saw, laid out in lines.

    Slanted words (watermarks) are left out; a page that is slightly turned is straightened for layout, and
    the boxes of its lines are where they stand on the page. Confidence is the engine's times the page's
    legibility.
    """
    words = [Word(row[0], tuple(zip(row[1:9:2], row[2:9:2], strict=True)), row[9]) for row in value["words"]]
    angle = skew.page_angle(words)
    centre = (value["width"] / 2, value["height"] / 2)
    runs = []
    for word in words:
        if skew.is_slanted(word, angle):
            continue
        corners = [skew.turn(point, -angle, centre) for point in word.corners]
        xs, ys = zip(*corners, strict=True)
        box = Rect(min(xs), min(ys), max(xs), max(ys))
        runs.append(
            Run(
                word.text,
                box,
                box.y1 - _DESCENT * box.height,
                _size(word, box),
                word.confidence * value["legibility"],
            )
        )
    frame = Rect(0.0, 0.0, value["width"], value["height"])
    drawing = _drawing(value["marks"], angle, centre)
    regions = find_scan_regions(drawing, runs, frame)
    lines = layout.arrange(runs, regions, frame, cell_rules(drawing, regions))
    for line in lines:
        if line.box and angle:
            line.box = skew.moved(line.box, angle, centre)
    page = PageRead(value["width"], value["height"], ReadMethod.OCR, engine, version, reason, lines)
    page.turned = value["turned"]
    if page.turned:
        page.reason = f"{reason}: turned by {value['turned']} degrees"
    elif value["legibility"] < 1:
        page.reason = f"{reason}: dark or uneven paper, confidence lowered"
    return page
