"""Which pairs of questions are worth comparing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

from pipeline.dedup.grams import Vocabulary, bigrams
from pipeline.dedup.keys import OPTION_BREAK, folded
from pipeline.dedup.minhash import Banding, candidate_pairs

WHOLE = Banding(bands=30, rows=4)
"""Over stem and options: finds copies at Jaccard .5 with probability .86, .6 with .985, .7 with .9997."""
STEM = Banding(bands=20, rows=4)
"""Over the core of the stem: finds variants and twins with other options."""
_CHUNK = 20_000
"""Questions whose words are counted at a time: bounds the memory for explanations."""
_HOPELESS = 45.0
"""Pairs of stems less similar than this (0..100) have no relation: half of what ``related`` asks at least."""


@dataclass(frozen=True)
class Candidates:
    """Pairs to compare and the vocabulary to compare them with.

    Attributes:
        exact: (pairs, 2) rows that say the same; the first is the row that stands for the others.
        near: (pairs, 2) rows, each standing for its exact copies, that may be related.
        vocabulary: of the collection without exact copies.
    """

    exact: NDArray[np.int64]
    near: NDArray[np.int64]
    vocabulary: Vocabulary


def find_candidates(keys: pl.DataFrame, explanations: pl.Series, seed: int) -> Candidates:
    """The pairs worth comparing.

    Args:
        keys: as ``with_keys`` gives them, sorted by question_id.
        explanations: of the same questions; they widen the vocabulary.
        seed: of the hash functions.
    """
    firsts = (
        keys.with_row_index("row").select("row", first=pl.col("row").first().over("exact")).cast(pl.Int64)
    )
    copies = firsts.filter(pl.col("row") != pl.col("first")).select("first", "row").to_numpy()
    distinct = firsts.filter(pl.col("row") == pl.col("first"))["row"].to_numpy()
    chosen = keys[distinct]
    cores = chosen["core"].to_list()
    options = pl.col("option_keys").list.join(OPTION_BREAK)
    whole = bigrams(_framed(chosen, "core", options))
    found = np.concatenate(
        [candidate_pairs(whole, WHOLE, seed), candidate_pairs(bigrams(cores), STEM, seed + 1)]
    )
    pairs = np.unique(found, axis=0)
    return Candidates(
        copies, distinct[_hopeful(pairs, cores)], _vocabulary(chosen.with_columns(explanations[distinct]))
    )


def _vocabulary(questions: pl.DataFrame) -> Vocabulary:
    """Of stems, options and explanations."""
    vocabulary = Vocabulary()
    for part in questions.iter_slices(_CHUNK):
        explained = part.with_columns(folded(pl.col("explanation").fill_null("")))
        vocabulary.add(
            bigrams(_framed(explained, "key", pl.col("option_keys").list.join(OPTION_BREAK), "explanation"))
        )
    return vocabulary


def _framed(keys: pl.DataFrame, *parts: str | pl.Expr) -> list[str]:
    """Texts whose parts begin and end with a break, so that bigrams tell where an option begins."""
    text = pl.concat_str(pl.lit(""), *parts, pl.lit(""), separator=OPTION_BREAK)
    return keys.select(text.alias("text"))["text"].to_list()


def _hopeful(pairs: NDArray[np.int64], cores: list[str]) -> NDArray[np.int64]:
    """The pairs whose stems are similar enough to be compared in earnest."""
    if not len(pairs):
        return pairs
    first = [cores[row] for row in pairs[:, 0]]
    second = [cores[row] for row in pairs[:, 1]]
    scores = process.cpdist(first, second, scorer=fuzz.ratio, score_cutoff=_HOPELESS, workers=2)
    both_empty = np.fromiter((not a and not b for a, b in zip(first, second, strict=True)), bool, len(first))
    hopeful: NDArray[np.int64] = pairs[(scores >= _HOPELESS) | both_empty]
    return hopeful
