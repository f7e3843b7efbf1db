"""Stems that stand before their number: ●… should be （5）, then （5）A. 甲 B. 乙."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pipeline.parse.cloze import BOOK_TITLE, named
from pipeline.parse.fields import opens_explanation
from pipeline.parse.heads import GroupHead
from pipeline.parse.lines import REGIONS, Piece
from pipeline.parse.numbers import Mark
from pipeline.parse.running import is_title

_BULLET = re.compile(rf"\s*(?:[●•○◆■▪·]|{BOOK_TITLE})\s*")
_OPTION_FIRST = re.compile(r"\s*[A-K]\s?[.．、,，)）]")
_HAS_OPTION = re.compile(r"(?:^|[\s)）])[A-K]\s?[.．、]")
FAR = 80
"""How many lines a lead may have."""


def find_leads(
    pieces: Sequence[Piece], marks: Mapping[int, Mark], taken: frozenset[int]
) -> dict[int, GroupHead]:
    """Where a paragraph begins whose blanks are the numbers of the items that follow it.

    Args:
        pieces: of the document.
        marks: the chosen numbers by line.
        taken: lines that are heads or answers; a lead does not reach over them.
    """
    leads: dict[int, GroupHead] = {}
    for index, mark in marks.items():
        if not _OPTION_FIRST.match(pieces[index].text, mark.end):
            continue
        start = _lead_start(pieces, index, mark.value, marks, taken)
        if start is not None:
            bullet = _BULLET.match(pieces[start].text)
            leads[start] = GroupHead(None, None, options=False, end=bullet.end() if bullet else 0)
    return leads


def _lead_start(
    pieces: Sequence[Piece], index: int, number: int, marks: Mapping[int, Mark], taken: frozenset[int]
) -> int | None:
    """The first line after the options of the item before, if it has a bullet or the text names the number."""
    blank = named(number)
    start, named_at, found = None, None, False
    for place in range(index - 1, max(-1, index - FAR), -1):
        piece = pieces[place]
        if is_title(piece.text) and not any(line < place for line in marks):
            break
        if place in taken or place in marks or (piece.kind not in REGIONS and _HAS_OPTION.search(piece.text)):
            break
        if opens_explanation(piece.text):  # whose later lines cannot be told from the first ones of a lead
            return named_at
        if blank.search(piece.text):
            found, named_at = True, place
        start = place
        if _BULLET.match(piece.text):
            return start
    return start if found else None
