"""Pages of exam questions as pictures with their truth, in four conditions.

a: one column, 10.5 pt, 200 dpi. b: two columns, 8 pt, 200 dpi. c: one column as a scan: 150 dpi, turned by up to 1.5
degrees, blurred, noisy, grey, JPEG of quality 40. d: two columns as such a scan.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path

import cv2
import numpy as np
import pymupdf

from benchmarks.ocr.texts import Printed

CONDITIONS = {
    "a": "one column, 200 dpi",
    "b": "two columns, 8 pt, 200 dpi",
    "c": "one column, scan, 150 dpi",
    "d": "two columns, scan, 150 dpi",
}
WIDTH, HEIGHT, MARGIN = 595.0, 842.0, 54.0
Segment = tuple[str, str]
"""Text, and the class of its characters: ``option``, ``number`` or ``text``."""


@dataclass
class TruthLine:
    """A printed line."""

    segments: list[tuple[str, str]]
    box: tuple[float, float, float, float]
    """Of the line in points on the page before it was turned."""
    row: int
    """Parts of one row (options side by side) have the same: an engine may read them as one word."""


@dataclass
class TruthPage:
    """A page: its picture's file name, and what is printed where."""

    image: str
    scale: float
    """Pixels a point."""
    angle: float
    """Degrees by which the picture is turned, counter-clockwise."""
    lines: list[TruthLine] = field(default_factory=list)


@dataclass(frozen=True)
class _Setting:
    size: float
    columns: int


@dataclass(frozen=True)
class _Placed:
    """Segments at the left end of their baseline, in points."""

    segments: list[Segment]
    x: float
    y: float
    row: int


class _Setter:
    """Sets questions in lines, column by column, page by page."""

    def __init__(self, setting: _Setting, font: pymupdf.Font) -> None:
        self.size, self.font = setting.size, font
        gap = 24.0
        self.width = (WIDTH - 2 * MARGIN - gap * (setting.columns - 1)) / setting.columns
        self.lefts = [MARGIN + (self.width + gap) * index for index in range(setting.columns)]
        self.pages: list[list[_Placed]] = [[]]
        self.row = 0
        self.column, self.y = 0, MARGIN + self.size

    def question(self, number: int, question: Printed) -> None:
        """Set one question: number and stem, then its options as many a line as fit."""
        self._flow([(f"{number}．", "number"), (question.stem, "text")])
        options = [[(letter, "option"), (f"．{text}", "text")] for letter, text in question.options]
        widest = max((self._length(option) for option in options), default=0.0) + 2 * self.size
        a_line = next((count for count in (5, 4, 2) if widest * count <= self.width), 1)
        if a_line == 1:
            for option in options:
                self._flow(option)
        else:
            for start in range(0, len(options), a_line):
                self._place(
                    [
                        (option, index * self.width / a_line)
                        for index, option in enumerate(options[start : start + a_line])
                    ]
                )
        if question.answer:
            self._flow([("答案：", "text"), (question.answer, "option")])
        self.y += 0.5 * self.size

    def _length(self, segments: list[Segment]) -> float:
        return sum(self.font.text_length(text, fontsize=self.size) for text, _ in segments)

    def _flow(self, segments: list[Segment]) -> None:
        line: list[Segment] = []
        used = 0.0
        for text, kind in segments:
            part = ""
            for char in text:
                wide = self.font.text_length(char, fontsize=self.size)
                if used + wide > self.width:
                    self._place([([*line, (part, kind)], 0.0)])
                    line, part, used = [], "", 0.0
                part, used = part + char, used + wide
            line.append((part, kind))
        self._place([(line, 0.0)])

    def _place(self, parts: list[tuple[list[Segment], float]]) -> None:
        if self.y > HEIGHT - MARGIN:
            self.y, self.column = MARGIN + self.size, self.column + 1
            if self.column == len(self.lefts):
                self.column = 0
                self.pages.append([])
        for segments, offset in parts:
            self.pages[-1].append(_Placed(segments, self.lefts[self.column] + offset, self.y, self.row))
        self.row += 1
        self.y += 1.6 * self.size


def make(folder: Path, questions: Iterator[Printed], condition: str, count: int) -> list[TruthPage]:
    """Write ``count`` pages of a condition as pictures into a folder; return what they say."""
    setting = _Setting(8.0, 2) if condition in "bd" else _Setting(10.5, 1)
    font = pymupdf.Font("cjk")
    setter = _Setter(setting, font)
    for number, question in enumerate(questions, 1):
        if len(setter.pages) > count:
            break
        setter.question(number, question)
    made = []
    for index, placed in enumerate(islice(setter.pages, count)):
        name = f"{condition}{index:03d}"
        pixels = _render(placed, setting.size, font, 150 if condition in "cd" else 200)
        angle = 0.0
        if condition in "cd":
            rng = np.random.default_rng([ord(condition), index])
            angle = float(rng.uniform(-1.5, 1.5))
            encoded = scanned(pixels, angle, rng)
            name += ".jpg"
        else:
            encoded = cv2.imencode(".png", pixels)[1].tobytes()
            name += ".png"
        (folder / name).write_bytes(encoded)
        lines = [_truth(part, setting.size, font) for part in placed]
        made.append(TruthPage(name, pixels.shape[1] / WIDTH, angle, [line for line in lines if line.segments]))
    return made


def _render(placed: list[_Placed], size: float, font: pymupdf.Font, dpi: int) -> np.ndarray:
    document = pymupdf.open()
    page = document.new_page(width=WIDTH, height=HEIGHT)
    writer = pymupdf.TextWriter(page.rect)
    for part in placed:
        x = part.x
        for text, _ in part.segments:
            if text:
                x = writer.append((x, part.y), text, font=font, fontsize=size)[1].x
    writer.write_text(page)
    pixmap = page.get_pixmap(dpi=dpi)
    return np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width, 3)[:, :, ::-1].copy()


def scanned(pixels: np.ndarray, angle: float, rng: np.random.Generator) -> bytes:
    """A scan of the page as a grey JPEG: paper not quite white, ink not quite black."""
    height, width = pixels.shape[:2]
    grey = 40 + cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY).astype(np.float32) * (200 / 255)
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), angle, 1.0)
    grey = cv2.warpAffine(grey, turn, (width, height), flags=cv2.INTER_CUBIC, borderValue=240)
    grey = cv2.GaussianBlur(grey, (0, 0), 0.7) + rng.normal(0, 8, grey.shape)
    return cv2.imencode(".jpg", np.clip(grey, 0, 255).astype(np.uint8), [cv2.IMWRITE_JPEG_QUALITY, 40])[1].tobytes()


def folded(text: str) -> str:
    """The text with full and half width the same (NFKC) and without spaces."""
    return "".join(unicodedata.normalize("NFKC", text).split())


def _truth(part: _Placed, size: float, font: pymupdf.Font) -> TruthLine:
    length = sum(font.text_length(text, fontsize=size) for text, _ in part.segments)
    kept = [(folded(text), kind) for text, kind in part.segments if folded(text)]
    return TruthLine(kept, (part.x, part.y - size, part.x + length, part.y + 0.3 * size), part.row)


def save(pages: list[TruthPage], path: Path) -> None:
    path.write_text(json.dumps([asdict(page) for page in pages], ensure_ascii=False), encoding="utf-8")


def load(path: Path) -> list[TruthPage]:
    rows = json.loads(path.read_text(encoding="utf-8"))
    return [TruthPage(**{**row, "lines": [TruthLine(**line) for line in row["lines"]]}) for row in rows]
