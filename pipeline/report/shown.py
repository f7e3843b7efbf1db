"""Texts of papers as the pages show them: cut to a bound, with differences marked, questions side by side."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
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
    return _whole(text or "", limit, marked=False)


def mark_differences(one: str | None, other: str | None, limit: int) -> tuple[CutText, CutText]:
    """Return both texts with the characters marked that the other does not have (shortest edit script)."""
    from rapidfuzz.distance import Indel

    left, right = (one or "")[: 4 * limit], (other or "")[: 4 * limit]
    if Indel.normalized_similarity(left, right) < _UNRELATED:
        return _whole(one or "", limit, marked=True), _whole(other or "", limit, marked=True)
    sides: tuple[list[Piece], list[Piece]] = ([], [])
    for code in Indel.opcodes(left, right):
        same = code.tag == "equal"
        for pieces, text, begin, end in (
            (sides[0], left, code.src_start, code.src_end),
            (sides[1], right, code.dest_start, code.dest_end),
        ):
            if end > begin:
                pieces.append((text[begin:end], not same))
    return _bounded(sides[0], len(one or ""), limit), _bounded(sides[1], len(other or ""), limit)


@dataclass(frozen=True)
class Unfolding:
    """A text at a glance, and in full up to a bound."""

    glance: CutText
    whole: CutText | None
    """None where the glance is all."""


def unfold(text: str, limit: int, most: int, span: tuple[int, int] | None = None) -> Unfolding:
    """Return ``limit`` characters of a text, and up to ``most`` of it.

    Args:
        text: as it came.
        limit: characters at a glance, those around the mark if they stand further down.
        most: characters of the whole.
        span: what to mark.
    """
    whole = _marked(text, span, most) if min(len(text), most) > limit else None
    return Unfolding(_marked(text, span, limit), whole)


def _marked(text: str, span: tuple[int, int] | None, limit: int) -> CutText:
    start, end = span or (0, 0)
    first = 0 if end <= limit else max(0, min(start, end - limit))
    last = min(len(text), first + limit)
    begin, stop = (min(max(place, first), last) for place in (start, end))
    parts = ((text[first:begin], False), (text[begin:stop], True), (text[stop:last], False))
    pieces: list[Piece] = [("…", False)] if first else []
    return CutText(pieces + [part for part in parts if part[0]], len(text) - (last - first))


def item_text(item: str | None, limit: int) -> dict[str, Any] | None:
    """Return the stem and options of a rejected or waiting item; its JSON where it has none.

    Args:
        item: ``Rejection.item`` or ``ReviewItem.item``.
        limit: characters of each text.
    """
    if not item:
        return None
    if item.startswith("["):  # reviews of a question, which the detail sums up
        return None
    found = _question_in(item)
    stem = next((found[name] for name in _PARTS if isinstance(found.get(name), str)), None)
    if stem is None:
        return {"stem": clip(item, limit), "options": [], "answer": "", "where": ""}
    whole = "\n".join(part for part in (found.get("shared_stem"), stem) if isinstance(part, str))
    return {
        "stem": clip(whole, limit),
        "options": [(label, clip(text, limit)) for label, text in _options(found)],
        "answer": key_letters(found.get("answer")),
        "where": source_place(found),
    }


def _question_in(item: str) -> Row:
    """Return an item's JSON as a dictionary; an empty one where it is something else."""
    try:
        found = json.loads(item)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


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
    kept: list[Piece] = []
    left = limit
    for text, marked in pieces:
        if left <= 0:
            break
        kept.append((_blanks_shown(text[:left], marked), marked))
        left -= len(text)
    return CutText(kept, max(0, length - limit))


def _whole(text: str, limit: int, *, marked: bool) -> CutText:
    return CutText([(_blanks_shown(text[:limit], marked), marked)], max(0, len(text) - limit))


def _blanks_shown(text: str, marked: bool) -> str:
    return text.replace(" ", "␣").replace("\n", "⏎\n") if marked and not text.strip() else text


@dataclass(frozen=True)
class OptionShown:
    """An option beside that of another question."""

    label: Piece
    text: CutText


@dataclass(frozen=True)
class QuestionCard:
    """A question beside another."""

    question_id: str
    where: str
    stem: CutText
    options: Sequence[OptionShown]
    answer: Piece


def side_by_side(one: Row, other: Row, limit: int) -> tuple[QuestionCard, QuestionCard]:
    """Return both questions with the characters marked that the other does not have."""
    stems = mark_differences(_stem_of(one), _stem_of(other), limit)
    keys = key_letters(one.get("answer")), key_letters(other.get("answer"))
    differ = keys[0] != keys[1]
    cards = [
        QuestionCard(
            question["question_id"],
            source_place(question),
            stem,
            [
                _option(option, place, _options_of(beside), limit)
                for place, option in enumerate(_options_of(question))
            ],
            (key, differ),
        )
        for question, beside, stem, key in zip((one, other), (other, one), stems, keys, strict=True)
    ]
    return cards[0], cards[1]


def _option(option: Row, place: int, beside: Sequence[Row], limit: int) -> OptionShown:
    """Return an option with its differences; of one that has only moved the letter alone is marked."""
    same = next((item for item in beside if item["text"] == option["text"]), None)
    if same is not None:
        return OptionShown((option["label"], same["label"] != option["label"]), clip(option["text"], limit))
    opposite = beside[place]["text"] if place < len(beside) else ""
    return OptionShown((option["label"], False), mark_differences(option["text"], opposite, limit)[0])


def _stem_of(question: Row) -> str:
    return "\n".join(part for part in (question.get("shared_stem"), question["stem"]) if part)


def _options_of(question: Row) -> Sequence[Row]:
    return question.get("options") or ()
