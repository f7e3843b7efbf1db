"""Pictures of every form that people and cameras make, and damaged ones. The same seed gives the same bytes."""

from __future__ import annotations

import io
import random
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pymupdf
from PIL import Image, ImageDraw

from benchmarks.pdf.mutants import Mutant, cut_out, flip_bytes, repeat_piece, truncate

Made = tuple[str, bytes]
"""Suffix of the file's name, and its content."""


def sheet(chance: random.Random, width: int = 1000, height: int = 1400) -> Image.Image:
    """A page of lines of text; letters of Pillow's own font, which has no ideographs."""
    picture = Image.new("L", (width, height), 255)
    draw = ImageDraw.Draw(picture)
    for number, top in enumerate(range(40, height - 60, 45), 1):
        words = " ".join(chance.choice(("fever", "cough", "10.5%", "acute", "chronic")) for _ in range(8))
        draw.text((60, top), f"{number}. {words}", fill=0, font_size=26)
    return picture


def _specks(chance: random.Random, width: int, height: int) -> Image.Image:
    return Image.frombytes("L", (width, height), chance.randbytes(width * height))


def _file(picture: Image.Image, kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, kind, **options)
    return buffer.getvalue()


def one_pixel(chance: random.Random) -> Made:
    """The smallest picture there is."""
    return ".png", _file(Image.new("RGB", (1, 1), chance.choice(("white", "black"))), "PNG")


def thread(chance: random.Random) -> Made:
    """One to three pixels wide or high, and thousands long."""
    sides = [chance.randint(1, 3), chance.choice((500, 30_000, 40_000))]
    chance.shuffle(sides)
    return ".png", _file(_specks(chance, sides[0], sides[1]), "PNG")


def screenshot(chance: random.Random) -> Made:
    """A long screenshot of a telephone."""
    return ".png", _file(sheet(chance, 1080, chance.choice((5_000, 20_000, 45_000))), "PNG")


def banner(chance: random.Random) -> Made:
    """Wider than OpenCV takes."""
    return ".png", _file(sheet(chance, 40_000, 400), "PNG")


def huge(chance: random.Random) -> Made:
    """Return a picture of the most pixels that Pillow takes, in a few kilobytes."""
    kind, mode = chance.choice((("PNG", "1"), ("PNG", "L"), ("TIFF", "RGB")))
    options = {"compression": "tiff_deflate"} if kind == "TIFF" else {}
    return f".{kind.lower()}", _file(Image.new(mode, (14_000, 12_000)), kind, **options)


def huge_photo(chance: random.Random) -> Made:
    """A photograph of 100 megapixels, taken sideways."""
    picture = sheet(chance, 1000, 1400).resize((8_600, 11_600)).rotate(90, expand=True)
    exif = Image.Exif()
    exif[0x0112] = 6
    return ".jpg", _file(picture, "JPEG", quality=60, exif=exif)


def noise(chance: random.Random) -> Made:
    """Nothing but noise, or squares of a chess-board: what detection takes for thousands of lines."""
    if chance.random() < 0.5:
        return ".png", _file(_specks(chance, 1240, 1754), "PNG")
    side = chance.choice((4, 12, 20))
    board = np.kron(np.indices((1754 // side, 1240 // side)).sum(axis=0) % 2, np.ones((side, side)))
    return ".png", _file(Image.fromarray((board * 255).astype(np.uint8)), "PNG")


def dark(chance: random.Random) -> Made:
    """Black all over, or white on black."""
    picture = sheet(chance)
    black = chance.random() < 0.5
    return ".png", _file(picture.point(lambda value: 0 if black else 255 - value), "PNG")


def photograph(chance: random.Random) -> Made:
    """Taken with the telephone held anyhow."""
    picture = sheet(chance).convert("RGB").rotate(chance.choice((0, 90, 180, 270)), expand=True)
    exif = Image.Exif()
    exif[0x0112] = chance.choice((0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 65_535))
    return ".jpg", _file(picture, "JPEG", quality=70, exif=exif, dpi=(72, 72))


def broken_exif(chance: random.Random) -> Made:
    """EXIF that is none."""
    exif = b"Exif\x00\x00" + chance.choice((b"", b"II*\x00", b"MM\x00*\x00\x00\x00\x08")) + chance.randbytes(40)
    return ".jpg", _file(sheet(chance), "JPEG", exif=exif)


def modes(chance: random.Random) -> Made:
    """Colours of printers, deep channels, transparency, palettes."""
    picture = sheet(chance)
    name = chance.choice(("CMYK", "I;16", "LA", "RGBA", "P", "1", "F", "YCbCr", "LAB"))
    if name == "I;16":
        return ".png", _file(Image.fromarray(np.asarray(picture).astype(np.uint16) * 257), "PNG")
    if name == "F":
        values = np.asarray(picture, dtype=np.float32) / chance.choice((255, 1))
        values[0, :3] = (np.nan, np.inf, -np.inf)
        return ".tif", _file(Image.fromarray(values), "TIFF")
    if name in ("CMYK", "YCbCr", "LAB"):
        kind = "TIFF" if name == "LAB" else chance.choice(("JPEG", "TIFF"))
        made = picture.convert("RGB").convert("CMYK" if name == "CMYK" else "YCbCr")
        if name == "LAB":
            made = Image.merge("LAB", [picture] * 3)
        return (".jpg" if kind == "JPEG" else ".tif"), _file(made, kind)
    if name in ("LA", "RGBA"):
        made = picture.convert(name)
        made.putalpha(picture.point(lambda value: 255 - value))
        return ".png", _file(made, "PNG")
    return ".png", _file(picture.convert(name), "PNG", **({"transparency": 0} if name == "P" else {}))


def frames(chance: random.Random) -> Made:
    """A TIFF whose pages have nothing in common."""
    forms = [("L", 1000, 1400), ("1", 1240, 1754), ("RGB", 5, 900), ("CMYK", 400, 300), ("L", 1, 1)]
    made = [sheet(chance, max(width, 300), max(height, 300)).resize((width, height)).convert(mode)
            for mode, width, height in chance.sample(forms, len(forms))]  # fmt: skip
    return ".tif", _file(made[0], "TIFF", save_all=True, append_images=made[1:])


def fax(chance: random.Random) -> Made:
    """Black and white as fax machines pack it, its resolution of another kind in each direction."""
    made = sheet(chance, 1728, 1100).convert("1")
    return ".tif", _file(made, "TIFF", compression="group4", dpi=(204, 98))


def moving(chance: random.Random) -> Made:
    """A GIF or WebP of several pictures."""
    kind = chance.choice(("GIF", "WEBP"))
    pictures = [sheet(chance, 600, 800) for _ in range(3)]
    return f".{kind.lower()}", _file(pictures[0], kind, save_all=True, append_images=pictures[1:])


def in_pdf(chance: random.Random) -> Made:
    """A PDF whose pages are such pictures."""
    document = pymupdf.open()
    for _ in range(chance.randint(1, 3)):
        _, content = chance.choice((photograph, modes, thread, dark, fax, noise))(chance)
        size = chance.choice(((595, 842), (842, 595), (595, 12_000), (3, 3)))
        page = document.new_page(width=size[0], height=size[1])
        try:
            page.insert_image(page.rect, stream=content, keep_proportion=chance.random() < 0.5)
        except Exception:
            continue  # MuPDF knows fewer forms of pictures than Pillow
    return ".pdf", document.tobytes(no_new_id=True)


Maker = Callable[[random.Random], Made]
MAKERS: tuple[Maker, ...] = (
    one_pixel, thread, screenshot, banner, huge, huge_photo, noise, dark, photograph, broken_exif, modes, frames, fax,
    moving, in_pdf,
)  # fmt: skip
DAMAGE = (flip_bytes, truncate, cut_out, repeat_piece)


def pictures(count: int, seed: int, makers: Sequence[Maker] = MAKERS) -> Iterator[Mutant]:
    """``count`` pictures, kinds in turn; every second round is damaged."""
    for number in range(count):
        chance = random.Random(f"{seed}-{number}")
        turn, place = divmod(number, len(makers))
        suffix, content = makers[place](chance)
        kind = makers[place].__name__
        if turn % 2:
            damage = chance.choice(DAMAGE)
            content, kind = damage(chance, content), f"{kind}, damaged"
        yield Mutant(number, kind, "", content, suffix)
