"""The page of a paper as records: items, pages, boxes, made from the tables of a build folder."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import Any

import polars as pl

from pipeline.catalogue import STAGES
from pipeline.explain import Event, set_aside
from pipeline.runtime.publish import read_manifest, read_table
from schemas.documents import Box, Document, Line, LineKind, Page, Part, Span, Step, Trace
from schemas.errors import UserError


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


LOW_CONFIDENCE = 0.9
"""Lowest confidence of a question's lines below which it is shown among the uncertain ones."""

_FATES = {
    Part.HEAD: Fate.HEAD,
    Part.SHARED: Fate.HEAD,
    Part.RUNNING: Fate.RUNNING,
    Part.COVER: Fate.COVER,
    Part.KEY: Fate.KEY,
    Part.ANSWER: Fate.KEY,
}
"""Fates of the lines of a paper's own steps; text of all others is unused."""

Place = tuple[int, int]
"""Page and ``Line.order``."""


class PaperTables:
    """The rows of a build folder that speak of one document."""

    def __init__(self, build: Path, wanted: str) -> None:
        """Find the document whose name is, or alone contains, ``wanted``.

        Raises:
            UserError: nothing was read, no such document, several, or one that is tabular.
        """
        self.build = build
        self.document = _resolve(build, wanted)
        self.prefix = f"{self.document.sha256[:8]}-"
        name = pl.col("document") == self.document.document
        self.pages = list(Page.from_frame(self._frame("ocr/pages").filter(name)))
        self.lines = list(Line.from_frame(self._frame("ocr/lines").filter(name)))
        self.traces = list(Trace.from_frame(self.mine("parse/traces", "document", exact=True)))

    def _frame(self, table: str) -> pl.DataFrame:
        path = self.build / f"{table}.parquet"
        if not path.exists():
            raise UserError(f"{path} is not there: run `build-dataset run` first")
        return read_table(path)

    def mine(self, table: str, column: str, *, exact: bool = False) -> pl.DataFrame:
        """Rows of a table whose ``column`` is the document, or (not ``exact``) one of its items."""
        path = self.build / f"{table}.parquet"
        if not path.exists():
            return pl.DataFrame({column: []}, schema={column: pl.String})
        name = pl.col(column)
        return read_table(path).filter(name == self.document.document if exact else self._is_mine(name))

    def _is_mine(self, name: pl.Expr) -> pl.Expr:
        """Return the condition that an id is the document's or one of its items'."""
        return (name == self.document.document) | name.str.starts_with(self.prefix)

    def set_aside(self) -> Iterator[tuple[str, Event, str | None]]:
        """Yield what stages rejected, left waiting or merged: the item's id, the event, the item as JSON."""
        for stage in STAGES:
            yield from set_aside(self.build, stage.name, self._is_mine)


def _resolve(build: Path, wanted: str) -> Document:
    path = build / "ocr" / "documents.parquet"
    if not path.exists():
        raise UserError(f"nothing read in {build}: run `build-dataset run` first")
    known = {document.document: document for document in Document.from_frame(read_table(path))}
    found = [wanted] if wanted in known else _named(known, wanted)
    if len(found) > 1:
        raise UserError(f"{wanted} could be {len(found)} papers: {', '.join(found[:5])}")
    if not found:
        raise UserError(f"no paper {wanted} in {build}{_why_not(build, known, wanted)}")
    if known[found[0]].pages is None:
        raise UserError(f"{found[0]} is a table: `build-dataset explain ID` shows its questions")
    return known[found[0]]


def _named(known: Iterable[str], wanted: str) -> list[str]:
    """Papers of that name without its ending, else those whose names hold it."""
    same = sorted(name for name in known if Path(name).stem == wanted)
    return same or sorted(name for name in known if wanted in name)


def _why_not(build: Path, known: Iterable[str], wanted: str) -> str:
    """Return the reason for which a paper was not read, or names like it."""
    path = build / "ocr" / "rejects.parquet"
    for row in read_table(path).iter_rows(named=True) if path.exists() else ():
        if wanted == row["item_id"]:
            return f": it was rejected, {row['reason']}: {row['detail']}"
    near = get_close_matches(wanted, known, n=3)
    return f"; did you mean {', '.join(near)}?" if near else "; `build-dataset status` counts what was read"


def cards(tables: PaperTables) -> list[ItemCard]:
    """The paper's items, and its unused text, in the order in which a person should look at them."""
    found = {name: ItemCard(name, Fate.KEPT, question=row) for name, row in _questions(tables).items()}
    for name, event, item in tables.set_aside():
        card = found.setdefault(name, ItemCard(name, Fate.KEPT))
        card.events.append(event)
        card.question = card.question or _item(item)
    for trace in tables.traces:
        if trace.item_id in found:
            found[trace.item_id].steps = trace.steps
            found[trace.item_id].pages = sorted({span.page for span in trace.spans})
    for card in found.values():
        card.fate = _fate(card)
        card.pages = card.pages or list((card.question or {}).get("pages") or ())
    order = {name: index for index, name in enumerate(_reading_order(tables.traces, found))}
    all_cards = sorted(found.values(), key=lambda card: order[card.name])
    ranks = {fate: rank for rank, fate in enumerate(Fate)}
    return sorted([*_unused(tables), *all_cards], key=lambda card: ranks[card.fate])


def _reading_order(traces: Iterable[Trace], names: Iterable[str]) -> list[str]:
    """Items as they stand in the paper; those that stand nowhere (a missing number) by their ids among them."""
    places = {trace.item_id: min(_places(trace.spans), default=(0, 0)) for trace in traces}
    last: Place = (0, 0)
    keys: dict[str, tuple[Place, str]] = {}
    for name in sorted(names):
        last = places.get(name, last)
        keys[name] = (last, name)
    return sorted(keys, key=lambda name: keys[name])


def _questions(tables: PaperTables) -> dict[str, dict[str, Any]]:
    """The newest row of each question."""
    rows: dict[str, dict[str, Any]] = {}
    for stage in STAGES:
        if "questions" in stage.writes:
            frame = tables.mine(f"{stage.name}/questions", "question_id")
            rows |= {row["question_id"]: row for row in frame.to_dicts()}
    return rows


def _item(text: str | None) -> dict[str, Any] | None:
    """The question inside a row of rejects or review, where there is one."""
    value = json.loads(text) if text else None
    return value if isinstance(value, dict) and "stem" in value else None


def _fate(card: ItemCard) -> Fate:
    """Return the fate of an item; waiting wins, because a person has to look at it."""
    outcomes = {event.outcome for event in card.events}
    for fate in (Fate.WAITING, Fate.REJECTED, Fate.MERGED):
        if fate.value in outcomes:
            return fate
    doubtful = card.confidence is not None and card.confidence < LOW_CONFIDENCE
    return Fate.DOUBTFUL if doubtful else Fate.KEPT


def _unused(tables: PaperTables) -> Iterator[ItemCard]:
    """A card for each run of text that became nothing."""
    texts = {(line.page, line.order): line.text for line in tables.lines}
    for name, run in unused_runs(tables).items():
        yield ItemCard(name, Fate.UNUSED, texts=[texts[place] for place in run], pages=[run[0][0]])


def unused_runs(tables: PaperTables) -> dict[str, list[Place]]:
    """Lines of text one after the other on a page that became nothing, by the name of their card."""
    fates = line_fates(tables)
    runs: list[list[Place]] = []
    before: Place | None = None
    for line in sorted(tables.lines, key=lambda line: (line.page, line.order)):
        place = (line.page, line.order)
        unused = bool(line.text) and fates.get(place) is Fate.UNUSED
        if unused and before is not None and before[0] == place[0]:
            runs[-1].append(place)
        elif unused:
            runs.append([place])
        before = place if unused else None
    return {f"unused-{run[0][0]}-{run[0][1]}": run for run in runs}


def line_items(tables: PaperTables) -> dict[Place, list[str]]:
    """The items that each line belongs to."""
    found: dict[Place, list[str]] = defaultdict(list)
    for trace in tables.traces:
        if trace.item_id != trace.document:
            for place in _places(trace.spans):
                found[place].append(trace.item_id)
    return found


def line_fates(tables: PaperTables) -> dict[Place, Fate]:
    """Return the fate of lines that belong to no item; those of a key file are key."""
    items = line_items(tables)
    fates: dict[Place, Fate] = {}
    for trace in tables.traces:
        for step in trace.steps if trace.item_id == trace.document else ():
            fates |= dict.fromkeys(_places(step.spans), _FATES.get(step.part, Fate.UNUSED))
    rest = Fate.KEY if key_of(tables) else Fate.UNUSED
    for line in tables.lines:
        place = (line.page, line.order)
        if place in items:
            fates.pop(place, None)
        elif line.kind in ("header", "footer"):
            fates[place] = Fate.RUNNING
        elif line.kind == "text":
            fates.setdefault(place, rest)
    return fates


def key_of(tables: PaperTables) -> str | None:
    """The paper whose answers this document holds; None when it is no key."""
    return _keys(tables).get(tables.document.document)


def keys_for(tables: PaperTables) -> list[str]:
    """The documents that hold this paper's answers."""
    return sorted(key for key, paper in _keys(tables).items() if paper == tables.document.document)


def _keys(tables: PaperTables) -> dict[str, str]:
    keys: dict[str, str] = (read_manifest(tables.build / "parse") or {}).get("facts", {}).get("keys", {})
    return keys


def _places(spans: Sequence[Span]) -> list[Place]:
    return [(span.page, order) for span in spans for order in range(span.first, span.last + 1)]
