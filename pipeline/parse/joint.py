"""What questions share without a head over them: a case that is told before (承上題), an answer (3. … 4. … 答：CD)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise

from rapidfuzz import fuzz

from pipeline.parse.draft import Draft
from pipeline.parse.kinds import is_case
from schemas.trace import Part

_REFERS = re.compile(
    r"(?:该|該|此|上述|本例)(?:名|位|例)?(?:患者|病人|患儿|患兒|病例|病患|女|男|孕妇|孕婦|产妇|患)"
)

COPY = 0.8
"""From which likeness on two questions of one number are one, printed twice: others of a subject reach 0.5."""
SEVERAL = 3
"""How many questions must be printed again at least."""

_AS_ABOVE = re.compile(r"[(（]?(?:承|接|续|續|同)(?:上(?:[一1]?[题題例]|[，,])|第?\s*(\d{1,3})\s*[题題])")


def continue_cases(drafts: Sequence[Draft]) -> None:
    """承上題 (as above), 承第3題: such a question shares the case of the one it names."""
    for before, draft in pairwise(drafts):
        found = _AS_ABOVE.match(draft.stem)
        if not found or draft.shared_stem:
            continue
        named = _numbered(drafts, draft, int(found[1])) if found[1] else before
        if named is None or named.entry or not named.options:
            continue
        named.group = draft.group = named.group or f"c{named.run}.{named.number}"
        draft.shared_stem = named.shared_stem or named.stem
        draft.shared_pieces = named.shared_pieces or named.pieces
        draft.because(Part.SHARED, "as_above", found[0], named.pieces)


def _numbered(drafts: Sequence[Draft], after: Draft, number: int) -> Draft | None:
    return next(
        (one for one in drafts if (one.run, one.number) == (after.run, number) and one is not after), None
    )


def fold_copies(drafts: Sequence[Draft]) -> None:
    """Make entries of a key of questions that a paper prints again with their answers, as answer books do, in place.

    A run of the numbering is a copy where most of its questions say what an earlier one of their number says. Where a
    copy reads otherwise one of the two was misread: both wait.
    """
    first: dict[int, Draft] = {}
    runs: dict[int, list[Draft]] = {}
    for draft in drafts:
        if not draft.entry and draft.number is not None and not draft.suffix:
            runs.setdefault(draft.run, []).append(draft)
    for members in runs.values():
        pairs = [(first[draft.number or 0], draft) for draft in members if draft.number in first]
        asked = [(one, other) for one, other in pairs if one.options and other.options]
        told = [other for _, other in asked if other.answer or other.explanation]
        alike = [pair for pair in asked if _likeness(*pair) > COPY] if 2 * len(told) > len(asked) else []
        if len(alike) < SEVERAL or 2 * len(alike) < len(asked):
            first |= {draft.number or 0: draft for draft in members}
            continue
        for one, other in pairs:
            _fold(one, other)


def _fold(one: Draft, other: Draft) -> None:
    likeness = _likeness(one, other)
    if likeness <= COPY:
        return
    other.entry = True
    if other.options and likeness < 1:
        one.doubt("copies_differ", f"printed again, it reads otherwise: {_text(other)[:60]!r}")


def _likeness(one: Draft, other: Draft) -> float:
    return fuzz.ratio(_text(one), _text(other)) / 100


def _text(draft: Draft) -> str:
    """What a question says, widths and spaces aside."""
    told = draft.stem + "".join(label + text for label, text in draft.options)
    return re.sub(r"[\s_（）()]+", "", unicodedata.normalize("NFKC", told))


def joint_answers(drafts: Sequence[Draft]) -> None:
    """Questions without an answer before one whose answer has a letter for each of them, in place.

    They get a letter each where they follow one patient: the first tells the case, the others speak of 该患者.
    Otherwise all of them wait.
    """
    waiting: list[Draft] = []
    for draft in drafts:
        if draft.entry or not draft.options or draft.suffix:
            waiting = []
            continue
        if draft.answer is None and not draft.answered:
            waiting.append(draft)
            continue
        if waiting and draft.answer and len(draft.answer) == len(waiting) + 1:
            _share([*waiting, draft], draft.answer)
        waiting = []


def _share(drafts: list[Draft], letters: str) -> None:
    first, *others = drafts
    if is_case(first.stem) and all(_REFERS.search(draft.stem) for draft in others):
        for draft, letter in zip(drafts, letters, strict=True):
            draft.group = first.group or f"j{first.run}.{first.number}"
            draft.take_answer(letter, "letter_each")
            draft.answered = True
        for draft in others:
            draft.shared_stem = draft.shared_stem or first.shared_stem or first.stem
            draft.shared_pieces = draft.shared_pieces or first.pieces
            draft.because(Part.SHARED, "same_patient", None, first.pieces)
        return
    for draft in drafts:
        draft.doubt("joint_answer", f"{letters} may answer {len(drafts)} questions, one letter each")
