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
    note: str
    unread: bool = False
    """Whether the note says something about marks that was not understood."""


_NAMED = r"第\d{1,4}(?:[题題]?[、,，及和與与]第?\d{1,4})*[题題]"
_CLAUSE = re.compile(rf"(?P<named>{_NAMED})(?P<verdict>(?:(?!{_NAMED})[^。；;])*)")
"""A question, or several, and what is said of them up to the next; white space is gone."""
_BRACKETED = re.compile(r"[(（【「『]([A-K]+)[)）】」』]")
_LIST = r"[A-K]+(?:\s*[、,，或及和與与/]+\s*[A-K]+)*"
_ACCEPTED = re.compile(rf"({_LIST})\s*(?:者|皆|均|都|亦|也)*\s*(?:可|[給给]分|算对|正确|正確)")
_CHANGED = re.compile(rf"(?:更正|修正|改)(?:答案)?[为為成]?\s*({_LIST})")
_ABOUT_MARKS = re.compile(r"[給给]分|[計计]分|更正|修正|[刪删]除|[刪删][題题]|[無无]效|作[废廢]")
_EVERYBODY = re.compile(r"一律[給给]分|[均皆都全]部?[給给]分|送分")


def corrections(text: str) -> list[Correction]:
    """The corrections in a note such as 第43題答A、C給分."""
    found: list[Correction] = []
    for clause in _CLAUSE.finditer(_BRACKETED.sub(r"\1", re.sub(r"\s+", "", text))):
        numbers = tuple(int(number) for number in re.findall(r"\d+", clause["named"]))
        note, verdict = clause[0].strip("，,"), clause["verdict"]
        stated = _ACCEPTED.search(verdict) or _CHANGED.search(verdict)
        if stated:
            letters = tuple(re.findall(r"[A-K]+", stated[1]))
            found.append(Correction(numbers, letters, note))
        elif _EVERYBODY.search(verdict):
            found.append(Correction(numbers, (), note))
        elif _ABOUT_MARKS.search(verdict):
            found.append(Correction(numbers, (), note, unread=True))
    return found
