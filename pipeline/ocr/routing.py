"""Chooses how a page is read: by its text layer if that holds the printed text, otherwise by OCR, with the reason."""

from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from build_dataset.pipeline.ocr.glyphs import is_common
from build_dataset.pipeline.ocr.model import Rect, bounding_box
from build_dataset.pipeline.ocr.mupdf import pymupdf
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.regions import Drawing, cluster_boxes
from build_dataset.pipeline.ocr.textlayer import TextLayer
from build_dataset.pipeline.patterns import Patterns

_P = Patterns(__name__)
LOOK_PIECES = 2000
"""Vector drawings from which a page is looked at for unread text: outlines have some fifty pieces a character."""
MAX_UNREAD = 0.4
"""Share of all lines' length that may be unread. Pages of digital papers with photographs and diagrams have 0.11
at most, scans with a stamped head 0.9 and more; a page half of which is a picture of text has 0.5."""
MIN_UNREAD = 800.0  # Length in points, about two lines across A4, below which unread ink is a figure's labels
Info = dict[str, Any]  # PyMuPDF's description of an image: bbox, width, height, has-mask
MAX_UNKNOWN = 0.1  # Share of characters without a meaning; formulas in private fonts stay below 0.05 on real papers
MIN_COMMON = 0.6
"""Share of ideographs among the commonest of GB 2312 or Big5: 0.95 in papers; glyph numbers as code points 0.3."""
SPARSE_GLYPHS = 100
"""A page with fewer characters over images that cover ``IMAGE_COVER`` of it is a scan with a stamped head."""
IMAGE_COVER = 0.35  # Share of a page that images cover from which the page may be a scan
MIN_TURNED = 100
"""Characters that run another way than left to right on a page laid on its side; fewer are a watermark or a note."""
DPI = 100  # Resolution at which lines are looked for: type of 6 pt is 8 pixels high
_DARK = 40  # Least difference between ink and the paper around it, 0..255
_LETTER = (4, 34)  # Height in pixels of what may be a letter: 3 to 24 pt
_MIN_LINE = 48  # Width in pixels of a line of text at least: three or four characters of 10 pt
_SHAPE = 2.5  # Width of a line over its height at least
_LETTERS_OF_LINE = 4  # Letters of a line at least
Mask = NDArray[np.uint8]


def why_ocr(page: Any, layer: TextLayer, drawing: Drawing, images: Sequence[Info], params: OcrParams) -> str | None:
    """Return why OCR must read a page, None for a sound text layer; images up to ``max_pixels`` are looked at."""
    if params.force_ocr:
        return "forced"
    frame = Rect(*page.rect)
    cover = image_cover(drawing, frame)
    if reason := why_unsound(layer, cover, drawing.pieces):
        return reason
    if cover >= IMAGE_COVER and is_under_image(page, images):
        return "text_under_image"
    if cover >= IMAGE_COVER or drawing.pieces > LOOK_PIECES:
        areas = drawing.images if drawing.pieces <= LOOK_PIECES else [frame]
        return "text_in_image" if _is_partial(page, layer, areas, images, params) else None
    return None


def image_cover(drawing: Drawing, frame: Rect) -> float:
    """Share of the page that images cover, 0..1; overlapping images count once."""
    groups = cluster_boxes(drawing.images, 0.0)
    covered = sum(min(bounding_box(boxes).area, sum(box.area for box in boxes)) for boxes in groups)
    return min(1.0, covered / max(1.0, frame.area))


def is_under_image(page: Any, images: Sequence[Info]) -> bool:
    """Return whether most text was drawn before an image without holes that lies on it: the text of a former OCR."""
    if all(image.get("has-mask") for image in images):
        return False
    covered = total = 0.0
    texts: list[Rect] = []
    for kind, box in page.get_bboxlog():
        if kind == "fill-text":
            texts.append(Rect(*box))
            total += texts[-1].area
        elif kind == "fill-image":
            image = Rect(*box)
            under = [text for text in texts if text.overlap(image) > 0.9 * text.area]
            covered += sum(text.area for text in under)
            texts = [text for text in texts if text not in under]
    return covered > 0.5 * max(1.0, total)  # most of the text


def _is_partial(page: Any, layer: TextLayer, areas: Sequence[Rect], images: Sequence[Info], params: OcrParams) -> bool:
    """Return whether much of what is printed is not in the text layer."""
    if any(image["width"] * image["height"] > params.max_pixels for image in images):
        return False
    unread = unread_lines(page, [run.box for run in layer.runs], areas)
    return unread >= MIN_UNREAD and unread >= MAX_UNREAD * (unread + sum(run.box.width for run in layer.runs))


def why_unsound(layer: TextLayer, image_cover: float, pieces: int) -> str | None:
    """Why a page should be read by OCR; None when its text layer is sound.

    Hidden characters are a former OCR run. ``image_cover``: images' share of the page, 0..1; ``pieces``: drawings.
    """
    text = layer.text
    if layer.turned > max(MIN_TURNED, len(text)):  # more than runs from left to right
        return "turned_text"
    if layer.hidden > max(SPARSE_GLYPHS, len(text)):
        return "hidden_text_layer"
    if not text:
        return "no_text_layer"
    if len(text) < SPARSE_GLYPHS and image_cover >= IMAGE_COVER:
        return "sparse_text_over_image"
    if len(text) < SPARSE_GLYPHS and pieces > 20 * SPARSE_GLYPHS:
        return "outlined_text"
    return "garbled" if len(_P.unknown.findall(text)) > MAX_UNKNOWN * len(text) or is_mojibake(text) else None


def is_mojibake(text: str) -> bool:
    """Return whether characters are valid but cannot be what is printed: a wrong encoding, shifted glyph numbers."""
    if len(_P.latin1.findall(text)) > 0.3 * max(20, len(text)):  # GBK as Latin-1: ¼±ÐÔÎ¸Ñ×
        return True
    ideographs = _P.ideograph.findall(text)  # fewer than 30 are too few for a share
    return len(ideographs) >= 30 and sum(map(is_common, ideographs)) < MIN_COMMON * len(ideographs)


# Coverage of the printed text by the text layer. Ink that looks like lines of text and is not in the layer can only
# be read by OCR: a scan with a digital head, a page half of which is a picture.


def unread_lines(page: Any, read: Sequence[Rect], areas: Sequence[Rect]) -> float:
    """Length in points of what looks like lines of text in ``areas`` and is none of the text layer's, ``read``."""
    pixmap = page.get_pixmap(dpi=DPI, colorspace=pymupdf.csGRAY, alpha=False)
    grey = np.frombuffer(pixmap.samples, dtype=np.uint8).reshape(pixmap.height, pixmap.stride)[:, : pixmap.width]
    paper = cv2.morphologyEx(grey, cv2.MORPH_CLOSE, np.ones((25, 25), np.uint8))
    # Darker than its surroundings, which are wider than any stroke, whatever the paper's own grey
    ink = np.asarray(cv2.subtract(paper, grey) > _DARK, dtype=np.uint8)
    looked = np.zeros_like(ink)
    _fill(looked, areas, 1, 0.0)
    _fill(looked, read, 0, 1.5)  # points around runs: accents, descenders
    return sum(_line_lengths(ink & looked)) * 72 / DPI


def _fill(mask: Mask, boxes: Sequence[Rect], value: int, margin: float) -> None:
    scale = DPI / 72
    for box in boxes:
        left, top = (max(0, int((edge - margin) * scale)) for edge in (box.x0, box.y0))
        right, bottom = (max(0, int((edge + margin) * scale) + 1) for edge in (box.x1, box.y1))
        mask[top:bottom, left:right] = value


def _line_lengths(ink: Mask) -> list[float]:
    """Widths in pixels of the rows of letters among the ink."""
    _, labels, stats, _ = cv2.connectedComponentsWithStats(ink)
    width, height, area = stats[:, 2], stats[:, 3], stats[:, 4]
    low, high = _LETTER
    chosen = (height >= low) & (height <= high) & (width <= 2 * high) & (area >= 0.1 * width * height)
    chosen[0] = False
    x, y = stats[chosen, 0] + width[chosen] // 2, stats[chosen, 1] + height[chosen] // 2  # in each letter's box
    letters = np.asarray(chosen[labels], np.uint8)
    joined = cv2.dilate(letters, np.ones((1, 17), np.uint8))  # gaps of 16 pixels, 11 points
    count, labels, stats, _ = cv2.connectedComponentsWithStats(joined)
    held = np.bincount(labels[y, x], minlength=count)  # letters of each line
    width, height = stats[:, 2], stats[:, 3]
    chosen = (width >= _MIN_LINE) & (width >= _SHAPE * height) & (height <= 1.5 * _LETTER[1])
    chosen &= held >= _LETTERS_OF_LINE
    return [float(length) for length in width[1:][chosen[1:]]]  # 0 is the background
