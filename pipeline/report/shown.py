"""Texts of papers as the pages show them: cut to a bound, with differences marked, questions side by side."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

Piece = tuple[str, bool]
"""A run of text, and whether it differs from what stands beside it."""

Row = Mapping[str, Any]
"""A question as a dictionary."""

_UNRELATED = 0.5
"""Similarity below which two texts are marked whole: single characters that they share by chance say nothing."""
_PARTS = ("stem", "question", "Question", "题目", "题干", "text")
"""Fields that hold the text of items that never became questions, by the names that sources use."""


@dataclass(frozen=True)
class CutText:
    """A text, cut."""

    pieces: Sequence[Piece]
    more: int
    """Characters left out."""


def clip(text: str | None, limit: int) -> CutText:
    """Return the first ``limit`` characters, nothing marked."""
    return _bounded([(text or "", False)], len(text or ""), limit)


def mark_differences(one: str | None, other: str | None, limit: int) -> tuple[CutText, CutText]:
    """Return both texts with the characters marked that the other does not have (shortest edit script)."""
    from rapidfuzz.distance import Indel

    one, other = one or "", other or ""
    left, right = one[: 4 * limit], other[: 4 * limit]
    sides: tuple[list[Piece], list[Piece]] = ([], [])
    if Indel.normalized_similarity(left, right) < _UNRELATED:
        sides = [(one, True)], [(other, True)]
    else:
        for code in Indel.opcodes(left, right):
            differs = code.tag != "equal"
            sides[0].append((left[code.src_start : code.src_end], differs))
            sides[1].append((right[code.dest_start : code.dest_end], differs))
    return _bounded(sides[0], len(one), limit), _bounded(sides[1], len(other), limit)


@dataclass(frozen=True)
class Unfolding:
    """A text at a glance, and in full up to a bound."""

    glance: CutText
    whole: CutText | None
    """None where the glance is all."""


def unfold(text: str, limit: int, most: int, span: Sequence[int] | None = None) -> Unfolding:
    """Return ``limit`` characters of a text, and up to ``most`` of it, with a ``span`` marked.

    Where the span stands further down, the first characters are those around it.
    """
    whole = _marked(text, span, most) if min(len(text), most) > limit else None
    return Unfolding(_marked(text, span, limit), whole)


def _marked(text: str, span: Sequence[int] | None, limit: int) -> CutText:
    start, end = span or (0, 0)
    first = 0 if end <= limit else max(0, min(start, end - limit))
    last = min(len(text), first + limit)
    begin, stop = (min(max(place, first), last) for place in (start, end))
    parts = ((text[first:begin], False), (text[begin:stop], True), (text[stop:last], False))
    pieces: list[Piece] = [("…", False)] if first else []
    return CutText(pieces + [part for part in parts if part[0]], len(text) - (last - first))


def item_text(item: str | None, limit: int) -> QuestionCard | None:
    """Return the stem and options of a rejected or waiting item; its JSON where it has none."""
    if not item or item.startswith("["):  # reviews of a question, which the detail sums up
        return None
    found: Any = None
    with suppress(ValueError):
        found = json.loads(item)
    names = [name for name in _PARTS if isinstance(found, dict) and isinstance(found.get(name), str)]
    if not names:
        return QuestionCard("", "", clip(item, limit), [], ("", False))
    options = [((label, False), clip(text, limit)) for label, text in _options(found)]
    stem = clip(_stem_of({**found, "stem": found[names[0]]}), limit)
    return QuestionCard("", source_place(found), stem, options, (key_letters(found.get("answer")), False))


def spread_evenly(rows: pl.DataFrame, most: int) -> pl.DataFrame:
    """Return at most that many rows, spread evenly over all of them."""
    if not most:
        return rows.clear()
    return rows.gather_every(-(-rows.height // most)) if rows.height else rows


def tally(values: pl.Series) -> list[tuple[str, int]]:
    """Count values, the most frequent first."""
    counted = values.drop_nulls().value_counts()
    return [*counted.sort(["count", values.name], descending=[True, False]).iter_rows()]


def source_place(question: Mapping[str, Any]) -> str:
    """Return the document, page and number of a question, as far as they are known."""
    pages = question.get("pages")
    page = f"p. {', '.join(map(str, pages))}" if isinstance(pages, list) and pages else ""
    number = f"no. {question['number']}" if question.get("number") is not None else ""
    return " · ".join(str(part) for part in (question.get("document"), page, number) if part)


def key_letters(given: Any) -> str:
    """Return an answer key as letters."""
    if isinstance(given, list):
        return "".join(map(str, given))
    return str(given or "")


def _options(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    options = found.get("options")
    for option in options if isinstance(options, list) else ():
        if isinstance(option, dict):
            yield str(option.get("label") or ""), str(option.get("text") or "")


def _bounded(pieces: Sequence[Piece], length: int, limit: int) -> CutText:
    """Return the first ``limit`` characters of a text of that length; marked blanks are made visible."""
    kept: list[Piece] = []
    left = limit
    for text, marked in pieces:
        if left > 0 and (text or not length):
            part = text[:left]
            blank = marked and not part.strip()
            kept.append((part.replace(" ", "␣").replace("\n", "⏎\n") if blank else part, marked))
        left -= len(text)
    return CutText(kept, max(0, length - limit))


@dataclass(frozen=True)
class QuestionCard:
    """A question as it is shown, by itself or beside another."""

    question_id: str
    where: str
    stem: CutText
    options: Sequence[tuple[Piece, CutText]]
    """Labels and texts."""
    answer: Piece


def side_by_side(one: Row, other: Row, limit: int) -> tuple[QuestionCard, QuestionCard]:
    """Return both questions with the characters marked that the other does not have."""
    stems = mark_differences(_stem_of(one), _stem_of(other), limit)
    keys = key_letters(one.get("answer")), key_letters(other.get("answer"))
    cards = []
    for question, beside, stem, key in zip((one, other), (other, one), stems, keys, strict=True):
        theirs = list(_options(beside))
        options = [_option(*option, place, theirs, limit) for place, option in enumerate(_options(question))]
        shown = QuestionCard(
            question["question_id"], source_place(question), stem, options, (key, keys[0] != keys[1])
        )
        cards.append(shown)
    return cards[0], cards[1]


def _option(
    label: str, text: str, place: int, beside: Sequence[tuple[str, str]], limit: int
) -> tuple[Piece, CutText]:
    """Return an option with its differences; of one that has only moved the letter alone is marked."""
    same = next((other for other, said in beside if said == text), None)
    if same is not None:
        return (label, same != label), clip(text, limit)
    opposite = beside[place][1] if place < len(beside) else ""
    return (label, False), mark_differences(text, opposite, limit)[0]


def _stem_of(question: Row) -> str:
    return "\n".join(
        part for part in (question.get("shared_stem"), question["stem"]) if isinstance(part, str)
    )
