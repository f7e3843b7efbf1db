"""Texts as tokens: an ideograph is one, so is a run of other letters and digits. Flat arrays, no strings.

N-grams of words are how overlap is measured in English (13 of them: Brown et al. 2020, appendix C). Chinese has no
spaces, so its characters are counted; a Latin word or a number among them is one token, or thirteen of them would
be two words.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

_KNOWN = 0x40000
"""Code points below are letters of some script; those above separate tokens."""
_GAP, _IDEOGRAPH, _WORD = range(3)
_BASE = 0x9E3779B97F4A7C15
_IDEOGRAPHS = (
    (0x2E80, 0x2FDF), (0x3005, 0x3007), (0x3040, 0x30FF), (0x3400, 0x9FFF), (0xAC00, 0xD7A3), (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)  # fmt: skip

Hashes = NDArray[np.uint64]
Places = NDArray[np.int64]


@dataclass(frozen=True)
class Tokens:
    """The tokens of some texts, in order.

    Attributes:
        hashes: (tokens,) of the folded token: width and case do not count.
        starts: (tokens,) first character, within its text.
        ends: (tokens,) the character after its last.
        rows: (tokens,) the text that it stands in, ascending.
        counts: (texts,) tokens of each text.
    """

    hashes: Hashes
    starts: Places
    ends: Places
    rows: Places
    counts: Places


@dataclass(frozen=True)
class Windows:
    """Runs of tokens within one text.

    Attributes:
        hashes: (windows,) of the run.
        rows: (windows,) the text that it stands in, ascending.
        places: (windows,) its first token, counted within the text.
    """

    hashes: Hashes
    rows: Places
    places: Places


def tokenise(texts: Sequence[str]) -> Tokens:
    """The tokens of each text.

    Punctuation and spaces only separate; single Latin letters are left out, so that it does not count whether
    options are printed with their letters.
    """
    points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    lengths = np.fromiter((len(text) for text in texts), dtype=np.int64, count=len(texts))
    begins = np.concatenate(([0], np.cumsum(lengths)[:-1])).astype(np.int64)
    folds, kinds = _tables()
    points = np.where(points < _KNOWN, points, 0)
    folded, kind = folds[points], kinds[points]
    text_of = np.repeat(np.arange(len(texts)), lengths)
    same = np.zeros(len(points) + 1, bool)  # whether a character goes on with the word before it
    same[1:-1] = (kind[1:] == _WORD) & (kind[:-1] == _WORD) & (text_of[1:] == text_of[:-1])
    some = kind != _GAP
    first = np.flatnonzero(some & ~same[:-1])
    after = np.flatnonzero(some & ~same[1:]) + 1
    letters = (after - first == 1) & (folded[first] >= ord("a")) & (folded[first] <= ord("z"))
    first, after = first[~letters], after[~letters]
    rows = text_of[first]
    sums, inverse = _sums(folded.astype(np.uint64))
    hashes = _mixed((sums[after] - sums[first]) * inverse[first])
    counts = np.bincount(rows, minlength=len(texts)).astype(np.int64)
    return Tokens(hashes, first - begins[rows], after - begins[rows], rows, counts)


def windows(tokens: Tokens, size: int) -> Windows:
    """All runs of ``size`` tokens that stand in one text."""
    last = len(tokens.hashes) - size
    if last < 0:
        return Windows(np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0, np.int64))
    inside = np.flatnonzero(tokens.rows[: last + 1] == tokens.rows[size - 1 :])
    sums, inverse = _sums(tokens.hashes)
    hashes = _mixed((sums[inside + size] - sums[inside]) * inverse[inside])
    begins = np.concatenate(([0], np.cumsum(tokens.counts)[:-1])).astype(np.int64)
    rows = tokens.rows[inside]
    return Windows(hashes, rows, inside - begins[rows])


def _sums(values: Hashes) -> tuple[Hashes, Hashes]:
    """Running sums of values times powers of a base, and the inverse powers (all modulo 2**64)."""
    powers, inverse = _powers(1 << max(len(values), 1).bit_length())
    sums = np.zeros(len(values) + 1, np.uint64)
    np.cumsum((values + np.uint64(1)) * powers[: len(values)], out=sums[1:])
    return sums, inverse


@cache
def _powers(count: int) -> tuple[Hashes, Hashes]:
    inverse = pow(_BASE, -1, 1 << 64)
    made = [np.full(count, base, np.uint64) for base in (_BASE, inverse)]
    for powers in made:
        powers[0] = 1
        np.cumprod(powers, out=powers)
    return made[0], made[1]


def _mixed(hashes: Hashes) -> Hashes:
    """Spread (SplitMix64's finaliser: Steele et al., OOPSLA 2014), so that sums of hashes are hashes again."""
    hashes = (hashes ^ (hashes >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    hashes = (hashes ^ (hashes >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Hashes = hashes ^ (hashes >> np.uint64(31))
    return mixed


@cache
def _tables() -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
    """By code point: what it is folded to (NFKC and lower case where that is one character), and its kind."""
    folds = np.arange(_KNOWN, dtype=np.uint32)
    kinds = np.zeros(_KNOWN, np.uint8)
    for code in range(_KNOWN):
        char = unicodedata.normalize("NFKC", chr(code))
        char = char if len(char) == 1 else chr(code)
        lower = char.lower()
        char = lower if len(lower) == 1 else char
        folds[code] = ord(char)
        if unicodedata.category(char)[0] in "LN":
            kinds[code] = _WORD
    codes = np.arange(_KNOWN, dtype=np.uint32)
    for low, high in _IDEOGRAPHS:  # half-width kana and the like are folded into them
        inside = ((codes >= low) & (codes <= high)) | ((folds >= low) & (folds <= high))
        kinds[inside & (kinds == _WORD)] = _IDEOGRAPH
    return folds, kinds
