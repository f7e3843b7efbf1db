"""The search for pairs of questions that are worth comparing.

Every two long texts in letters are half alike, so that thousands of English questions propose millions of pairs: bounds
on the similarity of two cores, by facts of each alone, spare most of these. What ``relate`` calls one question, or a
twin, is alike in far more than half of its characters. All bounds count insertions and deletions of characters, which
is what a ratio is made of, and obey the triangle inequality.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from operator import methodcaller
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import Indel
from scipy.cluster.hierarchy import DisjointSet

from build_dataset.pipeline.dedup.grams import Banding, Vocabulary, candidate_pairs, similarities
from build_dataset.pipeline.dedup.keys import CLASSES, FIGURES, OPTION_BREAK, comparison_key, in_letters

WHOLE = Banding(bands=30, rows=4)
"""Over stem and options: finds copies at Jaccard .5 with probability .86, .6 with .985, .7 with .9997."""
STEM = Banding(bands=20, rows=4)  # over the core of the stem: finds variants and twins with other options
OPTIONS = pl.col("option_keys").list.join(OPTION_BREAK)
_CHUNK = 20_000  # questions whose words are counted at a time: bounds the memory for texts
MOST_ALIKE = 64
"""Most alike questions that each is compared with, where more share its buckets: 1,000 stems that differ by a number,
第1种…, 第2种…, had up to 1,200 each. Of 20,000 generated from CMExam none has more than 51."""
_ASTRAL = 0x10000  # first code point of the signs for three letters: no text of a question has many of these


HOPELESS = 45.0  # least similarity (0..100) of two stems that are compared in earnest
NEARLY_ONE = 88.0
"""Similarity (0..100) of whole stems, and of all options, from which two questions share a cluster whatever else is
said of them: models that saw one have almost seen the other. The leaks stage asks for .9, by a measure of its own;
280,000 generated questions left five such pairs in two splits."""
_BY_A_SIGN = 3
"""Most characters that change for each sign (digit, hyphen, ideograph) of a text in letters that was misread: the sign
and two letters in its place. A letter for a letter makes another word, and so does one letter more or less."""
_LETTERS = f"[{CLASSES['letter']}{CLASSES['letter'].upper()}]"
_TOLERANCE = 0.01  # ratios are floating point numbers


@dataclass(frozen=True)
class Candidates:
    """Pairs to compare, whatever the thresholds."""

    pairs: NDArray[np.int64]
    """(pairs, 2) rows: those that say the same, then those that may be related, the most alike first."""
    left_out: int  # pairs of crowds that are not compared


def find_candidates(keys: pl.DataFrame, seed: int, related: float) -> Candidates:
    """The pairs worth comparing, whose stems may be at least so much alike (0..1)."""
    first = pl.col("row").first().over("exact")
    firsts = keys.with_row_index("row").select("row", first=first).cast(pl.Int64)
    copies = firsts.filter(pl.col("row") != pl.col("first")).select("first", "row").to_numpy()
    distinct = firsts.filter(pl.col("row") == pl.col("first"))["row"].to_numpy()  # one of each content
    chosen = keys[distinct]
    whole = candidate_pairs(map(_shingled, framed(chosen, "core", OPTIONS)), WHOLE, seed)
    stems = candidate_pairs(map(_shingled, sliced(chosen, pl.col("core"))), STEM, seed + 1)
    # two rows in one number
    pairs = np.union1d(whole[:, 0] << 32 | whole[:, 1], stems[:, 0] << 32 | stems[:, 1])
    near, scores = _hopeful(np.stack([pairs >> 32, pairs & 0xFFFFFFFF], axis=1), chosen, related)
    chosen_pairs = _thinned(near, chosen)
    near, scores, left_out = near[chosen_pairs], scores[chosen_pairs], int(np.sum(~chosen_pairs))
    order = np.argsort(-scores, kind="stable")
    return Candidates(np.concatenate([copies, distinct[near[order]]]), left_out)


def vocabulary_of(questions: pl.DataFrame, keys: pl.DataFrame) -> Vocabulary:
    """The vocabulary of stems, options and explanations, each copy that says the same counted once."""
    first = keys["exact"].is_first_distinct()
    texts = keys.select("key", "option_keys").with_columns(questions["explanation"].fill_null("")).filter(first)
    keyed = methodcaller("with_columns", comparison_key(pl.col("explanation")))
    with ThreadPoolExecutor() as pool:  # polars reads one column on one core
        explained = pool.map(keyed, texts.iter_slices(_CHUNK))
        return Vocabulary(some for part in explained for some in framed(part, "key", OPTIONS, "explanation"))


def framed(keys: pl.DataFrame, *parts: str | pl.Expr) -> Iterator[list[str]]:
    """Texts whose parts begin and end with a break, so that bigrams tell where an option begins; in slices."""
    return sliced(keys, pl.concat_str(pl.lit(""), *parts, pl.lit(""), separator=OPTION_BREAK))


def sliced(keys: pl.DataFrame, text: pl.Expr) -> Iterator[list[str]]:
    """A text of each row, some thousand rows at a time."""
    for part in keys.iter_slices(_CHUNK):
        yield part.select(text.alias("text"))["text"].to_list()


def _shingled(texts: list[str]) -> list[str]:
    """Texts in letters with a sign for each three letters in a row; others as they are.

    All long texts in letters have much the same pairs of letters: nearly every two of them would be compared.
    """
    return [_triples(text) if in_letters(text) else text for text in texts]


def _triples(text: str) -> str:
    low = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32) & 31  # case and digits may collide
    return str((_ASTRAL + (low[:-2] << 10 | low[1:-1] << 5 | low[2:])).astype("<u4").tobytes(), "utf-32-le")


def _hopeful(
    pairs: NDArray[np.int64], keys: pl.DataFrame, related: float
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The pairs whose stems are similar enough to be compared in earnest, and how similar: by their cores, or whole."""
    bounds = Bounds(keys)
    least = bounds.least(pairs, related)
    scores = np.zeros(len(pairs), np.float32)
    order = np.argsort(least, kind="stable")  # like bounds stand together
    scores[order] = similarities(pairs[order], keys["core"], least[order])
    rest = np.flatnonzero((scores == 0) & bounds.may_be_nearly_one(pairs, least))
    scores[rest] = similarities(pairs[rest], keys["key"], NEARLY_ONE)
    hopeful = scores > 0
    return pairs[hopeful], scores[hopeful]


def _thinned(pairs: NDArray[np.int64], keys: pl.DataFrame) -> NDArray[np.bool_]:
    """Mask the pairs to compare: all but those of crowds, whose rows keep their most alike and stay connected."""
    kept = np.ones(len(pairs), np.bool_)
    degrees = np.bincount(pairs.ravel(), minlength=keys.height)
    crowded = np.flatnonzero((degrees[pairs] > MOST_ALIKE).all(axis=1))  # both have too many
    whole = keys.select(text=pl.concat_str("core", OPTIONS, separator=OPTION_BREAK))["text"]
    order = np.argsort(-similarities(pairs[crowded], whole, 0), kind="stable")
    compared, connected = [0] * keys.height, DisjointSet(np.unique(pairs[crowded]).tolist())
    for at in crowded[order].tolist():
        first, second = map(int, pairs[at])
        if connected.merge(first, second) or min(compared[first], compared[second]) < MOST_ALIKE:
            compared[first] += 1
            compared[second] += 1
        else:
            kept[at] = False
    return kept


class Bounds:
    """Bounds for pairs of rows."""

    def __init__(self, keys: pl.DataFrame) -> None:
        """Take the keys and cores of the rows."""
        core, key = keys["core"], keys["key"]
        bare = core.str.replace_all(FIGURES, "")
        self._core, self._key, self._bare = (
            text.str.len_chars().cast(pl.Int64).to_numpy() for text in (core, key, bare)
        )
        signs = [text.str.len_chars() - text.str.count_matches(_LETTERS) for text in (core, key)]
        self._signs = np.maximum(*(text.cast(pl.Int64).to_numpy() for text in signs))
        self._phrases = process.cpdist(core, key, scorer=Indel.distance, dtype=np.int64)  # between both
        both = zip(core, bare, strict=True)
        self._in_letters = np.fromiter(
            (in_letters(text) and in_letters(bare_text) for text, bare_text in both), bool, len(core)
        )

    def least(self, pairs: NDArray[np.int64], related: float) -> NDArray[np.float64]:
        """The least similarity (0..100) of the cores of pairs that ``relate`` may call related.

        Two texts in letters are one question misread, twins (numbers apart ``related``) or nearly one text.
        """
        twins = (1 - related) * self._both(self._bare, pairs) + self._both(self._core - self._bare, pairs)
        misread = _BY_A_SIGN * self._both(self._signs, pairs) + self._both(self._phrases, pairs)
        changed = np.maximum(np.maximum(twins, misread), self._nearly_one(pairs))
        least = 100 * (1 - changed / np.maximum(self._both(self._core, pairs), 1)) - _TOLERANCE
        least[~self._in_letters[pairs].all(axis=1)] = 0
        bounds: NDArray[np.float64] = np.maximum(HOPELESS, least)
        return bounds

    def may_be_nearly_one(self, pairs: NDArray[np.int64], below: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return whether the keys of pairs may be nearly one text where their cores are alike ``below`` a bound."""
        return (1 - below / 100) * self._both(self._core, pairs) <= self._nearly_one(pairs) + _TOLERANCE

    def _nearly_one(self, pairs: NDArray[np.int64]) -> NDArray[np.floating[Any]]:
        """Most changes between two cores whose keys are nearly one text."""
        keys: NDArray[np.float64] = self._both(self._key, pairs).astype(np.float64)
        return (1 - NEARLY_ONE / 100) * keys + self._both(self._phrases, pairs)

    @staticmethod
    def _both(facts: NDArray[np.int64], pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        """The sum of a fact over both rows of each pair."""
        return facts[pairs[:, 0]] + facts[pairs[:, 1]]
