"""The search for pairs of questions that are worth comparing.

Every two long texts in letters are half alike, so that thousands of English questions propose millions of pairs: such
stems are compared only where far more than half of their characters are alike, as those of one question and its twins.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from operator import methodcaller

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.cluster.hierarchy import DisjointSet

from build_dataset.pipeline.dedup.grams import Banding, Vocabulary, candidate_pairs, similarities
from build_dataset.pipeline.dedup.keys import OPTION_BREAK, comparison_key, in_letters

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
HOPELESS_IN_LETTERS = 70.0  # the same of two long stems in letters
NEARLY_ONE = 88.0
"""Similarity (0..100) of whole stems, and of all options, from which two questions share a cluster whatever else is
said of them: models that saw one have almost seen the other. 280,000 generated questions left five pairs apart."""


def find_candidates(keys: pl.DataFrame, seed: int) -> tuple[NDArray[np.int64], int]:
    """Return the pairs to compare, whatever the thresholds, and how many pairs of crowds are left out.

    Pairs are (pairs, 2) rows: those that say the same, then those that may be related, the most alike first.
    """
    first = pl.col("row").first().over("exact")
    firsts = keys.with_row_index("row").select("row", first=first).cast(pl.Int64)
    copies = firsts.filter(pl.col("row") != pl.col("first")).select("first", "row").to_numpy()
    distinct = firsts.filter(pl.col("row") == pl.col("first"))["row"].to_numpy()  # one of each content
    chosen = keys[distinct]
    whole = candidate_pairs(map(_shingled, framed(chosen, "core", OPTIONS)), WHOLE, seed)
    stems = candidate_pairs(map(_shingled, sliced(chosen, pl.col("core"))), STEM, seed + 1)
    pairs = np.union1d(whole[:, 0] << 32 | whole[:, 1], stems[:, 0] << 32 | stems[:, 1])  # two rows in one number
    near, scores = _hopeful(np.stack([pairs >> 32, pairs & 0xFFFFFFFF], axis=1), chosen)
    chosen_pairs = _thinned(near, chosen)
    near, scores, left_out = near[chosen_pairs], scores[chosen_pairs], int(np.sum(~chosen_pairs))
    return np.concatenate([copies, distinct[near[np.argsort(-scores, kind="stable")]]]), left_out


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
    """Texts in letters with a sign for each three letters in a row; others as they are."""
    # All long texts in letters have much the same pairs of letters: nearly every two of them would be compared.
    return [_triples(text) if in_letters(text) else text for text in texts]


def _triples(text: str) -> str:
    low = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32) & 31  # case and digits may collide
    return str((_ASTRAL + (low[:-2] << 10 | low[1:-1] << 5 | low[2:])).astype("<u4").tobytes(), "utf-32-le")


def _hopeful(pairs: NDArray[np.int64], keys: pl.DataFrame) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The pairs whose stems are similar enough to be compared in earnest, and how similar: by their cores, or whole."""
    lettered = np.fromiter(map(in_letters, keys["core"]), bool, keys.height)
    least = np.where(lettered[pairs].all(axis=1), HOPELESS_IN_LETTERS, HOPELESS)
    order = np.argsort(least, kind="stable")  # like bounds stand together
    scores = np.zeros(len(pairs), np.float32)
    scores[order] = similarities(pairs[order], keys["core"], least[order])
    rest = np.flatnonzero(scores == 0)
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
