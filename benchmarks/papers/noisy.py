"""Make a poor scan of a PDF: its pages as images, turned a little, blurred, with noise, as JPEG.

    python -m benchmarks.papers.noisy PAPER.pdf … --out FOLDER [--dpi 150 200] [--turn 1.0] [--seed 0]

Each page gets its own resolution, turn (within ±``--turn`` degrees), blur, noise and JPEG quality, drawn from the seed
and the file's name: the same call gives the same images.
"""

from __future__ import annotations

import argparse
import io
from pathlib import Path
from random import Random

import numpy as np
import pymupdf
from PIL import Image, ImageFilter

BLUR = (0.3, 0.9)
"""Radius of the Gaussian blur in pixels."""
NOISE = (4.0, 12.0)
"""Standard deviation of the noise, of 255."""
QUALITY = (40, 75)
PAPER = (236, 255)
"""Brightness of the paper."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("papers", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--dpi", type=int, nargs=2, default=(150, 200), metavar=("LOW", "HIGH"))
    parser.add_argument("--turn", type=float, default=1.0, help="degrees")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for paper in options.papers:
        random = Random(f"{options.seed}/{paper.name}")
        target = options.out / paper.name
        target.write_bytes(scan(paper.read_bytes(), random, tuple(options.dpi), options.turn))
        print(f"{target}: {target.stat().st_size / 1e6:.1f} MB")


def scan(pdf: bytes, random: Random, dpi: tuple[int, int] = (150, 200), turn: float = 1.0) -> bytes:
    """A PDF of images of the pages of ``pdf``, each made poor in its own way."""
    source, target = pymupdf.open(stream=pdf), pymupdf.open()
    for page in source:
        image = spoil(picture(page, random.randint(*dpi)), random, turn)
        target.new_page(width=page.rect.width, height=page.rect.height).insert_image(page.rect, stream=image)
    return bytes(target.tobytes(deflate=True, no_new_id=True))


def picture(page: pymupdf.Page, dpi: int) -> Image.Image:
    """A page as a grey image."""
    pixels = page.get_pixmap(dpi=dpi, colorspace=pymupdf.csGRAY)
    return Image.frombytes("L", (pixels.width, pixels.height), pixels.samples)


def spoil(image: Image.Image, random: Random, turn: float = 1.0) -> bytes:
    """The image turned, blurred, greyed, noisy, as JPEG."""
    turned = image.rotate(random.uniform(-turn, turn), resample=Image.Resampling.BICUBIC, fillcolor=255)
    blurred = turned.filter(ImageFilter.GaussianBlur(random.uniform(*BLUR)))
    pixels = np.asarray(blurred, dtype=np.float32) * (random.randint(*PAPER) / 255)
    noise = np.random.default_rng(random.getrandbits(32)).normal(0, random.uniform(*NOISE), pixels.shape)
    data = io.BytesIO()
    Image.fromarray((pixels + noise).clip(0, 255).astype(np.uint8)).save(data, "JPEG", quality=random.randint(*QUALITY))
    return data.getvalue()


if __name__ == "__main__":
    main()
