"""The embedded engine: PP-OCRv6 models that ship inside packages, so nothing is downloaded."""

import math
import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from build_dataset.pipeline.ocr.engines.cascade import Cascade, Recogniser
from build_dataset.pipeline.ocr.engines.ctc import GAP, SURE, Glyph
from build_dataset.pipeline.ocr.engines.network import (
    STEP,
    Detector,
    cut_line,
    grown,
    in_package,
    mark_lost,
    narrow_line,
    raise_digits,
)
from build_dataset.pipeline.ocr.engines.prints import Prints
from build_dataset.pipeline.ocr.glyphs import superscript
from build_dataset.pipeline.ocr.interfaces import Doubt, OcrEngine, Pixels, Word
from build_dataset.pipeline.ocr.language.counts import as_likely, out_of_place, shipped_language
from build_dataset.pipeline.ocr.language.letters import FLOOR, is_ideograph, labels, plain, share_of
from build_dataset.pipeline.ocr.params import RapidOcrParams
from build_dataset.schemas.errors import UserError

_MODELS = Path(str(files("build_dataset.pipeline.ocr.engines.models")))
_MIN_SCORE = 0.3
"""Lines below this confidence are noise from figures; rapidocr's own 0.5 drops faint but readable lines."""
_SQUEEZE = 0.8
"""Factor on the width of line images that the tiny model reads: a fifth less to compute, and no more errors
(benchmarks/ocr: 0.071/0.059/0.496/0.663 % at 0.8, 0.11/0.05/0.42/0.51 % at 1; more from 0.7 on)."""
_CPUINFO = Path("/proc/cpuinfo")
_BFLOAT16 = re.compile(r"^flags\s*:.* (?:amx_bf16|avx512_bf16)\b", re.MULTILINE)
"""Flags of processors with bfloat16: OpenVINO is 1.7 times as fast; with AVX2 alone .60 pages/s, onnxruntime .69."""
_COUNT = re.compile(r"(?<=[×xX]10)(?:[9°]|12)(?=/L)")
"""The power of a blood count that touches its 0 or was read as a degree, 4×109/L, 4×10°/L; no other count has it."""
_NEGATIVE = re.compile(r"(?<=[A-Za-z][(（])一(?=[)）])|(?<=\w[(（])一(?=[)）].*[(（][+＋±])")
"""A minus sign that was read as a number: HBsAg（一）, 尿糖(一)，蛋白(+)."""

_AGAIN, _RIVAL = 0.97, 0.005
"""Probability of a character below which it is looked at again, and of another that fits from which: 一遇 for 一週."""
_LOOKS = ((1.2, 3), (0.85, 7))  # Factors on the width of what is seen then, and characters beside it
_EM_STEPS, _NEAR = 2.5, 1.5  # From the middle of a character to its edge, and between two looks at one


def backend(params: RapidOcrParams) -> str:
    """Return the inference backend: as configured, or the faster one installed; OpenVINO if flags are unknown."""
    if params.backend != "auto":
        return params.backend
    slow = _CPUINFO.is_file() and not _BFLOAT16.search(_CPUINFO.read_text(encoding="ascii", errors="replace"))
    order = ("onnxruntime", "openvino") if slow else ("openvino", "onnxruntime")
    return next((name for name in order if find_spec(name)), order[0])


def model_file(size: str, part: str) -> Path:
    """Return a model file: tiny ones lie in ``models``, small ones ship inside rapidocr."""
    name = f"PP-OCRv6_{part}_{size}.onnx"
    path = _MODELS / name if size == "tiny" else in_package("rapidocr", "models", name)
    if path is None:
        raise UserError("[ocr.rapidocr] rapidocr has no PP-OCRv6 models: pip install 'rapidocr>=3.10'")
    return path


class RapidEngine(OcrEngine):
    """Detects lines, then recognises each with PP-OCRv6.

    The tiny models find the lines and read them first; the small recogniser reads again what they are unsure of. No
    direction classifier: it loses lines of turned two-column scans (character error rate .93 %, .17 % without).
    """

    packages = ("rapidocr", "openvino", "onnxruntime")
    requirement = "rapidocr"

    def __init__(self, params: RapidOcrParams) -> None:
        cv2.setNumThreads(1)
        runs_on = backend(params)
        self._detector = Detector(model_file("tiny", "det"), runs_on, params.detection_side)
        self._prints, self._good = Prints.shipped(), Recogniser.load(model_file("small", "rec"), runs_on)
        self._good.alphabet.watched = self._prints.watched
        tiny = Recogniser.load(model_file("tiny", "rec"), runs_on, _MODELS / "PP-OCRv6_rec_tiny.txt")
        # Parts that are read again are hard: at full width 35 of 14,408 characters of scans were wrong, squeezed 40.
        self._lines = Cascade(tiny, self._good, _SQUEEZE)

    @staticmethod
    def check(params: RapidOcrParams) -> None:
        """Make sure that the backend and the models are there."""
        name = backend(params)
        if find_spec(name) is None:
            raise UserError(f"[ocr.rapidocr] backend = {name!r}: not installed; pip install {name}")
        model_file("small", "rec")

    @staticmethod
    def models(params: RapidOcrParams) -> list[str]:
        """Return the models that read and what they run on: backends differ in the last digits."""
        return [f"PP-OCRv6 tiny, small where unsure on {backend(params)}"]

    def recognise(self, pixels: NDArray[np.uint8]) -> list[Word]:
        """The lines of an RGB image."""
        page = np.asarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR), np.uint8)
        cut = [(box, cut_line(page, box)) for box in self._detector.find(page)]
        found = [(box, image) for box, image in cut if image is not None]
        lines = self._lines.read([image for _, image in found])
        words = []
        for (box, image), glyphs in zip(found, lines, strict=True):
            raise_digits(image, glyphs)
            if any(glyph.gap >= 1 for glyph in glyphs):
                image, glyphs = self._wider(page, box) or (image, glyphs)
            inner = [at for at, glyph in enumerate(glyphs) if not glyph.char.isspace()] or [-1]
            glyphs = glyphs[inner[0] : inner[-1] + 1]
            if word := _word(box, glyphs):
                words.append((word, glyphs, image))
        texts = [word.text for word, *_ in words]
        again = [set(own) for own in out_of_place(texts, shipped_language())]
        likely = (
            (row, doubt.at, char)
            for row, (word, *_) in enumerate(words)
            for doubt in word.doubts or ()
            for char, share in doubt.others
            if share >= _RIVAL and is_ideograph(char) and plain(char) != plain(word.text[doubt.at])
        )
        for row, at in as_likely(texts, likely, shipped_language()):
            again[row].add(at)
        return [self._looked_at(*word, places) for word, places in zip(words, again, strict=True)]

    def _looked_at(self, word: Word, glyphs: Sequence[Glyph], image: Pixels, strange: Collection[int]) -> Word:
        """Return a word whose unsure and strange characters are looked at again, in a wider and a narrower picture."""
        doubts = {doubt.at: doubt for doubt in word.doubts or ()}
        views = {at: [glyphs[at].view] for at in doubts}
        for factor, around in _LOOKS:
            told = {at: one for at, one in doubts.items() if word.text[at].isalnum()}
            unsure = {at for at, one in told.items() if share_of(word.text, one) < _AGAIN} - labels(word.text, told)
            if not (places := sorted(unsure.union(strange))):
                break
            first, last = glyphs[max(0, places[0] - around)], glyphs[min(len(glyphs) - 1, places[-1] + around)]
            left = max(0, round((first.at - _EM_STEPS) * STEP))
            clip = narrow_line(image[:, left : round((last.at + _EM_STEPS) * STEP)], factor)
            (read,) = self._good.read([clip], [False])
            shown = [glyph for glyph in read if glyph.char != " "]
            for at in places:
                middle = (glyphs[at].at - left / STEP) * factor
                near = min(shown, key=lambda glyph: abs(glyph.at - middle), default=None)
                if near and abs(near.at - middle) < _NEAR:
                    doubts[at] = _both(word.text[at], doubts.get(at) or _doubt(at, glyphs[at]), near)
                    views.setdefault(at, []).append(near.view)
        text = list(word.text)
        for at, seen in views.items():
            text[at], doubts[at] = self._prints.weigh(text[at], doubts[at], [one for one in seen if one is not None])
        return replace(word, text="".join(text), doubts=tuple(doubts[at] for at in sorted(doubts)))

    def _wider(self, page: Pixels, box: NDArray[np.float32]) -> tuple[Pixels, list[Glyph]] | None:
        """Return a line with more of the page around it, and what is read; None where ink is still unclaimed."""
        image = cut_line(page, grown(box))
        if image is None:
            return None
        (glyphs,) = self._good.read([image])
        raise_digits(image, glyphs)
        return None if mark_lost(image, glyphs) else (image, glyphs)


def _word(box: NDArray[np.float32], glyphs: list[Glyph]) -> Word | None:
    text = "".join(glyph.char for glyph in glyphs)
    if not text.strip() or sum(glyph.confidence for glyph in glyphs) < _MIN_SCORE * len(glyphs):
        return None
    text = _COUNT.sub(lambda found: superscript(found[0].replace("°", "9")), _NEGATIVE.sub("－", text))
    corners = tuple((float(x), float(y)) for x, y in box)
    score = math.prod(glyph.confidence for glyph in glyphs if glyph.char.isalnum())
    doubts = tuple(_doubt(at, one) for at, one in enumerate(glyphs) if one.confidence < SURE or one.gap > GAP)
    return Word(text, corners, round(score, 6), doubts)


def _both(own: str, doubt: Doubt, again: Glyph) -> Doubt:
    """Return a doubt about a character with the geometric mean of two looks: those of one model depend on each other.

    Of forms of one character the first look says which it is: 查 or 査.
    """
    seen, forms = {own: doubt.sure, **dict(doubt.others)}, defaultdict[str, float](float)
    for char, share in ((again.char, again.confidence), *again.others):
        forms[plain(char)] += share
    first = {plain(char): char for char in forms} | {plain(char): char for char in reversed(seen)}
    chars = {**seen, **dict.fromkeys(first.values(), FLOOR)} | seen
    both = {char: (share * max(forms[plain(char)], FLOOR)) ** 0.5 for char, share in chars.items()}
    scale = min(1.0, math.sqrt(sum(seen.values()) * sum(forms.values()))) / sum(both.values())
    shares = {char: round(share * scale, 4) for char, share in both.items()}
    others = sorted((one for one in shares.items() if one[0] != own and one[1]), key=lambda one: -one[1])
    return Doubt(doubt.at, shares[own], doubt.gap, tuple(others))


def _doubt(at: int, glyph: Glyph) -> Doubt:
    others = tuple((char, round(value, 4)) for char, value in glyph.others)
    return Doubt(at, round(min(glyph.confidence, 1.0), 4), round(glyph.gap, 3), others)
