"""The content of a synthetic paper, and the habits in which it is printed."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import StrEnum


class Kind(StrEnum):
    """The kinds of items of a section."""

    A1 = "A1"
    A2 = "A2"
    A3 = "A3/A4"
    B1 = "B1"
    X = "X"
    C = "C"
    K = "K"
    TRUE_FALSE = "true_false"
    FILL_IN = "fill_in"
    SHORT_ANSWER = "short_answer"


ASIDE = {Kind.TRUE_FALSE, Kind.FILL_IN, Kind.SHORT_ANSWER}
"""Kinds that are no multiple-choice questions."""


@dataclass(frozen=True)
class Item:
    """A question; ``answer`` is letters, or words for items without options."""

    kind: Kind
    stem: str
    options: tuple[str, ...]
    answer: str
    explanation: str | None = None


@dataclass(frozen=True)
class Group:
    """Items under one case or one set of options; most groups are one item alone."""

    items: tuple[Item, ...]
    case: str | None = None
    options: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Section:
    """Groups of one kind."""

    kind: Kind
    groups: tuple[Group, ...]

    @property
    def items(self) -> list[Item]:
        """All its items in order."""
        return [item for group in self.groups for item in group.items]


@dataclass(frozen=True)
class Style:
    """The habits of a paper."""

    number: str = "{}."
    """Printed form of a number: ``{}`` is the number, ``{c}`` a circled one."""
    number_alone: bool = False
    """True if numbers stand on a line of their own."""
    restart: bool = False
    """True if numbering begins again in every section."""
    start: int = 1
    head: str = "{numeral}、{name}（本题共{count}题，每题1分）"
    """The head of a section; empty for none."""
    group_head: str = "（{first}～{last}题共用{what}）"
    case: str = ""
    """Form of a shared case that holds its own head, as 情況：…依此回答第1題至第3題; empty: a separate head."""
    label: str = "{}."
    """Printed form of an option's label: ``{}``, ``{c}`` circled, ``{l}`` small."""
    layout: str = "one"
    """``one``, ``two``, ``four`` a line (columns), ``inline`` (spaces), ``double`` (two spaces)."""
    key: str = "none"
    """See ``render.KEYS``."""
    mark: str = "答案：{}"
    """Mark of an answer beside its question."""
    explain: str = "解析：{}"
    width: int = 34
    page_lines: int = 40
    columns: int = 1
    traditional: bool = False
    running: bool = False
    """True if pages have a head, and a foot that counts them."""
    cover: bool = False
    """True if a title and instructions come first."""

    def __str__(self) -> str:
        """A name made of what differs from the usual style."""
        usual = Style()
        different = [
            f"{one.name}={getattr(self, one.name)}"
            for one in fields(self)
            if getattr(self, one.name) != getattr(usual, one.name)
        ]
        return ", ".join(different) or "usual"


@dataclass(frozen=True)
class Paper:
    """Sections, and how they are printed."""

    sections: tuple[Section, ...]
    style: Style


@dataclass(frozen=True)
class Truth:
    """The content of an item that must be read back."""

    section: int
    number: int
    kind: Kind
    stem: str
    options: tuple[str, ...]
    answer: str | None
    explanation: str | None
    case: str | None
    group: int | None


@dataclass
class Printed:
    """A paper as lines of text, page by page; columns are apart by tabs."""

    pages: list[list[str]] = field(default_factory=list)
    key: list[list[str]] = field(default_factory=list)
    """The pages of a key of its own."""
