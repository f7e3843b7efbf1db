"""Who answered what: our own runs, and answers of others matched by id, else by text and options."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from pipeline.dedup.keys import OPTION_BREAK, folded, with_keys
from pipeline.evaluate.extraction import extract
from schemas.base import Record
from schemas.errors import UserError
from schemas.evaluation import Prediction, Task
from schemas.questions import Option, Question

Answers = dict[str, dict[str, frozenset[str]]]
"""The letters that each respondent gave, by question and respondent."""


class _Text(Record):
    """A question of others, as it is compared."""

    stem: str
    shared_stem: str | None = None
    options: list[Option]


@dataclass(frozen=True)
class Row:
    """An answer of others."""

    id: str | None
    question: str | None
    options: Mapping[str, str]
    model: str
    answer: str


@dataclass(frozen=True)
class Matched:
    """What others answered."""

    answers: Answers
    unknown: int
    """Rows about questions that are not here."""
    unread: int
    """Rows in which no answer was found."""


def of_runs(predictions: pl.DataFrame) -> Answers:
    """The first answers of our own runs to the printed questions.

    Args:
        predictions: a ``Prediction`` table.
    """
    found: Answers = {}
    first = (pl.col("repeat") == 0) & (pl.col("shuffle") == 0) & (pl.col("task") == Task.ANSWER.value)
    for row in Prediction.from_frame(predictions.filter(first)):
        if row.extracted:
            found.setdefault(row.question_id, {})[row.run] = frozenset(row.extracted)
    return found


def of_others(paths: Sequence[Path], questions: pl.DataFrame) -> Matched:
    """Answers in files, in the letters of our questions.

    Args:
        paths: JSONL.
        questions: a ``Question`` table.

    Raises:
        UserError: a row cannot be read.
    """
    rows = [row for path in paths for row in read_answers(path)]
    known = {row.question_id: row for row in Question.from_frame(questions)}
    by_text = _by_text(rows, questions)
    answers: Answers = {}
    unknown = unread = 0
    for row in rows:
        question = known.get(row.id or "") or known.get(
            by_text.get((row.question or "", *row.options.values()), "")
        )
        if question is None:
            unknown += 1
        elif (letters := _letters(row, question)) is None:
            unread += 1
        else:
            answers.setdefault(question.question_id, {})[row.model] = letters
    return Matched(answers, unknown, unread)


def read_answers(path: Path) -> Iterator[Row]:
    """The rows of a file.

    Raises:
        UserError: it cannot be read, or a row lacks something.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read as UTF-8 text ({error}): correct [audit] answers") from None
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield _row(f"{path}, line {number}", line)


def _row(place: str, line: str) -> Row:
    try:
        item = json.loads(line)
    except (ValueError, RecursionError):
        raise UserError(f"{place}: is not JSON; every line is an object of its own") from None
    if not isinstance(item, dict) or not (item.get("id") is not None or item.get("question")):
        raise UserError(f'{place}: needs "id" or "question"')
    model, answer = item.get("model"), item.get("answer")
    if isinstance(answer, list):
        answer = "".join(map(str, answer))
    if not isinstance(model, str) or not isinstance(answer, str | None):
        raise UserError(f'{place}: needs "model" and "answer" as text')
    name = None if item.get("id") is None else str(item["id"])
    return Row(name, item.get("question"), _options(item.get("options"), place), model, answer or "")


def _options(value: Any, place: str) -> dict[str, str]:
    """Texts by letter: an object, or a list whose items are A, B, C and so on."""
    if isinstance(value, dict):
        return {str(label).strip().upper(): str(text) for label, text in value.items()}
    if isinstance(value, list | None):
        return {chr(ord("A") + at): str(text) for at, text in enumerate(value or ())}
    raise UserError(f'{place}: "options" is an object of letters and texts, or a list of texts')


def _by_text(rows: Sequence[Row], questions: pl.DataFrame) -> dict[tuple[str, ...], str]:
    """Ids by a question's words and options' texts as a file has them."""
    told = {
        (row.question, *row.options.values()): row.options for row in rows if row.question and row.options
    }
    texts = _Text.to_frame(
        _Text(stem=key[0] or "", options=[Option(label=name, text=text) for name, text in options.items()])
        for key, options in told.items()
    )
    theirs, ours = with_keys(texts)["exact"].to_list(), with_keys(questions)["exact"].to_list()
    ids = dict(zip(ours, questions["question_id"].to_list(), strict=True))
    return {key: ids[text] for key, text in zip(told, theirs, strict=True) if text in ids}


def _letters(row: Row, question: Question) -> frozenset[str] | None:
    """What a row answers, in the letters of our question: options may stand in another order there."""
    ours = {option.label: option.text for option in question.options}
    theirs = dict(row.options) or ours
    said = row.answer.strip().upper()
    letters = frozenset(said) if said and set(said) <= set(theirs) else None
    if letters is None:
        several = None if question.answer is None else len(question.answer) > 1
        letters = frozenset(extract(row.answer, theirs, several).letters or ())
    names = _translation(theirs, ours)
    return frozenset(names[letter] for letter in letters) if letters and letters <= set(names) else None


def _translation(theirs: Mapping[str, str], ours: Mapping[str, str]) -> dict[str, str]:
    """Our letter for each of theirs, by what the options say."""
    if theirs == ours:
        return {label: label for label in ours}
    one, other = _folded(theirs.values()), _folded(ours.values())
    by_text = dict(zip(other, ours, strict=True))
    return {label: by_text[text] for label, text in zip(theirs, one, strict=True) if text in by_text}


def _folded(texts: Any) -> list[str]:
    joined = pl.select(folded(pl.lit(OPTION_BREAK.join(texts)), keep=OPTION_BREAK)).item()
    return str(joined).split(OPTION_BREAK)
