"""Values that readers and the layout exchange: runs of text, regions, lines and pages, before they are records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from build_dataset.pipeline.characters import valid_unicode
from build_dataset.schemas.documents import LineKind, ReadMethod

T = TypeVar("T")
EDGE = 0.1  # Share of the page's height at its top and bottom where running heads and feet stand


class Rect(NamedTuple):
    """A rectangle in points, origin top left."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def width(self) -> float:
        """In points."""
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        """In points."""
        return self.y1 - self.y0

    @property
    def middle(self) -> float:
        """Between top and bottom, in points."""
        return (self.y0 + self.y1) / 2

    @property
    def area(self) -> float:
        """In square points; 0 for an inverted rectangle."""
        return max(0.0, self.width) * max(0.0, self.height)

    def within(self, other: Rect) -> Rect:
        """Return the part that lies in another rectangle; inverted where none does."""
        x0, y0, x1, y1 = other
        return Rect(max(self.x0, x0), max(self.y0, y0), min(self.x1, x1), min(self.y1, y1))

    def overlap(self, other: Rect) -> float:
        """Shared area in square points."""
        width = min(self.x1, other.x1) - max(self.x0, other.x0)
        height = min(self.y1, other.y1) - max(self.y0, other.y0)
        return max(0.0, width) * max(0.0, height)

    def touches(self, other: Rect, reach: float) -> bool:
        """Return whether they meet when both grow by half of ``reach`` points."""
        across = self.x0 - reach <= other.x1 and other.x0 - reach <= self.x1
        return across and self.y0 - reach <= other.y1 and other.y0 - reach <= self.y1


def bounding_box(boxes: Sequence[Rect]) -> Rect:
    """The smallest rectangle around all of them."""
    if len(boxes) == 1:
        return boxes[0]
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return Rect(min(lefts), min(tops), max(rights), max(bottoms))


def group_while(items: Iterable[T], joins: Callable[[list[T], T], bool]) -> list[list[T]]:
    """Items in groups: each joins the group of the one before, or begins its own."""
    groups: list[list[T]] = []
    for item in items:
        if groups and joins(groups[-1], item):
            groups[-1].append(item)
        else:
            groups.append([item])
    return groups


class Unsure(NamedTuple):
    """A character of a line that may be wrong; see ``documents.UnsureCharacter``."""

    before: str
    text: str
    after: str
    other: str | None
    sure: float
    at: int  # In its word
    box: Rect | None = None


@dataclass(slots=True, eq=False)
class TextRun:
    """Characters that follow each other on one baseline without a wide gap."""

    text: str
    box: Rect
    baseline: float  # y in points; for OCR the bottom of the box less its descent
    size: float  # Font size in points; for OCR the height of the box
    confidence: float | None = None
    space_after: bool = False  # A space character follows, however narrow the gap
    new_cell: bool = False  # A vertical rule parts it from the run before
    unsure: tuple[Unsure, ...] = ()


@dataclass(slots=True)
class PageRegion:
    """A figure, table or formula."""

    kind: LineKind
    box: Rect


@dataclass(slots=True)
class PageLine:
    """A line or region of a page, in reading order."""

    text: str
    box: Rect | None
    kind: LineKind = LineKind.TEXT
    column: int = 0
    confidence: float | None = None
    other: str | None = None  # A second reading, where it differs in what matters
    unsure: tuple[Unsure, ...] = ()

    def __post_init__(self) -> None:
        """Make the text valid: every line of every reader passes here."""
        self.text = valid_unicode(self.text)

    def to_json(self) -> list[Any]:
        """A compact JSON value, coordinates rounded to hundredths of a point."""
        box = [round(value, 2) for value in self.box] if self.box else None
        confidence = None if self.confidence is None else round(self.confidence, 4)
        return [self.text, box, self.kind.value, self.column, confidence]

    @classmethod
    def from_json(cls, value: list[Any]) -> PageLine:
        """The line that ``to_json`` wrote."""
        text, box, kind, column, confidence = value
        return cls(text, Rect(*box) if box else None, LineKind(kind), column, confidence)


@dataclass(slots=True)
class PageRead:
    """A page as it was read."""

    width: float
    height: float
    method: ReadMethod
    engine: str
    engine_version: str
    reason: str | None = None
    lines: list[PageLine] = field(default_factory=list)
    turned: int = 0
    """Degrees it was turned counter-clockwise to be read; width, height and boxes are those of the turned page."""

    @property
    def confidence(self) -> float | None:
        """Mean confidence of recognised lines, weighted by characters; None where nothing was recognised."""
        seen = [(line.confidence, len(line.text)) for line in self.lines if line.confidence is not None]
        weight = sum(length for _, length in seen)
        return round(sum(value * length for value, length in seen) / weight, 4) if weight else None

    def facts(self) -> dict[str, Any]:
        """Return all but its lines, as JSON."""
        own = {name: getattr(self, name) for name in ("engine", "engine_version", "reason", "turned")}
        size = {"width": round(self.width, 2), "height": round(self.height, 2)}
        return {**size, **own, "method": self.method.value}

    def to_json(self) -> dict[str, Any]:
        """A JSON value for the item store."""
        return {**self.facts(), "lines": [line.to_json() for line in self.lines]}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> PageRead:
        """The page that ``to_json`` wrote."""
        lines = [PageLine.from_json(line) for line in value["lines"]]
        return cls(**{**value, "method": ReadMethod(value["method"]), "lines": lines})
