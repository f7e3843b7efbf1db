"""Cut a paper into items, the heads over them, shared texts and lines of answers: say what every line is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from pipeline.parse.answerlines import answer_lines, key_heads
from pipeline.parse.cloze import option_lines, own_answers
from pipeline.parse.heads import (
    CHINESE,
    GroupHead,
    group_head,
    is_section_head,
    numeral,
    numeral_value,
    span_head,
)
from pipeline.parse.kinds import announcement
from pipeline.parse.leads import find_leads
from pipeline.parse.lines import REGIONS, Piece
from pipeline.parse.numbering import Boundary, choose
from pipeline.parse.numbers import Habit, Mark, number_mark
from pipeline.parse.outline import Builder, Outline, Role
from pipeline.parse.weights import weigh

BOUNDARIES = {
    Role.SECTION: Boundary(0.5),
    Role.HEADING: Boundary(3.0),
    Role.GROUP: Boundary(1.0),
    Role.KEY_HEAD: Boundary(0.3, key=True),
    Role.ANSWERS: Boundary(0.5, key=True),
}
_PROBLEM = re.compile(r"\s*[试試][题題].{1,6}[(（].{0,6}分")


def cut(pieces: Sequence[Piece]) -> Outline:
    """Cut a document's pieces. Every piece ends in exactly one role."""
    roles = [Role.TEXT] * len(pieces)
    blanks = option_lines(pieces)
    of_items = own_answers(pieces, blanks)
    heads = key_heads(pieces) - of_items
    answers = {index: line for index, line in answer_lines(pieces, heads).items() if index not in of_items}
    groups: dict[int, GroupHead] = {}
    for index, piece in enumerate(pieces):
        if index in answers:
            roles[index] = Role.ANSWERS
        elif index in heads:
            roles[index] = Role.KEY_HEAD
        elif piece.kind not in REGIONS:
            _find_heads(index, piece, roles, groups)
    marks = _choose_marks(pieces, roles, of_items.union(blanks))
    for index in marks:
        roles[index] = Role.NUMBER
    _essays(pieces, marks, roles)
    _announcing_marks(marks, roles, groups)
    _announcing_spans(pieces, marks, roles, groups)
    taken = frozenset(index for index, role in enumerate(roles) if role not in (Role.TEXT, Role.NUMBER))
    for index, head in find_leads(pieces, marks, taken).items():
        roles[index], groups[index] = Role.GROUP, head
    _keep_headings_before_numbers(roles)
    keys = {index: line for index, line in answers.items() if line}
    return Builder(pieces, roles, keys, groups, marks).build()


def _find_heads(index: int, piece: Piece, roles: list[Role], groups: dict[int, GroupHead]) -> None:
    group = group_head(piece.text)
    if group:
        roles[index], groups[index] = Role.GROUP, group
    elif is_section_head(piece.text) or numeral(piece.text):
        roles[index] = Role.SECTION
    elif is_section_head(piece.text, centred=piece.centred) and number_mark(index, piece.text) is None:
        roles[index] = Role.HEADING


def _choose_marks(pieces: Sequence[Piece], roles: Sequence[Role], parts: frozenset[int]) -> dict[int, Mark]:
    """The numbers of the paper; ``parts`` are lines inside items."""
    marks = []
    for index, piece in enumerate(pieces):
        if roles[index] is Role.TEXT and piece.kind not in REGIONS and index not in parts:
            mark = number_mark(index, piece.text)
            if mark:
                marks.append(mark)
    boundaries = {index: BOUNDARIES[role] for index, role in enumerate(roles) if role in BOUNDARIES}
    return {mark.line: mark for mark in choose(weigh(pieces, marks, sorted(boundaries)), boundaries)}


def _essays(pieces: Sequence[Piece], marks: dict[int, Mark], roles: list[Role]) -> None:
    """一、试述… under a head of items to be answered in words is such an item, no section; so is 试题一（25分）."""
    kind: str | None = None
    for index, piece in enumerate(pieces):
        if roles[index] is Role.KEY_HEAD:
            return
        if roles[index] is not Role.SECTION:
            continue
        own, value = announcement(piece.text).kind, numeral_value(piece.text)
        worded = kind == "short_answer" and not numeral(piece.text)
        if own is None and value is not None and (worded or _PROBLEM.match(piece.text)):
            end = re.search(rf"[)）、.．,，]|[试試][题題]\s*[{CHINESE}]+", piece.text)
            marks[index] = Mark(index, value, Habit.TITLE, end.end() if end else 0, 1.0, value)
            roles[index] = Role.NUMBER
        else:
            kind = own


def _announcing_marks(marks: dict[int, Mark], roles: list[Role], groups: dict[int, GroupHead]) -> None:
    """71~75. before 71. 72. … opens a shared text; it is no item of its own."""
    order = sorted(marks)
    for index, following in pairwise(order):
        mark = marks[index]
        if mark.last > mark.value == marks[following].value:
            roles[index] = Role.GROUP
            groups[index] = GroupHead(mark.value, mark.last, options=False, end=mark.end)
            del marks[index]


def _announcing_spans(
    pieces: Sequence[Piece], marks: dict[int, Mark], roles: list[Role], groups: dict[int, GroupHead]
) -> None:
    """[71-75] alone on a line before question 71, or （二） alone over text, opens a shared text without a word."""
    following: int | None = None
    for index in range(len(pieces) - 1, -1, -1):
        if index in marks:
            following = marks[index].value
        head = span_head(pieces[index].text) if roles[index] is Role.TEXT else None
        if head and head.first == following:
            roles[index], groups[index] = Role.GROUP, head
        elif numeral(pieces[index].text) and roles[index : index + 2] == [Role.SECTION, Role.TEXT]:
            roles[index] = Role.GROUP
            groups[index] = GroupHead(None, None, options=False, end=len(pieces[index].text))


def _keep_headings_before_numbers(roles: list[Role]) -> None:
    """A centred line is a heading only where a head or a number follows; otherwise it is text."""
    following = Role.NUMBER
    for index in range(len(roles) - 1, -1, -1):
        if roles[index] is Role.HEADING and following is Role.TEXT:
            roles[index] = Role.TEXT
        following = roles[index]
