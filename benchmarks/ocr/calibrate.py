"""How often lines recognised with a confidence are right, and what a map from one to the other would do.

    python -m benchmarks.ocr.calibrate --pages 10 --picture confidence.png

Prints questions on pages, makes scans and simulated photographs of them (perspective, uneven light, blur, noise; in
``pages.py`` and here), recognises them with the default engine, and counts a recognised line as right where its
letters and digits are those of a printed line. Half of the pages make a map (isotonic regression, one for sound paper
and one for photographs), the other half test it. The stage does not use it: real photographs are worse than these, and
a map of these would call them sure. Take ``--seed`` for other texts.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import cv2
import numpy as np

from benchmarks.ocr import texts
from benchmarks.ocr.pages import TruthPage, folded, make
from pipeline.ocr.params import OcrParams
from pipeline.ocr.recognise import recognise

EDGES = (0.0, 0.6, 0.7, 0.8, 0.85, 0.9, 0.94, 0.97, 0.985, 0.995, 1.0001)
STEPS = 9
"""Points of a map."""


@dataclass(frozen=True)
class Seen:
    """A recognised line."""

    confidence: float
    photo: bool
    right: bool
    page: int


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--pages", type=int, default=10, help="of each of four conditions, two of them photographs"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    lines = list(_lines(options.pages, options.seed))
    maps = {}
    for name, photo in (("scan", False), ("photo", True)):
        own = [line for line in lines if line.photo is photo]
        maps[name] = _map([line for line in own if line.page % 2 == 0])
        _table(name, [line for line in own if line.page % 2], maps[name])
    if options.picture:
        _draw(lines, maps, options.picture)


def _lines(pages: int, seed: int) -> Iterator[Seen]:
    with tempfile.TemporaryDirectory(prefix="ocr-calibration-") as name:
        for condition in "cdab":
            made = make(Path(name), texts.generated(1000 + 10 * seed + ord(condition)), condition, pages)
            for index, page in enumerate(made):
                path = Path(name) / page.image
                if condition in "ab":
                    pixels = cv2.imread(str(path))
                    path = path.with_suffix(".jpg")
                    path.write_bytes(
                        photographed(pixels, np.random.default_rng([seed, ord(condition), index]))
                    )
                yield from _seen(path, page, index)
                print(f"{path.name} read", flush=True)


def photographed(pixels: np.ndarray, rng: np.random.Generator) -> bytes:
    """A telephone's photograph of the page: from the side, in uneven warm light, not quite sharp."""
    height, width = pixels.shape[:2]
    corners = np.float32([[0, 0], [width, 0], [width, height], [0, height]])
    moved = corners + rng.uniform(-0.025, 0.025, (4, 2)).astype(np.float32) * [width, height]
    warp = cv2.getPerspectiveTransform(corners, moved.astype(np.float32))
    photo = cv2.warpPerspective(
        pixels, warp, (width, height), flags=cv2.INTER_CUBIC, borderValue=(120, 130, 140)
    )
    y, x = np.mgrid[0 : 1 : height * 1j, 0 : 1 : width * 1j]
    angle = rng.uniform(0, 2 * np.pi)
    light = rng.uniform(0.75, 0.95) - rng.uniform(0.1, 0.45) * (x * np.cos(angle) + y * np.sin(angle))
    lit = photo * np.clip(light, 0.2, 1.0)[..., None] * np.array([0.9, 0.97, 1.0])
    lit = cv2.GaussianBlur(lit, (0, 0), rng.uniform(0.5, 1.7)) + rng.normal(0, rng.uniform(2, 9), lit.shape)
    quality = [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(50, 90))]
    return cv2.imencode(".jpg", np.clip(lit, 0, 255).astype(np.uint8), quality)[1].tobytes()


def _seen(path: Path, page: TruthPage, index: int) -> Iterator[Seen]:
    found = recognise(path, "image", 1, OcrParams())
    printed = {_bare("".join(text for text, _ in line.segments)) for line in page.lines}
    for row in {line.row for line in page.lines}:
        parts = [_bare("".join(text for text, _ in line.segments)) for line in page.lines if line.row == row]
        printed |= {"".join(parts[i:j]) for i in range(len(parts)) for j in range(i + 1, len(parts) + 1)}
    for word in found["words"]:
        if said := _bare(word[0]):
            yield Seen(word[9], found["legibility"] < 1, said in printed, index)


def _bare(text: str) -> str:
    """Letters and digits: marks are not what a question is about, and the parser knows their misreadings."""
    return re.sub(r"[\W_]", "", folded(text)).lower()


def _map(lines: Sequence[Seen]) -> list[tuple[float, float]]:
    """Points (confidence of the engine, share that is right), rising."""
    from sklearn.isotonic import IsotonicRegression

    found = sorted(line.confidence for line in lines)
    model = IsotonicRegression(out_of_bounds="clip", y_min=0.0, y_max=1.0)
    model.fit([line.confidence for line in lines], [line.right for line in lines])
    points = sorted({round(float(np.quantile(found, step / (STEPS - 1))), 3) for step in range(STEPS)})
    shares = model.predict(points)
    return [(point, round(float(share), 3)) for point, share in zip(points, shares, strict=True)]


def share(points: Sequence[tuple[float, float]], confidence: float) -> float:
    """The map's value between its points; below the first it falls to nothing with the confidence."""
    return float(np.interp(confidence, *zip((0.0, 0.0), *points, strict=True)))


def _table(name: str, lines: Sequence[Seen], points: Sequence[tuple[float, float]]) -> None:
    told = [share(points, line.confidence) for line in lines]
    print(f"\n{name}: {len(lines)} lines of other pages, {np.mean([line.right for line in lines]):.3f} right")
    print("| confidence | lines | right |\n| --- | ---: | ---: |")
    for low, high in pairwise(EDGES):
        own = [line.right for line, value in zip(lines, told, strict=True) if low <= value < high]
        if own:
            print(f"| {low:.3f}–{min(1, high):.3f} | {len(own)} | {np.mean(own):.3f} |")
    gap = np.abs([value - line.right for line, value in zip(lines, told, strict=True)]).mean()
    print(f"mean told {np.mean(told):.3f}; mean distance {gap:.3f}")


def _draw(lines: Sequence[Seen], maps: dict[str, list[tuple[float, float]]], target: Path) -> None:
    import matplotlib as mpl

    mpl.use("svg" if target.suffix == ".svg" else "agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True)
    for axis, (name, photo) in zip(axes, (("scan", False), ("photo", True)), strict=True):
        own = [line for line in lines if line.photo is photo and line.page % 2]
        for label, told in (
            ("engine", [line.confidence for line in own]),
            ("calibrated", [share(maps[name], line.confidence) for line in own]),
        ):
            order = np.argsort(told)
            groups = [group for group in np.array_split(order, 8) if len(group)]
            axis.plot(
                [np.mean([told[i] for i in group]) for group in groups],
                [np.mean([own[i].right for i in group]) for group in groups],
                marker="o",
                label=label,
            )
        axis.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
        axis.set(title=f"{name}, {len(own)} lines", xlabel="confidence told", xlim=(0, 1.02), ylim=(0, 1.02))
    axes[0].set_ylabel("share of lines that are right")
    axes[0].legend()
    figure.tight_layout()
    figure.savefig(target, dpi=110)


if __name__ == "__main__":
    main()
