"""Texts as tokens, an ideograph or a run of other letters and digits; questions whose tokens are almost the same.

N-grams of words are how overlap is measured in English (13 of them: Brown et al. 2020, appendix C). Chinese has no
spaces, so its characters are counted; a Latin word or a number is one token, or thirteen would be two words.

Questions in different splits are compared in full by another measure than deduplication has: none vouches for itself.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from build_dataset.pipeline.dedup.grams import Banding, candidate_pairs, similarities
from build_dataset.pipeline.dedup.keys import folded_case, symbols_kept

_BASE = 0x9E3779B97F4A7C15  # of the polynomial, modulo 2**64, that hashes the tokens of a run
_IDEOGRAPHS = "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
_TOKEN = re.compile(rf"(?![A-Za-z](?![^\W_{_IDEOGRAPHS}]))(?:[^\W_{_IDEOGRAPHS}]+|(?=\w)[{_IDEOGRAPHS}])")
"""A word or a number, 140mmHg; or an ideograph. A single Latin letter is none: it labels an option."""
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
    folded = (symbols_kept(text.translate(_folds())) for text in texts)
    found = [[(token[0], token.start(), token.end()) for token in _TOKEN.finditer(text)] for text in folded]
    counts = np.fromiter(map(len, found), np.int64, len(found))
    spans = np.array([span[1:] for row in found for span in row], np.int64).reshape(-1, 2)
    words = pl.Series([span[0] for row in found for span in row], dtype=pl.String)
    hashes: Hashes = words.hash(seed=0).to_numpy().astype(np.uint64)
    return Tokens(hashes, spans[:, 0], spans[:, 1], np.repeat(np.arange(len(texts)), counts), counts)


def windows(tokens: Tokens, size: int) -> Windows:
    """All runs of ``size`` tokens that stand in one text."""
    last = max(0, len(tokens.hashes) - size + 1)
    inside = np.flatnonzero(tokens.rows[:last] == tokens.rows[size - 1 :])
    sums: Hashes = np.zeros(last, np.uint64)
    for offset in reversed(range(size)):
        sums = sums * np.uint64(_BASE) + tokens.hashes[offset : last + offset] + np.uint64(1)
    rows = tokens.rows[inside]
    places = inside - np.searchsorted(tokens.rows, rows)
    # Spread (SplitMix64's finaliser: Steele et al., OOPSLA 2014), so that sums of hashes are hashes again.
    hashes = (sums[inside] ^ (sums[inside] >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    hashes = (hashes ^ (hashes >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return Windows(hashes ^ (hashes >> np.uint64(31)), rows.astype(np.int32), places.astype(np.int32))


def joined(parts: Sequence[Windows]) -> Windows:
    """Return the runs of all parts, one behind the other."""
    return Windows(*map(np.concatenate, zip(*parts, strict=True)))


@cache
def _folds() -> dict[int, str]:
    """Return the folded form of characters by code point: NFKC where that is one character (Ａ, ｶ); ㎎ would be two."""
    folded = ((code, unicodedata.normalize("NFKC", chr(code))) for code in range(0x30000))
    return {code: char for code, char in folded if len(char) == 1 and char != chr(code)}


_BANDS = Banding(bands=40, rows=3)
"""Finds texts of which nine tenths are alike, at Jaccard .65 of their bigrams, with probability .99999."""


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
    whole = pl.concat_str("stem", pl.col("options").list.sort().list.join("\n"))  # their order makes no other question
    letters = whole.str.normalize("NFKC").str.to_lowercase().str.replace_all(r"[^\pL\pN]+", "")
    pairs = candidate_pairs([texts.select(letters)["stem"].to_list()], _BANDS, seed=0)
    split_of = np.asarray(splits, np.int8)[pairs]
    pairs = pairs[split_of[:, 0] != split_of[:, 1]]
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
    folded = (folded_case(text.str.normalize("NFKC")) for text in (pl.col("stem"), pl.element()))
    stem, option = (text.str.replace_all(r"[^\pL\pN\p{Sm}]+", "") for text in folded)
    return texts.select(stem, pl.col("options").list.eval(option).list.sort().list.join("\n"))
