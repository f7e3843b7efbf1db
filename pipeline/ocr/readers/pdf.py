"""PDF: the text layer where it is sound, page images for OCR where not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from build_dataset.pipeline.ocr import layout, routing
from build_dataset.pipeline.ocr.bounds import limit_resources
from build_dataset.pipeline.ocr.interfaces import NeedsOcr, PageImage, Pixels
from build_dataset.pipeline.ocr.model import PageRead, Rect
from build_dataset.pipeline.ocr.mupdf import pymupdf
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.regions import cell_rules, find_regions, image_boxes, read_drawing
from build_dataset.pipeline.ocr.textlayer import read_text_layer
from build_dataset.schemas.documents import ReadMethod
from build_dataset.schemas.errors import UnreadableDocument, refused_as

ENGINE = "pymupdf"
VERSION = str(pymupdf.VersionBind)
RENDER_SECONDS = 6.0  # Processor time in which a page must be drawn for OCR: a scan takes 0.2 s
_LARGE = 5000.0
"""Square points, a hundredth of A4, from which on an image at one place of two pages is their furniture."""


class PdfReader:
    """Reads PDF files with PyMuPDF."""

    format = "pdf"
    version = VERSION

    def recognises(self, head: bytes, suffix: str) -> bool:  # noqa: ARG002
        """Return whether the PDF header stands among the first bytes; junk before it is allowed, as in viewers."""
        return b"%PDF-" in head[:1024]

    def count_pages(self, path: Path, params: OcrParams) -> int:  # noqa: ARG002
        """Return how many pages there are."""
        with _opened(path) as document, refused_as("broken", "its pages cannot be counted"):
            if count := len(document):
                return count
            raise UnreadableDocument("no_pages", "the PDF has no readable page")

    def read(self, path: Path, pages: Sequence[int], params: OcrParams) -> list[PageRead | NeedsOcr]:
        """The pages' text layers, or why they need OCR."""
        with _opened(path) as document:
            furniture = _Furniture(document)
            return [_read_page(document, page, params, furniture) for page in pages]

    def image(self, path: Path, page: int, params: OcrParams) -> PageImage:
        """The page's one embedded image where it covers the page upright, else a rendering."""
        with (
            limit_resources(path, RENDER_SECONDS),
            _opened(path) as document,
            refused_as("broken_page", "cannot be drawn"),
        ):
            loaded = document[page - 1]
            pixels = _embedded(document, loaded, params)
            if pixels is None:
                pixels = _rendered(loaded, params)
            return PageImage(pixels, loaded.rect.width, loaded.rect.height)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    with refused_as("broken", "not a readable PDF, perhaps cut short"):
        document = pymupdf.open(path, filetype="pdf")
    try:
        if document.needs_pass and not document.authenticate(""):
            raise UnreadableDocument("encrypted", "needs a password to be opened; save it without one")
        if document.is_repaired and _is_cut_short(path):
            raise UnreadableDocument("truncated", "the file ends in the middle; copy or download it again")
        yield document
    finally:
        document.close()
        # MuPDF keeps 256 MB of decoded images beyond their document: 0.6 MB a small scan, until it is full.
        pymupdf.TOOLS.store_shrink(100)


def _is_cut_short(path: Path) -> bool:
    """Return whether the end of the file is missing: MuPDF opens what is left, and pages would be lost unnoticed."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 65536))
        tail = file.read().rstrip(b"\x00\r\n\t ")
    return b"%%EOF" not in tail[-2048:]  # some programs add a few lines behind it


def _read_page(document: Any, number: int, params: OcrParams, furniture: _Furniture) -> PageRead | NeedsOcr:
    try:
        page = document[number - 1]
        page.remove_rotation()
        images, layer = read_text_layer(page)
        drawing = read_drawing(page, images)
        reason = routing.why_ocr(page, layer, drawing, images, params)
    except Exception as error:
        # MuPDF raises bare exceptions for broken objects: this page is lost, the others are not.
        return PageRead(0.0, 0.0, ReadMethod.BLANK, ENGINE, VERSION, f"broken_page: {str(error)[:200]}")
    frame = Rect(*page.rect)
    if layer.glyphs == 0 and not drawing.images and drawing.pieces < 20:
        return PageRead(frame.width, frame.height, ReadMethod.BLANK, ENGINE, VERSION, "no_content")
    if reason:
        return NeedsOcr(reason)
    drawing.images = image_boxes(page, furniture.without(number - 1, images))
    regions = find_regions(drawing, layer.runs, frame)
    lines = layout.arrange(layer.runs, regions, frame, cell_rules(drawing, regions))
    return PageRead(frame.width, frame.height, ReadMethod.TEXT_LAYER, ENGINE, VERSION, None, lines)


class _Furniture:
    """Images of a document that stand at one place on pages near each other: stamps, backgrounds, logos."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self._known: dict[int, set[tuple[int, ...]]] = {}

    def without(self, index: int, images: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The images of a page (from 0) that do not come again on one of the two pages before and after it.

        Small ones all stay: formulas in images, all of one size, often begin at one place of two pages.
        """
        if not any(map(_is_large, images)):
            return images
        self._known[index] = {_place(image) for image in images}
        near = [self._places(other) for other in (index - 2, index - 1, index + 1, index + 2)]
        again = set[tuple[int, ...]]().union(*near)
        return [image for image in images if not (_is_large(image) and _place(image) in again)]

    def _places(self, index: int) -> set[tuple[int, ...]]:
        if index not in self._known:
            self._known[index] = set()
            with suppress(Exception):  # MuPDF raises bare exceptions: a broken neighbour tells nothing
                if 0 <= index < len(self._document):
                    self._known[index] = {_place(info) for info in self._document[index].get_image_info()}
        return self._known[index]


def _is_large(image: dict[str, Any]) -> bool:
    return Rect(*image["bbox"]).area >= _LARGE


def _place(image: dict[str, Any]) -> tuple[int, ...]:
    return (*map(round, image["bbox"]), image["width"], image["height"])


def _embedded(document: Any, page: Any, params: OcrParams) -> Pixels | None:
    """The image that alone makes up the page, as stored: no resampling, and 400 times faster than rendering."""
    infos = page.get_image_info(xrefs=True)
    # Without colours it is a stencil, which the page fills with its own.
    if len(infos) != 1 or page.rotation or not infos[0]["colorspace"] or page.get_text("words"):
        return None
    info = infos[0]
    a, b, c, d, *_ = info["transform"]
    box, frame, width, height = Rect(*info["bbox"]), Rect(*page.rect), info["width"], info["height"]
    upright = a > 0 and d > 0 and abs(b) < 0.01 * a and abs(c) < 0.01 * d
    # An image of more than 1.1 times the page is cropped: the page shows a part of it.
    covers = box.overlap(frame) >= 0.95 * frame.area and box.area <= 1.1 * frame.area
    fits = upright and width * height <= params.max_pixels and abs(a / d * height / width - 1) < 0.05
    return _pixels(pymupdf.Pixmap(document, info["xref"])) if covers and fits and info["xref"] else None


def _rendered(page: Any, params: OcrParams) -> Pixels:
    area = page.rect.width * page.rect.height / 72**2
    dpi = min(float(params.dpi), (params.max_pixels / max(area, 1e-6)) ** 0.5)
    return _pixels(page.get_pixmap(matrix=pymupdf.Matrix(dpi / 72, dpi / 72), alpha=False))


def _pixels(pixmap: Any) -> Pixels:
    if pixmap.colorspace.n != 3 or pixmap.alpha:
        pixmap = pymupdf.Pixmap(pymupdf.csRGB, pixmap)
    if pixmap.alpha:
        pixmap = pymupdf.Pixmap(pixmap, 0)
    return np.frombuffer(pixmap.samples, dtype=np.uint8).reshape(pixmap.height, pixmap.width, 3).copy()
