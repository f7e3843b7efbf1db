"""Character bigrams of many texts as flat arrays: their counts, MinHash signatures and locality-sensitive hashing.

Broder, "On the resemblance and containment of documents" (1997); banding as in Leskovec, Rajaraman and Ullman,
"Mining of Massive Datasets", section 3.4. Two texts whose bigram sets have Jaccard similarity ``s`` share a bucket
with probability ``1 - (1 - s**rows)**bands``. Signatures depend on the text alone, so that a pair is found or not
whatever else is in the collection.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

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
    """Bigrams of texts, in order, repeated ones repeated."""

    codes: NDArray[np.uint64]  # (total,) both code points in one number
    rows: NDArray[np.int64]  # (total,) the text each stands in, ascending
    texts: int  # how many texts there are


def code_points(texts: Sequence[str]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return the code points of all texts, one text after the other, and the text that each stands in."""
    points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    return points, np.repeat(np.arange(len(texts)), np.fromiter(map(len, texts), np.int64, len(texts)))


def bigrams(texts: Sequence[str]) -> Grams:
    """The bigrams of each text; a text of one character has none."""
    points, rows = code_points(texts)
    inside = rows[:-1] == rows[1:]  # no bigram goes from one text into the next
    codes = (points[:-1].astype(np.uint64) << _SHIFT) | points[1:]
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
        characters, counts = np.unique(grams.codes >> _SHIFT, return_counts=True)
        self._characters[characters] += counts.astype(np.uint32)
        self._texts += grams.texts
        self._total += len(grams.codes)

    @property
    def is_evidence(self) -> bool:
        """Return whether there are enough texts."""
        return self._texts >= self._enough

    def count(self, first: str, second: str) -> int:
        """Return how often the bigram was met."""
        code = ord(first) << 21 | ord(second)
        first_slot, second_slot = ((code * spread & _WORD) >> (64 - _SLOT_BITS) for spread in _SPREADS)
        return int(min(self._first[first_slot], self._second[second_slot]))

    def by_chance(self, first: str, second: str) -> bool:
        """Return whether the bigram is met no more often than its characters would meet at random."""
        expected = self._points[ord(first)] * self._points[ord(second)]  # times the number of bigrams
        return self.count(first, second) * self._total <= expected

    def of(self, texts: Sequence[str]) -> "Excerpt":
        """Return the counts of the bigrams of some texts alone, to be sent to another process."""
        codes = np.unique(bigrams(texts).codes)
        counts = np.minimum(
            *(sketch[_slots(codes, spread)] for sketch, spread in zip(self._counts, _SPREADS, strict=True))
        )
        points = np.unique(code_points(texts)[0])
        characters = dict(zip(points.tolist(), self._characters[points].tolist(), strict=True))
        return Excerpt(
            self.is_evidence, self._total, dict(zip(codes.tolist(), counts.tolist(), strict=True)), characters
        )

    def rarities(self, grams: Grams) -> NDArray[np.int64]:
        """Return how many bigrams of each text are met nowhere else: (texts,), the fewer, the cleaner it was read.

        All are zero where there are too few texts for that to be evidence.
        """
        if not self.is_evidence:
            return np.zeros(grams.texts, np.int64)
        rare = np.zeros(len(grams.codes), bool)
        for sketch, spread in zip(self._counts, _SPREADS, strict=True):
            rare |= sketch[_slots(grams.codes, spread)] <= 1  # its own text counts it once
        return np.bincount(grams.rows[rare], minlength=grams.texts)


@dataclass(frozen=True)
class Excerpt:
    """The counts of a vocabulary for the bigrams of some texts."""

    is_evidence: bool
    total: int
    counts: dict[int, int]
    characters: dict[int, int]

    def count(self, first: str, second: str) -> int:
        """See ``Vocabulary.count``."""
        return self.counts[ord(first) << 21 | ord(second)]

    def by_chance(self, first: str, second: str) -> bool:
        """See ``Vocabulary.by_chance``."""
        expected = self.characters[ord(first)] * self.characters[ord(second)]
        return self.count(first, second) * self.total <= expected


def _slots(codes: NDArray[np.uint64], spread: int) -> NDArray[np.int64]:
    return ((codes * np.uint64(spread)) >> np.uint64(64 - _SLOT_BITS)).astype(np.int64)


Texts = Iterable[Sequence[str]]  # texts, slice by slice
_TEXTS = 500  # texts hashed at a time: 65,000 bigrams take 256 KiB, which stay in the second-level cache
_PAIRS = 20_000  # pairs of texts compared at a time: bounds the memory for texts
_WINDOW = 24
"""In a bucket of many, each text is paired with so many that follow it: that keeps the bucket connected, and the
number of pairs linear."""


@dataclass(frozen=True)
class Banding:
    """Cutting of signatures into the keys of buckets."""

    bands: int
    rows: int


def candidate_pairs(texts: Texts, banding: Banding, seed: int) -> NDArray[np.int64]:
    """Pairs of texts that share a bucket in at least one band.

    Signatures are made a slice of the texts at a time and kept as the keys of their buckets; buckets are looked at
    band by band. Memory grows by eight bytes a text and band. Returned are (pairs, 2) indices with the smaller first,
    sorted, each pair once.
    """
    keys: list[NDArray[np.uint64]] = []
    present: list[NDArray[np.int64]] = []
    before = 0
    for some in (part[at : at + _TEXTS] for part in texts for at in range(0, len(part), _TEXTS)):
        grams = bigrams(some)
        inside, starts = np.unique(grams.rows, return_index=True)
        if len(inside):
            signatures = _signatures(_mixed(grams.codes), starts, banding.bands * banding.rows, seed)
            keys.append(_band_keys(signatures.reshape(banding.bands, banding.rows, -1)))
            present.append(inside + before)
        before += len(some)
    codes: NDArray[np.int64] = np.empty(0, np.int64)
    rows = np.concatenate([codes, *present])
    for band in range(banding.bands if keys else 0):
        buckets = np.concatenate([part[band] for part in keys])
        order = np.argsort(buckets, kind="stable")  # texts of one bucket stand together, in their order
        pairs = equal_pairs(buckets[order], rows[order], _WINDOW)
        codes = np.union1d(codes, np.concatenate([codes[:0], *(first << 32 | second for first, second in pairs)]))
    return np.stack([codes >> 32, codes & 0xFFFFFFFF], axis=1)


def _mixed(codes: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Spread neighbouring code points over 32 bits (the finaliser of splitmix64)."""
    mixed = codes * np.uint64(0xBF58476D1CE4E5B9)  # splitmix64's first multiplier
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)  # and its second
    return (mixed >> np.uint64(32)).astype(np.uint32)


def _signatures(grams: NDArray[np.uint32], starts: NDArray[np.int64], size: int, seed: int) -> NDArray[np.uint32]:
    """Minima of ``size`` hash functions: an array (size, texts)."""
    random = np.random.default_rng(seed)
    factors = random.integers(1, 1 << 32, size, dtype=np.uint32) | np.uint32(1)  # odd: no hash loses bits
    offsets = random.integers(0, 1 << 32, size, dtype=np.uint32)
    out = np.empty((size, len(starts)), np.uint32)
    hashed = np.empty_like(grams)
    for minima, factor, offset in zip(out, factors, offsets, strict=True):
        np.multiply(grams, factor, out=hashed)
        np.add(hashed, offset, out=hashed)
        np.minimum.reduceat(hashed, starts, out=minima)
    return out


def _band_keys(signatures: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """The keys of buckets, (bands, texts), of signatures as (bands, rows, texts)."""
    keys = np.zeros((len(signatures), signatures.shape[2]), np.uint64)
    for row in signatures.swapaxes(0, 1):
        keys = (keys ^ row) * np.uint64(0x9E3779B97F4A7C15)  # the golden ratio of 2**64
        keys ^= keys >> np.uint64(29)
    return keys


def similarities(
    pairs: NDArray[np.int64],
    texts: pl.Series,
    least: float | NDArray[np.float64],
    kind: type[np.floating[Any]] = np.float32,
) -> NDArray[Any]:
    """Similarity (rapidfuzz's ratio) of both texts of each pair in 0..100; 0 where it is below ``least``."""
    scores, bounds = np.zeros(len(pairs), kind), np.broadcast_to(least, len(pairs))
    for start in range(0, len(pairs), _PAIRS):
        part = slice(start, start + _PAIRS)
        first, second = (texts.gather(pairs[part, side]).to_list() for side in (0, 1))
        cutoff = bounds[part].min()  # the higher, the fewer characters are looked at
        scores[part] = process.cpdist(first, second, scorer=fuzz.ratio, score_cutoff=cutoff, workers=-1, dtype=kind)
    return np.where(scores >= bounds, scores, 0)


def components(pairs: NDArray[np.int64], rows: int) -> NDArray[np.int64]:
    """Number what the ``pairs`` connect: (rows,), by the smallest row of each component."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(pairs), np.int8), (pairs[:, 0], pairs[:, 1])), shape=(rows, rows))
    labels: NDArray[np.int64] = connected_components(graph, directed=False)[1]
    return labels


def equal_pairs(
    keys: NDArray[np.uint64], rows: NDArray[np.int64], window: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield the pairs of rows with one key (sorted): each row with the next, then with the one after, to ``window``."""
    left: NDArray[np.int64] = np.arange(len(keys))
    for distance in range(1, window + 1):
        left = left[left + distance < len(keys)]
        left = left[keys[left] == keys[left + distance]]
        if not len(left):
            return
        yield rows[left], rows[left + distance]
