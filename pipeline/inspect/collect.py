"""The page of a paper as records: items, pages, boxes, made from the tables of a build folder."""

import json
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import StrEnum
from functools import cached_property
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any

import polars as pl

from pipeline.catalogue import STAGES
from pipeline.explain import StageEvent, set_aside
from pipeline.runtime.publish import built, find_rows, read_manifest
from schemas.documents import Document, Line, Page, Span, Step, Trace
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


NAMES: dict[str, dict[str, Any]] = tomllib.loads(
    (files("pipeline.inspect") / "names.toml").read_text(encoding="utf-8")
)
"""English and Chinese names of ``fates`` and ``regions``, and the fates of lines by the ``steps`` of a paper."""

LOW_CONFIDENCE = 0.9
"""Lowest confidence of a question's lines below which it is shown among the uncertain ones."""

Place = tuple[int, int]
"""Page and ``Line.order``."""


@dataclass
class ItemCard:
    """An item of the paper, or text that became none."""

    name: str
    """Its id; for unused text a name of its own."""
    fate: Fate
    events: list[StageEvent] = field(default_factory=list)
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


class PaperTables:
    """The rows of a build folder that speak of one document."""

    def __init__(self, build: Path, wanted: str) -> None:
        """Find the document whose name is, or alone contains, ``wanted``; a ``UserError`` says why there is none."""
        self.build = build
        self.document = _resolve(build, wanted)
        name = pl.col("document") == self.document.document
        self.pages = list(Page.from_frame(built(build, "ocr/pages").filter(name)))
        self.lines = list(Line.from_frame(built(build, "ocr/lines").filter(name)))
        self.traces = [Trace.model_validate(row) for row in find_rows(build, "parse/traces", name)]
        facts = (read_manifest(build / "parse") or {}).get("facts", {})
        self.keys: dict[str, str] = facts.get("keys", {})
        """Papers by the documents that hold their answers."""

    def is_mine(self, name: pl.Expr) -> pl.Expr:
        """Return the condition that an id is the document's or one of its items'."""
        return (name == self.document.document) | name.str.starts_with(f"{self.document.sha256[:8]}-")

    @cached_property
    def items(self) -> dict[Place, list[str]]:
        """The items that each line belongs to."""
        found: dict[Place, list[str]] = defaultdict(list)
        for trace in self.traces:
            if trace.item_id != trace.document:
                for place in _places(trace.spans):
                    found[place].append(trace.item_id)
        return found

    @cached_property
    def fates(self) -> dict[Place, Fate]:
        """The fates of lines that belong to no item; those of a key file are key."""
        fates: dict[Place, Fate] = {}
        for trace in self.traces:
            for step in trace.steps if trace.item_id == trace.document else ():
                fate = Fate(NAMES["steps"].get(step.part, Fate.UNUSED))
                fates |= dict.fromkeys(_places(step.spans), fate)
        rest = Fate.KEY if self.document.document in self.keys else Fate.UNUSED
        for line in self.lines:
            place = (line.page, line.order)
            if place in self.items:
                fates.pop(place, None)
            elif line.kind in ("header", "footer"):
                fates[place] = Fate.RUNNING
            elif line.kind == "text":
                fates.setdefault(place, rest)
        return fates

    @cached_property
    def unused(self) -> dict[str, list[Line]]:
        """Lines of text one after the other on a page that became nothing, by the name of their card."""

        def key(line: Line) -> tuple[int, bool]:
            unused = line.text and self.fates.get((line.page, line.order)) is Fate.UNUSED
            return line.page, bool(unused)

        ordered = sorted(self.lines, key=lambda line: (line.page, line.order))
        runs = [list(run) for (_, unused), run in groupby(ordered, key) if unused]
        return {f"unused-{run[0].page}-{run[0].order}": run for run in runs}


def _resolve(build: Path, wanted: str) -> Document:
    known = {one.document: one for one in Document.from_frame(built(build, "ocr/documents"))}
    same = [wanted] if wanted in known else sorted(name for name in known if Path(name).stem == wanted)
    found = same or sorted(name for name in known if wanted in name)
    if len(found) > 1:
        raise UserError(f"{wanted} could be {len(found)} papers: {', '.join(found[:5])}")
    if not found:
        raise UserError(f"no paper {wanted} in {build}{_why_not(build, known, wanted)}")
    if known[found[0]].pages is None:
        raise UserError(f"{found[0]} is a table: `build-dataset explain ID` shows its questions")
    return known[found[0]]


def _why_not(build: Path, known: Iterable[str], wanted: str) -> str:
    """Return the reason for which a paper was not read, or names like it."""
    for row in find_rows(build, "ocr/rejects", pl.col("item_id") == wanted):
        return f": it was rejected, {row['reason']}: {row['detail']}"
    near = get_close_matches(wanted, known, n=3)
    return f"; did you mean {', '.join(near)}?" if near else "; `build-dataset status` counts what was read"


def item_cards(tables: PaperTables) -> list[ItemCard]:
    """The paper's items, and its unused text, in the order in which a person should look at them."""
    found: dict[str, ItemCard] = {}
    mine = tables.is_mine(pl.col("question_id"))
    for name in (stage.name for stage in STAGES if "questions" in stage.writes):
        for row in find_rows(tables.build, f"{name}/questions", mine):
            found[row["question_id"]] = ItemCard(row["question_id"], Fate.KEPT, question=row)
    for stage in STAGES:
        for name, event, item in set_aside(tables.build, stage.name, tables.is_mine):
            card = found.setdefault(name, ItemCard(name, Fate.KEPT))
            card.events.append(event)
            content = json.loads(item) if item else None
            if not card.question and isinstance(content, dict) and "stem" in content:
                card.question = content
    for trace in tables.traces:
        if trace.item_id in found:
            found[trace.item_id].steps = trace.steps
            found[trace.item_id].pages = sorted({span.page for span in trace.spans})
    for card in found.values():
        card.fate = _fate(card)
        card.pages = card.pages or list((card.question or {}).get("pages") or ())
    unused = [
        ItemCard(name, Fate.UNUSED, texts=[line.text for line in run], pages=[run[0].page])
        for name, run in tables.unused.items()
    ]
    in_order = [found[name] for name in _reading_order(tables.traces, found)]
    return sorted([*unused, *in_order], key=lambda card: list(Fate).index(card.fate))


def _reading_order(traces: Iterable[Trace], names: Iterable[str]) -> list[str]:
    """Items as they stand in the paper; those that stand nowhere (a missing number) by their ids among them."""
    places = {trace.item_id: min(_places(trace.spans), default=(0, 0)) for trace in traces}
    last: Place = (0, 0)
    keys: dict[str, tuple[Place, str]] = {}
    for name in sorted(names):
        last = places.get(name, last)
        keys[name] = (last, name)
    return sorted(keys, key=lambda name: keys[name])


def _fate(card: ItemCard) -> Fate:
    """Return the fate of an item; waiting wins, because a person has to look at it."""
    outcomes = {event.outcome for event in card.events}
    for fate in (Fate.WAITING, Fate.REJECTED, Fate.MERGED):
        if fate.value in outcomes:
            return fate
    doubtful = card.confidence is not None and card.confidence < LOW_CONFIDENCE
    return Fate.DOUBTFUL if doubtful else Fate.KEPT


def _places(spans: Sequence[Span]) -> Iterator[Place]:
    return ((span.page, order) for span in spans for order in range(span.first, span.last + 1))
