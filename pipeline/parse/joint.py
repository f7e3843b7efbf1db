"""Answers that one mark gives to several questions: 3. … 4. … 答：CD."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipeline.parse.draft import Draft
from pipeline.parse.kinds import is_case
from schemas.trace import Part

_REFERS = re.compile(
    r"(?:该|該|此|上述|本例)(?:名|位|例)?(?:患者|病人|患儿|患兒|病例|病患|女|男|孕妇|孕婦|产妇|患)"
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
