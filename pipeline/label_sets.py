"""A dataset's own label set, read from a TOML file: for exams that CMExam's medical dimensions do not fit."""

from __future__ import annotations

import tomllib
from pathlib import Path

from pydantic import ValidationError

from schemas.errors import UserError
from schemas.questions import Question
from schemas.release import ReleaseRow, label_columns
from schemas.taxonomy import LabelSet

_RESERVED = {
    *ReleaseRow.model_fields,
    *Question.model_fields,
    "overall",
    "length",
    "label_status",
    "split",
    "flags",
    "note",
}
"""Names of columns, slices and fields of the experts' screen."""


def read_label_set(path: Path) -> LabelSet:
    """The label set that a file describes; docs/labels.md says how.

    Raises:
        UserError: no such file, not TOML, or not a label set; all problems at once.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise UserError(f"no file {path}: correct dataset.labels") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} is not TOML in UTF-8: {error}") from None
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from None
    try:
        found = LabelSet.model_validate(content)
    except ValidationError as error:
        raise UserError("\n".join(_message(path, problem) for problem in error.errors())) from None
    columns = [column for name in found.by_name for column in label_columns(name)]
    if taken := [column for column in columns if column in _RESERVED or columns.count(column) > 1]:
        raise UserError(
            f"{path}: two columns would be called {taken[0]}: choose another name for the dimension"
        )
    return found


def _message(path: Path, problem: object) -> str:
    assert isinstance(problem, dict)
    where = ".".join(str(part) for part in problem["loc"])
    return f"{path}: {where}: {problem['msg'].removeprefix('Value error, ')}"
