"""Patients' cases with questions in free text, in CMB-Clin's format, as prompts."""

from collections import Counter
from pathlib import Path

from pydantic import AliasChoices, BaseModel, Field

from build_dataset.pipeline.evaluate.prompting import Message, Template, chat
from build_dataset.pipeline.evaluate.submission import read_items, validate
from build_dataset.schemas.errors import UserError

_LARGEST = 64 * 1024 * 1024  # bytes of a file of cases; CMB's 74 take 0.4 million


class Turn(BaseModel, extra="ignore"):
    """A question about a case and its solution."""

    question: str = Field(min_length=1)
    solution: str = Field(min_length=1, validation_alias=AliasChoices("answer", "solution"))


class Case(BaseModel, extra="ignore", coerce_numbers_to_str=True):
    """A patient's case, as CMB-Clin has it."""

    id: str
    title: str | None = None
    description: str = Field(min_length=1)
    turns: list[Turn] = Field(validation_alias="QA_pairs", min_length=1)


def load_cases(path: Path | None) -> list[Case]:
    """Return the cases of a file in CMB-Clin's format; raise ``UserError`` where it is none."""
    if path is None:
        raise UserError("the clinical task needs cases: set evaluate.cases to a file like CMB-Clin-qa.json")
    if path.is_file() and path.stat().st_size > _LARGEST:
        raise UserError(f"{path}: larger than {_LARGEST >> 20} MiB, so it is no file of cases")
    cases = [validate(Case, row, f"{path}, item {at}") for at, row in enumerate(read_items(path), start=1)]
    if twice := [name for name, count in Counter(case.id for case in cases).items() if count > 1]:
        raise UserError(f"{path}: two cases have the id {twice[0]!r}")
    return cases


def item_id(case: Case, number: int) -> str:
    """The name of a case's question in every table; ``number`` counts from 0."""
    return f"clin-{case.id}-{number + 1}"


def conversation(template: Template, case: Case, number: int) -> tuple[Message, ...]:
    """The case, what was asked of it before and the solutions, and question ``number``."""
    asked = [
        _fill(template.question if index == 0 else template.follow_up or template.question, case, turn)
        for index, turn in enumerate(case.turns[: number + 1])
    ]
    answers = [_fill(template.answer, case, turn) for turn in case.turns[:number]]
    return chat(template.system, zip(asked, answers, strict=False), asked[-1])


def _fill(template: str, case: Case, turn: Turn) -> str:
    return template.strip("\n").format(
        title=case.title or "", description=case.description, question=turn.question, solution=turn.solution
    )
