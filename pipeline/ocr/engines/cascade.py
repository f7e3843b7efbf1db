"""Reads images of lines: a small quick model first, the better one only where the first is unsure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from build_dataset.pipeline.characters import script_of
from build_dataset.pipeline.ocr.engines.ctc import Alphabet, Glyph, label_end
from build_dataset.pipeline.ocr.engines.network import STEP, Run, load_network, mark_lost, narrow_line, values_of
from build_dataset.pipeline.ocr.glyphs import is_cjk
from build_dataset.pipeline.ocr.interfaces import Pixels
from build_dataset.pipeline.ocr.language.counts import maybe_unknown, shipped_language
from build_dataset.schemas.data import shipped_toml

SURE, SURE_IDEOGRAPH, SURE_ALIKE, SURE_RARE, SURE_LABEL = 0.9, 0.95, 0.99, 0.99, 0.75
"""Confidence from which the quick model is believed: of most characters, of ideographs, of ``_ALIKE``, of ideographs
that are not common (of 778 none was wrong, of 700 below that 54), of letters and numbers of labels."""
_ALIKE = frozenset("0Oo1lI")  # Characters that differ by little
_PLAIN = frozenset(" .,:;?!()/%+<>=×．，。、：；？！（）％《》℃μ²Ⅱ")
"""Marks that the quick model knows. Others it misreads: 0.3~0.7 as 0.3-0.7, 10⁹/L as 10/L."""
_CONFUSABLES = {on: frozenset(chars) for on, chars in shipped_toml(__package__, "confusables.toml").items()}
_TRADITIONAL = 0.3  # Traditional characters of a page for each simplified one from which it is in traditional ones
_AROUND = 3  # Sure characters that are read again on each side of unsure ones, as context and to find the place
_WHOLE = 0.6  # Share of a line from which all of it is read again
_UNBELIEVED = 0.6  # Confidence of a character that is read again for what it may be
_HOPELESS = 0.6  # Mean confidence below which nothing of the quick reading is used
_FIRST_IDEOGRAPH = "\u3400"
_RAISED = re.compile("[×°⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻]")
"""Signs of something raised, 4×10⁹/L: the quick model drops it, and is sure; the good one needs the line for 10⁹."""
_WORD = re.compile("[A-Za-z]{5,}")
"""Words of the Latin script, of which the quick model loses narrow letters without a trace: gefitinib as geftnib."""
_NEAR = 3.0  # Steps between where two models see a character: an ideograph is 4 wide


class Recogniser:
    """A recognition model and its characters."""

    def __init__(self, network: Run, alphabet: Alphabet) -> None:
        self.network, self.alphabet = network, alphabet

    @classmethod
    def load(cls, path: Path, backend: str, characters: Path | None = None) -> Recogniser:
        """The model at ``path``; its characters stand in it, or line by line in a file of their own."""
        network, known = load_network(path, backend)
        return cls(network, Alphabet(characters.read_text("utf-8").rstrip("\n").split("\n") if characters else known))

    def read(self, images: Sequence[Pixels], starts: Sequence[bool] | None = None) -> list[list[Glyph]]:
        """The characters of each image; ``starts`` says which start where a printed line does, None: all."""
        pairs = zip(images, starts or [True] * len(images), strict=True)
        return [self.alphabet.decode(self.network(values_of(image))[0], begin) for image, begin in pairs]


class LinePart(NamedTuple):
    """Characters ``first`` to ``last`` of a line and the columns of pixels to read them in again."""

    line: int
    first: int
    last: int
    left: int
    right: int


class Cascade:
    """Two recognisers, one after the other."""

    def __init__(self, quick: Recogniser, good: Recogniser, squeeze: float) -> None:
        """Args: squeeze: factor on the width of the images that ``quick`` reads."""
        self.quick, self.good, self._squeeze = quick, good, squeeze

    def read(self, images: Sequence[Pixels]) -> list[list[Glyph]]:
        """The characters of each image of a line.

        The good model's reading of a part replaces the quick one's only if both agree on the characters beside it;
        otherwise the whole line is read again. The gap behind a character where ink is left over is 1.
        """
        narrow = [narrow_line(image, self._squeeze) for image in images]
        found = self.quick.read(narrow)
        for glyphs, small, image in zip(found, narrow, images, strict=True):
            for glyph in glyphs:  # in steps of the images as they are
                glyph.at *= image.shape[1] / small.shape[1]
            mark_lost(image, glyphs)
        texts = ["".join(glyph.char for glyph in glyphs) for glyphs in found]
        kinds = Counter(map(script_of, "".join(texts)))
        script = "big5" if kinds["big5"] > _TRADITIONAL * kinds["gb2312"] else "gb2312"
        wary = _CONFUSABLES["traditional"] if script == "big5" else ()
        beyond = [found[row][at] for row, at in maybe_unknown(texts, script, shipped_language())]
        for glyph in beyond + [one for glyphs in found for one in glyphs if one.char in wary]:
            glyph.confidence = min(glyph.confidence, _UNBELIEVED)
        unsure = [unsure_parts(index, glyphs, images[index].shape[1]) for index, glyphs in enumerate(found)]
        whole = {index for index, own in enumerate(unsure) if own is None}
        parts = [part for own in unsure for part in own or ()]
        clips = [images[part.line][:, part.left : part.right] for part in parts]
        again = self.good.read(clips, [part.left == 0 for part in parts])
        for part, glyphs in reversed(list(zip(parts, again, strict=True))):
            spliced = None if part.line in whole else splice_line(found[part.line], part, glyphs)
            if spliced is None:
                whole.add(part.line)
            else:
                found[part.line] = spliced
        for index in sorted(whole):
            (found[index],) = self.good.read([images[index]])
        for index in {part.line for part in parts} | whole:  # In the others none is left over: it is read again
            mark_lost(images[index], found[index])
        return found


def is_sure(glyph: Glyph, *, in_label: bool = False) -> bool:
    """Return whether the quick model is believed.

    It knows 6,906 characters, the good one 18,710, and takes four of ten that it does not know for ones that look alike
    with more than .95 (颏 for 额, 艽 for 芫). What is in no way common, traditional Chinese among it, is therefore
    always read again. A glyph ``in_label`` is the letter of an option or the number of a question.
    """
    if glyph.overlooked:
        return False
    if glyph.char >= _FIRST_IDEOGRAPH:
        return glyph.confidence >= _least(glyph.char)
    if not (glyph.char in _PLAIN or (glyph.char.isascii() and glyph.char.isalnum())):
        return False
    least = SURE_LABEL if in_label else SURE_ALIKE if glyph.char in _ALIKE else SURE
    return glyph.char == " " or glyph.confidence >= least


@cache
def _least(char: str) -> float:
    """Confidence from which an ideograph is believed; more than 1 where it never is."""
    if char in _CONFUSABLES["always"]:
        return 2.0
    if not is_cjk(char):
        return SURE_IDEOGRAPH
    known = char.encode("gb2312", "ignore")
    return 2.0 if not known else SURE_IDEOGRAPH if known[0] <= 0xD7 else SURE_RARE  # up to there common ones


def _unsure(glyphs: Sequence[Glyph]) -> list[int]:
    """Indices of the characters to read again; Latin words and a last bracket, of which the quick one loses parts."""
    chars = [glyph.char for glyph in glyphs]
    label = label_end(chars) or 0
    last = max((index for index, char in enumerate(chars) if char != " "), default=0)
    opens = {last} if chars[last] in "(（" else set()
    unsure = {index for index, glyph in enumerate(glyphs) if not is_sure(glyph, in_label=index < label)}
    words = {index for found in _WORD.finditer("".join(chars)) for index in range(*found.span())}
    return sorted(unsure | opens | words)


def unsure_parts(line: int, glyphs: Sequence[Glyph], width: int) -> list[LinePart] | None:
    """The parts of a line to read again; None for all of it."""
    sure = sum(glyph.confidence for glyph in glyphs)
    if not glyphs or sure < _HOPELESS * len(glyphs) or any(_RAISED.match(glyph.char) for glyph in glyphs):
        return None
    spans: list[tuple[int, int]] = []
    for index in _unsure(glyphs):
        first, last = index, min(index + glyphs[index].overlooked, len(glyphs) - 1)
        while first > 0 and glyphs[first - 1].char == " ":  # the places of spaces are vague and mark none
            first -= 1
        while last + 1 < len(glyphs) and glyphs[last + 1].char == " ":
            last += 1
        if spans and first - spans[-1][1] <= 2 * _AROUND:
            spans[-1] = (spans[-1][0], max(last, spans[-1][1]))
        else:
            spans.append((first, last))
    cuts = [0.0, *((one.at + other.at) / 2 * STEP for one, other in pairwise(glyphs)), float(width)]
    parts: list[LinePart] = []
    for first, last in spans:
        left, right = cuts[max(0, first - _AROUND)], cuts[min(len(glyphs), last + 1 + _AROUND)]
        parts.append(LinePart(line, first, last, round(left), round(right)))
    return parts if sum(part.right - part.left for part in parts) <= _WHOLE * width else None


def splice_line(glyphs: list[Glyph], part: LinePart, again: Sequence[Glyph]) -> list[Glyph] | None:
    """The line with what was read again in a part; None when the characters beside it do not fit."""
    moved = [replace(one, at=one.at + part.left / STEP) for one in again]
    left = _find(moved, glyphs[part.first - 1]) if part.first > 0 else -1
    stop = _find(moved, glyphs[part.last + 1]) if part.last + 1 < len(glyphs) else len(moved)
    if left is None or stop is None or stop <= left:
        return None
    return [*glyphs[: part.first], *moved[left + 1 : stop], *glyphs[part.last + 1 :]]


def _find(glyphs: Sequence[Glyph], wanted: Glyph) -> int | None:
    """Index of the same character in nearly the same place."""
    same = [(abs(glyph.at - wanted.at), at) for at, glyph in enumerate(glyphs) if glyph.char == wanted.char]
    far, index = min(same, default=(_NEAR + 1, None))
    return index if far <= _NEAR else None
