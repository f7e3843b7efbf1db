"""Texts as tokens, an ideograph or a run of other letters and digits; questions whose tokens are almost the same.

N-grams of words are how overlap is measured in English (13 of them: Brown et al. 2020, appendix C). Chinese has no
spaces, so its characters are counted; a Latin word or a number among them is one token, or thirteen of them would
be two words.

Questions in different splits are compared by a measure of its own, not the one that deduplication uses, so that neither
vouches for itself. Candidates share one of their rarest runs of tokens (prefix filtering: Chaudhuri et al., ICDE 2006);
stems and options are then compared in full.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from build_dataset.pipeline.dedup.grams import code_points, equal_pairs, similarities
from build_dataset.pipeline.dedup.keys import folded_case, symbols_kept

_KNOWN = 0x40000  # code points below are letters of some script; those above separate tokens
_GAP, _IDEOGRAPH, _WORD = range(3)
_BASE = 0x9E3779B97F4A7C15
"""Of the polynomial, modulo 2**64, that hashes the letters of a token and the tokens of a run."""
_IDEOGRAPHS = (
    (0x2E80, 0x2FDF), (0x3005, 0x3007), (0x3040, 0x30FF), (0x3400, 0x9FFF), (0xAC00, 0xD7A3), (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)  # fmt: skip

_WIDE = {code + 0xFEE0: code for code in range(0x21, 0x7F)}  # Ａ → A

Hashes = NDArray[np.uint64]
Places = NDArray[np.int64]


@dataclass(frozen=True)
class Tokens:
    """The tokens of some texts, in order."""

    hashes: Hashes  # (tokens,) of the folded token: width does not count, nor does case but of symbols
    starts: Places  # (tokens,) first character, within its text
    ends: Places  # (tokens,) the character after its last
    rows: Places  # (tokens,) the text that it stands in, ascending
    counts: Places  # (texts,) tokens of each text


class Windows(NamedTuple):
    """Runs of tokens within one text."""

    hashes: Hashes  # (windows,) of the run
    rows: NDArray[np.int32]  # (windows,) the text that it stands in, ascending
    places: NDArray[np.int32]  # (windows,) its first token, counted within the text


def tokenise(texts: Sequence[str]) -> Tokens:
    """Return the tokens of each text: no punctuation, no spaces, no single Latin letters, which label options."""
    points, text_of = code_points([symbols_kept(text.translate(_WIDE)) for text in texts])
    begins = np.searchsorted(text_of, np.arange(len(texts)))
    folds, kinds = _tables()
    points = np.where(points < _KNOWN, points, 0)  # beyond are private use and tags
    folded, kind = folds[points], kinds[points]
    same = np.zeros(len(points) + 1, bool)  # whether a character goes on with the word before it
    same[1:-1] = (kind[1:] == _WORD) & (kind[:-1] == _WORD) & (text_of[1:] == text_of[:-1])
    some = kind != _GAP
    begins_word, places = some & ~same[:-1], np.arange(len(points))
    within = places - np.maximum.accumulate(np.where(begins_word, places, 0))
    first, after = np.flatnonzero(begins_word), np.flatnonzero(some & ~same[1:]) + 1
    # "A" of "A. 肝"
    letters = (after - first == 1) & (folded[first] | 32 >= ord("a")) & (folded[first] | 32 <= ord("z"))
    first, after = first[~letters], after[~letters]
    rows = text_of[first]
    parts = (folded + np.uint64(1)) * np.uint64(_BASE) ** within.astype(np.uint64)
    spans = np.stack((first, after), axis=1).ravel()
    hashes = _mixed(np.add.reduceat(np.append(parts, np.uint64(0)), spans)[::2])
    counts = np.bincount(rows, minlength=len(texts)).astype(np.int64)
    return Tokens(hashes, first - begins[rows], after - begins[rows], rows, counts)


def windows(tokens: Tokens, size: int) -> Windows:
    """All runs of ``size`` tokens that stand in one text."""
    last = max(0, len(tokens.hashes) - size + 1)
    inside = np.flatnonzero(tokens.rows[:last] == tokens.rows[size - 1 :])
    sums: Hashes = np.zeros(last, np.uint64)
    for offset in reversed(range(size)):
        sums = sums * np.uint64(_BASE) + tokens.hashes[offset : last + offset] + np.uint64(1)
    rows = tokens.rows[inside]
    places = inside - np.searchsorted(tokens.rows, rows)
    return Windows(_mixed(sums[inside]), rows.astype(np.int32), places.astype(np.int32))


def joined(parts: Sequence[Windows]) -> Windows:
    """Return the runs of all parts, one behind the other."""
    return Windows(*map(np.concatenate, zip(*parts, strict=True)))


def _mixed(hashes: Hashes) -> Hashes:
    """Spread (SplitMix64's finaliser: Steele et al., OOPSLA 2014), so that sums of hashes are hashes again."""
    hashes = (hashes ^ (hashes >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    hashes = (hashes ^ (hashes >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Hashes = hashes ^ (hashes >> np.uint64(31))
    return mixed


@cache
def _tables() -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
    """By code point: what it is folded to (NFKC where that is one character), and its kind."""
    folds = np.arange(_KNOWN, dtype=np.uint32)
    kinds = np.zeros(_KNOWN, np.uint8)
    for code in range(_KNOWN):
        char = unicodedata.normalize("NFKC", chr(code))
        char = char if len(char) == 1 else chr(code)  # ㎎ would be two
        folds[code] = ord(char)
        if unicodedata.category(char)[0] in "LN":
            kinds[code] = _WORD
    codes = np.arange(_KNOWN, dtype=np.uint32)
    for low, high in _IDEOGRAPHS:  # half-width kana and the like are folded into them
        inside = ((codes >= low) & (codes <= high)) | ((folds >= low) & (folds <= high))
        kinds[inside & (kinds == _WORD)] = _IDEOGRAPH
    return folds, kinds


_RUN = 4  # tokens of a run
_SLOT_BITS = 24
_CHUNK = 20_000
_CROWD = 200  # Number of questions with the same run from which the run is a set phrase, no reason to compare them.


def exact_pairs(questions: pl.DataFrame) -> list[tuple[int, int]]:
    """Rows of questions with one content in several splits, each with the first of them."""
    rows = questions.select("content_hash", "split").with_row_index("row")
    firsts = rows.unique("content_hash", keep="first", maintain_order=True)
    both = rows.join(firsts, on="content_hash", suffix="_first").filter(pl.col("split") != pl.col("split_first"))
    return both.sort("row").select("row_first", "row").rows()


def near_pairs(texts: pl.DataFrame, splits: Sequence[int], least: float) -> dict[tuple[int, int], float]:
    """Return the similarity (0..1) of rows in different splits whose stems and options have ``least`` in common."""
    if texts.is_empty():
        return {}
    options = pl.col("options").list.sort().list.join("\n")  # their order makes no other question
    whole = texts.select(pl.concat_str("stem", options, separator="\n"))["stem"]
    pairs = _candidates(whole.to_list(), np.asarray(splits, np.int8), least)
    if not len(pairs):
        return {}
    rows = np.unique(pairs)
    folded = _folded(texts[rows])  # only texts of some pair: folding takes longer than comparing
    places = np.searchsorted(rows, pairs)
    alike = (similarities(places, folded[name], 100 * least, np.float64) for name in ("stem", "options"))
    scores = np.minimum(*alike) / 100
    near = np.flatnonzero(scores >= least)
    return {(int(pairs[row, 0]), int(pairs[row, 1])): round(float(scores[row]), 4) for row in near}


def _folded(texts: pl.DataFrame) -> pl.DataFrame:
    """Letters, digits and signs of mathematics alone, options sorted."""
    stem, option = (
        folded_case(text.str.normalize("NFKC")).str.replace_all(r"[^\pL\pN\p{Sm}]+", "")
        for text in (pl.col("stem"), pl.element())
    )
    return texts.select(stem, pl.col("options").list.eval(option).list.sort().list.join("\n"))


def _candidates(texts: list[str], splits: NDArray[np.int8], least: float) -> NDArray[np.int64]:
    """(pairs, 2) rows in different splits that share one of their rarest runs; the lower row first."""
    hashes, rows = _runs(texts)
    slots = (hashes >> np.uint64(64 - _SLOT_BITS)).astype(np.int32)
    met = np.bincount(slots, minlength=1 << _SLOT_BITS).astype(np.int32)[slots]
    rare = _prefix(hashes, rows, met, 1 - least)
    order = rare[np.lexsort((rows[rare], hashes[rare]))]
    return _across(hashes[order], rows[order].astype(np.int64), splits)


def _runs(texts: list[str]) -> tuple[Hashes, NDArray[np.int32]]:
    """Return the hash and the text of every run, in as few bytes as they take."""
    parts = []
    for start in range(0, len(texts), _CHUNK):
        runs = windows(tokenise(texts[start : start + _CHUNK]), _RUN)
        parts.append((runs.hashes, runs.rows + np.int32(start)))
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _prefix(hashes: Hashes, rows: NDArray[np.int32], met: NDArray[np.int32], changed: float) -> NDArray[np.int64]:
    """The places of each text's rarest runs, without those that it alone has.

    A token that changed takes ``_RUN`` runs with it, so two texts of which a share ``changed`` differs have one in
    common among as many of the rarest, and one more (runs that are met as often are ordered by their hash).
    """
    counts = np.bincount(rows)
    lone = np.bincount(rows[met == 1], minlength=len(counts))  # nobody else has them
    allowed = np.ceil(counts * min(1.0, _RUN * changed)).astype(np.int64) + 1 - lone
    shared = np.flatnonzero((met > 1) & (allowed[rows] > 0))
    order: NDArray[np.int64] = shared[np.lexsort((hashes[shared], met[shared], rows[shared]))]
    if not len(order):
        return order
    begins = np.flatnonzero(np.concatenate(([True], np.diff(rows[order]) > 0)))
    rank = np.arange(len(order)) - np.repeat(begins, np.diff(np.append(begins, len(order))))
    chosen: NDArray[np.int64] = order[rank < allowed[rows[order]]]
    return chosen


def _across(hashes: NDArray[np.uint64], rows: Places, splits: NDArray[np.int8]) -> NDArray[np.int64]:
    """All pairs of rows with one hash (sorted) and different splits."""
    parts = [np.empty(0, np.int64)]
    for one, other in equal_pairs(hashes, rows, _CROWD - 1):
        apart = splits[one] != splits[other]
        parts.append(np.unique((one[apart] << 32) | other[apart]))
    packed = np.unique(np.concatenate(parts))
    return np.stack((packed >> 32, packed & 0xFFFFFFFF), axis=1)
