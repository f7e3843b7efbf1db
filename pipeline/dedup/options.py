"""Matching the options of two questions by what they say, wherever they stand."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from pipeline.dedup.grams import Vocabulary
from pipeline.dedup.items import Item
from pipeline.dedup.meaning import difference, meaning
from pipeline.dedup.misreading import looks_misread, may_be_misread

_MISREAD = 0.5
"""Largest share of misread characters to be believed: options are short, and the others vouch for this one."""
_SHORT = 3
"""Below so many characters one other character makes another word of an option."""


_VOUCHING = 3
"""So many matched options vouch for one that is left over on either side."""


@dataclass(frozen=True)
class Matching:
    """How options of a first question correspond to those of a second.

    Attributes:
        labels: the second question's letter for each letter of the first; all of them when ``complete``.
        complete: every option has its counterpart.
        score: mean similarity over the options of the longer list, 0..1.
        in_order: counterparts stand at the same places.
    """

    labels: dict[str, str]
    complete: bool
    score: float
    in_order: bool


def match_options(first: Item, second: Item, vocabulary: Vocabulary, least: float) -> Matching:
    """Match equal options, then those that look like two readings of one.

    Args:
        first: a question.
        second: the other.
        vocabulary: of the collection, for telling misreadings from other words.
        least: similarity of two readings of one option.
    """
    if first.options == second.options:
        return Matching(dict(zip(first.labels, second.labels, strict=True)), True, 1.0, True)
    rest = list(range(len(second.options)))
    pairs: dict[int, int] = {}
    scores: list[float] = []
    for place, option in enumerate(first.options):
        if (met := _equal(option, second, rest, place)) is not None:
            pairs[place] = met
            scores.append(1.0)
            rest.remove(met)
    for place in range(len(first.options)):
        if place in pairs or not rest:
            continue
        option = first.options[place]
        best = max(
            rest, key=lambda other: (fuzz.ratio(option, second.options[other]), other == place, -other)
        )
        if (score := _reading(option, second.options[best], vocabulary, least)) is not None:
            pairs[place] = best
            scores.append(score)
            rest.remove(best)
    if (last := _last(first, second, pairs, rest, vocabulary)) is not None:
        place, other, score = last
        pairs[place] = other
        scores.append(score)
    longer = max(len(first.options), len(second.options), 1)
    return Matching(
        labels={first.labels[one]: second.labels[other] for one, other in sorted(pairs.items())},
        complete=len(pairs) == longer,
        score=sum(scores) / longer,
        in_order=all(one == other for one, other in pairs.items()),
    )


def _last(
    first: Item, second: Item, pairs: dict[int, int], rest: list[int], vocabulary: Vocabulary
) -> tuple[int, int, float] | None:
    """The only two options left, when misreading explains how they differ: the others vouch for them."""
    if len(rest) != 1 or len(first.options) != len(second.options) or len(pairs) < _VOUCHING:
        return None
    place = next(place for place in range(len(first.options)) if place not in pairs)
    one, other = first.options[place], second.options[rest[0]]
    if not looks_misread(f"\x1f{one}\x1f", f"\x1f{other}\x1f", vocabulary, slips=True):
        return None
    return place, rest[0], fuzz.ratio(one, other) / 100


def _equal(option: str, second: Item, rest: list[int], place: int) -> int | None:
    """The option of ``second`` that says the same, rather the one at the same ``place``."""
    if place in rest and second.options[place] == option:
        return place
    return next((other for other in rest if second.options[other] == option), None)


def _reading(first: str, second: str, vocabulary: Vocabulary, least: float) -> float | None:
    """The similarity of two readings of one option; None when they are two options."""
    longer = max(len(first), len(second))
    distance = Levenshtein.distance(first, second, score_cutoff=ceil(_MISREAD * longer))
    if distance > ceil(_MISREAD * longer):
        return None
    score: float = fuzz.ratio(first, second) / 100
    if looks_misread(f"\x1f{first}\x1f", f"\x1f{second}\x1f", vocabulary):
        return score
    if distance > max(1, round((1 - least) * longer)):
        return None
    if min(len(first), len(second)) < _SHORT or not may_be_misread(first, second):
        return None
    return None if difference(meaning(first), meaning(second)) else score
