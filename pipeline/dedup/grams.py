"""Character bigrams of many texts as flat arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_SHIFT = np.uint64(21)
"""A code point has 21 bits, so two of them are a number of 42: no hashing, no collisions."""


_SLOT_BITS = 24
"""16.8 million slots of four bytes: exams have fewer than two million bigrams."""
_SPREAD = 0x9E3779B97F4A7C15
"""The golden ratio of 2**64 (Knuth's multiplicative hashing)."""


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
    """How often each bigram is met: what tells a misreading from another word.

    A recognition error leaves bigrams that the collection does not have (肝灸); another word has ones that are met
    again (肝癌), in the question's own explanation at least. That is evidence only where the collection is large
    enough for words to be met again.
    """

    def __init__(self, enough: int = 1000) -> None:
        """Start empty; fewer than ``enough`` texts are no evidence."""
        self._counts = np.zeros(1 << _SLOT_BITS, np.uint32)
        self._enough = enough
        self._texts = 0

    def add(self, grams: Grams) -> None:
        """Count the bigrams of further texts."""
        slots = (grams.codes * np.uint64(_SPREAD)) >> np.uint64(64 - _SLOT_BITS)
        found, counts = np.unique(slots.astype(np.int64), return_counts=True)
        self._counts[found] += counts.astype(np.uint32)
        self._texts += grams.texts

    @property
    def is_evidence(self) -> bool:
        """Whether there are enough texts."""
        return self._texts >= self._enough

    def count(self, first: str, second: str) -> int:
        """How often the bigram was met. Collisions can only make an unknown bigram known."""
        code = (ord(first) << 21 | ord(second)) * _SPREAD & 0xFFFFFFFFFFFFFFFF
        return int(self._counts[code >> (64 - _SLOT_BITS)])
