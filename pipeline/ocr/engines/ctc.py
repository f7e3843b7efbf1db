"""CTC decoding by best path (Graves et al., ICML 2006, 3.2) that joins equal characters and corrects unlikely ones."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from build_dataset.pipeline.ocr.glyphs import is_cjk

Values = NDArray[np.float32]
_BLANK = 0  # index of CTC's blank
_LABEL_COMMA = 0.05
"""Likelihood of a comma after an option letter or a question number at the start of a line is beside a stop. On blurred
scans recognisers take one in ten stops there for commas; nobody prints "A," or "12,"."""
_OVERLOOKED = 0.15
"""Probability of some other character, in a gap that reads as nothing, from which one may have been overlooked."""
SURE = 0.995  # Probability from which no other character of a place is kept
GAP = 0.02  # Probability of a lost character from which one is noted
_LIKELY, _POSSIBLE = 8, 1e-4  # Characters of a place that are kept at most, and their least probability
_AS_BOX = 0.1  # Probability of 口 from which a box may be one
_UNMARKED = 0.5  # Gap behind a label whose mark was not read


@dataclass(slots=True)
class Glyph:
    """A character that was read."""

    char: str
    confidence: float  # 0..1: probability of the character in half or full width, at its surest step
    at: float  # Its middle, in steps of the recogniser
    gap: float = 0.0
    """Probability that a character was overlooked before the next one, or behind the last; 1 where ink stands there."""
    others: tuple[tuple[str, float], ...] = ()
    """Other likely characters of the place with their probabilities, likeliest first; none where it is sure."""
    view: Values | None = None
    """Of an unsure place, the probabilities of the characters that the alphabet watches (``prints.py``)."""

    @property
    def overlooked(self) -> bool:
        """Return whether a character may have been overlooked behind this one."""
        return self.gap > _OVERLOOKED


class Alphabet:
    """The characters a recogniser knows, by the index of its output."""

    def __init__(self, characters: Sequence[str]) -> None:
        """Args: characters: as the model's file lists them; CTC's blank comes before, the space after them."""
        self.characters = ["", *characters, " "]
        self.watched: NDArray[np.intp] | None = None  # Characters whose probabilities are kept in unsure places
        place = {char: index for index, char in enumerate(self.characters)}
        widths = [(chr(code), chr(code + 0xFEE0)) for code in range(0x21, 0x7F)]
        known = [(place[half], place[full]) for half, full in widths if half in place and full in place]
        self._half = np.array([half for half, _ in known], dtype=np.intp)
        self._full = np.array([full for _, full in known], dtype=np.intp)
        self._stop = [place[char] for char in ".．" if char in place]
        self._comma = [place[char] for char in ",，" if char in place]

    def decode(self, values: Values, starts_line: bool = True) -> list[Glyph]:
        """The characters of one line.

        The probabilities of a character in half and in full width are added before the best is chosen. ``values``:
        probabilities, steps x characters; ``starts_line``: the image starts where a printed line does.
        """
        best = values.argmax(axis=1)
        edges = np.flatnonzero(np.append(True, best[1:] != best[:-1]))
        ends = np.append(edges[1:], len(best))
        runs = [(s, e) for s, e in zip(edges.tolist(), ends.tolist(), strict=True) if best[s] != _BLANK]
        if not runs:
            return []
        at = np.array([s + int(values[s:e, best[s]].argmax()) for s, e in runs])
        half, full = values[at[:, None], self._half], values[at[:, None], self._full]
        sums, steps = half + full, np.arange(len(at))
        pair = sums.argmax(axis=1)
        written = np.where(half[steps, pair] >= full[steps, pair], self._half[pair], self._full[pair])
        alone, together = values[at, best[at]], sums[steps, pair]
        chosen, sure = np.where(together > alone, written, best[at]), np.maximum(alone, together)
        found = zip(chosen.tolist(), sure.tolist(), runs, strict=True)
        glyphs = [Glyph(self.characters[index], float(value), (s + e) / 2) for index, value, (s, e) in found]
        for glyph, step in zip(glyphs, at.tolist(), strict=True):
            if glyph.confidence < SURE:
                glyph.others = self._others(values[step], glyph.char)
                glyph.view = None if self.watched is None else values[step, self.watched]
                share = dict(glyph.others).get("口", 0.0)
                if glyph.char in "□☐" and share > _AS_BOX:  # what stands beside the box decides, 口服
                    others = [(glyph.char, glyph.confidence), *(one for one in glyph.others if one[0] != "口")]
                    glyph.others = tuple(sorted(others, key=lambda one: -one[1]))
                    glyph.char, glyph.confidence = "口", share
        for left, right, glyph in zip(runs, runs[1:], glyphs, strict=False):
            glyph.gap = self._overlooked(values[left[1] : right[0]], (best[left[0]], best[right[0]]))
        glyphs[-1].gap = self._overlooked(values[runs[-1][1] :], (best[runs[-1][0]],))
        # Nobody prints a space before a mark that follows its word closely.
        after = [*(glyph.char for glyph in glyphs[1:]), "-"]
        kept = [at for at, one in enumerate(glyphs) if one.char != " " or after[at] not in ".．,，、。:：;；)）"]
        glyphs, at = [glyphs[index] for index in kept], at[kept]
        if starts_line:
            self._stop_after_label(glyphs, values, at)
        return glyphs

    def _others(self, row: Values, char: str) -> tuple[tuple[str, float], ...]:
        likely = np.argsort(row)[-_LIKELY:] if len(row) <= _LIKELY else np.argpartition(row, -_LIKELY)[-_LIKELY:]
        found = sorted(((float(row[at]), self.characters[at]) for at in likely.tolist() if at != _BLANK), reverse=True)
        return tuple((other, value) for value, other in found if value >= _POSSIBLE and other != char)

    @staticmethod
    def _overlooked(gap: Values, neighbours: Sequence[int]) -> float:
        return float((1.0 - gap[:, [_BLANK, *set(neighbours)]].sum(axis=1)).max()) if len(gap) else 0.0

    def _stop_after_label(self, glyphs: list[Glyph], values: Values, at: NDArray[np.intp]) -> None:
        """A comma right after an option letter or a question number becomes a stop where one was likely at all.

        Where it stays a comma, or no mark is there, the place is doubtful.
        """
        if (mark := label_end([glyph.char for glyph in glyphs])) is None:
            return
        for glyph in glyphs[: mark + 1]:  # a full-width stop has white space beside it: 1 of 1,500 hid something
            glyph.gap = 0.0
        glyph = glyphs[mark]
        if glyph.char not in ",，.．":
            if is_cjk(glyph.char):
                glyphs[mark - 1].gap = _UNMARKED
            return
        row = values[at[mark]]
        stop, comma = float(row[self._stop].sum()), float(row[self._comma].sum()) * _LABEL_COMMA
        if stop > comma:
            glyph.char = "."
            glyph.confidence = max(glyph.confidence, stop / (stop + comma))
        else:
            glyph.confidence = min(glyph.confidence, 0.5)  # below every limit: read again


def label_end(chars: Sequence[str]) -> int | None:
    """Index of the mark after an option letter or up to three digits that start a line; not in 12,500 or 3.5."""
    start = 0
    while start < min(4, len(chars)) and chars[start].isascii() and chars[start].isdigit():
        start += 1
    if start == 0 and chars and chars[0] in "ABCDEFGHIJK":
        return 1 if len(chars) > 1 else None
    if not 0 < start <= 3 or start >= len(chars):
        return None
    return None if start + 1 < len(chars) and chars[start + 1].isdigit() else start
