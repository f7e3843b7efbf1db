"""Matching the options of two questions by what they say, wherever they stand."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from pipeline.dedup.grams import Vocabulary
from pipeline.dedup.keys import Compared
from pipeline.dedup.meaning import difference, meaning
from pipeline.dedup.misreading import TextPair, content_edits, may_be_misread

_MISREAD = 0.5
"""Largest share of misread characters to be believed: options are short, and the others vouch for this one."""
_SHORT = 6
"""Below so many characters one other character makes another word of an option: 肺腺癌 / 肺腺瘤."""
_VOUCHING = 3
"""So many equal options vouch for one that is left over on either side, and for each that is worded otherwise."""


@dataclass(frozen=True)
class Matching:
    """Correspondence of the options of a first question to those of a second.

    Attributes:
        labels: the second question's letter for each letter of the first; all of them when ``complete``.
        complete: every option has its counterpart.
        score: mean similarity over the options of the longer list, 0..1.
        in_order: counterparts stand at the same places.
        reworded: how many are alike, but in another wording.
    """

    labels: dict[str, str]
    complete: bool
    score: float
    in_order: bool
    reworded: int = 0


def match_options(first: Compared, second: Compared, vocabulary: Vocabulary, least: float) -> Matching:
    """Match equal options, then those that look like two readings of one, then those in two wordings.

    Args:
        first: a question.
        second: the other.
        vocabulary: of the collection, for telling misreadings from other words.
        least: similarity of two wordings of one option.
    """
    if first.options == second.options:
        return Matching(dict(zip(first.labels, second.labels, strict=True)), True, 1.0, True)
    doubtful = (first.doubtful, second.doubtful)
    rest = list(range(len(second.options)))
    pairs: dict[int, int] = {}
    scores: list[float] = []

    def take(place: int, other: int, score: float) -> None:
        pairs[place] = other
        scores.append(score)
        rest.remove(other)

    for place, option in enumerate(first.options):
        if (met := _equal(option, second, rest, place)) is not None:
            take(place, met, 1.0)
    equal, reworded = len(pairs), 0
    for exactly in (True, False):
        for place in range(len(first.options)):
            if place in pairs or not rest:
                continue
            option = first.options[place]
            best = max(
                rest, key=lambda other: (fuzz.ratio(option, second.options[other]), other == place, -other)
            )
            read = TextPair(option, second.options[best], vocabulary, doubtful)
            vouched = equal >= _VOUCHING and len(rest) == 1 and first.core == second.core
            if _misread(read, vouched=vouched) if exactly else _reworded(read, least):
                take(place, best, fuzz.ratio(option, second.options[best]) / 100)
                reworded += not exactly
    longer = max(len(first.options), len(second.options), 1)
    return Matching(
        labels={first.labels[one]: second.labels[other] for one, other in sorted(pairs.items())},
        complete=len(pairs) == longer,
        score=sum(scores) / longer,
        in_order=all(one == other for one, other in pairs.items()),
        reworded=reworded,
    )


def _equal(option: str, second: Compared, rest: list[int], place: int) -> int | None:
    """The option of ``second`` that says the same, rather the one at the same ``place``."""
    if place in rest and second.options[place] == option:
        return place
    return next((other for other in rest if second.options[other] == option), None)


def _misread(read: TextPair, *, vouched: bool) -> bool:
    """Return whether both are one option, particles and what was misread apart; a slip where all else is equal."""
    longer = max(len(read.first), len(read.second))
    most = ceil(_MISREAD * longer)
    if Levenshtein.distance(read.first, read.second, score_cutoff=most) > most or not longer:
        return False
    return all(
        read.looks_misread(edit) or (vouched and read.is_slip(edit, exchanged=True))
        for edit in content_edits(read.first, read.second)
    )


def _reworded(read: TextPair, least: float) -> bool:
    """Return whether both may be wordings of one option: alike, long enough, and no difference made on purpose."""
    shorter, longer = sorted((len(read.first), len(read.second)))
    if Levenshtein.distance(read.first, read.second) > max(1, round((1 - least) * longer)):
        return False
    if shorter < _SHORT or not may_be_misread(read.first, read.second):
        return False
    return difference(meaning(read.first), meaning(read.second)) is None
