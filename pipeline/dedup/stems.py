"""Comparison of two stems: one question, twins, or different ones."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from pipeline.dedup import misreading
from pipeline.dedup.grams import Vocabulary
from pipeline.dedup.keys import Compared
from pipeline.dedup.meaning import ASKED, LIGHT, difference
from pipeline.dedup.misreading import Edit, TextPair, content_edits, framed_edits
from pipeline.dedup.params import DedupParams

_MISREAD = 0.25
"""Largest share of misread characters to be believed."""
_MISREAD_AGREED = 0.35
"""The same where options and answers agree."""
_ALL_ELSE_EQUAL = 0.9
"""Least similarity of stems, numbers, units, negations and sexes left out, for a twin to be named after these."""
_TURNS_ON = re.compile("[0-9·%°a-zμ岁周天日月年克升次不无未非没否男女二三四五六七八九十百千万两半]")


@dataclass(frozen=True)
class StemRelation:
    """The relation of two stems.

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
    first: Compared,
    second: Compared,
    vocabulary: Vocabulary,
    params: DedupParams,
    *,
    agreed: bool = False,
) -> StemRelation:
    """Compare two stems, each with its shared stem before it; more is misread where all else is ``agreed``."""
    if first.key == second.key:
        return StemRelation("same", 1.0, "same stem", certain=True)
    score = similarity(first.core, second.core, (first.letters, second.letters))
    read = TextPair(first.key, second.key, vocabulary, (first.doubtful, second.doubtful), agreed)
    found = difference(first.meaning, second.meaning)
    if found and not misreading.turns_misread(read):
        return _twins(first, second, score, found, params)
    changes = _weighty(content_edits(first.core, second.core), agreed=agreed)
    if not changes:
        return StemRelation("same", score, "stems differ in set phrases only", certain=bool(first.core))
    if said := _shown(first, second, changes, read, agreed=agreed):
        certain = not any(read.doubtful) and all(read.looks_misread(edit) for edit in changes)
        return StemRelation("same", score, said, certain=certain)
    if score < params.related:
        return StemRelation("different", score)
    pair = ("".join(edit.old for edit in changes), "".join(edit.new for edit in changes))
    changed = misreading.opposite_pair(*pair) or misreading.letters_exchanged(first.core, second.core)
    return StemRelation("term", score, changed or misreading.described(first.core, second.core))


def _shown(first: Compared, second: Compared, changes: list[Edit], read: TextPair, *, agreed: bool) -> str:
    """The reason when every change is a misreading or, with the same options and answer, a slip.

    Set phrases are misread too: the keys are compared before the cores.
    """
    doubtful = any(read.doubtful)
    if _few(first.key, second.key, agreed=agreed) and all(
        edit.is_harmless or read.looks_misread(edit) or (doubtful and agreed and read.is_slip(edit))
        for edit in framed_edits(first.key, second.key)
    ):
        return "stems differ as misreadings do"
    if _few(first.core, second.core, agreed=agreed) and all(map(read.looks_misread, changes)):
        return "stems differ as misreadings do"
    if not agreed or not _few(first.core, second.core, agreed=True):
        return ""
    rest = [edit for edit in changes if not read.looks_misread(edit)]
    most = len(rest) if doubtful else misreading.slips_believed(min(first.core, second.core, key=len))
    return "stems differ by a slip" if len(rest) <= most and all(map(read.is_slip, rest)) else ""


def _few(first: str, second: str, *, agreed: bool) -> bool:
    """Return whether a small share of the characters differ; one may always."""
    share = _MISREAD_AGREED if agreed else _MISREAD
    allowed = max(1, round(share * max(len(first), len(second))))
    return Levenshtein.distance(first, second, score_cutoff=allowed) <= allowed


def _weighty(changes: list[Edit], *, agreed: bool) -> list[Edit]:
    """The changes that can make another question.

    Words of asking that only changed places make none (首选的治疗药物 / 治疗首选的药物), nor do light words where all
    else agrees (最有诊断意义的检查 / 最有意义的检查).
    """
    dropped, added = ({edit[side] for edit in changes if not edit[1 - side]} for side in (0, 1))
    light = dropped & added & ASKED | (LIGHT if agreed else frozenset())
    return [edit for edit in changes if (edit.old and edit.new) or (edit.old or edit.new) not in light]


def _twins(
    first: Compared,
    second: Compared,
    score: float,
    found: tuple[str, str],
    params: DedupParams,
) -> StemRelation:
    """Stems that turn on different things, named after that when nothing else differs."""
    bare = similarity(_TURNS_ON.sub("", first.core), _TURNS_ON.sub("", second.core))
    if max(score, bare) < params.related:
        return StemRelation("different", score)
    return StemRelation(found[0] if bare >= _ALL_ELSE_EQUAL else "term", max(score, bare), found[1])


def similarity(first: str, second: str, letters: tuple[str, str] | None = None) -> float:
    """Similarity of two cores in 0..1: of their sequences, or of their characters where words changed places."""
    if not first or not second:
        return float(first == second)
    by_sequence: float = fuzz.ratio(first, second)
    # Texts of the same characters in an unlike order say different things: at least half must stand in sequence.
    if by_sequence < 50:
        return by_sequence / 100
    one, other = letters or ("".join(sorted(first)), "".join(sorted(second)))
    by_characters: float = fuzz.ratio(one, other)
    return by_characters / 100
