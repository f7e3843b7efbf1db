"""Outputs that open with their answer: which ones do, and what they open with.

A model that is asked for the answer first states it, and explains afterwards; what it says later, even another answer,
comes too late for whoever takes the opening for the answer. People who judged 2,268 outputs of two models to such
prompts went by the opening in 11 of the 12 outputs in which opening and conclusion differ and one of them is the key.
A model that reasons first, or goes through the options, has not answered before its conclusion.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pipeline.evaluate.extraction import cues
from pipeline.evaluate.extraction.folding import fold, spoken
from pipeline.evaluate.extraction.letters import Found, Reader
from pipeline.evaluate.extraction.statements import listed

_STATES = re.compile(
    r"[\s,。.、:;!?)】\]-]*(?:【?(?:(?:本|此|该|这道?)题)?(?:我|的|正确|最终|最佳|参考|标准|应该?)*"
    r"(?:答案|选择|应选|故选|选|(?<=正确)选项|答(?=:)|解(?=:))】?(?!项)\s*(?:应该?)?(?:是|为|选(?!项))?\s*[:]?"
    r"|(?i:the\s+)?(?i:correct\s+|final\s+|best\s+)?(?i:answer|option|choice)\s*(?:(?i:is)|:)\s*)?"
)
"""What may stand before the letter that opens a text."""
_ENDS = re.compile(r"\s*(?:\Z|[。;!\n]|[,.]\s*(?:\Z|\n|解析|分析|理由|因为|解释)|\(?(?:解析|分析|理由|解释))")
"""What ends a statement, so that the rest explains it."""
_AFTER_LETTER = re.compile(r"\s*(?:选?项)?\s*[.:、,)]?\s*")
_TAKEN_BACK = re.compile(
    r"更正|改选|(?:改|修正|纠正)为|等等,|等一下|不对[,。!]|说错|写错|重新(?:考虑|分析|审题|思考|看)|再想|抱歉|\bwait\b"
    r"|(?:上述|前面的?)答案|(?:应该?|答案)?不(?:应该?)?是\s*(?:选项)?[A-Z](?:项|选项)?\s*,?\s*(?:而|应该?)是",
    re.IGNORECASE,
)
"""Words with which a text goes back on what it said."""
_HABIT, _FEWEST = 0.75, 20
"""What share of how many outputs makes a habit."""


def opening(reader: Reader) -> Found | None:
    """An output that answers first: "答案：B …", "B. 青霉素。解析：…", "选项B:青霉素", whatever it says afterwards.

    Where it is known that the answer comes first, any letter at the opening is it, and of several options that the
    opening goes through, the first. Where that is not known, the opening must be a statement by itself, a letter or
    a letter with its option's text, in a text that does not go through the options.
    """
    if reader.answer_first is False or _TAKEN_BACK.search(reader.text):
        return None
    found = _opens_with(reader)
    if found is None:
        return None
    if reader.answer_first:
        return found
    return found if _is_statement(reader, found) and len(listed(reader)) <= 2 else None


def answers_first(outputs: Iterable[tuple[str, Iterable[str]]]) -> bool | None:
    """Whether a run's outputs open with their answers as a habit: three in four, of 20 or more.

    One output alone does not show whether "A：…。B：…" is an answer with an explanation or the beginning of an
    analysis; how the model answers the other questions does.

    Args:
        outputs: texts with their questions' labels; empty texts do not count.

    Returns:
        True; None when there is no such habit, or are too few outputs to tell.
    """
    opens = []
    for text, labels in outputs:
        reader = Reader(spoken(text), {fold(label).upper(): "" for label in labels})
        if reader.options and reader.text.strip():
            found = _opens_with(reader)
            opens.append(found is not None and len(listed(reader)) <= 2)
    return True if len(opens) >= _FEWEST and sum(opens) >= _HABIT * len(opens) else None


def _opens_with(reader: Reader) -> Found | None:
    """The letters at the very beginning, unless they are called wrong or belong to a sentence of another kind."""
    start = _STATES.match(reader.text).end()  # type: ignore[union-attr]
    found = reader.letters_at(start)
    if found is None or reader.text[found.start].islower():
        return None
    if cues.NOT_AFTER.match(reader.text, found.end):
        return None
    if not _AFTER_LETTER.match(reader.text, found.end).group() and not _closes(reader, found):  # type: ignore[union-attr]
        return None
    return _first(reader, found)


def _closes(reader: Reader, found: Found) -> bool:
    return cues.HEAD_FOLLOWS.match(reader.text, found.end) is not None or reader.followed_by_its_text(
        found.letters[-1], found.end
    )


def _first(reader: Reader, found: Found) -> Found:
    """The first of the letters where only one can be meant: one answer, or options gone through with their texts."""
    goes_through = len(listed(reader)) >= max(2, len(found.letters))
    if len(found.letters) > 1 and (reader.multiple is False or (goes_through and not reader.multiple)):
        return Found(found.letters[:1], found.start, found.start + 1)
    return found


def _is_statement(reader: Reader, found: Found) -> bool:
    if _ENDS.match(reader.text, found.end):
        return True
    after = _AFTER_LETTER.match(reader.text, found.end).end()  # type: ignore[union-attr]
    pattern = reader.patterns.get(found.letters[-1])
    quoted = pattern.match(reader.text, after) if pattern else None
    return quoted is not None and _ENDS.match(reader.text, quoted.end()) is not None
