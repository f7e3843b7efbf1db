"""A paper, cut: what became of every piece, and the items, heads, shared texts and answers they make up."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from build_dataset.pipeline.parse.heads import GroupHead, NumberCandidate
from build_dataset.pipeline.parse.keylines import KeyLine
from build_dataset.pipeline.parse.lines import REGIONS, ParsedLine


class Role(StrEnum):
    """The role of a line."""

    TEXT = "text"
    NUMBER = "number"
    SECTION = "section"
    HEADING = "heading"  # a centred line without a number, between questions
    KEY_HEAD = "key_head"
    GROUP = "group"
    ANSWERS = "answers"


HEADS = (Role.SECTION, Role.HEADING, Role.KEY_HEAD, Role.GROUP)  # pages leave room before them


@dataclass(slots=True)
class Block:
    """All that stands under one head."""

    heads: list[str] = field(default_factory=list)
    is_key: bool = False
    opens_key: bool = False  # the head of a key opens it: then it is no section of the key before
    answered: bool = False  # lines of answers stand in it

    @property
    def text(self) -> str:
        """The head with its instructions."""
        return "\n".join(self.heads)

    @property
    def name(self) -> str:
        """The head without its instructions; empty without a head."""
        return _name(self.heads[0]) if self.heads else ""


@dataclass(slots=True)
class Group:
    """A shared case or shared options."""

    head: GroupHead
    pieces: list[ParsedLine] = field(default_factory=list)


@dataclass(slots=True)
class NumberedItem:
    """A numbered piece of the paper."""

    number: int
    last: int  # the last number where it is an item of several questions (2.3. …); otherwise the number
    run: int  # number of the run of the numbering, from 0
    pieces: list[ParsedLine]
    block: Block
    group: Group | None = None
    given: str | None = None  # the answer printed before its number, as in （C）1
    worded: bool = False  # it is known to be answered in words: no options are looked for
    style: str = ""  # the style of its number
    printed: str = ""  # its number as it is printed


@dataclass(slots=True)
class Outline:
    """A paper, cut."""

    items: list[NumberedItem] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    keys: list[KeyLine] = field(default_factory=list)
    preamble: list[ParsedLine] = field(default_factory=list)  # lines before the first head and item
    after_keys: list[ParsedLine] = field(default_factory=list)  # lines after lines of answers
    instructions: list[ParsedLine] = field(default_factory=list)  # lines under heads, before the first item
    groups: list[Group] = field(default_factory=list)
    roles: list[Role] = field(default_factory=list)  # of every piece, in order: the trace
    unchosen_numbers: list[tuple[ParsedLine, int]] = field(default_factory=list)
    """Lines inside items that look like the beginning of one, and their numbers."""
    prose: list[str] = field(default_factory=list)  # all lines but those of answers

    @property
    def lost_groups(self) -> list[Group]:
        """Groups none of whose items were read."""
        taken = {id(item.group) for item in self.items}
        return [group for group in self.groups if group.pieces and id(group) not in taken]


@dataclass
class Cutting:
    """The state of the cut: the role of every line so far."""

    pieces: Sequence[ParsedLine]
    roles: list[Role]  # the role of each; text until a pass says otherwise
    answers: dict[int, KeyLine] = field(default_factory=dict)
    groups: dict[int, GroupHead] = field(default_factory=dict)
    marks: dict[int, NumberCandidate] = field(default_factory=dict)  # the numbers of items
    unchosen: list[NumberCandidate] = field(default_factory=list)  # not chosen, with options under them
    parts: set[int] = field(default_factory=set)  # lines inside an item, whatever number they begin with

    def texts(self) -> Iterator[tuple[int, ParsedLine]]:
        """The lines that are still text; regions have none."""
        for index, piece in enumerate(self.pieces):
            if self.roles[index] is Role.TEXT and piece.kind not in REGIONS:
                yield index, piece

    def number(self, mark: NumberCandidate) -> None:
        """Make a line the beginning of an item."""
        self.roles[mark.line], self.marks[mark.line] = Role.NUMBER, mark

    def share(self, index: int, head: GroupHead) -> None:
        """Make a line the head of a shared text."""
        self.roles[index], self.groups[index] = Role.GROUP, head


class Builder:
    """Puts every piece where its role says."""

    def __init__(self, cutting: Cutting) -> None:
        self.cutting = cutting
        placed = zip(cutting.pieces, cutting.roles, strict=True)
        prose = [piece.text for piece, role in placed if role is not Role.ANSWERS]
        self.block = Block()
        self.outline = Outline(roles=cutting.roles, prose=prose, blocks=[self.block])
        self.group: Group | None = None
        self.open: list[ParsedLine] | None = self.outline.preamble
        """The list that takes the next line of text; None below a head, whose instructions it is."""
        self.run = 0
        self.fresh = True  # the block has no item yet

    def build(self) -> Outline:
        """The outline of all pieces."""
        for index, piece in enumerate(self.cutting.pieces):
            self._place(index, piece, self.outline.roles[index])
        return self.outline

    def _place(self, index: int, piece: ParsedLine, role: Role) -> None:
        if role is Role.NUMBER:
            self._open_item(piece, self.cutting.marks[index])
        elif role in (Role.SECTION, Role.KEY_HEAD, Role.HEADING):
            self._open_block(piece, is_key=role is Role.KEY_HEAD)
        elif role is Role.GROUP:
            head = self.cutting.groups[index]
            if self.group and head.first is not None and self.group.head[:3] == head[:3]:
                return  # behind its case
            rest, self.group = piece.text[head.end :], Group(head)
            self.outline.groups.append(self.group)
            if rest.strip():
                self.group.pieces.append(replace(piece, text=rest, centred=False, in_table=False))
            self.open = self.group.pieces
        elif role is Role.ANSWERS:
            if index in self.cutting.answers:
                line = self.cutting.answers[index]
                line.item = len(self.outline.items)
                line.head, line.title = self.block.name, "".join(self.block.heads[:1])
                self.outline.keys.append(line)
            self.open = self.outline.after_keys
            self.block.answered = True
        elif role is Role.TEXT and self.open is not None:
            self.open.append(piece)
        elif role is Role.TEXT:
            self.outline.instructions.append(piece)
            self.block.heads.append(piece.text)

    def _open_item(self, piece: ParsedLine, mark: NumberCandidate) -> None:
        items = self.outline.items
        if items and mark.value < items[-1].number + (self.block is not items[-1].block):
            self.run += 1
        first = replace(piece, text=piece.text[mark.end :], centred=False, in_table=False)
        item = NumberedItem(mark.value, mark.last, self.run, [first], self.block)
        item.group, item.given, item.worded = self.group, mark.given, mark.worded
        last = self.group.head.last if self.group else None
        if last is not None and mark.value >= last:
            item.group, self.group = (self.group if mark.value == last else None), None
        item.style, item.printed = mark.style.value, piece.text[: mark.end].strip()
        items.append(item)
        self.open = item.pieces
        self.fresh = False

    def _open_block(self, piece: ParsedLine, *, is_key: bool) -> None:
        if not self.fresh or self.block.answered or is_key or self.block.is_key:
            begins = self.fresh and not self.block.answered
            sticky = not is_key and self.block.is_key and (begins or self._continues(piece.text))
            self.block = Block(is_key=is_key or sticky, opens_key=is_key)
            self.outline.blocks.append(self.block)
            self.fresh = True
        self.group = None
        self.block.heads.append(piece.text)
        self.open = None

    def _continues(self, head: str) -> bool:
        """Return whether a head inside a key is the key's: seen over questions, and not yet in this key."""
        name = _name(head)
        for block in reversed(self.outline.blocks):
            if any(_name(known) == name for known in block.heads[:2]):
                return False
            if block.opens_key:
                break
        return any(block.name == name for block in self.outline.blocks if not block.is_key)


def _name(head: str) -> str:
    """A head without its instructions."""
    return re.split(r"[(（:：。\s]", head.strip(), maxsplit=1)[0] or head
