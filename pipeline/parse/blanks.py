"""Answers printed inside the stem: in its blank, as in 首选的是（ B ）."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipeline.parse.text import CJK

_LETTERS = r"([A-K](?:\s*[、,，]?\s*[A-K])*|[a-k])"
_OPEN, _CLOSE = r"[（(\[【]", r"[）)\]】]"
_STOP = r"\s*[。．.？?：:]?\s*"
_AT_END = re.compile(
    rf"(?:{_OPEN}\s*{_LETTERS}\s*{_CLOSE}|_+\s*{_LETTERS}\s*_+|(?<=[{CJK}])\s*{_LETTERS}\s*[）)]|[（(]\s*{_LETTERS})"
    rf"(?={_STOP}(?:[（(]\s*\d+(?:\.\d+)?\s*分\s*[）)])?{_STOP}$)"
)
"""At the end, before a full stop and the mark it earns; the bracket may have lost one side."""
_PADDED = re.compile(rf"[（(]\s+{_LETTERS}\s+[）)]|^[（(]\s*{_LETTERS}\s*[）)](?=[{CJK}])")
"""Inside the text only with space around the letters, or first of all: 血型为（A）者 is no blank."""


def filled_blank(stem: str, labels: Sequence[str]) -> tuple[str, str | None]:
    """A stem whose blank is filled in: the stem with the blank, and the letters; None where no blank is filled."""
    inside = list(_PADDED.finditer(stem))
    found = _AT_END.search(stem) or (inside[0] if len(inside) == 1 else None)
    if found is None:
        return stem, None
    printed = next(group for group in found.groups() if group)
    letters = re.findall(r"[A-K]", printed.upper())
    if not set(letters) <= set(labels) or letters != sorted(set(letters)):
        return stem, None
    return f"{stem[: found.start()]}（ ）{stem[found.end() :]}", "".join(letters)
