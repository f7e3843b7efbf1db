"""Drafts of items: of one question, or of several that stand under one number."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pipeline.parse.cloze import Blank, Cloze, read_parts
from pipeline.parse.draft import Draft
from pipeline.parse.fields import Fields
from pipeline.parse.kinds import announcement
from pipeline.parse.lines import Piece
from pipeline.parse.matching import Parts, SubItem, stems_after_options
from pipeline.parse.options import Run, find_run, find_runs
from pipeline.parse.outline import Item
from pipeline.parse.text import join_lines
from schemas.trace import Part

_EACH = re.compile(r"\s*[A-K](?:\s?[、,，;；]\s?[A-K]){1,9}(?![A-Za-z])")
"""C，C: a letter for each part, which may be the same."""
_EACH_LEFT = re.compile(r"^[A-K](?:\s?[、,，;；]\s?[A-K]){0,9}\n")


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
    numbers = range(item.number, item.last + 1)
    labelled = read_parts(head, numbers)
    if labelled:
        parts = blank_drafts(item, pieces, fields, labelled, numbered=False)
        for number, blank, draft in zip(numbers, labelled.blanks, parts, strict=True):
            draft.number, draft.suffix = number, ""
            draft.stem = "" if blank.number == number else draft.stem
            yield draft
        return
    runs = find_runs(head)
    lead = join_lines(head[: runs[0].start] if runs else head)
    even = len(runs) == len(numbers)
    shown = runs if even else [runs[0] if runs else Run(0, (), 0, 0.0)] * len(numbers)
    cloze = Cloze(lead, tuple(map(Blank, numbers, shown)), labelled=False)
    for draft in blank_drafts(item, pieces, fields, cloze, numbered=True):
        if not even:
            draft.doubt("parts_and_options_differ", f"{len(numbers)} numbers, {len(runs)} runs of options")
        yield draft


def blank_drafts(
    item: Item, pieces: list[Piece], fields: Fields, cloze: Cloze, *, numbered: bool
) -> Iterable[Draft]:
    """A draft for every blank of an item; ``numbered`` where the numbers of blanks are those of the questions."""
    count = len(cloze.blanks)
    answers: Sequence[str] = fields.answers[0] if len(fields.answers) == 1 else fields.answers
    each = next((found for text in fields.answer_texts if (found := _EACH.match(text))), None)
    if each and len(answers) != count:
        answers = re.findall(r"[A-K]", each[0])
    for index, blank in enumerate(cloze.blanks):
        draft = draft_of(item, pieces, fields)
        draft.explanation = _EACH_LEFT.sub("", draft.explanation or "") or None
        draft.group = f"n{item.run}.{item.number}"
        draft.shared_stem = cloze.lead or None
        draft.options = list(blank.run.options)
        draft.because(Part.SHARED, "parts_of_an_item")
        if numbered:
            draft.number = blank.number
        else:
            draft.stem, draft.suffix = f"（{blank.number}）", _suffix(index)
        if len(answers) == count:
            draft.take_answer(answers[index], "letter_each")
        elif answers:
            draft.doubt("parts_and_answers_differ", f"{count} blanks, {len(answers)} answers")
        yield draft


def _suffix(index: int) -> str:
    return chr(97 + index) if index < 26 else f"z{index}"


def part_drafts(item: Item, pieces: list[Piece], parts: Parts, fields: Fields) -> Iterable[Draft]:
    """A draft for every question inside an item."""
    group = f"p{item.run}.{item.number}"
    for index, part in enumerate(parts.parts):
        draft = _part_draft(item, pieces, part, parts)
        draft.suffix = _suffix(index)
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
