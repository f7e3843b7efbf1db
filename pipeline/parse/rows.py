"""Rows of tabular sources become questions, by the mapping of their columns."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.parse import cells, mapping
from pipeline.parse.answers import concluded
from pipeline.parse.kinds import question_type
from pipeline.parse.mapping import Columns, Fields, Unclear
from schemas.columns import roles_of
from schemas.documents import Document, SourceRow
from schemas.identity import content_hash, row_id, sha256
from schemas.questions import Option, Question, QuestionType
from schemas.sources import SourceParams

Loaded = tuple[Fields, cells.Options]
"""A row's values and its options."""
Doubts = list[tuple[str, str]]
"""What reading left open: (reason, detail)."""
Read = tuple[SourceRow, "tuple[Question, Doubts] | RowError"]


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
class Source:
    """A tabular document as it was read: its mapping and its rows, or why it was stopped."""

    document: Document
    columns: Columns | Unclear
    rows: list[Read]


@dataclass(frozen=True)
class _Habits:
    """What the rows of a source tell of one another."""

    columns: Columns
    percent: bool
    """Accuracies are in percent: a value of the column is above 1, so 1 means 1 %."""
    own_ids: frozenset[str]
    """The source's own ids that stand once."""

    @classmethod
    def of(cls, rows: Sequence[Fields], columns: Columns) -> _Habits:
        """The habits of a source's rows."""
        shares = [cells.first(fields, columns.roles.get("accuracy", ())) for fields in rows]
        percent = any((cells.number(value) or 0) > 1 for value in shares if not cells.has_percent_sign(value))
        ids = [cells.text_of(fields, columns.roles.get("id", ())[:1]) for fields in rows]
        seen: dict[str, int] = {}
        for one in ids:
            seen[one or ""] = seen.get(one or "", 0) + 1
        return cls(columns, percent, frozenset(one for one, times in seen.items() if one and times == 1))


def questions_of(
    rows: Sequence[SourceRow], document: Document, declared: SourceParams | None = None
) -> Source:
    """What each row of a document holds, in their order."""
    loaded = [_loaded(row) for row in rows]
    fields = [found for found in loaded if not isinstance(found, RowError)]
    columns = mapping.find(fields, declared)
    if isinstance(columns, Unclear):
        return Source(document, columns, [])
    habits = _Habits.of(fields, columns)
    read: list[Read] = []
    for row, found in zip(rows, loaded, strict=True):
        try:
            if isinstance(found, RowError):
                raise found
            read.append((row, _question(found, row, document, habits)))
        except RowError as error:
            read.append((row, error))
    return Source(document, columns, read)


def with_ids(sources: Iterable[Source]) -> list[Source]:
    """The sources with ids that no two questions share.

    Rows that say the same have one id; all but the first get a number behind it. Which is first is told by their
    content, so that sorting or renaming a file changes no id.
    """
    sources = list(sources)
    alike: dict[str, list[tuple[str, str, int]]] = {}
    for source in sources:
        for row, found in source.rows:
            if not isinstance(found, RowError):
                place = (sha256(row.fields), source.document.document, row.row)
                alike.setdefault(found[0].question_id, []).append(place)
    names = {
        (document, row): name if not at else f"{name}-{at + 1}"
        for name, places in alike.items()
        for at, (_, document, row) in enumerate(sorted(places))
    }
    return [
        Source(one.document, one.columns, [_named(read, one.document, names) for read in one.rows])
        for one in sources
    ]


def _named(read: Read, document: Document, names: Mapping[tuple[str, int], str]) -> Read:
    row, found = read
    if isinstance(found, RowError):
        return read
    name = names[document.document, row.row]
    return row, (found[0].model_copy(update={"question_id": name}), found[1])


def _loaded(row: SourceRow) -> Fields | RowError:
    try:
        loaded = json.loads(row.fields)
    except (ValueError, RecursionError):
        return RowError("not_json", f"row {row.row} is no JSON that can be read")
    if not isinstance(loaded, dict):
        return RowError("not_an_object", f"row {row.row} is {type(loaded).__name__}, not an object")
    fields = {str(key).strip(): value for key, value in loaded.items()}
    for name, value in list(fields.items()):  # {"question": {"stem": …, "choices": …}, "answerKey": …}
        if isinstance(value, Mapping) and "stem" in roles_of(name):
            del fields[name]
            fields |= {str(key).strip(): part for key, part in value.items()}
    return fields


def _question(fields: Fields, row: SourceRow, document: Document, habits: _Habits) -> tuple[Question, Doubts]:
    """The question in a row, and what is doubtful about it.

    Label columns (Disease Group …) are not read: labels come from the annotation stage.

    Raises:
        RowError: it lacks a stem or options.
    """
    columns, roles = habits.columns, habits.columns.roles
    options = mapping.options_of(fields, columns)
    stem = cells.text_of(fields, roles.get("stem", ()))
    if stem and columns.options_in_stem:
        stem = cells.cut(stem)[0].strip()
    if not stem:
        raise RowError("no_stem", f"row {row.row} has no stem{_columns(roles.get('stem'))}")
    if not options.pairs:
        raise RowError("no_options", f"row {row.row} has no options{_columns(roles.get('options'))}")
    labels = [label for label, _ in options.pairs]
    stated = cells.first(fields, roles.get("answer", ()))
    answer, accepted = _answers(stated, options, columns.key)
    shared = cells.text_of(fields, roles.get("shared", ()))
    group = cells.text_of(fields, roles.get("group", ()))
    content = content_hash(stem, (text for _, text in options.pairs), shared)
    own = cells.text_of(fields, roles.get("id", ())[:1])
    explanation = cells.text_of(fields, roles.get("explanation", ()))
    question = Question(
        question_id=row_id(document.document, own if own in habits.own_ids else None, content),
        document=document.document,
        section=None,
        number=row.row,
        question_type=_type(
            cells.text_of(fields, roles.get("type", ())), stem, answer, shared, single=bool(accepted)
        ),
        stem=stem,
        shared_stem=shared,
        group_id=f"{sha256(document.document)[:8]}-{group}" if group else None,  # a source's ids are its own
        options=[Option(label=label, text=text) for label, text in options.pairs],
        answer=sorted(answer, key=labels.index) if answer and set(answer) <= set(labels) else answer,
        accepted_answers=accepted,
        explanation=explanation,
        human_accuracy=_accuracy(fields, columns, percent=habits.percent),
        respondents=cells.count(cells.first(fields, roles.get("total", ()))),
        comment=cells.text_of(fields, roles.get("comment", ())),
        exam_type=cells.text_of(fields, roles.get("exam_type", ())) or document.exam_type,
        exam_class=cells.text_of(fields, roles.get("exam_class", ())) or document.exam_class,
        exam_subject=cells.text_of(fields, roles.get("exam_subject", ())) or document.exam_subject,
        content_hash=content,
    )
    return question, _doubts(options.pairs, answer, stated, explanation)


def _columns(names: Sequence[str] | None) -> str:
    return f" in {' / '.join(names)}" if names else ": no column is known to hold any"


def _answers(
    stated: Any, options: cells.Options, key: cells.Key
) -> tuple[list[str] | None, list[list[str]] | None]:
    """The key, and every accepted answer where several earn the mark."""
    if stated is None and options.right:
        return sorted(options.right), None
    if several := cells.accepted_of(stated, [label for label, _ in options.pairs]):
        return several
    return cells.read_answer(stated, options, key), None


def _doubts(pairs: cells.Pairs, answer: list[str] | None, stated: Any, explanation: str | None) -> Doubts:
    """What reading a row left open. Whether what was read makes a sound question is the clean stage's to say."""
    doubts = []
    labels = [label for label, _ in pairs]
    if labels != [chr(65 + index) for index in range(len(labels))]:
        doubts.append(("options_not_contiguous", f"labels {' '.join(labels)}"))
        said = cells.string(concluded(explanation))
        if said and answer and said != "".join(answer):
            doubts.append(
                ("answer_disputed", f"the key is {''.join(answer)}, the explanation concludes {said}")
            )
    if inside := cells.swallowed(pairs):
        doubts.append(("label_inside_text", f"what looks like a label stands inside {' '.join(inside)}"))
    given = cells.string(
        json.dumps(stated, ensure_ascii=False) if isinstance(stated, dict | list) else stated
    )
    if answer is None and given not in (None, "[]", "{}"):
        doubts.append(("answer_not_read", f"answer given as {str(given)[:40]!r}"))
    return doubts


def _accuracy(fields: Fields, columns: Columns, *, percent: bool) -> float | None:
    """Share of right answers in 0..1: as stated, or people right over people asked."""
    stated = cells.share(cells.first(fields, columns.roles.get("accuracy", ())), percent=percent)
    if stated is not None:
        return stated
    right, total = (
        cells.count(cells.first(fields, columns.roles.get(role, ()))) for role in ("right", "total")
    )
    return right / total if right is not None and total and right <= total else None


def _type(
    stated: str | None, stem: str, answer: list[str] | None, shared: str | None, *, single: bool
) -> QuestionType:
    if stated in set(QuestionType):
        return QuestionType(stated)
    announced = (
        "X"
        if stated
        and re.search(
            r"多项|多选|多選|X型|不定项|multiple.?(?:answer|response|select)", stated, re.IGNORECASE
        )
        else None
    )
    letters = "".join(answer[:1] if single else answer) if answer else None
    return question_type(announced, stem, letters, shared_case=shared is not None, shared_options=False)
