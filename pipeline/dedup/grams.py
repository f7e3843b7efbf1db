"""Character bigrams of many texts as flat arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_SHIFT = np.uint64(21)
"""A code point has 21 bits, so two of them are a number of 42: no hashing, no collisions."""
_CODE_POINTS = 0x110000
_WORD = 0xFFFFFFFFFFFFFFFF

_SLOT_BITS = 24
"""Twice 16.8 million slots of four bytes: 280,000 questions have three million bigrams, so that one in forty has both
of its slots taken."""
_SPREADS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F)
"""Odd multipliers (Knuth's multiplicative hashing): the golden ratio of 2**64 and a prime of xxHash."""


@dataclass(frozen=True)
class Grams:
    """Bigrams of texts, in order, repeated ones repeated.

    Attributes:
        codes: (total,) both code points in one number.
        rows: (total,) the text each stands in, ascending.
        texts: how many texts there are.
    """

    codes: NDArray[np.uint64]
    rows: NDArray[np.int64]
    texts: int


def bigrams(texts: Sequence[str]) -> Grams:
    """The bigrams of each text; a text of one character has none."""
    points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(
        np.uint64
    )
    lengths = np.fromiter((len(text) for text in texts), dtype=np.int64, count=len(texts))
    rows = np.repeat(np.arange(len(texts)), lengths)
    if len(points) < 2:
        return Grams(np.empty(0, np.uint64), np.empty(0, np.int64), len(texts))
    inside = rows[:-1] == rows[1:]
    codes = (points[:-1] << _SHIFT) | points[1:]
    return Grams(codes[inside], rows[:-1][inside], len(texts))


class Vocabulary:
    """Counts of bigrams in the collection, which tell a misreading from another word.

    A recognition error leaves bigrams that the collection does not have (肝灸), or has only by chance; another word
    has ones that are met again (肝癌), in the question's own explanation at least. That is evidence only where the
    collection is large enough for words to be met again.
    """

    def __init__(self, enough: int = 1000) -> None:
        """Start empty; fewer than ``enough`` texts are no evidence."""
        self._counts = [np.zeros(1 << _SLOT_BITS, np.uint32) for _ in _SPREADS]
        self._characters = np.zeros(_CODE_POINTS, np.uint32)
        self._enough = enough
        self._texts = 0
        self._total = 0
        # Views give Python's own integers, several times faster than numpy's scalars.
        self._first, self._second = (memoryview(sketch.data) for sketch in self._counts)
        self._points = memoryview(self._characters.data)

    def add(self, grams: Grams) -> None:
        """Count the bigrams of further texts."""
        for sketch, spread in zip(self._counts, _SPREADS, strict=True):
            np.add.at(sketch, _slots(grams.codes, spread), np.uint32(1))
        found, counts = np.unique(grams.codes >> _SHIFT, return_counts=True)
        self._characters[found] += counts.astype(np.uint32)
        self._texts += grams.texts
        self._total += len(grams.codes)

    @property
    def is_evidence(self) -> bool:
        """Return whether there are enough texts."""
        return self._texts >= self._enough

    def count(self, first: str, second: str) -> int:
        """Return how often the bigram was met."""
        code = ord(first) << 21 | ord(second)
        one, other = ((code * spread & _WORD) >> (64 - _SLOT_BITS) for spread in _SPREADS)
        return int(min(self._first[one], self._second[other]))

    def by_chance(self, first: str, second: str) -> bool:
        """Return whether the bigram is met no more often than its characters would meet at random."""
        expected = self._points[ord(first)] * self._points[ord(second)]
        return self.count(first, second) * self._total <= expected

    def rarities(self, grams: Grams) -> NDArray[np.int64]:
        """Return how many bigrams of each text are met nowhere else: (texts,), the fewer, the cleaner it was read.

        All are zero where there are too few texts for that to be evidence.
        """
        if not self.is_evidence:
            return np.zeros(grams.texts, np.int64)
        rare = np.zeros(len(grams.codes), bool)
        for sketch, spread in zip(self._counts, _SPREADS, strict=True):
            rare |= sketch[_slots(grams.codes, spread)] <= 1
        return np.bincount(grams.rows[rare], minlength=grams.texts)


def _slots(codes: NDArray[np.uint64], spread: int) -> NDArray[np.int64]:
    return ((codes * np.uint64(spread)) >> np.uint64(64 - _SLOT_BITS)).astype(np.int64)
