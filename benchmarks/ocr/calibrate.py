"""Measure what a confidence is worth, and make the table of confidence of recognised characters.

    python -m benchmarks.ocr.calibrate --pages 9 --picture benchmarks/ocr/confidence.png
    python -m benchmarks.ocr.calibrate --pages 6 --questions QUESTIONS.jsonl       # texts of your own, in CMExam's form
    python -m benchmarks.ocr.calibrate --pages 8 --papers PAPER.pdf …              # pages of real papers besides

Prints questions on pages, makes scans and simulated photographs of them, from slight to hard (perspective, curled
paper, uneven light, shadows, blur that grows across the page, movement, noise; in ``pages.py`` and here), recognises
them with the embedded engine, decodes them, and finds each letter and digit right or wrong beside what was printed.
Pages of ``--papers`` are spoiled as in ``benchmarks/papers/spoil.py``; their text layer is what was printed. What is
learned from a folder is learned from all pages. Half of the pages make weights (logistic regression on
``decoding.features``, none of which may speak against a character for being surer), the other half test them, line by
line. The weights of all pages, which it prints, are in the form of ``pipeline/ocr/language/confidence.toml``. Take
``--seed`` for other texts.

Then each page is parsed. Of the questions that stand on it whole (with an answer, where others have one) it tells how
many would be kept at each confidence by the weights in use, and how many of those are wrong in a letter or digit of
stem, options or answer: what ``pipeline/clean/confidence.toml`` holds.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise, product
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pymupdf
from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from benchmarks.ocr import texts
from benchmarks.ocr.pages import TruthLine, TruthPage, folded, make
from benchmarks.papers.poor import bare, rendered
from benchmarks.papers.spoil import CONDITIONS
from build_dataset.pipeline.characters import simple_forms
from build_dataset.pipeline.ocr.assemble import lines_of
from build_dataset.pipeline.ocr.glyphs import fold
from build_dataset.pipeline.ocr.language.counts import Language
from build_dataset.pipeline.ocr.language.decoding import drafts_of, features, probabilities, sure_parts
from build_dataset.pipeline.ocr.language.letters import labels
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.scanpage import to_page, words_of
from build_dataset.pipeline.ocr.tasks import PageTask, recognise_page
from build_dataset.pipeline.parse.paper import finish
from build_dataset.pipeline.parse.stage import check_gates, read_paper
from build_dataset.schemas.documents import Document
from build_dataset.schemas.questions import Question

EDGES = (0.0, 0.6, 0.7, 0.8, 0.85, 0.9, 0.94, 0.97, 0.985, 0.995, 1.0001)
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98)


@dataclass(frozen=True)
class Seen:
    """A recognised line: the features of its letters and digits, and which are right."""

    rows: np.ndarray
    right: np.ndarray
    photo: bool
    page: int


@dataclass(frozen=True)
class Made:
    """A page that was recognised, its words with their scores."""

    photo: bool
    index: int
    truth: TruthPage
    printed: Sequence[texts.Printed]
    found: dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=10, help="of each of four conditions, two of them photographs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--questions", type=Path, help="JSONL in CMExam's form to print; without, texts are made")
    parser.add_argument("--picture", type=Path)
    parser.add_argument("--papers", type=Path, nargs="*", default=[], help="PDFs with a text layer")
    options = parser.parse_args()
    pages = [*_pages(options), *_of_papers(options)]
    words = (word for page in pages for word in page.found["words"])
    language = Language(recognised=(part for word in words for part in sure_parts(word)))
    lines = [line for page in pages for line in _seen(page, language)]
    tested = [line for line in lines if line.page % 2]
    weights = fitted([line for line in lines if line.page % 2 == 0])
    for name, photo in (("scans", False), ("photographs", True)):
        _table(name, [line for line in tested if line.photo is photo], weights)
    for name, row in zip(("other", "ideograph"), fitted(lines), strict=True):
        print(f"{name} = {[round(float(weight), 3) for weight in row]}")
    for name, photo in (("scans", False), ("photographs", True)):
        _kept(name, [one for page in pages if page.photo is photo for one in _asked(page, language)])
    if options.picture:
        _draw(tested, weights, options.picture)


def _pages(options: argparse.Namespace) -> Iterator[Made]:
    with tempfile.TemporaryDirectory(prefix="ocr-calibration-") as name:
        for place, condition in enumerate("cdab"):
            texts_of = _texts(options, condition, place)
            made = make(Path(name), iter(texts_of), condition, options.pages)
            for index, page in enumerate(made):
                path = Path(name) / page.image
                if condition in "ab":
                    pixels = cv2.imread(str(path))
                    path = path.with_suffix(".jpg")
                    rng = np.random.default_rng([options.seed, ord(condition), index])
                    path.write_bytes(photographed(pixels, rng))
                found = recognise_page(PageTask("page", path, "image", (1,), OcrParams()))
                yield Made(condition in "ab", index, page, texts_of, found)
                print(f"{path.name} read", flush=True)


def _of_papers(options: argparse.Namespace) -> Iterator[Made]:
    """Pages of papers as poor scans and as photographs; no questions of theirs are known."""
    with tempfile.TemporaryDirectory(prefix="ocr-calibration-") as name:
        for paper, source in enumerate(map(pymupdf.open, options.papers)):
            for index, (page, condition) in enumerate(product(source, ("scan", "photo"))):
                pixels = rendered(page, CONDITIONS[condition].dpi)
                rng = np.random.default_rng([options.seed, paper, index])
                path = Path(name) / f"{paper}-{index}.jpg"
                path.write_bytes(CONDITIONS[condition].spoil([pixels], rng)[0])
                truth = TruthPage(path.name, 1.0, 0.0, [TruthLine([(fold(page.get_text()), "text")], (0, 0, 0, 0), 0)])
                found = recognise_page(PageTask("page", path, "image", (1,), OcrParams()))
                yield Made(condition == "photo", index // 2, truth, [], found)


def _texts(options: argparse.Namespace, condition: str, place: int) -> list[texts.Printed]:
    """More questions than the pages hold, none with a character that the font lacks: 䓬."""
    count, font = 40 * options.pages, pymupdf.Font("cjk")
    if options.questions is None:
        return list(islice(texts.generated(1000 + 10 * options.seed + ord(condition)), count))
    found = islice(texts.read(options.questions), place * count, (place + 1) * count)
    whole = [(one, one.stem + "".join(text for _, text in one.options)) for one in found]
    return [one for one, text in whole if all(map(font.has_glyph, map(ord, "".join(text.split()))))]


def photographed(pixels: np.ndarray, rng: np.random.Generator) -> bytes:
    """A telephone's photograph of the page, from slight to hard."""
    hard = float(rng.random())
    height, width = pixels.shape[:2]
    photo = _bent(pixels, rng, hard)
    y, x = np.mgrid[0 : 1 : height * 1j, 0 : 1 : width * 1j].astype(np.float32)
    lit = photo * _light(x, y, rng, hard)[..., None] * np.array([0.9, 0.97, 1.0])
    sharp = cv2.GaussianBlur(lit, (0, 0), rng.uniform(0.5, 1.0 + 0.6 * hard))
    soft = cv2.GaussianBlur(lit, (0, 0), rng.uniform(1.2, 1.6 + 1.6 * hard))
    angle = rng.uniform(0, 2 * np.pi)
    away = np.clip((x - 0.5) * np.cos(angle) + (y - 0.5) * np.sin(angle) + rng.uniform(-0.3, 0.5), 0, 1)[..., None]
    lit = sharp * (1 - away) + soft * away
    if hard > 0.5 and rng.random() < 0.5:
        lit = _moved(lit, rng)
    scale = rng.uniform(0.75 - 0.2 * hard, 1)
    lit = cv2.resize(lit, (int(width * scale), int(height * scale)), interpolation=cv2.INTER_AREA)
    lit = lit + rng.normal(0, rng.uniform(2, 6 + 8 * hard), lit.shape)
    quality = [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(45, 90))]
    return cv2.imencode(".jpg", np.clip(lit, 0, 255).astype(np.uint8), quality)[1].tobytes()


def _bent(pixels: np.ndarray, rng: np.random.Generator, hard: float) -> np.ndarray:
    """The page seen from the side, its paper curled."""
    height, width = pixels.shape[:2]
    corners = np.float32([[0, 0], [width, 0], [width, height], [0, height]])
    reach = 0.025 + 0.045 * hard
    moved = corners + rng.uniform(-reach, reach, (4, 2)).astype(np.float32) * [width, height]
    warp = cv2.getPerspectiveTransform(corners, moved.astype(np.float32))
    table = (120, 130, 140)
    photo = cv2.warpPerspective(pixels, warp, (width, height), flags=cv2.INTER_CUBIC, borderValue=table)
    x, y = np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32))
    wave = np.sin(2 * np.pi * (x / width * rng.uniform(0.4, 1.2) + rng.uniform()))
    curl = hard * rng.uniform(0, 0.012) * height * wave
    return cv2.remap(photo, x, (y + curl).astype(np.float32), cv2.INTER_CUBIC, borderValue=table)


def _light(x: np.ndarray, y: np.ndarray, rng: np.random.Generator, hard: float) -> np.ndarray:
    """Light from one side, and perhaps the edge of a shadow."""
    angle = rng.uniform(0, 2 * np.pi)
    light = rng.uniform(0.7, 0.95) - rng.uniform(0.1, 0.3 + 0.3 * hard) * (x * np.cos(angle) + y * np.sin(angle))
    if rng.random() < 0.3 + 0.5 * hard:
        angle = rng.uniform(0, 2 * np.pi)
        edge = (x - 0.5) * np.cos(angle) + (y - 0.5) * np.sin(angle) - rng.uniform(-0.2, 0.3)
        light = light * (1 - rng.uniform(0.2, 0.5) / (1 + np.exp(-edge * 60)))
    return np.clip(light, 0.15, 1)


def _moved(photo: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The photograph of a hand that moved by a few pixels."""
    length = int(rng.integers(3, 7))
    kernel = np.zeros((length, length), np.float32)
    kernel[length // 2] = 1 / length
    turn = cv2.getRotationMatrix2D((length / 2 - 0.5, length / 2 - 0.5), rng.uniform(0, 180), 1)
    kernel = cv2.warpAffine(kernel, turn, (length, length))
    return cv2.filter2D(photo, -1, kernel / kernel.sum())


def _seen(page: Made, language: Language) -> Iterator[Seen]:
    printed = _plain("".join(text for line in page.truth.lines for text, _ in line.segments))
    drafts = drafts_of(words_of(page.found["words"]), language)
    for draft, rows in zip(drafts, features(drafts, language), strict=True):
        right = right_characters(_plain(draft.text), printed)
        known = labels(draft.text, draft.doubts)
        one = [at not in known and len(folded(char)) == 1 for at, char in enumerate(draft.text)]  # Ⅱ is II
        used = [fit for fit, char in zip(one, draft.text, strict=True) if char.isalnum()]
        if right is not None and len(right) == len(rows):
            yield Seen(rows[used], right[used], page.photo, page.index)


def _plain(text: str) -> str:
    """Letters and digits, one for one, in one script and width."""
    simple = simple_forms()
    plain = (simple.get(char, char) for char in text if char.isalnum())
    return "".join(folded(char) if len(folded(char)) == 1 else char for char in plain).lower()


def right_characters(text: str, printed: str) -> np.ndarray | None:
    """Return which characters of a line are printed in its place; None where no line of the page is like it."""
    found = fuzz.partial_ratio_alignment(text, printed) if len(text) > 2 else None
    if found is None or found.score < 60:  # 英膜 of A.荚膜 has 67
        return None
    right = np.zeros(len(text), bool)
    near = printed[max(0, found.dest_start - 2) : found.dest_end + 2]
    for step in Levenshtein.opcodes(text, near):
        right[step.src_start : step.src_end] = step.tag == "equal"
    return right


def fitted(lines: Sequence[Seen]) -> np.ndarray:
    """Return the weights of letters and digits, and of ideographs: all but the constant are none below 0."""
    from scipy.optimize import minimize

    rows = np.concatenate([line.rows for line in lines]).astype(float)
    right = np.concatenate([line.right for line in lines])
    found = []
    for kind in (0, 1):
        own, sign = rows[rows[:, 0] == kind][:, 1:], np.where(right[rows[:, 0] == kind], 1.0, -1.0)

        def loss(weights: np.ndarray, own: np.ndarray = own, sign: np.ndarray = sign) -> tuple[float, np.ndarray]:
            margin, light = -sign * (own @ weights), np.append(0.0, weights[1:])
            slope = -(own * (sign / (1 + np.exp(-margin)))[:, None]).sum(axis=0)
            return float(np.logaddexp(0, margin).sum() + (light**2).sum() / 2), slope + light

        start = np.append(2.0, np.full(own.shape[1] - 1, 0.2))
        bounds = [(None, None), *[(0, None)] * (own.shape[1] - 1)]
        found.append(minimize(loss, start, jac=True, bounds=bounds).x)
    return np.array(found)


def _asked(page: Made, language: Language) -> Iterator[tuple[float | None, bool]]:
    """The confidence of each question that stands on the page whole, None where it waits or is lost; is it right?"""
    read = to_page(page.found, "image", "", "", language)
    paper = read_paper("page", list(lines_of("page", 1, read)))
    check_gates(paper)
    document = Document(document="page", sha256="ef" * 32, format="image", pages=1, rows=None)
    kept = {question.number: question for question in finish(paper, document).questions}
    heads = [text for line in page.truth.lines for text, kind in line.segments if kind == "number"]
    numbers = {int(head.strip(".．")) for head in heads}
    keyed = any(one.answer for one in page.printed)
    whole = sorted(number for number in numbers if number + 1 in numbers)
    for number in (number for number in whole if page.printed[number - 1].answer or not keyed):
        question = kept.get(number)
        right = question is not None and _same(question, page.printed[number - 1])
        yield (question.confidence if question else None), right


def _same(question: Question, printed: texts.Printed) -> bool:
    options = [(option.label, bare(option.text)) for option in question.options]
    return (
        bare(question.stem) == bare(printed.stem)
        and options == [(letter, bare(text)) for letter, text in printed.options]
        and question.answer == ([printed.answer] if printed.answer else None)
    )


def _kept(name: str, asked: Sequence[tuple[float | None, bool]]) -> None:
    print(f"\n{name}: {len(asked)} questions\n| confidence | kept | wrong of those |\n| --- | ---: | ---: |")
    for least in THRESHOLDS:
        kept = [right for confidence, right in asked if confidence is not None and confidence >= least]
        print(f"| {least} | {len(kept) / len(asked):.2f} | {1 - np.mean(kept or [1]):.3f} |")


def _told(lines: Sequence[Seen], weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the confidence of each line, and whether all of it is right."""
    told = [float(np.prod(probabilities(line.rows, weights))) for line in lines]
    return np.array(told), np.array([bool(line.right.all()) for line in lines])


def _table(name: str, lines: Sequence[Seen], weights: np.ndarray) -> None:
    told, right = _told(lines, weights)
    print(f"\n{name}: {len(lines)} lines of other pages, {right.mean():.3f} right")
    print("| confidence | lines | right |\n| --- | ---: | ---: |")
    for low, high in pairwise(EDGES):
        own = right[(told >= low) & (told < high)]
        if len(own):
            print(f"| {low:.3f}–{min(1, high):.3f} | {len(own)} | {own.mean():.3f} |")
    print(f"mean told {told.mean():.3f}; mean distance {np.abs(told - right).mean():.3f}")


def _draw(lines: Sequence[Seen], weights: np.ndarray, target: Path) -> None:
    import matplotlib as mpl

    mpl.use("svg" if target.suffix == ".svg" else "agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True)
    for axis, (name, photo) in zip(axes, (("scans", False), ("photographs", True)), strict=True):
        own = [line for line in lines if line.photo is photo]
        told, right = _told(own, weights)
        groups = [group for group in np.array_split(np.argsort(told), 10) if len(group)]
        axis.plot([told[one].mean() for one in groups], [right[one].mean() for one in groups], marker="o")
        axis.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
        axis.set(title=f"{name}, {len(own)} lines", xlabel="confidence told", xlim=(0, 1.02), ylim=(0, 1.02))
    axes[0].set_ylabel("share of lines that are right")
    figure.tight_layout()
    figure.savefig(target, dpi=110)


if __name__ == "__main__":
    main()
