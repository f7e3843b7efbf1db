"""Pictures of pages: PNG, JPEG, TIFF with several pages, BMP, WebP, GIF, HEIC of telephones. All of them need OCR."""

import json
import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import PIL
from PIL import ExifTags, Image, ImageOps

from build_dataset.pipeline.ocr.bounds import limit_resources
from build_dataset.pipeline.ocr.interfaces import NeedsOcr, PageImage, Pixels
from build_dataset.pipeline.ocr.model import PageRead
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.schemas.errors import UnreadableDocument, refused_as

_MAGIC = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"II*\x00", b"MM\x00*", b"BM", b"GIF8")
_FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "WEBP", "GIF", "HEIF")
_HEIF = (b"ftypheic", b"ftypheix", b"ftyphevc", b"ftypmif1", b"ftypmsf1")
"""The kind of file at byte 4: an iPhone's photographs have the first."""
_REJECT = 2
"""Pictures of more than this many times ``max_pixels`` are rejected: 120 megapixels; telephones take up to 108."""
_A4, _LARGEST = (595.0, 842.0), 1250.0
"""Sides in points of a page of unknown resolution, and the longest, over A3's, that is believed: photos say 72 dpi."""
TALL = 2.5  # Height over width from which a picture is more than one page: telephones' screens have up to 2.3
_PAGE = 1.5  # Height over width of its pages
_MOST, _LEAST = 100, 400  # Pages of one picture at most, and rows of pixels of a page at least
_REACH = 0.25  # Share of a page by which its end may be moved up to stand between two lines
_SPREAD = (1.15, 1.75)  # Width over height of two pages side by side: 1.41 of A4
_FOLD = 0.95  # Lightness of the paper at the fold, as a share of that beside it, at most
PAGES_SUFFIX = ".pages"
"""Suffix of a list, below the build folder, of the pictures that are the pages of one paper: ``joining.list_pages``."""


class PictureFacts(NamedTuple):
    """The facts of a picture by which it may belong to others."""

    width: int
    height: int
    frames: int
    taken: str | None  # Time of exposure, as EXIF writes it: 2024:05:01 10:11:12


class ImageReader:
    """Reads pictures with Pillow, upright as their EXIF tag says."""

    format = "image"
    version = PIL.__version__

    def recognises(self, head: bytes, suffix: str) -> bool:
        """Return whether it starts as a picture does."""
        if head.startswith(b"BM"):
            return suffix == ".bmp"
        if head[4:12] in _HEIF:
            return _reads_heif()
        return head.startswith(_MAGIC) or (head[:4] == b"RIFF" and head[8:12] == b"WEBP")

    def count_pages(self, path: Path, params: OcrParams) -> int:
        """Frames of a TIFF; of other pictures 2 for an open booklet, else 1. The first one is decoded: it can be."""
        with _opened(path, params) as picture:
            picture.load()
            return _frames(picture) if picture.format == "TIFF" else 1 + bool(_fold(picture))

    def about(self, path: Path, params: OcrParams) -> PictureFacts:
        """Return its size, upright, its frames and when it was taken."""
        with _opened(path, params) as picture:
            exif, tags = picture.getexif(), ExifTags.Base
            taken = exif.get_ifd(ExifTags.IFD.Exif).get(tags.DateTimeOriginal) or exif.get(tags.DateTime)
            return PictureFacts(*_size(picture), _frames(picture), str(taken) if taken else None)

    def read(self, path: Path, pages: Sequence[int], params: OcrParams) -> list[PageRead | NeedsOcr]:  # noqa: ARG002
        """Return that every page needs OCR."""
        return [NeedsOcr("image") for _ in pages]

    def image(self, path: Path, page: int, params: OcrParams) -> PageImage:
        """The picture, upright, on white, scaled down to ``max_pixels``."""
        path, page = _part(path, page)
        with limit_resources(path), _opened(path, params) as picture:
            if picture.format == "TIFF" and page > 1:
                picture.seek(page - 1)
                _check_size(picture, params)
            width, height = _size(picture)
            pixels = upright(picture, params.max_pixels)
            if picture.format != "TIFF" and (fold := _fold(picture)):
                at = round(fold * pixels.shape[1])
                pixels = np.ascontiguousarray(pixels[:, at:] if page > 1 else pixels[:, :at])
                width = round(width * (1 - fold if page > 1 else fold))
            points = _points(picture, width, height)
            return PageImage(pixels, width * points, height * points)


def _frames(picture: Image.Image) -> int:
    return int(getattr(picture, "n_frames", 1)) if picture.format == "TIFF" else 1


def _size(picture: Image.Image) -> tuple[int, int]:
    wide, high = picture.size
    return (high, wide) if picture.getexif().get(ExifTags.Base.Orientation) in range(5, 9) else (wide, high)


def upright(picture: Image.Image, max_pixels: int) -> Pixels:
    """A picture as its EXIF tag says, RGB on white, scaled down to ``max_pixels``: height x width x 3."""
    if picture.mode.startswith(("I", "F")):  # more than 8 bits a channel; white is what the brightest pixel suggests
        values = np.nan_to_num(np.asarray(picture, dtype=np.float32))
        white = next((white for white in (1.0, 255.0) if values.max() <= white), 65535.0)
        plain = Image.fromarray(np.clip(values * (255 / white), 0, 255).astype(np.uint8))
    else:
        mode = "RGBA" if picture.has_transparency_data else "L" if picture.mode in ("1", "L") else "RGB"
        plain = picture if picture.mode == mode else picture.convert(mode)
    scale = min(1.0, (max_pixels / (picture.width * picture.height)) ** 0.5)
    if scale < 1:
        size = max(1, int(picture.width * scale)), max(1, int(picture.height * scale))
        plain = plain.resize(size, Image.Resampling.BOX)
    if plain.mode == "RGBA":
        plain = Image.alpha_composite(Image.new("RGBA", plain.size, "white"), plain)
    plain.getexif()[ExifTags.Base.Orientation] = picture.getexif().get(ExifTags.Base.Orientation, 1)
    ImageOps.exif_transpose(plain, in_place=True)
    return np.array(plain if plain.mode == "RGB" else plain.convert("RGB"), dtype=np.uint8)


def _fold(picture: Image.Image) -> float:
    """Return where the fold of a photographed booklet that lies open is, as a share of the width; 0 for other pictures.

    The paper is darker at the fold than on both sides, over most of the height. A sheet of two columns has no fold.
    """
    width, height = _size(picture)
    if not (_SPREAD[0] <= width / height <= _SPREAD[1] and height >= _LEAST):
        return 0.0
    from build_dataset.pipeline.ocr.images import paper_lightness

    paper = paper_lightness(upright(picture, 500_000)).astype(np.float32)
    high, wide = paper.shape
    bands = [band.mean(axis=0) for band in np.array_split(paper[high // 8 : -high // 8], 6)]
    middle, beside = slice(int(0.42 * wide), int(0.58 * wide)), round(0.1 * wide)
    places = [middle.start + int(np.flatnonzero(band[middle] < band[middle].min() + 2).mean()) for band in bands]
    pairs = zip(bands, places, strict=True)
    dark = [band[at] < _FOLD * min(band[at - beside], band[at + beside]) for band, at in pairs]
    near = [abs(at - sorted(places)[3]) < 0.05 * wide for at in places]
    return sorted(places)[3] / wide if sum(map(min, dark, near)) >= 5 else 0.0


def _part(path: Path, page: int) -> tuple[Path, int]:
    """Return the picture and its page that are a page of a list of pictures; what was given for other files."""
    if path.suffix != PAGES_SUFFIX:
        return path, page
    names = json.loads(path.read_text(encoding="utf-8"))
    return Path(names[page - 1]), names[:page].count(names[page - 1])


@cache
def _reads_heif() -> bool:
    """Return whether a package that decodes HEIF is installed, which Pillow knows from now on."""
    if found := next((name for name in ("pi_heif", "pillow_heif") if find_spec(name)), None):
        import_module(found).register_heif_opener(thumbnails=False)
    return found is not None


def _points(picture: Image.Image, width: int, height: int) -> float:
    """Points a pixel: by the file's resolution where that could be true and makes it a page, else as A4."""
    try:
        dpi = float(picture.info.get("dpi", (0, 0))[0])
    except (TypeError, ValueError, ZeroDivisionError, IndexError):
        dpi = 0.0
    if 50 <= dpi <= 1200 and max(width, height) * 72 / dpi <= _LARGEST:  # scanners have 75 to 600
        return 72 / dpi
    return _A4[0] / width if page_count(width, height) > 1 else _A4[1] / max(width, height)


@contextmanager
def _opened(path: Path, params: OcrParams) -> Iterator[Image.Image]:
    _reads_heif()
    with refused_as("broken", "not a readable picture, perhaps cut short"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Image.MAX_IMAGE_PIXELS = None  # max_pixels is the limit that counts
        with Image.open(path, formats=_FORMATS) as picture:
            _check_size(picture, params)
            yield picture


def _check_size(picture: Image.Image, params: OcrParams) -> None:
    width, height = picture.size
    if width * height > _REJECT * params.max_pixels:
        detail = f"{width} x {height} pixels, more than {_REJECT} x max_pixels = {params.max_pixels}"
        raise UnreadableDocument("too_large", detail)


def page_count(width: int, height: int) -> int:
    """Return how many pages a picture of so many pixels is read as."""
    pages = min(_MOST, math.ceil(height / (_PAGE * width)), height // _LEAST)
    return max(1, pages) if height > TALL * width else 1


def page_breaks(pixels: Pixels) -> list[tuple[int, int]]:
    """First and last row, the last one not included, of the pages of a picture: height x width x 3.

    Each break stands in the middle of the widest white space near its place, so that no line is cut in two.
    """
    height, width = pixels.shape[:2]
    count = page_count(width, height)
    ends = [0]
    for page in range(1, count):
        end = page * height // count
        start = end - int(_REACH * height / count)
        ends.append(start + _calmest(pixels[start:end]))
    return list(pairwise([*ends, height]))


def _calmest(rows: Pixels) -> int:
    """Middle of the longest run of rows that are as even as the evenest one, up to a hundredth of the liveliest."""
    changes = np.abs(np.diff(rows.max(axis=2).astype(np.int16), axis=1)).sum(axis=1)
    low, high = int(changes.min()), int(changes.max())
    calm = np.concatenate([[False], changes <= low + (high - low) // 100, [False]])
    edges = np.flatnonzero(calm[1:] != calm[:-1]).reshape(-1, 2)
    start, stop = edges[(edges[:, 1] - edges[:, 0]).argmax()]
    return int(start + stop) // 2
