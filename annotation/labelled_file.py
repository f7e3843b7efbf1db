"""Files of labelled questions that others made: CMExam's annotated CSV, our own releases, and what is like them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import polars as pl

from annotation.reviewed import Reviewed
from schemas.errors import UserError
from schemas.identity import content_hash
from schemas.questions import Option, Question, QuestionType
from schemas.taxonomy import Dimension, LabelName, dimensions

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
