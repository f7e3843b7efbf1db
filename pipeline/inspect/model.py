"""Records of the page of a paper: items, pages, boxes."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pipeline.explain import Event
from schemas.documents import Box, LineKind, Page, Step


class Fate(StrEnum):
    """Fates of lines of a paper; the value is also the class of style."""

    WAITING = "waiting"
    UNUSED = "unused"
    DOUBTFUL = "doubtful"
    KEPT = "kept"
    MERGED = "merged"
    REJECTED = "rejected"
    KEY = "key"
    HEAD = "head"
    COVER = "cover"
    RUNNING = "running"


NAMES = {
    Fate.WAITING: ("waiting", "待审"),
    Fate.UNUSED: ("unused text", "未用文字"),
    Fate.DOUBTFUL: ("kept, read with doubt", "保留·识别存疑"),
    Fate.KEPT: ("kept", "保留"),
    Fate.MERGED: ("merged", "合并"),
    Fate.REJECTED: ("rejected", "剔除"),
    Fate.KEY: ("answer key", "答案"),
    Fate.HEAD: ("heading", "标题"),
    Fate.COVER: ("cover", "卷首"),
    Fate.RUNNING: ("running head or foot", "页眉页脚"),
}
"""English and Chinese names, in the order of the legend; cards stand in this order too, uncertain ones first."""

REGION_NAMES = {
    LineKind.FIGURE: ("figure", "图"),
    LineKind.TABLE: ("table", "表"),
    LineKind.FORMULA: ("formula", "公式"),
}


@dataclass
class ItemCard:
    """An item of the paper, or text that became none."""

    name: str
    """Its id; for unused text a name of its own."""
    fate: Fate
    events: list[Event] = field(default_factory=list)
    question: dict[str, Any] | None = None
    """The newest row of table ``questions``; for others the record they would have been."""
    steps: list[Step] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    """The lines of unused text."""
    pages: list[int] = field(default_factory=list)

    @property
    def confidence(self) -> float | None:
        """The lowest confidence of its lines; None for text layers."""
        value: float | None = (self.question or {}).get("confidence")
        return value


@dataclass(frozen=True)
class PageMark:
    """A box on a page, in per cent of the page's width and height."""

    left: float
    top: float
    width: float
    height: float
    style: str
    """A ``Fate`` or a region's kind."""
    cards: tuple[str, ...] = ()
    label: str = ""


@dataclass(frozen=True)
class TextLine:
    """A line of a page that has no layout."""

    text: str
    style: str
    cards: tuple[str, ...] = ()


@dataclass
class PageView:
    """A page of the paper."""

    page: Page
    marks: list[PageMark] = field(default_factory=list)
    texts: list[TextLine] = field(default_factory=list)
    """Its lines, where there is no picture of it."""
    picture: str | None = None
    """A data URI."""


@dataclass
class PaperView:
    """Content of the page."""

    document: str
    format: str
    facts: list[tuple[str, str]]
    """Facts of the paper, by name."""
    sheets: list[PageView]
    cards: list[ItemCard]
    counts: dict[Fate, int]
    """Cards by fate."""
    notes: list[str] = field(default_factory=list)


AIR = 4.0
"""Points between a box's text and its border at the sides."""


def percent(box: Box, page: Page) -> tuple[float, float, float, float]:
    """Left, top, width and height of a box with a little air, in per cent of its page."""
    width, height = max(page.width, 1.0), max(page.height, 1.0)
    left, top = 100 * (box.x0 - AIR) / width, 100 * (box.y0 - AIR / 2) / height
    right, bottom = 100 * (box.x1 + AIR) / width, 100 * (box.y1 + AIR / 2) / height
    return round(left, 2), round(top, 2), round(right - left, 2), round(bottom - top, 2)
