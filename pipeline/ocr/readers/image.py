"""Pictures of pages: PNG, JPEG, TIFF with several pages, BMP, WebP, GIF. All of them need OCR."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import PIL
from PIL import Image

from pipeline.ocr.bounds import bounded
from pipeline.ocr.model import PageRead
from pipeline.ocr.params import OcrParams
from pipeline.ocr.readers.base import NeedsOcr, PageImage
from pipeline.ocr.readers.pixels import upright, upright_size
from pipeline.ocr.tall import page_count
from schemas.errors import UnreadableDocument

_MAGIC = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"II*\x00", b"MM\x00*", b"BM", b"GIF8")

_FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "WEBP", "GIF")

_REJECT = 8
"""Pictures of more than this many times ``max_pixels`` are rejected: decoding them takes gigabytes."""

_A4, _LARGEST = (595.0, 842.0), 1250.0
"""Sides in points of a page whose resolution is not known, and the longest side (a little more than A3's) with which it
is believed: telephones say 72 dpi of pictures 4,000 pixels wide."""


class ImageReader:
    """Reads pictures with Pillow, upright as their EXIF tag says."""

    format = "image"
    version = PIL.__version__

    def recognises(self, head: bytes, suffix: str) -> bool:
        """Whether it starts as a picture does."""
        if head.startswith(b"BM"):
            return suffix == ".bmp"
        return head.startswith(_MAGIC) or (head[:4] == b"RIFF" and head[8:12] == b"WEBP")

    def count_pages(self, path: Path, params: OcrParams) -> int:
        """Frames of a TIFF; 1 for other pictures. The first one is decoded, to know that it can be.

        Raises:
            UnreadableDocument: ``broken``, ``too_large``.
        """
        with _opened(path, params) as picture:
            count = int(getattr(picture, "n_frames", 1)) if picture.format == "TIFF" else 1
            if count > params.max_pages:
                raise UnreadableDocument(
                    "too_large", f"{count} pages, more than max_pages = {params.max_pages}"
                )
            picture.load()
            return count

    def read(self, path: Path, pages: Sequence[int], params: OcrParams) -> list[PageRead | NeedsOcr]:  # noqa: ARG002
        """That every page needs OCR."""
        return [NeedsOcr("image") for _ in pages]

    def image(self, path: Path, page: int, params: OcrParams) -> PageImage:
        """The picture, upright, on white, scaled down to ``max_pixels``.

        Raises:
            UnreadableDocument: ``broken``, ``too_large``.
        """
        with bounded(path), _opened(path, params) as picture:
            if page > 1:
                picture.seek(page - 1)
                _check_size(picture, params)
            picture.load()
            width, height = upright_size(picture)
            points = _points(width, height, _resolution(picture))
            return PageImage(upright(picture, params.max_pixels), width * points, height * points)


def _resolution(picture: Image.Image) -> float:
    """Dots per inch as the file says; 0 where it says nothing that could be true."""
    try:
        dpi = float(picture.info.get("dpi", (0, 0))[0])
    except (TypeError, ValueError, ZeroDivisionError, IndexError):
        return 0.0
    return dpi if 50 <= dpi <= 1200 else 0.0


def _points(width: int, height: int, dpi: float) -> float:
    """Points a pixel of a picture: by its resolution where the page then has the size of one, else as A4."""
    if dpi and max(width, height) * 72 / dpi <= _LARGEST:
        return 72 / dpi
    return _A4[0] / width if page_count(width, height) > 1 else _A4[1] / max(width, height)


@contextmanager
def _opened(path: Path, params: OcrParams) -> Iterator[Image.Image]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(path, formats=_FORMATS) as picture:
                _check_size(picture, params)
                yield picture
    except (UnreadableDocument, MemoryError):
        raise
    except Image.DecompressionBombError as error:
        raise UnreadableDocument("too_large", str(error)) from error
    except Exception as error:
        # Pillow's decoders raise whatever they stumble on: OSError, SyntaxError, struct.error, ValueError.
        raise UnreadableDocument("broken", f"not a readable picture, perhaps cut short: {error}") from error


def _check_size(picture: Image.Image, params: OcrParams) -> None:
    width, height = picture.size
    if width * height > _REJECT * params.max_pixels:
        raise UnreadableDocument(
            "too_large", f"{width} x {height} pixels, more than {_REJECT} x max_pixels = {params.max_pixels}"
        )
