"""Questions side by side, with what tells them apart marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.report.shown import Piece, Text, answer, compare, cut, where

Row = Mapping[str, Any]
"""A question as a dictionary."""


@dataclass(frozen=True)
class OptionShown:
    """An option beside that of another question."""

    label: Piece
    text: Text


@dataclass(frozen=True)
class Card:
    """A question beside another."""

    question_id: str
    where: str
    stem: Text
    options: Sequence[OptionShown]
    answer: Piece


def side_by_side(one: Row, other: Row, limit: int) -> tuple[Card, Card]:
    """Both questions, with the characters of stems and options marked that the other does not have."""
    stems = compare(_stem(one), _stem(other), limit)
    keys = answer(one.get("answer")), answer(other.get("answer"))
    differ = keys[0] != keys[1]
    cards = [
        Card(
            question["question_id"],
            where(question),
            stem,
            [
                _option(option, place, _options(beside), limit)
                for place, option in enumerate(_options(question))
            ],
            (key, differ),
        )
        for question, beside, stem, key in zip((one, other), (other, one), stems, keys, strict=True)
    ]
    return cards[0], cards[1]


def _option(option: Row, place: int, beside: Sequence[Row], limit: int) -> OptionShown:
    """An option found elsewhere in the other question has only moved: its letter is marked, not its text."""
    same = next((item for item in beside if item["text"] == option["text"]), None)
    if same is not None:
        return OptionShown((option["label"], same["label"] != option["label"]), cut(option["text"], limit))
    opposite = beside[place]["text"] if place < len(beside) else ""
    return OptionShown((option["label"], False), compare(option["text"], opposite, limit)[0])


def _stem(question: Row) -> str:
    return "\n".join(part for part in (question.get("shared_stem"), question["stem"]) if part)


def _options(question: Row) -> Sequence[Row]:
    return question.get("options") or ()
