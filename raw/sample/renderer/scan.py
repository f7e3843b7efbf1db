"""Makes clean pages look like photocopied and scanned ones."""

from __future__ import annotations

import io

import cv2
import numpy as np
import pymupdf
from numpy.typing import NDArray
from PIL import Image

Grey = NDArray[np.uint8]


def scanned(document: pymupdf.Document, *, dpi: int, seed: int) -> pymupdf.Document:
    """A PDF of images alone: each page turned by up to 1°, uneven grey, blurred, speckled, JPEG.

    Args:
        document: born-digital pages.
        dpi: of the scan.
        seed: of the noise; page n uses seed + n.
    """
    target = pymupdf.open()
    for number, page in enumerate(document):
        picture = degrade(raster(page, dpi), seed=seed + number, angle=0.8 if number % 2 == 0 else -0.6)
        sheet = target.new_page(width=page.rect.width, height=page.rect.height)
        sheet.insert_image(sheet.rect, stream=jpeg(picture, quality=42))
    return target


def raster(page: pymupdf.Page, dpi: int) -> Grey:
    """The page in grey, shape (height, width)."""
    pixels = page.get_pixmap(dpi=dpi, colorspace=pymupdf.csGRAY, alpha=False)
    picture: Grey = np.frombuffer(pixels.samples, dtype=np.uint8).reshape(pixels.height, pixels.width).copy()
    return picture


def degrade(picture: Grey, *, seed: int, angle: float) -> Grey:
    """Turn by ``angle`` degrees, darken unevenly, blur, add noise and specks."""
    noise = np.random.default_rng(seed)
    height, width = picture.shape
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), angle, 1.0)
    turned = cv2.warpAffine(picture, turn, (width, height), flags=cv2.INTER_CUBIC, borderValue=255)
    blurred = cv2.GaussianBlur(turned, (0, 0), 0.7).astype(np.float32)
    shade = np.linspace(0.93, 0.80, width, dtype=np.float32)[None, :]
    shade = shade * np.linspace(1.0, 0.95, height, dtype=np.float32)[:, None]
    dirty = blurred * shade + 14 * (1 - blurred / 255) + noise.normal(0, 5, picture.shape)
    for x, y, radius in _specks(noise, width, height):
        cv2.circle(dirty, (x, y), radius, 70.0, -1)
    result: Grey = np.clip(dirty, 0, 255).astype(np.uint8)
    return result


def _specks(noise: np.random.Generator, width: int, height: int) -> list[tuple[int, int, int]]:
    count = width * height // 25_000
    return [(int(noise.integers(width)), int(noise.integers(height)), int(noise.integers(1, 3))) for _ in range(count)]


def jpeg(picture: Grey, quality: int) -> bytes:
    """The picture as JPEG."""
    target = io.BytesIO()
    Image.fromarray(picture).save(target, "JPEG", quality=quality)
    return target.getvalue()


def png(picture: Grey, dpi: int) -> bytes:
    """The picture as PNG in 16 shades of grey, its resolution noted."""
    target = io.BytesIO()
    levels = Image.fromarray(picture).quantize(16)
    levels.save(target, "PNG", optimize=True, dpi=(dpi, dpi))
    return target.getvalue()
