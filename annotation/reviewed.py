"""Questions whose labels experts have reviewed: what ``learned`` learns from, and what prompts show as examples."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import polars as pl

from annotation.adjudication import ADJUDICATION, Rules, latest_reviews, standing_flags
from schemas.annotations import ExpertReview
from schemas.errors import UserError
from schemas.identity import content_hash, sha256
from schemas.questions import Option, Question, QuestionType
from schemas.taxonomy import Dimension, LabelName, dimensions

_OUTWEIGHS = 1000  # votes
_SPOILT = {"wrong_stem", "out_of_scope"}
"""Flags that say that a question is none to learn from; a wrong key says nothing about its labels."""


@dataclass(frozen=True)
class Reviewed:
    """A question with the labels that experts gave it, in some or all dimensions."""

    question: Question
    labels: Mapping[str, LabelName]
    """By name of the dimension."""


def from_reviews(questions: Iterable[Question], reviews: Iterable[ExpertReview]) -> list[Reviewed]:
    """Return the labels that experts give most often to each question, in the order of ``questions``.

    An adjudicator's label outweighs the others, and an adjudicator's flags stand for all; who labelled a question
    does not rule on it. One expert's label counts where no other has looked; where as many say one thing as
    another, none does.
    """
    votes: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for question_id, said in _by_question(reviews).items():
        if any(flag.kind in _SPOILT for flag in standing_flags(said, Rules())):
            continue
        for review in said:
            weight = _OUTWEIGHS if review.project == ADJUDICATION else 1
            votes[question_id][review.dimension][review.label] += weight
    found = []
    for question in questions:
        labels = _settled(votes.get(question.question_id, {}))
        if labels:
            found.append(Reviewed(question, labels))
    return found


def merged(*sources: Sequence[Reviewed]) -> list[Reviewed]:
    """All of them, each question (by what it says) once: earlier sources go first."""
    found: dict[str, Reviewed] = {}
    for source in sources:
        for item in source:
            found.setdefault(item.question.content_hash, item)
    return list(found.values())


def digest(reviewed: Iterable[Reviewed]) -> str:
    """16 hex digits over what was learned from, whatever its order."""
    lines = sorted(
        " ".join([item.question.content_hash, *(f"{name}={label.zh}" for name, label in item.labels.items())])
        for item in reviewed
    )
    return sha256(*lines)[:16]


def _by_question(reviews: Iterable[ExpertReview]) -> dict[str, list[ExpertReview]]:
    """Reviews that count: the latest of each person, without rulings on one's own labels."""
    latest, _ = latest_reviews(reviews)
    own = {(review.question_id, review.reviewer) for review in latest if review.project != ADJUDICATION}
    found: dict[str, list[ExpertReview]] = {}
    for review in latest:
        if review.project != ADJUDICATION or (review.question_id, review.reviewer) not in own:
            found.setdefault(review.question_id, []).append(review)
    return found


def _settled(votes: Mapping[str, Counter[str]]) -> dict[str, LabelName]:
    labels = {}
    for name, dimension in dimensions().items():
        ranked = votes.get(name, Counter()).most_common(2)
        if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
            continue
        if (label := dimension.find(ranked[0][0])) is not None:
            labels[name] = label
    return labels


_EXAM = ("exam_type", "exam_class", "exam_subject")
_COLUMNS = {
    "stem": ("stem", "question", "题干", "题目"),
    "shared_stem": ("shared_stem",),
    "options": ("options", "option", "选项"),
    "answer": ("answer", "答案"),
    "explanation": ("explanation", "解析"),
    **{name: (name,) for name in _EXAM},
}
_OTHER_NAMES = {
    "disease_group": ("disease group",),
    "clinical_department": ("clinical department",),
    "medical_discipline": ("medical discipline",),
    "competency": ("area of competency",),
    "difficulty": ("difficulty level",),
}
"""CMExam's names of its columns."""
_OPTION = re.compile(r"^\s*([A-Z])[\s.、．:：]*(.*)$")
_READERS: Mapping[str, Callable[[Path], pl.DataFrame]] = {
    ".csv": lambda path: pl.read_csv(path, infer_schema=False),
    ".jsonl": lambda path: pl.read_ndjson(path, infer_schema_length=None),
    ".parquet": lambda path: pl.read_parquet(path, glob=False),
}


def read_labelled(path: Path) -> list[Reviewed]:
    """The labelled questions of a file, in its order; rows without any label are passed over.

    Columns are found by name: stem or Question, options as lists, objects or lines ``A text``, and the dimensions
    by their English or Chinese names or CMExam's.

    Raises:
        UserError: no such file, an unknown kind, no column of stems or of any dimension, or a label outside the
            set or options in another form, with the row's number.
    """
    frame = _read(path)
    known = {name.strip().casefold(): name for name in frame.columns}
    columns = {field: _first(known, names) for field, names in _COLUMNS.items()}
    labels = {name: _first(known, _names(dimension)) for name, dimension in dimensions().items()}
    if columns["stem"] is None or not any(labels.values()):
        raise UserError(f"{path} needs a column stem (or Question) and one of {', '.join(dimensions())}")
    found = []
    for number, row in enumerate(frame.iter_rows(named=True), start=1):
        said = {name: _label(path, number, name, row[column]) for name, column in labels.items() if column}
        given = {name: label for name, label in said.items() if label is not None}
        stem = str(row[columns["stem"]] or "").strip()
        if given and stem:
            found.append(Reviewed(_question(path, number, stem, columns, row), given))
    return found


def _read(path: Path) -> pl.DataFrame:
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise UserError(f"{path} is none of {', '.join(_READERS)}: reviewed questions are read from those")
    try:
        return reader(path)
    except FileNotFoundError:
        raise UserError(f"no file {path}: correct [annotate] reviewed") from None
    except (pl.exceptions.PolarsError, OSError) as error:
        raise UserError(
            f"{path} cannot be read ({type(error).__name__}): correct [annotate] reviewed"
        ) from None


def _names(dimension: Dimension) -> tuple[str, ...]:
    return (dimension.name, dimension.zh, dimension.en.casefold(), *_OTHER_NAMES.get(dimension.name, ()))


def _first(known: Mapping[str, str], names: Sequence[str]) -> str | None:
    return next((known[name] for name in names if name in known), None)


def _label(path: Path, number: int, dimension: str, value: object) -> LabelName | None:
    if value is None or not str(value).strip():
        return None
    label = dimensions()[dimension].find(str(value))
    if label is None:
        raise UserError(f"{path}, row {number}: {str(value)[:40]!r} is no label of {dimension}: correct it")
    return label


def _question(
    path: Path, number: int, stem: str, columns: Mapping[str, str | None], row: Mapping[str, Any]
) -> Question:
    value = {field: row[column] if column else None for field, column in columns.items()}
    try:
        options = _options(value["options"])
    except (AttributeError, KeyError):
        raise UserError(
            f"{path}, row {number}: options are none of an object, a list and lines: correct them"
        ) from None
    texts = {name: value[name] or None for name in ("shared_stem", "explanation", *_EXAM)}
    return Question(
        question_id=f"labelled-{number}",
        document="labelled",
        section=None,
        number=number,
        question_type=QuestionType.A1,
        stem=stem,
        options=options,
        answer=_letters(value["answer"]),
        content_hash=content_hash(stem, (option.text for option in options), texts["shared_stem"]),
        **texts,
    )


def _options(value: object) -> list[Option]:
    """Of an object by letter, of a list of objects or of texts in order, of lines ``A text``."""
    if isinstance(value, dict):
        return [Option(label=key, text=str(text)) for key, text in value.items() if text is not None]
    if isinstance(value, list):
        pairs = [
            (letter, item) if isinstance(item, str) else (item["label"], item["text"])
            for letter, item in zip(ascii_uppercase, value, strict=False)
        ]
        return [Option(label=label, text=text) for label, text in pairs]
    lines = (_OPTION.match(line) for line in str(value or "").splitlines())
    return [Option(label=line[1], text=line[2].strip()) for line in lines if line]


def _letters(value: object) -> list[str] | None:
    """Of ``AB``, ``A,B`` or a list; None where there are none."""
    letters = value if isinstance(value, list) else re.findall("[A-Z]", str(value or "").upper())
    return list(letters) or None
