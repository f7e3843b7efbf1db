"""Whether two stems ask the same question."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from pipeline.dedup.grams import Vocabulary
from pipeline.dedup.items import Item
from pipeline.dedup.meaning import difference, meaning
from pipeline.dedup.misreading import (
    described,
    leftovers,
    letters_exchanged,
    looks_misread,
    only_characters_differ,
    opposite_pair,
    turns_misread,
)
from pipeline.dedup.params import DedupParams

_SHORT = 12
"""Cores up to this length differ by a word in what they ask, not in how:
骨会是 / 脉会是, 属肝经的穴位 / 属肾经的穴位."""
_MISREAD = 0.25
"""Largest share of misread characters to be believed."""
_MISREAD_AGREED = 0.35
"""The same where options and answers agree."""
_CERTAIN = 0.1
"""Share of single other characters up to which a long stem is the same beyond doubt."""
_ALL_ELSE_EQUAL = 0.9
"""Least similarity of stems, numbers, units, negations and sexes left out, for a twin to be named after these."""
_TURNS_ON = re.compile("[0-9·%°a-zμ岁周天日月年克升次不无未非没男女二三四五六七八九十百千两半]")
_SAME_CLAUSE = 0.5
"""Least similarity of last clauses that ask for one thing in two wordings."""


@dataclass(frozen=True)
class StemRelation:
    """How two stems stand to each other.

    Attributes:
        kind: ``same``, ``different``, or the kind of twin (``negation``, ``number``, ``unit``, ``sex``, ``age``,
            ``term``: another word).
        score: similarity of the cores in 0..1, whatever the order of words.
        reason: what differs.
        certain: the same beyond doubt, so that another key is a conflict.
    """

    kind: str
    score: float
    reason: str = ""
    certain: bool = False


def compare_stems(
    first: Item, second: Item, vocabulary: Vocabulary, params: DedupParams, *, agreed: bool = False
) -> StemRelation:
    """Compare two stems, each with its shared stem before it.

    Args:
        first: a question.
        second: the other.
        vocabulary: of the collection, for telling misreadings from other words.
        params: thresholds.
        agreed: all options and the answers are the same: then slips are believed, and more misreadings.
    """
    if first.key == second.key:
        return StemRelation("same", 1.0, "same stem", certain=True)
    score = similarity(first.core, second.core, (first.letters, second.letters))
    found = difference(first.meaning, second.meaning)
    if found and not turns_misread(first.key, second.key, vocabulary):
        return _twins(first, second, score, found, params)
    if _few_misread(first.key, second.key, vocabulary, agreed=agreed) or (
        agreed and _few_misread(first.core, second.core, vocabulary, agreed=True)
    ):
        return StemRelation("same", score, "stems differ as misreadings do", certain=_no_doubt(first, second))
    if score < params.related:
        return StemRelation("different", score)
    if first.core == second.core:
        return StemRelation("same", score, "stems differ in set phrases only", certain=bool(first.core))
    one, other = leftovers(first.core, second.core)
    if changed := opposite_pair(one, other) or letters_exchanged(first.core, second.core):
        return StemRelation("term", score, changed)
    share = max(len(one), len(other)) / max(len(first.core), len(second.core))
    said = described(first.core, second.core)
    if min(len(first.core), len(second.core)) <= _SHORT or share > 1 - params.same:
        return StemRelation("term", score, said)
    if not _ask_the_same(first.ask, second.ask):
        return StemRelation("term", score, f"{first.ask[:20] or '–'} / {second.ask[:20] or '–'}")
    return StemRelation("same", score, f"reworded: {said}", certain=_no_doubt(first, second))


def _twins(
    first: Item, second: Item, score: float, found: tuple[str, str], params: DedupParams
) -> StemRelation:
    """Stems that turn on different things, named after that when nothing else differs."""
    bare = similarity(_TURNS_ON.sub("", first.core), _TURNS_ON.sub("", second.core))
    if max(score, bare) < params.related:
        return StemRelation("different", score)
    return StemRelation(found[0] if bare >= _ALL_ELSE_EQUAL else "term", max(score, bare), found[1])


def _no_doubt(first: Item, second: Item) -> bool:
    """Whether a long stem differs by few single characters: then another answer is a contradiction, not a twin."""
    shorter, longer = sorted((len(first.core), len(second.core)))
    few = Levenshtein.distance(first.core, second.core) <= _CERTAIN * longer
    return shorter > _SHORT and few and only_characters_differ(first.core, second.core)


def similarity(first: str, second: str, letters: tuple[str, str] | None = None) -> float:
    """Similarity of two cores in 0..1: of their sequences, or of their characters where words changed places.

    Args:
        first: a core.
        second: the other.
        letters: the sorted characters of both, where they are known: their ratio counts what both have.
    """
    if not first or not second:
        return float(first == second)
    by_sequence: float = fuzz.ratio(first, second)
    # Texts of the same characters in an unlike order say different things: at least half must stand in sequence.
    if by_sequence < 50:
        return by_sequence / 100
    one, other = letters or ("".join(sorted(first)), "".join(sorted(second)))
    by_characters: float = fuzz.ratio(one, other)
    return by_characters / 100


def _ask_the_same(first: str, second: str) -> bool:
    """Whether two last clauses ask for one thing: a long case is asked about more than once."""
    if first == second or not first or not second:
        return True
    one, other = meaning(first).asked, meaning(second).asked
    return (not one or not other or one == other) and similarity(first, second) >= _SAME_CLAUSE


def _few_misread(first: str, second: str, vocabulary: Vocabulary, *, agreed: bool) -> bool:
    """Whether a small share of the characters differ, at least one may, and all look misread."""
    share = _MISREAD_AGREED if agreed else _MISREAD
    allowed = max(1, round(share * max(len(first), len(second))))
    if Levenshtein.distance(first, second, score_cutoff=allowed) > allowed:
        return False
    return looks_misread(f"\x1f{first}\x1f", f"\x1f{second}\x1f", vocabulary, slips=agreed)
