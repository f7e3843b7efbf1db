"""Questions in different splits that say the same, or almost.

An own measure, not the one that deduplication uses, so that neither vouches for itself. Candidates share one of their
rarest runs of tokens (prefix filtering: Chaudhuri et al., ICDE 2006); stems and options are then compared in full.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

from pipeline.leaks.tokens import Places, Windows, tokenise, windows

_RUN = 4
"""Tokens of a run."""
_SLOT_BITS = 24
_CHUNK = 20_000
_CROWD = 200
"""Questions with one run from which it is a set phrase and no reason to compare them."""


@dataclass(frozen=True)
class SplitPair:
    """Two questions in different splits, by row, and how similar they are (0..1)."""

    first: int
    second: int
    score: float


def exact_pairs(questions: pl.DataFrame) -> list[SplitPair]:
    """Questions with one content in several splits, each with the first of them."""
    rows = questions.select("content_hash", "split").with_row_index("row")
    firsts = rows.unique("content_hash", keep="first", maintain_order=True)
    both = rows.join(firsts, on="content_hash", suffix="_first").filter(
        pl.col("split") != pl.col("split_first")
    )
    return [
        SplitPair(one, other, 1.0) for one, other in both.sort("row").select("row_first", "row").iter_rows()
    ]


def near_pairs(texts: pl.DataFrame, splits: Sequence[int], least: float) -> list[SplitPair]:
    """Questions whose stems and options both are at least ``least`` similar.

    Args:
        texts: ``stem`` (the shared stem before it) and ``options`` (a list).
        splits: a number for each question's split.
        least: similarity (rapidfuzz's ratio of letters and digits) in 0..1.
    """
    options = pl.col("options").list.sort().list.join("\n")  # their order makes no other question
    whole = texts.select(pl.concat_str("stem", options, separator="\n"))["stem"]
    pairs = _candidates(whole.to_list(), np.asarray(splits, np.int8), least)
    if not len(pairs):
        return []
    rows = np.unique(pairs)
    folded = _folded(texts[rows])
    places = np.searchsorted(rows, pairs)
    scores = np.minimum(*(_similarity(folded[name].to_list(), places, least) for name in ("stem", "options")))
    near = np.flatnonzero(scores >= least)
    return [SplitPair(int(pairs[row, 0]), int(pairs[row, 1]), round(float(scores[row]), 4)) for row in near]


def _similarity(texts: list[str], pairs: NDArray[np.int64], least: float) -> NDArray[np.float64]:
    first, second = ([texts[row] for row in pairs[:, side]] for side in (0, 1))
    scores: NDArray[np.float64] = process.cpdist(
        first, second, scorer=fuzz.ratio, score_cutoff=100 * least, dtype=np.float64, workers=2
    )
    empty = np.fromiter((not a and not b for a, b in zip(first, second, strict=True)), bool, len(first))
    return np.where(empty, 1.0, scores / 100)


def _folded(texts: pl.DataFrame) -> pl.DataFrame:
    """Letters and digits alone, options sorted."""
    option = pl.element().str.normalize("NFKC").str.to_lowercase().str.replace_all(r"[^\pL\pN]+", "")
    return texts.select(
        pl.col("stem").str.normalize("NFKC").str.to_lowercase().str.replace_all(r"[^\pL\pN]+", ""),
        pl.col("options").list.eval(option).list.sort().list.join("\n"),
    )


def _candidates(texts: list[str], splits: NDArray[np.int8], least: float) -> NDArray[np.int64]:
    """(pairs, 2) rows in different splits that share one of their rarest runs; the lower row first."""
    found = _runs(texts)
    slots = (found.hashes >> np.uint64(64 - _SLOT_BITS)).astype(np.int64)
    met = np.bincount(slots, minlength=1 << _SLOT_BITS)[slots]
    rare = _prefix(found, met, 1 - least)
    hashes, rows = found.hashes[rare], found.rows[rare]
    order = np.lexsort((rows, hashes))
    return _across(hashes[order], rows[order], splits)


def _runs(texts: list[str]) -> Windows:
    parts = []
    for start in range(0, len(texts), _CHUNK):
        found = windows(tokenise(texts[start : start + _CHUNK]), _RUN)
        parts.append((found.hashes, (found.rows + start).astype(np.int32)))
    if not parts:
        return Windows(np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0, np.int64))
    hashes, rows = (np.concatenate(side) for side in zip(*parts, strict=True))
    return Windows(hashes, rows, np.empty(0, np.int64))


def _prefix(found: Windows, met: Places, changed: float) -> NDArray[np.int64]:
    """The places of each text's rarest runs, without those that it alone has.

    A token that changed takes ``_RUN`` runs with it, so two texts of which a share ``changed`` differs have one in
    common among as many of the rarest, and one more (runs that are met as often are ordered by their hash).
    """
    rows = found.rows
    counts = np.bincount(rows)
    lone = np.bincount(rows, weights=met == 1).astype(np.int64)
    allowed = np.ceil(counts * min(1.0, _RUN * changed)).astype(np.int64) + 1 - lone
    shared = np.flatnonzero((met > 1) & (allowed[rows] > 0)) if len(rows) else np.empty(0, np.int64)
    order: NDArray[np.int64] = shared[np.lexsort((found.hashes[shared], met[shared], rows[shared]))]
    if not len(order):
        return order
    begins = np.flatnonzero(np.concatenate(([True], np.diff(rows[order]) > 0)))
    rank = np.arange(len(order)) - np.repeat(begins, np.diff(np.append(begins, len(order))))
    chosen: NDArray[np.int64] = order[rank < allowed[rows[order]]]
    return chosen


def _across(hashes: NDArray[np.uint64], rows: Places, splits: NDArray[np.int8]) -> NDArray[np.int64]:
    """All pairs of rows with one hash (sorted) and different splits."""
    parts = [*_pairs_apart(hashes, rows.astype(np.int64), splits)]
    if not parts:
        return np.empty((0, 2), np.int64)
    packed = np.unique(np.concatenate(parts))
    return np.stack((packed >> 32, packed & 0xFFFFFFFF), axis=1)


def _pairs_apart(
    hashes: NDArray[np.uint64], rows: Places, splits: NDArray[np.int8]
) -> Iterator[NDArray[np.int64]]:
    left: NDArray[np.int64] = np.arange(len(hashes))
    for distance in range(1, _CROWD):
        left = left[left + distance < len(hashes)]
        left = left[hashes[left] == hashes[left + distance]]
        if not len(left):
            return
        one, other = rows[left], rows[left + distance]
        apart = splits[one] != splits[other]
        yield np.unique((one[apart] << 32) | other[apart])
