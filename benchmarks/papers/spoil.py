"""Pages as they come from scanners and telephones: functions from the pixels of clean pages to encoded pictures.

Every function takes pages, RGB, and a generator of random numbers, and returns pictures in order: the same seed gives
the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

Pixels: TypeAlias = NDArray[np.uint8]
Floats: TypeAlias = NDArray[np.float32]
Pages: TypeAlias = Sequence[Pixels]
TABLE = (96, 104, 112)  # What lies around a photographed page


class Condition(NamedTuple):
    """A way to make a paper poor."""

    dpi: int
    spoil: Callable[[Pages, np.random.Generator], list[bytes]]
    form: str = "pdf"
    """``pdf``: pictures in a PDF. ``folder``: a folder of pictures, the key beside them. ``tiff``: all in one file."""


def clean(pages: Pages, rng: np.random.Generator) -> list[bytes]:  # noqa: ARG001
    """Pages as they are."""
    return [_jpeg(page, 90) for page in pages]


def scan(pages: Pages, rng: np.random.Generator) -> list[bytes]:
    """Grey, turned by up to .8 degrees, blurred, noisy, JPEG of quality 40 to 60."""
    return [_jpeg(_scanned(page, rng, 0.8, (0.4, 0.8), 6.0), int(rng.integers(40, 60))) for page in pages]


def fax(pages: Pages, rng: np.random.Generator) -> list[bytes]:
    """A copy of a copy: uneven grey paper, ink that fades to one side, the back of the sheet shining through."""
    made = []
    for page in pages:
        grey = _scanned(page, rng, 1.2, (0.5, 0.8), 5.0).astype(np.float32)
        x, y = _grid(grey.shape)
        back = cv2.GaussianBlur(np.ascontiguousarray(grey[:, ::-1]), (0, 0), 2.5)
        grey = 255 - (255 - grey) * (1 - 0.3 * (x if rng.random() < 0.5 else y)) - 0.12 * (255 - back)
        grey *= 0.86 + 0.1 * np.sin(2 * np.pi * (y * rng.uniform(0.5, 1.5) + rng.uniform()))
        made.append(_jpeg(_byte(grey), int(rng.integers(45, 65))))
    return made


def photo(pages: Pages, rng: np.random.Generator) -> list[bytes]:
    """A telephone's photograph: slight perspective, slight curl, light from one side."""
    return [_photographed(page, rng, 0.03, 0.004) for page in pages]


def curled(pages: Pages, rng: np.random.Generator) -> list[bytes]:
    """A sheet that does not lie flat, seen at more of an angle, turned by up to 3 degrees."""
    return [_photographed(page, rng, 0.05, 0.012, turn=3.0) for page in pages]


def double(pages: Pages, rng: np.random.Generator) -> list[bytes]:
    """Two pages of an open booklet a photograph: lines bend down to the fold, which is dark."""
    made = []
    for left in range(0, len(pages), 2):
        sheets = [_bent(page, side, rng) for side, page in enumerate(pages[left : left + 2])]
        if len(sheets) == 1:
            sheets.append(_bent(np.full_like(pages[left], 255), 1, rng))
        made.append(_photographed(np.hstack(sheets), rng, 0.015, 0.0))
    return made


def turned(pages: Pages, rng: np.random.Generator) -> list[bytes]:
    """Clean pages as PNG, each lying on a side or on its head."""
    return [_encode(".png", np.ascontiguousarray(np.rot90(page, int(rng.integers(1, 4))))) for page in pages]


CONDITIONS: Mapping[str, Condition] = {
    "scan": Condition(150, scan),
    "photo": Condition(200, photo),
    "images": Condition(200, clean, "folder"),
    "photos": Condition(200, photo, "folder"),
    "double": Condition(200, double, "folder"),
    "curled": Condition(200, curled),
    "fax": Condition(150, fax),
    "turned": Condition(150, turned, "folder"),
    "tiff": Condition(200, clean, "tiff"),
}


def _scanned(page: Pixels, rng: np.random.Generator, turn: float, blur: tuple[float, float], noise: float) -> Pixels:
    grey = cv2.cvtColor(page, cv2.COLOR_RGB2GRAY)
    height, width = grey.shape
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), rng.uniform(-turn, turn), 1.0)
    level = cv2.warpAffine(grey, matrix, (width, height), flags=cv2.INTER_LINEAR, borderValue=(255,))
    soft = cv2.GaussianBlur(level.astype(np.float32), (0, 0), rng.uniform(*blur))
    return _byte(14 + soft * 0.92 + rng.normal(0, noise, soft.shape))


def _photographed(page: Pixels, rng: np.random.Generator, tilt: float, curl: float, turn: float = 0.0) -> bytes:
    """Return a page on a table: corners moved by up to ``tilt`` of its sides, lines bent by ``curl`` of its height."""
    height, width = page.shape[:2]
    margin = np.float32(0.05 * max(height, width))
    size = (int(width + 2 * margin), int(height + 2 * margin))
    x, y = _grid((height, width))
    wave = curl * height * np.sin(2 * np.pi * (rng.uniform(0.5, 0.9) * x + rng.uniform()))
    down = (y * (height - 1) + wave).astype(np.float32)
    bent = cv2.remap(page, x * (width - 1), down, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    moved = corners + margin + (rng.uniform(-tilt, tilt, (4, 2)) * [width, height]).astype(np.float32)
    around = cv2.getRotationMatrix2D((size[0] / 2, size[1] / 2), rng.uniform(-turn, turn), 1.0)
    moved = cv2.transform(moved[None], around)[0].astype(np.float32)
    matrix = cv2.getPerspectiveTransform(corners, moved)
    seen = cv2.warpPerspective(bent, matrix, size, flags=cv2.INTER_CUBIC, borderValue=TABLE)
    x, y = _grid(seen.shape)
    angle = rng.uniform(0, 2 * np.pi)
    light = 0.96 - 0.3 * np.clip(x * np.cos(angle) + y * np.sin(angle), -0.2, 1)
    soft = cv2.GaussianBlur(seen.astype(np.float32) * light[..., None], (0, 0), rng.uniform(0.6, 1.0))
    return _jpeg(_byte(soft + rng.normal(0, 5, soft.shape)), int(rng.integers(60, 85)))


def _bent(page: Pixels, side: int, rng: np.random.Generator) -> Pixels:
    """Return a page of an open booklet; ``side`` 0 is the left one, whose right edge is the fold."""
    height, width = page.shape[:2]
    x, y = _grid((height, width))
    near = x if side == 0 else 1 - x  # 1 at the fold
    drop = rng.uniform(0.006, 0.012) * height * near**4
    bent = cv2.remap(
        page,
        x * (width - 1),
        (y * (height - 1) - drop).astype(np.float32),
        cv2.INTER_CUBIC,
        borderMode=cv2.BORDER_REPLICATE,
    )
    return _byte(bent.astype(np.float32) * (1 - 0.35 * near**12)[..., None])


def _grid(shape: Sequence[int]) -> tuple[Floats, Floats]:
    """Return x and y of every pixel, 0 to 1."""
    x, y = np.meshgrid(np.linspace(0, 1, shape[1], dtype=np.float32), np.linspace(0, 1, shape[0], dtype=np.float32))
    return x, y


def _byte(values: NDArray[np.floating]) -> Pixels:
    return np.asarray(np.clip(values, 0, 255), dtype=np.uint8)


def _jpeg(pixels: Pixels, quality: int) -> bytes:
    return _encode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, quality])


def _encode(suffix: str, pixels: Pixels, options: Sequence[int] = ()) -> bytes:
    ordered = pixels if pixels.ndim == 2 else cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR)
    return bytes(cv2.imencode(suffix, ordered, list(options))[1].tobytes())
