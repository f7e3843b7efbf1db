"""Pictures of pages: PNG, JPEG, TIFF with several pages, BMP, WebP. All of them need OCR."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import PIL
from numpy.typing import NDArray
from PIL import Image, ImageOps

from pipeline.ocr.model import PageRead
from pipeline.ocr.params import OcrParams
from pipeline.ocr.readers.base import NeedsOcr, PageImage
from schemas.errors import UnreadableDocument

_MAGIC = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"II*\x00", b"MM\x00*", b"BM")

_FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "WEBP")

_REJECT = 8
"""Pictures of more than this many times ``max_pixels`` are rejected: decoding them takes gigabytes."""

_A4 = 842.0
"""Longer side in points of a page whose resolution is not known."""


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
        """The picture, upright, on white, scaled down to ``max_pixels``."""
        with _opened(path, params) as picture:
            if page > 1:
                picture.seek(page - 1)
                _check_size(picture, params)
            dpi = picture.info.get("dpi", (0, 0))[0]
            upright = ImageOps.exif_transpose(picture)
            pixels = _rgb(upright, params.max_pixels)
            width, height = upright.size
        scale = 72 / float(dpi) if 50 <= float(dpi) <= 1200 else _A4 / max(width, height)
        return PageImage(pixels, width * scale, height * scale)


@contextmanager
def _opened(path: Path, params: OcrParams) -> Iterator[Image.Image]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(path, formats=_FORMATS) as picture:
                _check_size(picture, params)
                yield picture
    except UnreadableDocument:
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


def _rgb(picture: Image.Image, max_pixels: int) -> NDArray[np.uint8]:
    if picture.mode.startswith(("I", "F")):
        values = np.asarray(picture, dtype=np.float32)
        top = 65535.0 if values.max() > 255 else 255.0
        picture = Image.fromarray(np.clip(values * 255 / top, 0, 255).astype(np.uint8))
    elif picture.has_transparency_data:
        layer = picture.convert("RGBA")
        white = Image.new("RGBA", layer.size, "white")
        picture = Image.alpha_composite(white, layer)
    picture = picture.convert("RGB")
    if picture.width * picture.height > max_pixels:
        scale = (max_pixels / (picture.width * picture.height)) ** 0.5
        size = (max(1, int(picture.width * scale)), max(1, int(picture.height * scale)))
        picture = picture.resize(size, Image.Resampling.BOX)
    return np.asarray(picture, dtype=np.uint8)
