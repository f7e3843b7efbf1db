"""Character bigrams of many texts as flat arrays: their counts, MinHash signatures and locality-sensitive hashing.

Broder, "On the resemblance and containment of documents" (1997); banding as in Leskovec, Rajaraman and Ullman,
"Mining of Massive Datasets", section 3.4. Two texts whose bigram sets have Jaccard similarity ``s`` share a bucket
with probability ``1 - (1 - s**rows)**bands``. Signatures, and what is found, depend on no other text.
"""

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

_SHIFT = np.uint64(21)  # A code point has 21 bits, so two of them are a number of 42: no hashing, no collisions
_BEYOND = 1 << 42  # no bigram: the last code of a vocabulary
_COUNTED = {"code": pl.UInt64, "count": pl.Int64}
Texts = Iterable[Sequence[str]]  # texts, slice by slice


@dataclass(frozen=True)
class Grams:
    """Bigrams of texts, in order, repeated ones repeated."""

    codes: NDArray[np.uint64]  # (total,) both code points in one number
    rows: NDArray[np.int64]  # (total,) the text each stands in, ascending
    texts: int  # how many texts there are


def bigrams(texts: Sequence[str]) -> Grams:
    """The bigrams of each text; a text of one character has none."""
    points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    rows = np.repeat(np.arange(len(texts)), np.fromiter(map(len, texts), np.int64, len(texts)))
    inside = rows[:-1] == rows[1:]  # no bigram goes from one text into the next
    return Grams(((points[:-1].astype(np.uint64) << _SHIFT) | points[1:])[inside], rows[:-1][inside], len(texts))


class Vocabulary:
    """Counts of bigrams in the collection, which tell a misreading from another word.

    A recognition error leaves bigrams that the collection has not (肝灸), or by chance; another word has ones that
    are met again (肝癌), in the question's own explanation at least. Only a large collection is evidence of that.
    """

    def __init__(self, slices: Texts = (), enough: int = 1000) -> None:
        """Count the bigrams of texts; fewer than ``enough`` texts are no evidence."""
        parts, texts = [pl.DataFrame({"code": [_BEYOND], "count": [0]}, _COUNTED)], 0
        for some in slices:
            codes, counts = np.unique(bigrams(some).codes, return_counts=True)
            parts.append(pl.DataFrame({"code": codes, "count": counts}, _COUNTED))
            texts += len(some)
        counted = pl.concat(parts).group_by("code").agg(pl.col("count").sum()).sort("code")
        first = counted.group_by(pl.col("code") // (1 << 21)).agg(pl.col("count").sum())
        self._codes, self._counts = counted["code"].to_numpy(), counted["count"].to_numpy()
        self._characters: dict[int, int] = dict(first.iter_rows())  # how often each begins a bigram
        self._total, self.is_evidence = int(self._counts.sum()), texts >= enough

    def count(self, first: str, second: str) -> int:
        """Return how often the bigram was met."""
        code = np.uint64(ord(first) << 21 | ord(second))
        place = self._codes.searchsorted(code)
        return int(self._counts[place]) if self._codes[place] == code else 0

    def by_chance(self, first: str, second: str) -> bool:
        """Return whether the bigram is met no more often than its characters would meet at random."""
        expected = self._characters.get(ord(first), 0) * self._characters.get(ord(second), 0)  # times all bigrams
        return self.count(first, second) * self._total <= expected

    def of(self, texts: Sequence[str]) -> "Vocabulary":
        """Return the counts of the bigrams of some texts alone, to be sent to another process."""
        part = copy(self)
        part._codes = np.append(np.unique(bigrams(texts).codes), np.uint64(_BEYOND))
        part._counts = self._counts_of(part._codes)
        part._characters = {ord(char): self._characters.get(ord(char), 0) for char in set("".join(texts))}
        return part

    def rarities(self, grams: Grams) -> NDArray[np.int64]:
        """Return how many bigrams of each text are met nowhere else: (texts,), the fewer, the cleaner it was read."""
        # None where there are too few texts for that to be evidence.
        rare = (self._counts_of(grams.codes) <= 1) & self.is_evidence  # its own text counts it once
        return np.bincount(grams.rows[rare], minlength=grams.texts)

    def _counts_of(self, codes: NDArray[np.uint64]) -> NDArray[np.int64]:
        places = self._codes.searchsorted(codes)
        return np.where(self._codes[places] == codes, self._counts[places], 0)


_TEXTS = 500  # texts hashed at a time: 65,000 bigrams take 256 KiB, which stay in the second-level cache
_PAIRS = 20_000  # pairs of texts compared at a time: bounds the memory for texts
_WINDOW = 24
"""Texts behind each in a bucket that it is paired with: the bucket stays connected, the number of pairs linear."""


@dataclass(frozen=True)
class Banding:
    """Cutting of signatures into the keys of buckets."""

    bands: int
    rows: int


def candidate_pairs(texts: Texts, banding: Banding, seed: int) -> NDArray[np.int64]:
    """Pairs of texts that share a bucket in at least one band.

    Signatures are made a slice of the texts at a time and kept as the keys of their buckets; buckets are looked at
    band by band: eight bytes a text and band. Returned are (pairs, 2) indices, sorted, the smaller first, each once.
    """
    keys, present, before = list[NDArray[np.uint64]](), list[NDArray[np.int64]](), 0
    for some in (part[at : at + _TEXTS] for part in texts for at in range(0, len(part), _TEXTS)):
        grams = bigrams(some)
        inside, starts = np.unique(grams.rows, return_index=True)
        if len(inside):
            signatures = _signatures(grams.codes, starts, banding.bands * banding.rows, seed)
            hashed = np.zeros((banding.bands, len(inside)), np.uint64)
            for row in signatures.reshape(banding.bands, banding.rows, -1).swapaxes(0, 1):
                hashed = (hashed ^ row) * np.uint64(0x9E3779B97F4A7C15)  # the golden ratio of 2**64
                hashed ^= hashed >> np.uint64(29)
            keys.append(hashed)
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


def _signatures(codes: NDArray[np.uint64], starts: NDArray[np.int64], size: int, seed: int) -> NDArray[np.uint32]:
    """Minima of ``size`` hash functions: an array (size, texts)."""
    mixed = codes * np.uint64(0xBF58476D1CE4E5B9)  # the finaliser of splitmix64 spreads neighbouring code points
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    grams = (mixed >> np.uint64(32)).astype(np.uint32)
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


def similarities(
    pairs: NDArray[np.int64], texts: pl.Series, least: float | NDArray[np.float64], kind: type[Any] = np.float32
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
