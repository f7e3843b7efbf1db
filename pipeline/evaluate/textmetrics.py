"""BLEU and ROUGE of Chinese texts, from counts that add up, so that every slice is scored without reading a text twice.

Tokens are characters for Chinese and punctuation, and whole words or numbers for Latin script, lower case. CMExam
does not say how it tokenised (section 4.1), so figures compare within one table, not with the paper's.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

import numpy as np
from rapidfuzz.distance import LCSseq

from pipeline.stats.intervals import Floats

_TOKEN = re.compile(r"[a-z0-9]+(?:[.,][0-9]+)*|[^\s]")
_ORDERS = 4


def tokens(text: str) -> list[str]:
    """The tokens of a text."""
    return _TOKEN.findall(text.lower())


@dataclass(frozen=True)
class TextCounts:
    """What BLEU and ROUGE need to know of one text and its reference."""

    sums: tuple[int, ...]
    """What it adds to corpus BLEU: clipped n-gram matches for n = 1 … 4, n-grams of the text for n = 1 … 4, tokens of
    the reference."""
    rouge: tuple[float, float, float]
    """F1 of 1-grams, 2-grams and the longest common subsequence."""


def compare(text: str, reference: str) -> TextCounts:
    """Count what a text shares with its reference."""
    said, wanted = tokens(text), tokens(reference)
    matches = tuple(_overlap(said, wanted, order) for order in range(1, _ORDERS + 1))
    longest = LCSseq.similarity(said, wanted)
    possible = (max(len(said) - index, 0) for index in range(_ORDERS))
    return TextCounts(
        (*matches, *possible, len(wanted)),
        (
            _f1(matches[0], len(said), len(wanted)),
            _f1(matches[1], len(said) - 1, len(wanted) - 1),
            _f1(longest, len(said), len(wanted)),
        ),
    )


def bleu(sums: Floats, orders: int = _ORDERS) -> Floats:
    """Return corpus BLEU up to n-grams of ``orders`` (Papineni et al. 2002), from sums of ``TextCounts.sums``.

    Orders without a match count half as much as the last one before, as sacreBLEU smooths by default.

    Args:
        sums: of the shape (…, 9).
        orders: the longest n-grams that count.
    """
    matched, possible = sums[..., :orders], sums[..., _ORDERS : _ORDERS + orders]
    said, reference = sums[..., _ORDERS], sums[..., -1]
    missed = matched == 0
    halvings = 2.0 ** np.cumsum(missed, axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(np.where(missed, 1 / halvings, matched) / possible).mean(axis=-1)
        brevity = np.where(said > reference, 1.0, np.exp(1 - reference / said))
        whole = (possible > 0).all(axis=-1) & ~missed.all(axis=-1)
        return np.where(whole, brevity * np.exp(logs), 0.0)


def _overlap(said: list[str], wanted: list[str], order: int) -> int:
    one, other = _ngrams(said, order), _ngrams(wanted, order)
    return sum((one & other).values())


def _ngrams(words: list[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[start:] for start in range(order)), strict=False))


def _f1(matched: int, said: int, wanted: int) -> float:
    return 2 * matched / (said + wanted) if matched else 0.0
