"""Bounds on the similarity of two cores, by facts of each alone: most pairs proposed by chance need no comparison.

Every two long texts in letters are half alike, so that thousands of English questions propose millions of pairs. What
``relate`` calls one question, or a twin, is alike in far more than half of its characters. All bounds count
insertions and deletions of characters, which is what a ratio is made of, and obey the triangle inequality.
"""

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import Indel

from build_dataset.pipeline.dedup.grams import code_points
from build_dataset.pipeline.dedup.keys import CLASSES, FIGURES, in_letters

HOPELESS = 45.0  # least similarity (0..100) of two stems that are compared in earnest
NEARLY_ONE = 88.0
"""Similarity (0..100) of whole stems, and of all options, from which two questions share a cluster whatever else is
said of them: models that saw one have almost seen the other. The leaks stage asks for .9, by a measure of its own;
280,000 generated questions left five such pairs in two splits."""
_BY_A_SIGN = 3
"""Most characters that change for each sign (digit, hyphen, ideograph) of a text in letters that was misread: the sign
and two letters in its place. A letter for a letter makes another word, and so does one letter more or less."""
_LETTERS = f"[{CLASSES['letter']}{CLASSES['letter'].upper()}]"
_SLOTS = 32  # characters are counted by their last five bits: no two letters of one case share a count
_MOST = 255  # and no further: a bound stays one
_TOLERANCE = 0.01  # ratios are floating point numbers
_PAIRS = 20_000  # pairs looked at together


class Bounds:
    """Bounds for pairs of rows."""

    def __init__(self, keys: pl.DataFrame) -> None:
        """Take the keys and cores of the rows."""
        core, key = keys["core"], keys["key"]
        bare = core.str.replace_all(FIGURES, "")
        self._core, self._key, self._bare = (one.str.len_chars().cast(pl.Int64).to_numpy() for one in (core, key, bare))
        signs = [one.str.len_chars() - one.str.count_matches(_LETTERS) for one in (core, key)]
        self._signs = np.maximum(*(one.cast(pl.Int64).to_numpy() for one in signs))
        self._phrases = process.cpdist(core, key, scorer=Indel.distance, dtype=np.int64)  # between both
        both = zip(core, bare, strict=True)
        self._in_letters = np.fromiter((in_letters(one) and in_letters(other) for one, other in both), bool, len(core))
        points, rows = code_points(core.to_list())
        counts = np.bincount(rows * _SLOTS + points % _SLOTS, minlength=len(core) * _SLOTS)
        self._counts = np.minimum(counts, _MOST).astype(np.int16).reshape(-1, _SLOTS)

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

    def most(self, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """The greatest similarity (0..100) that cores can have, by how often each character stands in them."""
        parts = (pairs[start : start + _PAIRS] for start in range(0, len(pairs), _PAIRS))
        changed = [np.abs(self._counts[part[:, 0]] - self._counts[part[:, 1]]).sum(axis=1) for part in parts]
        changes = np.concatenate([np.empty(0), *changed])
        longest = np.maximum(self._both(self._core, pairs), 1)
        most: NDArray[np.float64] = 100 * (1 - changes / longest) + _TOLERANCE
        return most

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
