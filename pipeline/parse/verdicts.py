"""The verdict of an explanation on the options: 故选B, A错误, B、D正确."""

from __future__ import annotations

import re
from collections.abc import Sequence

_LETTERS = r"[A-K](?:\s*[、,，和及与與]?\s*[A-K])*"
_NOT_WORD = r"(?![A-Za-z0-9])"
_CONCLUDES = re.compile(
    rf"(?:(?:故|所以|因此|综上|綜上|因而|应|應)[^。\n]{{0,8}}?(?:选择|選擇|选|選|答案[为為是])|答案(?:应|應)?[选選为為是]|答案[:：])"
    rf"\s*[:：]?\s*[(（]?\s*({_LETTERS}){_NOT_WORD}(?!\s*(?:错|錯|项?[错錯]误|不正?[确確]))"
)
"""故选B, 答案为AB; 故不选B names none."""
_RIGHT, _WRONG = (
    r"(?:正[确確]|[对對](?!应|於|于|比|照|[A-Za-z])|符合|成立)",
    r"(?:[错錯][误誤]?|不(?:正[确確]|[对對](?!应)|符合|成立))",
)
_EACH = re.compile(
    rf"(?<![A-Za-z0-9])({_LETTERS})\s*(?:选项|選項|项|項)?\s*(?:均|都|皆)?[，,]?\s*(?:({_WRONG})|({_RIGHT}))"
    r"(?=$|[\s。．，,；;！!）)：:])"
)
"""A错误, B、C项正确; only right behind the letters and before a stop."""
_ASKS_WRONG = re.compile(
    r"(?:不正[确確]|[错錯]误|錯誤|有误|有誤|不(?:是|属|屬|包括|宜|应|應|需|能|会|會|符|恰当|适|適|可)|[除]|非|无关|何者[错錯誤]|未)"
)


def verdict_of(explanation: str, stem: str, answer: str, labels: Sequence[str]) -> str | None:
    """What an explanation says against an answer; None where it agrees or says nothing clear.

    Args:
        explanation: of the question.
        stem: of the question: one that asks for the wrong option turns the verdicts on single options round.
        answer: letters of the key.
        labels: of the options; letters beyond them are no verdict.
    """
    concluded = [
        found for found in _CONCLUDES.finditer(explanation) if set(_letters(found[1])) <= set(labels)
    ]
    if concluded:
        last = concluded[-1]
        return None if _letters(last[1]) == sorted(answer) else last[0]
    return _of_options(explanation, stem, answer, labels)


def _letters(text: str) -> list[str]:
    return sorted(set(re.findall("[A-K]", text)))


def _of_options(explanation: str, stem: str, answer: str, labels: Sequence[str]) -> str | None:
    """The verdicts on single options: a single answer must be the odd one out, whichever way the stem asks."""
    said: dict[str, str] = {}
    right, wrong = set[str](), set[str]()
    for found in _EACH.finditer(explanation):
        letters = set(_letters(found[1]))
        if letters <= set(labels):
            (wrong if found[2] else right).update(letters)
            said.update(dict.fromkeys(letters, found[0]))
    if right & wrong or len(answer) != 1 or answer not in said:
        return None
    alike = right if answer in right else wrong
    if len(alike) > 1:
        return said[answer]
    asks_wrong = _ASKS_WRONG.search(stem) is not None
    return said[answer] if not asks_wrong and answer in wrong and right else None
