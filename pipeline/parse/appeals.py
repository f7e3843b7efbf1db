"""Notes on corrections: what a key says about questions after appeals."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Correction:
    """What a note says about questions after appeals."""

    numbers: tuple[int, ...]
    accepted: tuple[str, ...]
    """Every answer that earns the mark; empty when everybody gets it."""
    replaces: bool
    """Whether the accepted answer stands in for the original."""
    note: str
    unread: bool = False
    """Whether the note says something about marks that was not understood."""


_CLAUSES = re.compile(r"(?:[，,；;。]|(?<=分)\n)\s*(?=第\s*\d)")
_CLAUSE = re.compile(r"第\s*(\d{1,4}(?:\s*[、,，及和與与]\s*(?:第\s*)?\d{1,4})*)\s*[题題](.*)", re.DOTALL)
_BRACKETED = re.compile(r"[(（【「『]([A-K]+)[)）】」』]")
_LIST = r"[A-K]+(?:\s*[、,，或及和與与/]+\s*[A-K]+)*"
_ACCEPTED = re.compile(rf"({_LIST})\s*(?:者|皆|均|都|亦|也)*\s*(?:可|[給给]分|算对|正确|正確)")
_CHANGED = re.compile(rf"(?:更正|修正|改)(?:答案)?[为為成]?\s*({_LIST})")
_ABOUT_MARKS = re.compile(r"[給给]分|[計计]分|更正|修正|[刪删]除|[刪删][題题]|[無无]效|作[废廢]")
_EVERYBODY = re.compile(r"一律[給给]分|[均皆都全]部?[給给]分|送分")


def corrections(text: str) -> list[Correction]:
    """The corrections in a note such as 第43題答A、C給分."""
    found: list[Correction] = []
    for part in _CLAUSES.split(text):
        clause = _CLAUSE.search(_BRACKETED.sub(r"\1", re.sub(r"\s+", "", part)))
        if not clause:
            continue
        numbers = tuple(int(number) for number in re.findall(r"\d+", clause[1]))
        note = clause[0].strip("，,。；; ")
        stated = _ACCEPTED.search(clause[2]) or _CHANGED.search(clause[2])
        if stated:
            letters = tuple(re.findall(r"[A-K]+", stated[1]))
            found.append(Correction(numbers, letters, len(letters) == 1, note))
        elif _EVERYBODY.search(clause[2]):
            found.append(Correction(numbers, (), replaces=False, note=note))
        elif _ABOUT_MARKS.search(clause[2]):
            found.append(Correction(numbers, (), replaces=False, note=note, unread=True))
    return found
