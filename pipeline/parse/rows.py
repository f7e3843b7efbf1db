"""Rows of tabular sources become questions: CMB JSON, CMExam CSV / XLSX, JSONL of the same fields."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.parse import cells
from pipeline.parse.kinds import question_type
from schemas import columns
from schemas.documents import Document, SourceRow
from schemas.identity import content_hash, question_id
from schemas.questions import Option, Question, QuestionType

Fields = Mapping[str, Any]
"""A row's values by the lower-cased name of their column."""
Loaded = tuple[Fields, cells.Pairs]
"""A row's values and its options."""
Doubts = list[tuple[str, str]]
"""What reading left open: (reason, detail)."""


class RowError(Exception):
    """A row is no question.

    Attributes:
        reason: short code.
        detail: one sentence.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True)
class _Habits:
    """What the rows of a source tell of one another."""

    percent: bool
    """Accuracies are in percent: a value of the column is above 1, so 1 means 1 %."""
    key: cells.Key

    @classmethod
    def of(cls, rows: Sequence[Loaded]) -> _Habits:
        """The habits of a source's rows."""
        shares = [cells.first(fields, columns.ACCURACY) for fields, _ in rows]
        answers = ((cells.first(fields, columns.ANSWER), options) for fields, options in rows)
        percent = any((cells.number(value) or 0) > 1 for value in shares if not cells.has_percent_sign(value))
        return cls(percent, cells.key_of(answers))


def questions_of(
    rows: Sequence[SourceRow], document: Document
) -> Iterator[tuple[SourceRow, tuple[Question, Doubts] | RowError]]:
    """What each row of a document holds, in their order."""
    loaded = [_loaded(row) for row in rows]
    habits = _Habits.of([found for found in loaded if not isinstance(found, RowError)])
    for row, found in zip(rows, loaded, strict=True):
        try:
            yield row, found if isinstance(found, RowError) else _question(found, row, document, habits)
        except RowError as error:
            yield row, error


def _loaded(row: SourceRow) -> Loaded | RowError:
    try:
        loaded = json.loads(row.fields)
    except (ValueError, RecursionError):
        return RowError("not_json", f"row {row.row} is no JSON that can be read")
    if not isinstance(loaded, dict):
        return RowError("not_an_object", f"row {row.row} is {type(loaded).__name__}, not an object")
    fields = {str(key).strip().casefold(): value for key, value in loaded.items()}
    return fields, cells.read_options(cells.first(fields, columns.OPTIONS), fields)


def _question(loaded: Loaded, row: SourceRow, document: Document, habits: _Habits) -> tuple[Question, Doubts]:
    """The question in a row, and what is doubtful about it.

    Label columns (Disease Group …) are not read: labels come from the annotation stage.

    Raises:
        RowError: it lacks a stem or options.
    """
    fields, options = loaded
    stem = cells.text_of(fields, columns.STEM)
    if stem is None:
        raise RowError("no_stem", f"row {row.row} has none of {', '.join(columns.STEM[:3])} …")
    if not options:
        raise RowError("no_options", f"row {row.row} has no options")
    labels = [label for label, _ in options]
    stated = cells.first(fields, columns.ANSWER)
    answer = cells.read_answer(stated, options, habits.key)
    shared = cells.text_of(fields, columns.SHARED)
    group = cells.text_of(fields, columns.GROUP)
    question = Question(
        question_id=question_id(document.sha256, None, str(row.row)),
        document=document.document,
        section=None,
        number=row.row,
        question_type=_type(cells.text_of(fields, columns.TYPE), stem, answer, shared),
        stem=stem,
        shared_stem=shared,
        group_id=f"{document.sha256[:8]}-{group}" if group else None,  # a source's ids are its own
        options=[Option(label=label, text=text) for label, text in options],
        answer=sorted(answer, key=labels.index) if answer and set(answer) <= set(labels) else answer,
        explanation=cells.text_of(fields, columns.EXPLANATION),
        human_accuracy=_accuracy(fields, percent=habits.percent),
        respondents=cells.count(cells.first(fields, columns.TOTAL)),
        comment=cells.text_of(fields, columns.COMMENT),
        exam_type=cells.text_of(fields, ("exam_type",)) or document.exam_type,
        exam_class=cells.text_of(fields, ("exam_class",)) or document.exam_class,
        exam_subject=cells.text_of(fields, ("exam_subject",)) or document.exam_subject,
        content_hash=content_hash(stem, (text for _, text in options), shared),
    )
    return question, _doubts(labels, answer, stated)


def _doubts(labels: list[str], answer: list[str] | None, stated: Any) -> Doubts:
    """What reading a row left open. Whether what was read makes a sound question is the clean stage's to say."""
    doubts = []
    if labels != [chr(65 + index) for index in range(len(labels))]:
        doubts.append(("options_not_contiguous", f"labels {' '.join(labels)}"))
    given = cells.string(
        json.dumps(stated, ensure_ascii=False) if isinstance(stated, dict | list) else stated
    )
    if answer is None and given not in (None, "[]", "{}"):
        doubts.append(("answer_not_read", f"answer given as {str(given)[:40]!r}"))
    return doubts


def _accuracy(fields: Fields, *, percent: bool) -> float | None:
    """Share of right answers in 0..1: as stated, or people right over people asked."""
    stated = cells.share(cells.first(fields, columns.ACCURACY), percent=percent)
    if stated is not None:
        return stated
    right, total = (cells.count(cells.first(fields, names)) for names in (columns.RIGHT, columns.TOTAL))
    return right / total if right is not None and total and right <= total else None


def _type(stated: str | None, stem: str, answer: list[str] | None, shared: str | None) -> QuestionType:
    if stated in set(QuestionType):
        return QuestionType(stated)
    announced = "X" if stated and re.search(r"多项|多选|X型|不定项|multiple", stated, re.IGNORECASE) else None
    letters = "".join(answer) if answer else None
    return question_type(announced, stem, letters, shared_case=shared is not None, shared_options=False)
