"""What questions share without a head over them: a case that is told before (承上題), an answer (3. … 4. … 答：CD)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from pipeline.parse.draft import Draft
from pipeline.parse.kinds import is_case
from schemas.trace import Part

_REFERS = re.compile(
    r"(?:该|該|此|上述|本例)(?:名|位|例)?(?:患者|病人|患儿|患兒|病例|病患|女|男|孕妇|孕婦|产妇|患)"
)

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
