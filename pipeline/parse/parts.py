"""Drafts of items: of one question, or of several that stand under one number."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.parse.draft import Draft
from pipeline.parse.fields import Fields
from pipeline.parse.kinds import announcement
from pipeline.parse.lines import Piece
from pipeline.parse.matching import Parts, SubItem, stems_after_options
from pipeline.parse.options import find_run, find_runs
from pipeline.parse.outline import Item
from pipeline.parse.text import join_lines
from schemas.trace import Part


def draft_of(item: Item, pieces: list[Piece], fields: Fields) -> Draft:
    """The draft of an item, with what its marks say; stem, options and answer are still to be read."""
    draft = Draft(
        number=item.number,
        run=item.run,
        pieces=pieces,
        block=item.block,
        explanation=fields.explanation,
        answered=fields.answered,
        verdict=fields.verdict,
    )
    _trace_item(draft, item)
    for opened in fields.opened:
        part = Part.ANSWER if opened.answer else Part.EXPLANATION
        draft.because(part, "mark", opened.words[:20], pieces[opened.line : opened.line + 1])
    return draft


def _trace_item(draft: Draft, item: Item) -> None:
    """Why the item was opened: its number and its head."""
    draft.because(Part.NUMBER, item.habit, item.printed, item.pieces[:1])
    if item.block.heads:
        draft.because(Part.HEAD, announcement(item.block.text).kind or "unknown", item.block.heads[0][:40])


def numbered_parts(item: Item, pieces: list[Piece], head: str, fields: Fields) -> Iterable[Draft]:
    """Questions 2.3. on one text, with a run of options for each of them."""
    runs = find_runs(head)
    count = item.last - item.number + 1
    letters = fields.answers[0] if fields.answers and len(fields.answers[0]) == count else None
    for index in range(count):
        draft = draft_of(item, pieces, fields)
        draft.number = item.number + index
        draft.group = f"n{item.run}.{item.number}"
        draft.shared_stem = join_lines(head[: runs[0].start] if runs else head) or None
        draft.take_answer(letters[index] if letters else None, "letter_each")
        if len(runs) == count:
            draft.options = list(runs[index].options)
        else:
            draft.options = list(runs[0].options) if runs else []
            draft.doubt("parts_and_options_differ", f"{count} numbers, {len(runs)} runs of options")
        yield draft


def part_drafts(item: Item, pieces: list[Piece], parts: Parts, fields: Fields) -> Iterable[Draft]:
    """A draft for every question inside an item."""
    group = f"p{item.run}.{item.number}"
    for index, part in enumerate(parts.parts):
        draft = _part_draft(item, pieces, part, parts)
        draft.suffix = chr(97 + index) if index < 26 else f"z{index}"
        draft.group = group
        draft.answered = part.answer is not None or fields.answered
        if not parts.shared_options:
            draft.explanation = fields.explanation
        if parts.doubt:
            draft.doubt("parts_and_answers_differ", parts.doubt)
        yield draft


def _part_draft(item: Item, pieces: list[Piece], part: SubItem, parts: Parts) -> Draft:
    draft = Draft(
        number=item.number,
        run=item.run,
        pieces=pieces,
        block=item.block,
        stem=part.stem,
        options=list(part.options),
        explanation=part.explanation,
        shared_stem=parts.lead or None,
        shared_options=parts.shared_options,
    )
    _trace_item(draft, item)
    draft.because(Part.SHARED, "stems_of_an_item" if parts.shared_options else "parts_of_an_item")
    draft.take_answer(part.answer, "part")
    return draft


def unnumbered(item: Item, pieces: list[Piece], rest: str) -> Iterable[Draft]:
    """Options with stems that follow an answer and have no number: named after the item before them."""
    run = find_run(rest)
    parts = stems_after_options(rest, run) if run else None
    if parts is None:
        return
    for index, part in enumerate(parts.parts):
        draft = _part_draft(item, pieces, part, parts)
        draft.number, draft.suffix = None, f"{item.number:03d}{chr(97 + index)}"
        draft.group = f"u{item.run}.{item.number}" if len(parts.parts) > 1 else None
        draft.shared_options = len(parts.parts) > 1
        draft.answered = True
        yield draft
