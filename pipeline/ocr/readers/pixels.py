"""From a Pillow picture of any mode and orientation to RGB on white, in little memory."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags, Image

Pixels = NDArray[np.uint8]

_STRIP = 512
"""Rows of pixels that are converted at a time: a picture of 400 megapixels would take gigabytes at once."""

_UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""What puts a picture upright, by EXIF's orientation."""


def upright_size(picture: Image.Image) -> tuple[int, int]:
    """Width and height in pixels of a loaded picture once it is upright."""
    width, height = picture.size
    return (height, width) if _orientation(picture) >= 5 else (width, height)


def upright(picture: Image.Image, max_pixels: int) -> Pixels:
    """A loaded picture as its EXIF tag says, RGB on white, scaled down to ``max_pixels``: height x width x 3."""
    pixels = _rgb(picture, max_pixels)
    turn = _UPRIGHT.get(_orientation(picture))
    return pixels if turn is None else np.asarray(Image.fromarray(pixels).transpose(turn), dtype=np.uint8)


def _orientation(picture: Image.Image) -> int:
    """EXIF's orientation; 1, upright, where there is none that means anything."""
    told = picture.getexif().get(ExifTags.Base.Orientation, 1)
    return told if told in _UPRIGHT else 1


def _rgb(picture: Image.Image, max_pixels: int) -> Pixels:
    scale = min(1.0, (max_pixels / (picture.width * picture.height)) ** 0.5)
    width, height = max(1, int(picture.width * scale)), max(1, int(picture.height * scale))
    white = _white(picture)
    pixels = np.empty((height, width, 3), dtype=np.uint8)
    for first in range(0, height, _STRIP):
        last = min(height, first + _STRIP)
        upper, lower = first * picture.height / height, last * picture.height / height
        start, stop = math.floor(upper), math.ceil(lower)
        strip = _on_white(picture.crop((0, start, picture.width, stop)), white)
        if strip.size != (width, last - first):
            box = (0, upper - start, picture.width, lower - start)
            strip = strip.resize((width, last - first), Image.Resampling.BOX, box=box)
        pixels[first:last] = np.asarray(strip)
    return pixels


def _is_deep(picture: Image.Image) -> bool:
    """Whether channels have more than 8 bits."""
    return picture.mode.startswith(("I", "F"))


def _white(picture: Image.Image) -> float:
    """The value of white in a picture with deep channels, as its brightest pixel suggests."""
    if not _is_deep(picture):
        return 255.0
    brightest = float(picture.getextrema()[1])  # type: ignore[arg-type]
    return next((white for white in (1.0, 255.0) if brightest <= white), 65535.0)


def _on_white(picture: Image.Image, white: float) -> Image.Image:
    if _is_deep(picture):
        values = np.nan_to_num(np.asarray(picture, dtype=np.float32))
        picture = Image.fromarray(np.clip(values * (255 / white), 0, 255).astype(np.uint8))
    elif picture.has_transparency_data:
        layer = picture.convert("RGBA")
        picture = Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer)
    return picture.convert("RGB")
