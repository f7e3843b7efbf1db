"""How likely a number at the start of a line numbers a question, judged by what stands around it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

from pipeline.parse.fields import opens_explanation, split_fields
from pipeline.parse.heads import GroupHead
from pipeline.parse.lines import Piece
from pipeline.parse.numbers import Mark

ANNOUNCED = 0.5
"""What it adds that the head of a shared text above names the number."""
OPENS_OPTIONS = 0.4
"""What options after a number add to its weight: lists inside explanations have none."""
IN_LIST = 0.5
"""What is left of the weight of a number that may belong to a list inside a stem or an explanation."""
OPTIONS_WITHIN = 30
LIKELY = 0.5
"""The weight from which on a place ends the item before it, when options are looked for."""
_FIRST_LABEL = re.compile(
    r"(?:^|[\s（(【）)。？?：:])A\s?[.．、)）】,，]|^\s*A\s?[\u4e00-\u9fff]|\tA\s|[\u24b6\u24d0\u249c\U0001f110\U0001f150]"
)
_MARKED = r"(?:[\u2460-\u2473]|[(（]\d{1,2}[)）])"
_CODES = re.compile(
    rf"\s*[(（【\[]?A\s?[.．、)）】,，]?\s*(?:{_MARKED}(?:\s*[、,，+和]?\s*{_MARKED})+|\d{{1,2}}(?:\s*[、,，+和]\s*\d{{1,2}})+)"
    r"\s*(?:$|\s[(（]?B|都?是?正?[确確]|[对對])"
)
"""A first option that is the code of a K-type item: A. ①②③, A. 1+2. A year or 120 has one member and is none."""


def weigh(
    pieces: Sequence[Piece],
    marks: Sequence[Mark],
    boundaries: Sequence[int],
    groups: Mapping[int, GroupHead],
) -> list[Mark]:
    """The marks with what follows them taken into account.

    Args:
        pieces: of the document.
        marks: all candidates, in the order of their lines.
        boundaries: lines that open something, in order.
        groups: heads of shared texts, by line.
    """
    coded = _coded(pieces, marks)
    marks = [replace(mark, weight=0.0) if mark.line in coded else mark for mark in marks]
    likely = [mark for mark in marks if mark.weight >= LIKELY]
    listed = _listed(pieces, likely, boundaries)
    ends = [mark.line for mark in likely if mark.line not in listed]
    weighed: list[Mark] = []
    explaining = -1
    for mark in marks:
        place = bisect_right(ends, mark.line)
        end = ends[place] if place < len(ends) else len(pieces)
        unlikely = (
            mark.weight < LIKELY and place > 0 and _open(pieces, ends[place - 1], mark.line, boundaries)
        )
        known = mark if unlikely else _weigh(pieces, mark, end)
        if mark.line in listed or (mark.line <= explaining and not known.supported):
            known = replace(known, weight=IN_LIST * mark.weight, supported=False, options=False)
        elif _announced(mark, boundaries, groups):
            known = replace(known, weight=known.weight + ANNOUNCED)
        elif known.supported:
            explaining = _explained_until(pieces, mark.line, boundaries)
        weighed.append(known)
    return weighed


def _announced(mark: Mark, boundaries: Sequence[int], groups: Mapping[int, GroupHead]) -> bool:
    place = bisect_right(boundaries, mark.line)
    head = groups.get(boundaries[place - 1]) if place else None
    return head is not None and head.first is not None and head.first <= mark.value <= (head.last or 0)


def _open(pieces: Sequence[Piece], before: int, line: int, boundaries: Sequence[int]) -> bool:
    """Whether the item that begins at ``before`` still waits for its options at ``line``: 既往吸烟 / 30支/日。/ A."""
    if line - before > OPTIONS_WITHIN or _between(boundaries, before, line):
        return False
    return not any(_FIRST_LABEL.search(piece.text) for piece in pieces[before:line])


def _weigh(pieces: Sequence[Piece], mark: Mark, end: int) -> Mark:
    options = any(_FIRST_LABEL.search(text) for text in _texts(pieces, mark, end))
    supported = options or any(split_fields(text).answered for text in _texts(pieces, mark, end))
    return replace(
        mark, weight=mark.weight + (OPENS_OPTIONS if options else 0.0), supported=supported, options=options
    )


def _texts(pieces: Sequence[Piece], mark: Mark, end: int) -> list[str]:
    within = min(end, mark.line + OPTIONS_WITHIN)
    return [pieces[mark.line].text[mark.end :], *(piece.text for piece in pieces[mark.line + 1 : within])]


def _listed(pieces: Sequence[Piece], likely: Sequence[Mark], boundaries: Sequence[int]) -> set[int]:
    """Lines of lists 1. 2. 3. inside a stem: under another number, with the options after the last of them."""
    lines: set[int] = set()
    for index in range(1, len(likely)):
        if likely[index].value == 1:
            found = _list_from(pieces, likely, index)
            if len(found) > 1 and not _between(boundaries, likely[index - 1].line, found[-1]):
                lines.update(found)
    return lines


def _coded(pieces: Sequence[Piece], marks: Sequence[Mark]) -> set[int]:
    """Lines of statements ①②③ under a question whose options are codes of them: A. ①② B. ①③."""
    lines: set[int] = set()
    start = 0
    for index, mark in enumerate(marks):
        following = marks[index + 1] if index + 1 < len(marks) else None
        first = marks[start]
        if mark.value == 1:
            start, first = index, mark
        elif mark.value != index - start + first.value or mark.habit is not first.habit:
            start = index
            continue
        runs_on = following and (following.habit, following.value) == (mark.habit, mark.value + 1)
        if first.value == 1 and start > 0 and index > start and not runs_on:
            end = following.line if following else len(pieces)
            if not _labelled(pieces, first.line, mark.line) and _opens_codes(pieces, mark.line, end):
                lines.update(one.line for one in marks[start : index + 1])
    return lines


def _labelled(pieces: Sequence[Piece], first: int, last: int) -> bool:
    return any(_FIRST_LABEL.search(piece.text) for piece in pieces[first:last])


def _opens_codes(pieces: Sequence[Piece], line: int, end: int) -> bool:
    """Whether the first options after a line are codes of at least two numbers."""
    within = pieces[line + 1 : min(end, line + OPTIONS_WITHIN)]
    text = next((piece.text for piece in within if _FIRST_LABEL.search(piece.text)), "")
    return _CODES.match(text) is not None


def _list_from(pieces: Sequence[Piece], likely: Sequence[Mark], start: int) -> list[int]:
    """Lines of the numbers 1, 2, 3 … in a row, up to the first that options follow; none where none do."""
    lines: list[int] = []
    for mark, following in zip_longest(likely[start:], likely[start + 1 :]):
        if mark.value != len(lines) + 1:
            return []
        lines.append(mark.line)
        if _weigh(pieces, mark, following.line if following else len(pieces)).supported:
            return lines
    return []


def _explained_until(pieces: Sequence[Piece], line: int, boundaries: Sequence[int]) -> int:
    """How far the explanation of the item at a line may reach; the line itself where it has none yet."""
    place = bisect_right(boundaries, line)
    end = boundaries[place] if place < len(boundaries) else len(pieces)
    within = pieces[line + 1 : min(end, line + OPTIONS_WITHIN)]
    return end if any(opens_explanation(piece.text) for piece in within) else line


def _between(boundaries: Sequence[int], first: int, last: int) -> bool:
    return bisect_right(boundaries, first) < bisect_right(boundaries, last)
