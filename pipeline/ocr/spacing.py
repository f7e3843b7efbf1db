"""Gaps in text that was set with spaces. Pure."""

from __future__ import annotations

import re

_GAP = re.compile(r"[ \u00a0]*\t[\t \u00a0]*|[ \u00a0\u3000]{2,}|\u3000")


def tabs_for_gaps(text: str) -> str:
    """Spaces that together are wider than 1.5 em become a tab, as on printed pages; blanks in brackets stay.

    A space counts half an em, an ideographic space one.
    """
    return _GAP.sub(lambda match: _joint(text, match), text)


def _joint(text: str, match: re.Match[str]) -> str:
    gap = match.group()
    before, after = text[: match.start()][-1:], text[match.end() :][:1]
    if before in tuple("（([【_") or after in tuple("）)]】_"):
        return gap.replace("\t", "  ")
    width = sum(1.0 if char == "\u3000" else 2.0 if char == "\t" else 0.5 for char in gap)
    return "\t" if width >= 1.5 else gap
