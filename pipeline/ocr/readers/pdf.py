"""PDF: the text layer where it is sound, page images for OCR where not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
Place = tuple[int, ...]  # Of an image: its edges in points, its width and height in pixels


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
            near = {page + step for page in pages for step in range(-2, 3) if 0 < page + step <= len(document)}
            places = {page: _places(document, page) for page in near}
            return [_read_page(document, page, params, places) for page in pages]

    def image(self, path: Path, page: int, params: OcrParams) -> PageImage:
        """The page's one embedded image where it covers the page upright, else a rendering."""
        damage = refused_as("broken_page", "cannot be drawn")
        with limit_resources(path, RENDER_SECONDS), _opened(path) as document, damage:
            loaded = document[page - 1]
            pixels = _embedded(document, loaded, params)
            if pixels is None:
                area = loaded.rect.width * loaded.rect.height / 72**2
                dpi = min(float(params.dpi), (params.max_pixels / max(area, 1e-6)) ** 0.5)
                pixels = _pixels(loaded.get_pixmap(matrix=pymupdf.Matrix(dpi / 72, dpi / 72), alpha=False))
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


def _read_page(document: Any, number: int, params: OcrParams, places: Mapping[int, set[Place]]) -> PageRead | NeedsOcr:
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
    # Images at one place of pages near each other are stamps, backgrounds, logos.
    again = set[Place]().union(*(places.get(number + step, ()) for step in (-2, -1, 1, 2)))
    drawing.images = image_boxes(page, [image for image in images if _place(image) not in again])
    regions = find_regions(drawing, layer.runs, frame)
    lines = layout.arrange(layer.runs, regions, frame, cell_rules(drawing, regions))
    return PageRead(frame.width, frame.height, ReadMethod.TEXT_LAYER, ENGINE, VERSION, None, lines)


def _places(document: Any, number: int) -> set[Place]:
    """Return where the large images of a page stand; small ones, formulas, often begin at one place of two pages."""
    with suppress(Exception):  # MuPDF raises bare exceptions: a broken neighbour tells nothing
        page = document[number - 1]
        page.remove_rotation()
        return {_place(info) for info in page.get_image_info() if Rect(*info["bbox"]).area >= _LARGE}
    return set()


def _place(image: dict[str, Any]) -> Place:
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


def _pixels(pixmap: Any) -> Pixels:
    if pixmap.colorspace.n != 3 or pixmap.alpha:
        pixmap = pymupdf.Pixmap(pymupdf.csRGB, pixmap)
    if pixmap.alpha:
        pixmap = pymupdf.Pixmap(pixmap, 0)
    return np.frombuffer(pixmap.samples, dtype=np.uint8).reshape(pixmap.height, pixmap.width, 3).copy()
