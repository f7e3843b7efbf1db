"""Item types: the one table of what a head announces, and what an item is or why it is set aside."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipeline.parse.fields import is_coded
from pipeline.patterns import Patterns
from schemas.questions import QuestionType

if TYPE_CHECKING:
    from pipeline.parse.draft import Draft
    from pipeline.parse.fields import Fields

_P = Patterns("kinds")
INSTRUCTION = _P.instruction

_ANNOUNCED = [*_P.table("announced").items()]
_TYPES = {*QuestionType} - {QuestionType.X, QuestionType.A3_A4, QuestionType.B1}
"""Types that a question has by its head alone; the others show in its answer or in what it shares."""
SET_ASIDE = {
    "true_false": "a true/false item",
    "fill_in": "an item with blanks to fill in",
    "short_answer": "an item to be answered in words",
    "coded_answer": "an item whose blanks are answered by codes (A：③ B：④), not by options",
    "instruction": "an instruction to candidates",
    "C": "a C-type item whose shared options were not found",
    "K": "a K-type item whose codes (A = ①②③ …) are not printed",
}


@dataclass(frozen=True, slots=True)
class Announcement:
    """The statement of a head about the items under it."""

    kind: str | None
    """A question type, ``single``, or a reason to set items aside."""
    count: int | None
    span: tuple[int, int] | None


def stated_total(text: str) -> int | None:
    """Return the number of questions that a paper states: 題數：80題, 本科目共80題."""
    return _number(_P.total.search(text))


def announcement(head: str) -> Announcement:
    """Read a head with its instructions, e.g. 一、单项选择题：1～40小题，每小题2分."""
    first = head.split("\n", 1)[0]
    kind = _kind(first) or _kind(head)
    span = _P.span.search(head)
    numbers = (int(span[1]), int(span[2])) if span else None
    if numbers and not numbers[0] < numbers[1]:
        numbers = None
    return Announcement(kind, _number(_P.count.search(head)), numbers)


def _number(found: re.Match[str] | None) -> int | None:
    return int(found[1] or found[2]) if found else None


def _kind(head: str) -> str | None:
    """The kind that is named first: instructions may name others (多选不得分)."""
    found = [
        (match.start(), place) for place, (_, form) in enumerate(_ANNOUNCED) if (match := form.search(head))
    ]
    return _ANNOUNCED[min(found)[1]][0] if found else None


def is_case(stem: str) -> bool:
    """Return whether a stem tells of a patient."""
    return len(stem) >= 20 and _P.patient.search(stem) is not None


def question_type(
    announced: str | None, stem: str, answer: str | None, *, shared_case: bool, shared_options: bool
) -> QuestionType:
    """The type of a question: several answers first, then what it shares, then what it says."""
    if (answer and len(answer) > 1) or announced == "X":
        return QuestionType.X
    if shared_options:
        return QuestionType.B1
    if shared_case:
        return QuestionType.A3_A4
    if announced and announced in _TYPES:
        return QuestionType(announced)
    return QuestionType.A2 if is_case(stem) else QuestionType.A1


def _letters_alone(fields: Fields) -> bool:
    """Return whether an answer is nothing but letters in order: then options were there and were not read."""
    return any(
        re.fullmatch(r"[A-K]{1,6}[.。]?", text) and list(text) == sorted(set(text))
        for text in fields.answer_texts
    )


def set_aside(draft: Draft, fields: Fields, *, worded: bool) -> None:
    """Give items that are no multiple-choice questions their reason, in place."""
    announced = draft.announced
    if announced in ("C", "K") and not draft.options:
        draft.set_aside = (f"{announced.lower()}_type", SET_ASIDE[announced])
        return
    if any(map(is_coded, fields.answer_texts)):
        draft.set_aside = ("coded_answer", SET_ASIDE["coded_answer"])
        return
    if draft.options:
        if any(_P.marked.match(text) for _, text in draft.options):
            draft.set_aside = ("short_answer", "its parts earn marks of their own, so they are no options")
        return
    reason = _kind_in_words(draft, fields, worded=worded)
    if reason:
        draft.set_aside = (reason, SET_ASIDE[reason])


def _kind_in_words(draft: Draft, fields: Fields, *, worded: bool) -> str | None:
    """Return the kind of an item without options, by its number, words, head or answer."""
    if worded:
        return "short_answer"
    if _P.true_false.match(draft.stem) or fields.verdict:
        return "true_false"
    if _P.fill_in.match(draft.stem) or _P.blank.search(draft.stem):
        return "fill_in"
    if draft.announced in ("true_false", "fill_in", "short_answer"):
        return draft.announced
    if INSTRUCTION.search(draft.stem):
        return "instruction"
    explained = fields.answered and not _letters_alone(fields)
    return "short_answer" if explained or _P.worth.match(draft.stem) else None
