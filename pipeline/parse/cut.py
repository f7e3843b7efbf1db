"""Cut a paper into items, the heads over them, shared texts and lines of answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import pairwise

from pipeline.parse.fields import opens_explanation, split_fields
from pipeline.parse.keylines import Pair, grid, line_pairs
from pipeline.parse.leads import find_leads
from pipeline.parse.lines import REGIONS, Piece
from pipeline.parse.marks import GroupHead, Mark, group_head, is_key_head, is_section_head, number_mark
from pipeline.parse.numbering import choose


class Role(StrEnum):
    """What a piece became."""

    TEXT = "text"
    NUMBER = "number"
    SECTION = "section"
    HEADING = "heading"
    """A centred line without a number, between questions."""
    KEY_HEAD = "key_head"
    GROUP = "group"
    ANSWERS = "answers"


OPENS_OPTIONS = 0.4
"""What options after a number add to its weight: lists inside explanations have none."""
OPTIONS_WITHIN = 30
LIKELY = 0.5
"""The weight from which on a place ends the item before it, when options are looked for."""
_FIRST_LABEL = re.compile(r"(?:^|[\s（(【])A\s?[.．、)）】,，]|^\s*A\s?[\u4e00-\u9fff]|\tA\s")
EXPLAINED_WITHIN = 12
"""In how many lines under the head of a key its first explanation must stand."""
RESTART_COST = {Role.SECTION: 0.5, Role.HEADING: 3.0, Role.KEY_HEAD: 0.3, Role.ANSWERS: 0.5}


@dataclass(slots=True)
class Block:
    """What stands under one head."""

    heads: list[str] = field(default_factory=list)
    is_key: bool = False

    @property
    def text(self) -> str:
        """The head with its instructions."""
        return "\n".join(self.heads)


@dataclass(slots=True)
class Group:
    """A shared case or shared options."""

    head: GroupHead
    pieces: list[Piece] = field(default_factory=list)


@dataclass(slots=True)
class Item:
    """A numbered piece of the paper."""

    number: int
    last: int
    """The last number where it is an item of several questions (2.3. …); otherwise the number."""
    run: int
    """Which run of the numbering, from 0."""
    pieces: list[Piece]
    block: Block
    group: Group | None = None


@dataclass(slots=True)
class KeyLine:
    """Answers of several questions, and after which item they stand."""

    pairs: tuple[Pair, ...]
    item: int
    """How many items stand before."""
    span: tuple[int, ...] = ()
    """All numbers of a grid row, also those without an answer."""


@dataclass(slots=True)
class Outline:
    """A paper, cut."""

    items: list[Item] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    keys: list[KeyLine] = field(default_factory=list)
    preamble: list[Piece] = field(default_factory=list)
    roles: list[Role] = field(default_factory=list)
    """Of every piece, in order: the trace."""


def cut(pieces: Sequence[Piece]) -> Outline:
    """Cut a document's pieces. Every piece ends in exactly one role."""
    roles = [Role.TEXT] * len(pieces)
    keys = _find_answers(pieces, roles)
    groups: dict[int, GroupHead] = {}
    for index, piece in enumerate(pieces):
        if roles[index] is Role.TEXT and piece.kind not in REGIONS:
            _find_heads(index, piece, roles, groups)
    marks = _choose_marks(pieces, roles)
    for index in marks:
        roles[index] = Role.NUMBER
    _announcing_marks(marks, roles, groups)
    taken = frozenset(index for index, role in enumerate(roles) if role not in (Role.TEXT, Role.NUMBER))
    for index, head in find_leads(pieces, marks, taken).items():
        roles[index], groups[index] = Role.GROUP, head
    _keep_headings_before_numbers(roles)
    return _Builder(pieces, roles, keys, groups, marks).build()


def _find_answers(pieces: Sequence[Piece], roles: list[Role]) -> dict[int, KeyLine]:
    """Grids, and lines of answers: of several anywhere, of one only under a head or beside such a line."""
    keys: dict[int, KeyLine] = {}
    armed = False
    for index, piece in enumerate(pieces):
        if roles[index] is Role.ANSWERS or not piece.text.strip():
            continue
        below = pieces[index + 1].text if index + 1 < len(pieces) else ""
        rows = grid(piece.text, below)
        if rows:
            keys[index] = KeyLine(rows.pairs, 0, rows.numbers)
            roles[index] = roles[index + 1] = Role.ANSWERS
            continue
        pairs = line_pairs(piece.text)
        if len(pairs) > 1 or (pairs and armed):
            keys[index] = KeyLine(tuple(pairs), 0)
            roles[index] = Role.ANSWERS
            armed = True
        elif is_key_head(piece.text):
            armed = not _explained(pieces, index)
        else:
            armed = armed and is_section_head(piece.text)
    return keys


def _explained(pieces: Sequence[Piece], head: int) -> bool:
    """Whether explanations stand between the answers under a head: then each answer is an entry of its own."""
    for piece in pieces[head + 1 : head + EXPLAINED_WITHIN]:
        if opens_explanation(piece.text):
            return True
        if len(line_pairs(piece.text)) != 1 and not is_section_head(piece.text):
            return False
    return False


def _find_heads(index: int, piece: Piece, roles: list[Role], groups: dict[int, GroupHead]) -> None:
    group = group_head(piece.text)
    if group:
        roles[index], groups[index] = Role.GROUP, group
    elif is_key_head(piece.text):
        roles[index] = Role.KEY_HEAD
    elif is_section_head(piece.text):
        roles[index] = Role.SECTION
    elif is_section_head(piece.text, centred=piece.centred) and number_mark(index, piece.text) is None:
        roles[index] = Role.HEADING


def _choose_marks(pieces: Sequence[Piece], roles: list[Role]) -> dict[int, Mark]:
    marks = []
    for index, piece in enumerate(pieces):
        if roles[index] is Role.TEXT and piece.kind not in REGIONS:
            mark = number_mark(index, piece.text)
            if mark:
                marks.append(mark)
    boundaries = {index: RESTART_COST[role] for index, role in enumerate(roles) if role in RESTART_COST}
    weighed = [_weigh(pieces, mark, end) for mark, end in zip(marks, _ends(marks, len(pieces)), strict=True)]
    return {mark.line: mark for mark in choose(weighed, boundaries)}


def _ends(marks: Sequence[Mark], size: int) -> list[int]:
    """For every mark the line of the next one that is likely enough."""
    ends: list[int] = []
    following = size
    for mark in reversed(marks):
        ends.append(following)
        following = mark.line if mark.weight >= LIKELY else following
    return ends[::-1]


def _weigh(pieces: Sequence[Piece], mark: Mark, end: int) -> Mark:
    """A mark with what stands between it and the next one taken into account."""
    first = pieces[mark.line].text[mark.end :]
    texts = [first, *(piece.text for piece in pieces[mark.line + 1 : min(end, mark.line + OPTIONS_WITHIN)])]
    options = any(_FIRST_LABEL.search(text) for text in texts)
    supported = options or any(split_fields(text).answered for text in texts)
    return replace(mark, weight=mark.weight + (OPENS_OPTIONS if options else 0.0), supported=supported)


def _announcing_marks(marks: dict[int, Mark], roles: list[Role], groups: dict[int, GroupHead]) -> None:
    """71~75. before 71. 72. … opens a shared text; it is no item of its own."""
    order = sorted(marks)
    for index, following in pairwise(order):
        mark = marks[index]
        if mark.last > mark.value == marks[following].value:
            roles[index] = Role.GROUP
            groups[index] = GroupHead(mark.value, mark.last, options=False, end=mark.end)
            del marks[index]


def _keep_headings_before_numbers(roles: list[Role]) -> None:
    """A centred line is a heading only where a head or a number follows; otherwise it is text."""
    following = Role.NUMBER
    for index in range(len(roles) - 1, -1, -1):
        if roles[index] is Role.HEADING and following is Role.TEXT:
            roles[index] = Role.TEXT
        following = roles[index]


class _Builder:
    """Puts every piece where its role says."""

    def __init__(
        self,
        pieces: Sequence[Piece],
        roles: list[Role],
        keys: dict[int, KeyLine],
        groups: dict[int, GroupHead],
        marks: dict[int, Mark],
    ) -> None:
        self.pieces, self.keys, self.groups, self.marks = pieces, keys, groups, marks
        self.outline = Outline(roles=roles)
        self.block = Block()
        self.group: Group | None = None
        self.open: list[Piece] = self.outline.preamble
        """Where text goes."""
        self.run = 0
        self.fresh = True
        """Whether the block has no item yet."""

    def build(self) -> Outline:
        self.outline.blocks.append(self.block)
        for index, piece in enumerate(self.pieces):
            self._place(index, piece, self.outline.roles[index])
        return self.outline

    def _place(self, index: int, piece: Piece, role: Role) -> None:
        if role is Role.NUMBER:
            self._open_item(piece, self.marks[index])
        elif role in (Role.SECTION, Role.KEY_HEAD, Role.HEADING):
            self._open_block(piece, is_key=role is Role.KEY_HEAD)
        elif role is Role.GROUP:
            self._open_group(piece, self.groups[index])
        elif role is Role.ANSWERS:
            if index in self.keys:
                line = self.keys[index]
                line.item = len(self.outline.items)
                self.outline.keys.append(line)
            self.open = self.outline.preamble
        else:
            self.open.append(piece)

    def _open_item(self, piece: Piece, mark: Mark) -> None:
        items = self.outline.items
        if items and mark.value < items[-1].number:
            self.run += 1
        first = Piece(piece.text[mark.end :], piece.page, piece.box, piece.confidence, piece.kind)
        item = Item(mark.value, mark.last, self.run, [first], self.block, self._group_of(mark.value))
        items.append(item)
        self.open = item.pieces
        self.fresh = False

    def _group_of(self, number: int) -> Group | None:
        if self.group is None:
            return None
        head = self.group.head
        if head.last is not None and number >= head.last:
            group, self.group = self.group, None
            return group if number == head.last else None
        return self.group

    def _open_block(self, piece: Piece, *, is_key: bool) -> None:
        if not self.fresh or is_key or self.block.is_key:
            sticky = self.block.is_key and self.outline.roles and not is_key and self.fresh
            self.block = Block(is_key=is_key or bool(sticky))
            self.outline.blocks.append(self.block)
            self.fresh = True
        self.group = None
        self.block.heads.append(piece.text)
        self.open = _Heads(self.block)

    def _open_group(self, piece: Piece, head: GroupHead) -> None:
        rest = piece.text[head.end :]
        self.group = Group(head)
        if rest.strip():
            self.group.pieces.append(Piece(rest, piece.page, piece.box, piece.confidence, piece.kind))
        self.open = self.group.pieces


class _Heads(list[Piece]):
    """Text under a head: its instructions, until the first number."""

    def __init__(self, block: Block) -> None:
        super().__init__()
        self.block = block

    def append(self, piece: Piece) -> None:
        super().append(piece)
        self.block.heads.append(piece.text)
