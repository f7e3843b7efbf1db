"""Patients' cases with questions and solutions, in the format of CMB-Clin."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from schemas.errors import UserError

_LARGEST = 64 * 1024 * 1024
"""Bytes of a file of cases; CMB's 74 take 0.4 million."""


class Turn(BaseModel):
    """A question about a case and its solution."""

    model_config = ConfigDict(extra="ignore")

    question: str = Field(min_length=1)
    solution: str = Field(min_length=1, validation_alias=AliasChoices("answer", "solution"))


class Case(BaseModel):
    """A patient's case, as CMB-Clin has it."""

    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    id: str
    title: str | None = None
    description: str = Field(min_length=1)
    turns: list[Turn] = Field(validation_alias="QA_pairs", min_length=1)


def load_cases(path: Path | None) -> list[Case]:
    """The cases of a file in CMB-Clin's format.

    Raises:
        UserError: no file is named, it cannot be read, or a case lacks something.
    """
    if path is None:
        raise UserError("the clinical task needs cases: set evaluate.cases to a file like CMB-Clin-qa.json")
    try:
        if path.stat().st_size > _LARGEST:
            raise UserError(f"{path}: larger than {_LARGEST >> 20} MiB, so it is no file of cases")
        cases = TypeAdapter(list[Case]).validate_json(path.read_bytes())
    except OSError as error:
        raise UserError(
            f"{path}: cannot be read ({error.strerror}); set evaluate.cases to CMB-Clin's JSON"
        ) from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise UserError(f"{path}: {where}: {first['msg']}; cases look like CMB-Clin-qa.json") from None
    if twice := [name for name, count in Counter(case.id for case in cases).items() if count > 1]:
        raise UserError(f"{path}: two cases have the id {twice[0]!r}")
    return cases
