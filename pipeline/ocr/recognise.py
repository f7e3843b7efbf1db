"""OCR of one page: pixels, cleaning, recognition; and from what was recognised to lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pipeline.ocr import engines, layout
from pipeline.ocr.model import PageRead, Rect, Run
from pipeline.ocr.params import OcrParams
from pipeline.ocr.readers import reader
from pipeline.ocr.readers.base import PagedReader
from schemas.documents import ReadMethod

_DESCENT = 0.2
"""How far a line's box reaches below its baseline, in heights of the box."""


def recognise(path: Path, file_format: str, page: int, params: OcrParams) -> dict[str, Any]:
    """What the engine finds on a page, as JSON: size in points and words as [text, x0, y0, x1, y1, confidence].

    Raises:
        UnreadableDocument: the page has no image that could be read.
    """
    from pipeline.ocr.images import clean

    found = reader(file_format)
    assert isinstance(found, PagedReader)
    image = found.image(path, page, params)
    height, width = image.pixels.shape[:2]
    pixels = clean(image.pixels) if params.clean_images else image.pixels
    words = engines.load(params).recognise(pixels)
    across, down = image.width / width, image.height / height
    rows = []
    for word in words:
        xs, ys = [x * across for x, _ in word.corners], [y * down for _, y in word.corners]
        box = (min(xs), min(ys), max(xs), max(ys))
        rows.append([word.text, *(round(value, 2) for value in box), round(word.confidence, 4)])
    return {"width": round(image.width, 2), "height": round(image.height, 2), "words": rows}


def to_page(value: dict[str, Any], reason: str, engine: str, version: str) -> PageRead:
    """The page that ``recognise`` saw, laid out in lines."""
    runs = []
    for text, x0, y0, x1, y1, confidence in value["words"]:
        box = Rect(x0, y0, x1, y1)
        runs.append(Run(text, box, y1 - _DESCENT * box.height, box.height, confidence))
    lines = layout.arrange(runs, [], value["width"])
    return PageRead(value["width"], value["height"], ReadMethod.OCR, engine, version, reason, lines)
