"""BLEU and ROUGE of Chinese texts, from counts that add up, so that every slice is scored without reading a text twice.

Tokens are characters for Chinese and punctuation, and whole words or numbers for Latin script, lower case. CMExam
does not say how it tokenised (section 4.1), so figures compare within one table, not with the paper's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, log

from rapidfuzz.distance import LCSseq

_TOKEN = re.compile(r"[a-z0-9]+(?:[.,][0-9]+)*|[^\s]")
_ORDERS = 4

METRICS = ("bleu_1", "bleu_4", "rouge_1", "rouge_2", "rouge_l")
"""All on a scale of 0 to 1; BLEU of the slice as a corpus, ROUGE as the mean of F1 over its texts."""


def tokens(text: str) -> list[str]:
    """The tokens of a text."""
    return _TOKEN.findall(text.lower())


@dataclass(frozen=True)
class TextCounts:
    """What BLEU and ROUGE need to know of one text and its reference."""

    matches: tuple[int, ...]
    """Clipped n-gram matches for n = 1 … 4."""
    said: int
    """Tokens of the text."""
    reference: int
    """Tokens of the reference."""
    rouge: tuple[float, float, float]
    """F1 of 1-grams, 2-grams and the longest common subsequence."""


def compare(text: str, reference: str) -> TextCounts:
    """Count what a text shares with its reference."""
    said, wanted = tokens(text), tokens(reference)
    matches = tuple(_overlap(said, wanted, order) for order in range(1, _ORDERS + 1))
    longest = LCSseq.similarity(said, wanted)
    return TextCounts(
        matches,
        len(said),
        len(wanted),
        (
            _f1(matches[0], len(said), len(wanted)),
            _f1(matches[1], len(said) - 1, len(wanted) - 1),
            _f1(longest, len(said), len(wanted)),
        ),
    )


def text_metrics(counts: Sequence[TextCounts]) -> dict[str, float]:
    """``METRICS`` of a slice; ``counts`` is not empty."""
    rouge = [sum(values) / len(counts) for values in zip(*(each.rouge for each in counts), strict=True)]
    return dict(zip(METRICS, (bleu(counts, 1), bleu(counts, 4), *rouge), strict=True))


def bleu(counts: Iterable[TextCounts], orders: int = _ORDERS) -> float:
    """Corpus BLEU up to n-grams of ``orders`` (Papineni et al. 2002).

    Orders without a match count half as much as the last one before, as sacreBLEU smooths by default.
    """
    counts = list(counts)
    said, reference = sum(each.said for each in counts), sum(each.reference for each in counts)
    logs, halvings = 0.0, 0
    used = 0
    for index in range(orders):
        possible = sum(max(each.said - index, 0) for each in counts)
        if not possible:
            break
        matched = sum(each.matches[index] for each in counts)
        if not matched:
            halvings += 1
        precision = matched / possible if matched else 1 / (2**halvings * possible)
        logs += log(precision)
        used += 1
    if used < orders or halvings == orders:
        return 0.0
    brevity = 1.0 if said > reference else exp(1 - reference / said)
    return brevity * exp(logs / orders)


def _overlap(said: list[str], wanted: list[str], order: int) -> int:
    one, other = _ngrams(said, order), _ngrams(wanted, order)
    return sum((one & other).values())


def _ngrams(words: list[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[start:] for start in range(order)), strict=False))


def _f1(matched: int, said: int, wanted: int) -> float:
    return 2 * matched / (said + wanted) if matched else 0.0
