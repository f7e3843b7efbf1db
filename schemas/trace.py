"""Traces of the parser's decisions: one row for each item of a paper, one for the paper's other lines."""

from __future__ import annotations

from enum import StrEnum

from schemas.base import Record


class Part(StrEnum):
    """Part of a paper that a step of the parser found."""

    NUMBER = "number"
    """The number that opens an item."""
    HEAD = "head"
    """The head it stands under, or a head itself."""
    SHARED = "shared"
    """A case or options shared with other items."""
    OPTIONS = "options"
    ANSWER = "answer"
    EXPLANATION = "explanation"
    KEY = "key"
    """Lines that hold answers of several questions."""
    RUNNING = "running"
    """Heads, feet and page numbers, left out of the text."""
    COVER = "cover"
    """Title, instructions and whatever else is known to stand before the first question."""
    LEFT_OVER = "left_over"
    """Text that became part of no item and is not known to be anything else."""


class Span(Record):
    """Lines of a page that follow each other."""

    page: int
    """From 1."""
    first: int
    """``Line.order`` of the first line."""
    last: int
    """``Line.order`` of the last line; the same as ``first`` for one line."""


class Step(Record):
    """One decision: what was found, by which rule, where."""

    part: Part
    rule: str
    """A short code, for counting: ``dot``, ``key_list``, ``inline`` …; docs/parsing.md lists them."""
    detail: str | None
    """The text seen there, or one sentence for people."""
    spans: list[Span]
    """Position; empty for text of another document, or if the item's own lines suffice."""


class Trace(Record):
    """Trace of an item (kept, set aside or waiting) through the parser; papers have one for all other lines.

    Every line of a paper stands in at least one trace: in those of its items, or in the paper's own.
    Rows of tabular sources have none.
    """

    item_id: str
    """A question_id; for the lines that belong to no item, the document's path."""
    document: str
    spans: list[Span]
    """All its lines, shared ones first; for a paper, all lines that its steps name."""
    steps: list[Step]
