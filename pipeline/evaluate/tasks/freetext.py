"""Tasks in free text: explanations (CMExam) and clinical cases (CMB-Clin)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from pipeline.evaluate.backends import Backend, Generation
from pipeline.evaluate.grading import READABLE, provenance, read_text
from pipeline.evaluate.metrics import score_items
from pipeline.evaluate.params import Asked
from pipeline.evaluate.prompting import Message, Prompt, Template, chat, load_template, messages
from pipeline.evaluate.scoring import OVERALL, GradedText, Slice, cluster, compare, slices_of
from pipeline.evaluate.tasks import Material, Reading, Written, left_out
from schemas.errors import UserError, first_problem
from schemas.evaluation import Outcome, Prediction, Task
from schemas.questions import Rejection
from schemas.release import ReleaseRow


@dataclass(frozen=True)
class Wanted:
    """The item that a prompt asks about."""

    item_id: str
    reference: str
    slices: tuple[Slice, ...]
    cluster: str


class _TextWork:
    """A task whose answers are free text, each compared with a reference."""

    task: Task

    def __init__(self, options: Asked, material: Material) -> None:
        self.left_out: list[Rejection] = []
        self.prompts: list[Prompt] = []
        self._wanted: dict[str, Wanted] = {}
        self._keep_prompts = material.keep_prompts
        self._repeats = options.repeats
        self._template = load_template(options.template(), options.task)
        self._ask(options, material)

    def _ask(self, options: Asked, material: Material) -> None:
        """Make the prompts."""
        raise NotImplementedError

    def _add(self, asked: tuple[Message, ...], wanted: Wanted, row: ReleaseRow | None = None) -> None:
        for repeat in range(self._repeats):
            name = wanted.item_id if repeat == 0 else f"{wanted.item_id}#{repeat}"
            self.prompts.append(Prompt(name, asked, row, repeat=repeat))
            self._wanted[name] = wanted

    def read(self, run: str, backend: Backend, made: Mapping[str, Generation]) -> Reading:  # noqa: ARG002
        """See ``TaskWork``."""
        reading = Reading()
        graded: dict[Slice, list[GradedText]] = {}
        for prompt in self.prompts:
            given, about = made[prompt.id], self._wanted[prompt.id]
            outcome, said = Outcome.FAILED, ""
            if given.text is not None:
                outcome, said = read_text(given.text, given.finish)
            reading.predictions.append(
                Prediction(
                    task=self.task,
                    question_id=about.item_id,
                    extracted=None,
                    rule=None,
                    outcome=outcome,
                    correct=None,
                    **provenance(run, prompt, given, keep_prompt=self._keep_prompts),
                )
            )
            if outcome is Outcome.FAILED:
                continue
            if outcome in READABLE:
                text = Written(run, self.task, about.item_id, prompt, said, about.reference)
                reading.written.append(text)
            counts = compare(said, about.reference)
            item = GradedText(about.item_id, about.cluster, outcome, counts, prompt.repeat)
            for part in about.slices:
                graded.setdefault(part, []).append(item)
        for part, items in graded.items():
            reading.scores += score_items(run, part, items, "texts", self.task)
        return reading


class ExplanationWork(_TextWork):
    """Every question of the split that the paper explains."""

    task = Task.EXPLANATION

    def _ask(self, options: Asked, material: Material) -> None:
        examples = material.examples(options.shots)
        self.left_out = [
            left_out(row, "no_answer_key", "the question has no key to explain") for row in material.keyless
        ]
        for row in material.questions:
            if not row.explanation:
                detail = "the paper does not explain the question"
                self.left_out.append(left_out(row, "no_explanation", detail))
                continue
            wanted = Wanted(row.question_id, row.explanation, tuple(slices_of(row)), cluster(row))
            self._add(messages(self._template, row, examples.of(row)), wanted, row)


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
        said = first_problem(error, "the file")
        raise UserError(f"{path}: {said}; cases look like CMB-Clin-qa.json") from None
    if twice := [name for name, count in Counter(case.id for case in cases).items() if count > 1]:
        raise UserError(f"{path}: two cases have the id {twice[0]!r}")
    return cases


class ClinicalWork(_TextWork):
    """Every question of every case."""

    task = Task.CLINICAL

    def _ask(self, options: Asked, material: Material) -> None:  # noqa: ARG002
        turns = [(case, number) for case in load_cases(material.cases) for number in range(len(case.turns))]
        for case, number in turns[: material.limit]:
            wanted = Wanted(item_id(case, number), case.turns[number].solution, (OVERALL,), case.id)
            self._add(conversation(self._template, case, number), wanted)


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
