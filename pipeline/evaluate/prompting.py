"""Prompts: templates and worked examples."""

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Formatter

from pydantic import BaseModel, ValidationError

from build_dataset.schemas.errors import UserError, first_problem
from build_dataset.schemas.evaluation import Task
from build_dataset.schemas.identity import sha256
from build_dataset.schemas.questions import SEVERAL_ANSWERS, ReviewItem
from build_dataset.schemas.release import ReleaseRow

Message = dict[str, str]

_ASKED = frozenset({"exam", "question_type", "stem", "options"})  # fields of a question
_KEY = frozenset({"answer", "explanation"})  # fields that give the answer away
_CASE = frozenset({"title", "description", "question"})  # fields of a case and its question

_CHOICE = {"question": _ASKED, "answer": _ASKED | _KEY, "system": frozenset[str]()}
_CLINICAL = {"question": _CASE, "follow_up": _CASE, "answer": _CASE | {"solution"}, "system": frozenset[str]()}
_FIELDS = {Task.ANSWER: _CHOICE, Task.EXPLANATION: _CHOICE, Task.CLINICAL: _CLINICAL}
"""The fields that each part of a task's template may name; no question may give its key away."""
_SETTINGS = frozenset({"answer_first", "version"})  # keys of a template that are no texts


class Template(BaseModel, extra="forbid", frozen=True, strict=True):
    """The wording of a question and of a worked example's answer."""

    question: str
    answer: str
    system: str | None = None
    follow_up: str | None = None  # the wording of a case's later questions, where the first one carries the case
    version: int | str | None = None  # the version that the template states
    answer_first: bool = True
    """True if an output is asked to open with the answer; if not, an opening that was cut off is no answer."""


@dataclass(frozen=True)
class Prompt:
    """A question as it is asked."""

    id: str  # unique among a run's prompts: the question's id, and which repetition it is
    messages: tuple[Message, ...]
    question: ReleaseRow | None = None  # None where nothing is to be chosen
    repeat: int = 0

    @property
    def asked(self) -> ReleaseRow:
        """The question; a ``TypeError`` where the prompt asks for free text."""
        if self.question is None:
            raise TypeError(f"prompt {self.id} has no options")
        return self.question


def failed_item(prompt_id: str, reason: str, detail: str) -> ReviewItem:
    """Return the review item of a failed prompt; the next run asks it again."""
    question_id = prompt_id.partition("#")[0]  # q-1#2 is a repetition
    return ReviewItem(item_id=prompt_id, question_ids=[question_id], stage="evaluate", reason=reason, detail=detail)


def is_multiple(question: ReleaseRow) -> bool:
    """Return whether the question asks for several answers."""
    return question.question_type in SEVERAL_ANSWERS


def load_template(name: str, task: Task = Task.ANSWER) -> Template:
    """Return a shipped template by name, or one of the user's own by path, with its keys and fields checked."""
    folder, fields = files("build_dataset.pipeline.evaluate") / "prompts", _FIELDS[task]
    shipped = sorted(each.name.removesuffix(".toml") for each in folder.iterdir() if each.name.endswith(".toml"))
    source = folder / f"{name}.toml" if name in shipped else Path(name)
    try:
        content = tomllib.loads(source.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"prompt {name!r}: there is none; there are {', '.join(shipped)}, or give a path") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"prompt {name!r}: cannot be read: {error}") from None
    if (meant := content.pop("task", Task.ANSWER)) != task:
        raise UserError(f"prompt {name!r}: is for the task {meant!r}, not for {task.value!r}")
    if unknown := sorted(set(content) - _SETTINGS - set(fields)):
        known = ", ".join(sorted(_SETTINGS | set(fields)))
        raise UserError(f"prompt {name!r}: unknown key {unknown[0]!r}; it may have {known}")
    try:
        template = Template.model_validate(content)
    except ValidationError as error:
        raise UserError(f"prompt {name!r}: {first_problem(error)}") from None
    for key in set(fields) & set(content):
        where = f"prompt {name!r}, {key}"
        try:
            named = {field for _, field, _, _ in Formatter().parse(content[key]) if field is not None}
        except ValueError as error:
            raise UserError(f"{where}: {error}; write {{{{ for a brace") from None
        if unknown := sorted(named - fields[key]):
            raise UserError(f"{where}: no field {unknown[0]!r} there; it may use {sorted(fields[key])}")
    return template


def messages(template: Template, question: ReleaseRow, examples: Sequence[ReleaseRow]) -> tuple[Message, ...]:
    """A chat that asks ``question`` after the worked ``examples``; what all questions share comes first."""
    worked = [(fill(template.question, row), fill(template.answer, row)) for row in examples]
    return chat(template.system, worked, fill(template.question, question))


def chat(system: str | None, answered: Iterable[tuple[str, str]], asked: str) -> tuple[Message, ...]:
    """Questions with their answers, and a question."""
    turns = [] if system is None else [{"role": "system", "content": system}]
    for question, answer in answered:
        turns += [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
    return (*turns, {"role": "user", "content": asked})


class Examples:
    """So many worked examples of the same subcategory: from the first of the sources that has enough.

    All questions of a subcategory get the same examples, so that a server can reuse their common head. Which ones
    they are hangs on the seed and on ids alone. The ``sources`` are splits, without the one that is asked.
    """

    def __init__(self, shots: int, sources: Sequence[Sequence[ReleaseRow]], seed: int) -> None:
        self._shots = shots
        lots = (sorted(rows, key=lambda row: sha256(str(seed), row.question_id)) for rows in sources)
        self._rows = [row for rows in lots for row in rows if row.answer]
        self._chosen: dict[tuple[str | None, str | None], list[ReleaseRow]] = {}

    def of(self, question: ReleaseRow) -> list[ReleaseRow]:
        """The examples for ``question``; fewer than asked for only where the splits hold no more."""
        key = (question.exam_type, question.exam_class)
        if self._shots and key not in self._chosen:
            # first those of the same exam and subcategory, then of the same exam
            ranked = sorted(self._rows, key=lambda r: ((r.exam_type, r.exam_class) != key, r.exam_type != key[0]))
            self._chosen[key] = ranked[: self._shots]
        return self._chosen.get(key, [])


def fill(template: str, question: ReleaseRow) -> str:
    """Return a text of a template with what it says of a question."""
    explanation = (question.explanation or "").strip()
    # 中国医师考试中执业医师考试的; empty if the exam is unknown.
    # 执业医师考试 within 医师考试
    within = f"中{question.exam_class.removesuffix('考试')}考试" if question.exam_class is not None else ""
    return template.strip("\n").format(
        exam=f"中国{question.exam_type}{within}的" if question.exam_type is not None else "",
        question_type="多项选择题" if is_multiple(question) else "单项选择题",
        stem=question.stem if question.shared_stem is None else f"{question.shared_stem}\n{question.stem}",
        options="\n".join(f"{option.label}. {option.text}" for option in question.options),
        answer="".join(question.answer),
        explanation=f"{explanation}\n" if explanation else "",
    )
