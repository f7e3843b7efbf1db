"""Seals over born-digital papers: a stamp, an image or drawn, lies over lines; what is kept wrong or lost is counted.

python -m benchmarks.papers.seals [--papers 200] [--seed 0] [--show 5]
"""

from __future__ import annotations

import argparse
import io
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pymupdf
from PIL import Image, ImageDraw

from benchmarks.papers.habits import random_paper
from benchmarks.papers.model import ASIDE, Paper
from benchmarks.papers.pdf import to_pdf
from benchmarks.papers.render import render, truths
from benchmarks.papers.silent import _waits, wrong
from build_dataset.pipeline.ocr.assemble import lines_of
from build_dataset.pipeline.ocr.model import PageRead
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers.pdf import PdfReader
from build_dataset.pipeline.parse.paper import ParseOutcome, finish
from build_dataset.pipeline.parse.stage import check_gates, read_paper
from build_dataset.schemas.documents import Document, Line

KINDS = ("none", "image over", "image under", "image filled", "drawn", "drawn filled", "drawn square")
"""See-through images over and under the text, one with a white ground; a drawn ring with a star, a disc, a frame."""
FITS = 46
"""Characters of a line on the page."""
RED = (0.8, 0.1, 0.1)


def sealed(pages: bytes, kind: str, random: Random) -> bytes:
    """The paper with a seal on every page, somewhere on its text."""
    document = pymupdf.open(stream=pages, filetype="pdf")
    for page in document:
        words = page.get_text("words")
        if not words or kind == "none":
            continue
        word = random.choice(words)
        wide, high = random.choice((40, 70, 110, 170)), random.choice((40, 70, 110, 170))
        x, y = word[0] + random.uniform(-60, 20), word[1] + random.uniform(-60, 20)
        place = pymupdf.Rect(x, y, x + wide, y + high) & page.rect
        if kind.startswith("image"):
            image = _image(int(place.width) * 2, int(place.height) * 2, filled=kind == "image filled")
            page.insert_image(place, stream=image, overlay=kind == "image over", keep_proportion=False)
        else:
            _draw(page, place, kind)
    return bytes(document.tobytes(deflate=True, no_new_id=True))


def _image(width: int, height: int, *, filled: bool) -> bytes:
    picture = Image.new("RGBA", (width, height), (255, 255, 255, 255 if filled else 0))
    pen = ImageDraw.Draw(picture)
    pen.ellipse((2, 2, width - 3, height - 3), outline=(200, 30, 30, 120), width=5)
    pen.regular_polygon((width // 2, height // 2, min(width, height) // 5), 5, fill=(200, 30, 30, 120))
    data = io.BytesIO()
    (picture.convert("RGB") if filled else picture).save(data, "PNG")
    return data.getvalue()


def _draw(page: pymupdf.Page, place: pymupdf.Rect, kind: str) -> None:
    centre, radius = (place.tl + place.br) / 2, min(place.width, place.height) / 2
    if kind == "drawn square":
        side = pymupdf.Point(radius, 0)
        for inset in (0, 3):
            page.draw_rect(place + pymupdf.Rect(inset, inset, -inset, -inset), color=RED, width=1)
        page.draw_line(centre - side, centre + side, color=RED)
    else:
        fill = RED if kind == "drawn filled" else None
        page.draw_circle(centre, radius, color=RED, fill=fill, fill_opacity=0.2, width=2, overlay=False)
        page.draw_circle(centre, radius * 0.9, color=RED, width=1)
        points = [centre + pymupdf.Point(0, -radius / 3) * pymupdf.Matrix(144 * step) for step in range(6)]
        page.draw_polyline(points, color=RED)


def read(path: Path) -> list[Line]:
    """The lines of a PDF; a page that needs OCR has none."""
    params, reader = OcrParams(), PdfReader()
    found: list[Line] = []
    pages = range(1, reader.count_pages(path, params) + 1)
    for number, page in enumerate(reader.read(path, pages, params), 1):
        if isinstance(page, PageRead):
            found += lines_of("exam.pdf", number, page)
    return found


def outcome_of(paper: Paper, kind: str, random: Random) -> ParseOutcome:
    """Read and parse a sealed paper."""
    with tempfile.NamedTemporaryFile(suffix=".pdf") as file:
        file.write(sealed(to_pdf(render(paper).pages), kind, random))
        file.flush()
        lines = read(Path(file.name))
    found = read_paper("exam.pdf", lines)
    check_gates(found)
    return finish(found, Document(document="exam.pdf", sha256="ef" * 32, format="pdf", pages=1, rows=None))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--papers", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=5, help="how many wrong and lost ones to list")
    options = parser.parse_args()
    random = Random(options.seed)
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    for index in range(options.papers):
        drawn, kind = random_paper(random), KINDS[index % len(KINDS)]
        paper = Paper(drawn.sections, replace(drawn.style, width=min(FITS, drawn.style.width)))
        outcome = outcome_of(paper, kind, random)
        expected = [truth for truth in truths(paper) if truth.kind not in ASIDE]
        waiting = {question.number for question, _ in _waits(outcome)}
        tally = counts[kind]
        for question in outcome.questions:
            differs = wrong(question, expected, keyed=True)
            flagged = bool(question.attachments)
            tally["kept"] += not flagged
            tally["flagged"] += flagged
            tally["wrong"] += differs is not None
            if differs and tally["wrong"] <= options.show:
                print(f"  {index} {kind}: {question.number} {differs}: {question.stem[-40:]!r} {question.options}")
        kept = {question.number for question in outcome.questions}
        tally["printed"] += len(expected)
        tally["waits"] += sum(truth.number in waiting - kept for truth in expected)
        lost = [truth.number for truth in expected if truth.number not in kept | waiting]
        tally["lost"] += len(lost)
        if lost and tally["lost"] <= options.show:
            reasons = [each.detail[:60] for each in [*outcome.rejects[:3], *outcome.review[:3]]]
            print(f"  {index} {kind}: lost {lost}: {reasons}")
    names = ("printed", "kept", "flagged", "wrong", "waits", "lost")
    print(f"{'seal':14}" + "".join(f"{name:>9}" for name in names))
    for kind, tally in counts.items():
        print(f"{kind:14}" + "".join(f"{tally[name]:9}" for name in names))


if __name__ == "__main__":
    main()
