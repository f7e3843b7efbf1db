"""Which pairs of questions are worth comparing."""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

from pipeline.dedup.grams import Vocabulary, bigrams
from pipeline.dedup.keys import OPTION_BREAK, folded
from pipeline.dedup.minhash import Banding, candidate_pairs
from pipeline.stage import Store
from schemas.identity import sha256

WHOLE = Banding(bands=30, rows=4)
"""Over stem and options: finds copies at Jaccard .5 with probability .86, .6 with .985, .7 with .9997."""
STEM = Banding(bands=20, rows=4)
"""Over the core of the stem: finds variants and twins with other options."""
OPTIONS = pl.col("option_keys").list.join(OPTION_BREAK)
_CHUNK = 20_000
"""Questions whose words are counted at a time: bounds the memory for explanations."""
_HOPELESS = 45.0
"""Pairs of stems less similar than this (0..100) have no relation: half of what ``related`` asks at least."""

NEARLY_ONE = 88.0
"""Similarity (0..100) of whole stems, and of all options, from which two questions share a cluster whatever else is
said of them: models that saw one have almost seen the other. The leaks stage asks for .9, by a measure of its own;
280,000 generated questions left five such pairs in two splits."""


_SOURCES = ("candidates.py", "grams.py", "keys.py", "minhash.py", "phrases.py", "scripts.py")


@dataclass(frozen=True)
class Candidates:
    """Pairs to compare, whatever the thresholds.

    Attributes:
        exact: (pairs, 2) rows that say the same; the first is the row that stands for the others.
        near: (pairs, 2) rows, each standing for its exact copies, that may be related; the most alike first.
        scores: (pairs,) similarity of the stems of ``near`` in 0..100.
    """

    exact: NDArray[np.int64]
    near: NDArray[np.int64]
    scores: NDArray[np.float32]

    def pairs(self) -> Iterator[tuple[int, int]]:
        """All pairs, the most alike first."""
        for part in (self.exact, self.near):
            yield from zip(*part.T.tolist(), strict=True)


def find_candidates(keys: pl.DataFrame, seed: int) -> Candidates:
    """The pairs worth comparing.

    Args:
        keys: as ``with_keys`` gives them, sorted by question_id.
        seed: of the hash functions.
    """
    firsts = _firsts(keys)
    copies = firsts.filter(pl.col("row") != pl.col("first")).select("first", "row").to_numpy()
    distinct = firsts.filter(pl.col("row") == pl.col("first"))["row"].to_numpy()
    chosen = keys[distinct]
    cores = chosen["core"].to_list()
    whole = bigrams(framed(chosen, "core", OPTIONS))
    found = np.concatenate(
        [candidate_pairs(whole, WHOLE, seed), candidate_pairs(bigrams(cores), STEM, seed + 1)]
    )
    pairs = np.unique(found[:, 0] << 32 | found[:, 1])
    near, scores = _hopeful(
        np.stack([pairs >> 32, pairs & 0xFFFFFFFF], axis=1), cores, chosen["key"].to_list()
    )
    order = np.argsort(-scores, kind="stable")
    return Candidates(copies, distinct[near[order]], scores[order])


def stored_candidates(questions: pl.DataFrame, keys: pl.DataFrame, seed: int, store: Store) -> Candidates:
    """The candidates of these questions, searched once: other thresholds find them in the store.

    Args:
        questions: a ``Question`` table sorted by question_id.
        keys: of the same questions.
        seed: of the hash functions.
        store: of the stage.
    """
    folder = files("pipeline.dedup")
    code = [folder.joinpath(name).read_bytes() for name in _SOURCES]
    names = questions["question_id"].str.join("\n")[0]
    texts = questions["content_hash"].str.join("\n")[0]
    key = sha256("candidates", names, texts, str(seed), *code)
    if (kept := store.get(key)) is not None:
        return Candidates(*(_unpacked(part, kind) for part, kind in zip(kept, _KINDS, strict=True)))
    found = find_candidates(keys, seed)
    store.put(key, [_packed(part) for part in (found.exact, found.near, found.scores)])
    return found


_KINDS = ("<i8", "<i8", "<f4")


def _packed(array: NDArray[Any]) -> str:
    """An array as text: 280,000 questions have two million numbers, which as JSON take ten times the time."""
    return b64encode(zlib.compress(array.tobytes(), 1)).decode()


def _unpacked(text: str, kind: str) -> NDArray[Any]:
    array = np.frombuffer(zlib.decompress(b64decode(text)), dtype=kind)
    return array.reshape(-1, 2) if kind == "<i8" else array


def _firsts(keys: pl.DataFrame) -> pl.DataFrame:
    """Each ``row`` with the ``first`` that says the same."""
    first = pl.col("row").first().over("exact")
    return keys.with_row_index("row").select("row", first=first).cast(pl.Int64)


def vocabulary_of(questions: pl.DataFrame, keys: pl.DataFrame) -> Vocabulary:
    """The vocabulary of stems, options and explanations, each copy that says the same counted once."""
    vocabulary = Vocabulary()
    texts = keys.select("key", "option_keys", "exact").with_columns(questions["explanation"])
    distinct = texts.unique("exact", keep="first", maintain_order=True)
    for part in distinct.iter_slices(_CHUNK):
        explained = part.with_columns(folded(pl.col("explanation").fill_null("")))
        vocabulary.add(bigrams(framed(explained, "key", OPTIONS, "explanation")))
    return vocabulary


def framed(keys: pl.DataFrame, *parts: str | pl.Expr) -> list[str]:
    """Texts whose parts begin and end with a break, so that bigrams tell where an option begins."""
    text = pl.concat_str(pl.lit(""), *parts, pl.lit(""), separator=OPTION_BREAK)
    return keys.select(text.alias("text"))["text"].to_list()


def _hopeful(
    pairs: NDArray[np.int64], cores: list[str], stems: list[str]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The pairs whose stems are similar enough to be compared in earnest, and how similar: by their cores, or whole."""
    if not len(pairs):
        return pairs, np.empty(0, np.float32)
    scores = _similarities(pairs, cores, _HOPELESS)
    rest = np.flatnonzero(scores < _HOPELESS)
    scores[rest] = _similarities(pairs[rest], stems, NEARLY_ONE)
    hopeful = scores > 0
    return pairs[hopeful], scores[hopeful]


def _similarities(pairs: NDArray[np.int64], texts: list[str], least: float) -> NDArray[np.float32]:
    """Similarity of both texts of each pair in 0..100; 0 where it is below ``least``."""
    first, second = ([texts[row] for row in pairs[:, side].tolist()] for side in (0, 1))
    found: NDArray[np.float32] = process.cpdist(
        first, second, scorer=fuzz.ratio, score_cutoff=least, workers=2, dtype=np.float32
    )
    return found
