"""The tesseract engine: the program of that name (Smith, An Overview of the Tesseract OCR Engine, ICDAR 2007)."""

import csv
import io
import os
import subprocess
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from shutil import which
from typing import Any

import cv2
import numpy as np

from build_dataset.pipeline.ocr.glyphs import is_cjk
from build_dataset.pipeline.ocr.interfaces import OcrEngine, Pixels, Word
from build_dataset.pipeline.ocr.model import Rect, bounding_box, group_while
from build_dataset.pipeline.ocr.params import TesseractParams
from build_dataset.schemas.errors import UserError

_SECONDS = 150
"""Longest for one page: below the stage's own limit, so that the program does not outlive its page."""
_WIDE = 1.0
"""Gap between words, in heights of the line, from which they are two pieces: options side by side, columns."""


class TesseractEngine(OcrEngine):
    """Runs the program once a page; its words are put together to pieces of lines."""

    def __init__(self, params: TesseractParams) -> None:
        self._command = [_program(), "stdin", "stdout", "-l", params.languages, "--psm", "3", "tsv"]

    @staticmethod
    def check(params: TesseractParams) -> None:
        """Make sure that the program and its language data are there."""
        here = _output(_program(), "--list-langs").split("\n")[1:]
        if missing := sorted(set(params.languages.split("+")) - set(here)):
            packages = " ".join(f"tesseract-ocr-{name.replace('_', '-')}" for name in missing)
            raise UserError(
                f"[ocr.tesseract] languages = {params.languages!r}: tesseract has no data for {', '.join(missing)}; "
                f"on Debian and Ubuntu: apt install {packages}"
            )

    @staticmethod
    def models(params: TesseractParams) -> list[str]:  # noqa: ARG004 - every engine's form
        """Return the program's version; it does not report the version of its data."""
        program = which("tesseract")
        return [_output(program, "--version").split("\n")[0].strip()] if program else []

    def recognise(self, pixels: Pixels) -> list[Word]:
        """The pieces of lines of an RGB image."""
        _, encoded = cv2.imencode(".bmp", np.ascontiguousarray(pixels[:, :, ::-1]))
        done = subprocess.run(  # noqa: S603 - the program the user has on the path, options of ours
            self._command,
            input=encoded.tobytes(),
            capture_output=True,
            timeout=_SECONDS,
            check=True,
            env=os.environ | {"OMP_THREAD_LIMIT": "1"},
        )
        return pieces(done.stdout.decode("utf-8", errors="replace"))


def pieces(table: str) -> list[Word]:
    """The words of tesseract's TSV output, put together line by line where no wide gap parts them."""
    rows = csv.DictReader(io.StringIO(table), delimiter="\t", quoting=csv.QUOTE_NONE)
    words = [row for row in rows if row["level"] == "5" and row["text"].strip()]
    lines = groupby(words, key=lambda row: (row["block_num"], row["par_num"], row["line_num"]))
    return [piece for _, line in lines for piece in _parted(list(line))]


def _parted(line: list[dict[str, Any]]) -> Iterator[Word]:
    wide = _WIDE * float(np.median([int(word["height"]) for word in line]))
    close = group_while(line, lambda piece, word: _box(word).x0 - _box(piece[-1]).x1 <= wide)
    return map(_joined, close)


def _box(word: dict[str, Any]) -> Rect:
    left, top, width, height = (float(word[name]) for name in ("left", "top", "width", "height"))
    return Rect(left, top, left + width, top + height)


def _joined(piece: Sequence[dict[str, Any]]) -> Word:
    text = piece[0]["text"].strip()
    for word in piece[1:]:
        after = word["text"].strip()
        # Tesseract puts a space between ideographs.
        text += after if is_cjk(text[-1]) or is_cjk(after[0]) else f" {after}"
    left, top, right, bottom = bounding_box([_box(word) for word in piece])
    weight = sum(len(word["text"]) for word in piece)
    sure = sum(max(0.0, float(word["conf"])) / 100 * len(word["text"]) for word in piece) / weight
    return Word(text, ((left, top), (right, top), (right, bottom), (left, bottom)), sure)


def _program() -> str:
    program = which("tesseract")
    if program is None:
        raise UserError(
            "[ocr] engine = 'tesseract' needs the program tesseract, which is not on the path: on Debian and Ubuntu "
            "apt install tesseract-ocr tesseract-ocr-chi-sim, on macOS brew install tesseract tesseract-lang"
        )
    return program


@cache
def _output(program: str, option: str) -> str:
    done = subprocess.run([program, option], capture_output=True, text=True, timeout=30, check=False)  # noqa: S603
    return done.stdout or done.stderr
