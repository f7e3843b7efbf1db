"""Scores raw outputs that others produced: a JSONL file in, the same rows with what was read out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from pipeline.claims import fold
from pipeline.evaluate.extraction import answers_first, extract
from schemas.errors import UserError

_SINGLE = re.compile(r"单项?选|单项$|single|[AB][1-4]?(?:\s*/\s*A?[1-4])?(?:型|\Z)", re.IGNORECASE)
_MULTIPLE = re.compile(
    r"多项?选|多项$|multi(?:ple)?(?:\Z|[-_\s]*(?:answer|correct|response|select))|X(?:型|\Z)", re.IGNORECASE
)
"""Beginnings of names of item types, as exams, CMB and others write them.

Neither are 不定项选择题, and multiple choice, which says that there are options.
"""


class _Row(BaseModel):
    """What a row must say; anything else it says is passed on as it is."""

    model_config = ConfigDict(extra="allow")

    id: str | int
    options: dict[str, str]
    answer: str | list[str]
    raw_output: str | None
    question: str | None = None
    question_type: str | None = None
    answer_first: bool | None = None

    @field_validator("answer")
    @classmethod
    def _letters(cls, value: str | list[str]) -> list[str]:
        letters = [char for part in value for char in fold(part).upper() if "A" <= char <= "Z"]
        if not letters:
            raise ValueError("names no letter")
        return sorted(set(letters))


def score_file(path_in: Path, path_out: Path) -> dict[str, int]:
    """Score a file of raw outputs.

    Args:
        path_in: JSONL with ``id``, ``question``, ``options`` as {letter: text}, ``answer``, ``raw_output`` and, if
            known, ``question_type`` (A1, B1型题, X, 单选题, 多项选择题, multiple … ; others count as not known) and
            ``answer_first`` (whether the prompt asked for the answer first, see ``extract``). Rows that do not say are
            read as answering first where the file's outputs do so as a habit.
        path_out: the same rows with ``extracted`` (letters as one string), ``rule`` and ``correct``: true, false, or
            null when no answer was stated. Written whole or not at all.

    Returns:
        Counts: ``rows``, ``correct``, ``wrong``, ``no_answer``.

    Raises:
        UserError: the file cannot be read, or a row lacks something; names the line.
    """
    rows = list(_rows(path_in))
    habit = _habit(rows)
    return write_rows((score_row(row, habit) for row in rows), path_out)


def write_rows(scored: Iterable[Mapping[str, Any]], path_out: Path) -> dict[str, int]:
    """Write rows with ``correct`` as JSONL, whole or not at all, and count them.

    Raises:
        UserError: the file cannot be written.
    """
    counts = {"rows": 0, "correct": 0, "wrong": 0, "no_answer": 0}
    lines = []
    for row in scored:
        counts["rows"] += 1
        counts[{True: "correct", False: "wrong", None: "no_answer"}[row["correct"]]] += 1
        lines.append(json.dumps(row, ensure_ascii=False) + "\n")
    partial = path_out.with_name(path_out.name + ".partial")
    try:
        # Half of a surrogate pair, as a cut-off output may end with, goes out as the JSON escape it came as.
        partial.write_text("".join(lines), encoding="utf-8", errors="backslashreplace")
        partial.replace(path_out)
    except OSError as error:
        raise UserError(f"{path_out}: cannot be written: {error.strerror}") from None
    return counts


def score_row(row: Mapping[str, Any], answer_first: bool | None = None) -> dict[str, Any]:
    """One row with ``extracted``, ``rule`` and ``correct`` added.

    Args:
        row: see ``score_file``.
        answer_first: for a row that does not say.

    Raises:
        ValidationError: the row lacks something.
    """
    known = _Row.model_validate(row)
    multiple = _multiple(known.question_type)
    first = answer_first if known.answer_first is None else known.answer_first
    extraction = extract(known.raw_output or "", known.options, multiple, first)
    letters = extraction.letters
    return {
        **row,
        "extracted": None if letters is None else "".join(letters),
        "rule": extraction.rule,
        "correct": None if letters is None else list(letters) == known.answer,
    }


def first_problem(error: ValidationError) -> str:
    """Return the first thing that is wrong with a row, in words."""
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"]) or "the row"
    return (
        f"{key} is missing"
        if first["type"] == "missing"
        else f"{key}: {first['msg'].removeprefix('Value error, ')}"
    )


def _habit(rows: Iterable[Mapping[str, Any]]) -> bool | None:
    """Whether the outputs of the rows that do not say open with their answers."""
    return answers_first(
        (row["raw_output"] or "", row["options"]) for row in rows if row.get("answer_first") is None
    )


def _multiple(question_type: str | None) -> bool | None:
    name = (question_type or "").strip()
    if _MULTIPLE.match(name):
        return True
    return False if _SINGLE.match(name) else None


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path}: is not UTF-8 text; save it as UTF-8") from None
    if lines[0].startswith("["):
        raise UserError(
            f"{path}: is a JSON array, not rows line by line; CMB's form needs --key ANSWERS.json"
        )
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            _Row.model_validate(row)
        except ValidationError as error:
            raise UserError(f"{path}, line {number}: {first_problem(error)}") from None
        except (ValueError, RecursionError) as error:  # also numbers of 5,000 digits
            raise UserError(f"{path}, line {number}: is not JSON: {error}") from None
        yield row
