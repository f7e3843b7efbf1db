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
    """How a number is printed: ``{}`` is the number, ``{c}`` a circled one."""
    number_alone: bool = False
    """Whether numbers stand on a line of their own."""
    restart: bool = False
    """Whether numbering begins again in every section."""
    start: int = 1
    head: str = "{numeral}、{name}（本题共{count}题，每题1分）"
    """The head of a section; empty for none."""
    group_head: str = "（{first}～{last}题共用{what}）"
    case: str = ""
    """How a shared case is told with its head in one, as 情況：…依此回答第1題至第3題; else a head."""
    label: str = "{}."
    """How an option's label is printed: ``{}``, ``{c}`` circled, ``{l}`` small."""
    layout: str = "one"
    """``one``, ``two``, ``four`` a line (columns), ``inline`` (spaces), ``double`` (two spaces)."""
    key: str = "none"
    """See ``render.KEYS``."""
    mark: str = "答案：{}"
    """How an answer beside its question is marked."""
    explain: str = "解析：{}"
    width: int = 34
    page_lines: int = 40
    columns: int = 1
    traditional: bool = False
    running: bool = False
    """Whether pages have a head, and a foot that counts them."""
    cover: bool = False
    """Whether a title and instructions stand first."""

    def __str__(self) -> str:
        """What differs from the usual, as a name."""
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
    """What must be read back of an item."""

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
