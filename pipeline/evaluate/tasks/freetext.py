"""Tasks in free text: explanations (CMExam) and clinical cases (CMB-Clin)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from pipeline.evaluate.backends.base import Backend, Generation
from pipeline.evaluate.grading import READABLE, provenance, read_text
from pipeline.evaluate.metrics import score_items
from pipeline.evaluate.params import Asked
from pipeline.evaluate.prompting import Message, Prompt, Template, load_template, messages
from pipeline.evaluate.scoring import GradedText, Slice, cluster, compare
from pipeline.evaluate.slices import OVERALL, slices_of
from pipeline.evaluate.tasks.base import LeftOut, Material, Reading, Written
from schemas.errors import UserError
from schemas.evaluation import Outcome, Prediction, Task


@dataclass(frozen=True)
class Wanted:
    """What is known of the item a prompt asks about."""

    item_id: str
    reference: str
    slices: tuple[Slice, ...]
    cluster: str


def read_texts(
    run: str,
    task: Task,
    prompts: Sequence[Prompt],
    wanted: Mapping[str, Wanted],
    made: Mapping[str, Generation],
    *,
    keep_prompts: bool = False,
) -> Reading:
    """Score every text against its reference; ``wanted`` is by prompt id."""
    reading = Reading()
    graded: dict[Slice, list[GradedText]] = {}
    for prompt in prompts:
        given = made[prompt.id]
        outcome, said = _read(given)
        reading.predictions.append(
            Prediction(
                run=run,
                task=task,
                question_id=wanted[prompt.id].item_id,
                repeat=prompt.repeat,
                raw_output=given.text,
                extracted=None,
                rule=None,
                outcome=outcome,
                correct=None,
                **provenance(prompt, given, keep_prompt=keep_prompts),
            )
        )
        if outcome is not Outcome.FAILED:
            about = wanted[prompt.id]
            if outcome in READABLE:
                text = Written(run, task, about.item_id, prompt, outcome, said, about.reference)
                reading.written.append(text)
            item = GradedText(
                about.item_id, about.cluster, outcome, compare(said, about.reference), prompt.repeat
            )
            for part in about.slices:
                graded.setdefault(part, []).append(item)
    for part, items in graded.items():
        reading.scores += score_items(run, part, items, "texts", task)
    return reading


def _read(given: Generation) -> tuple[Outcome, str]:
    return (Outcome.FAILED, "") if given.text is None else read_text(given.text, given.finish)


class ExplanationWork:
    """Every question of the split that the paper explains."""

    def __init__(self, options: Asked, material: Material) -> None:
        self._keep_prompts = material.keep_prompts
        template = load_template(options.template(), options.task)
        examples = material.examples(options.shots)
        explained = [row for row in material.questions if row.explanation]
        self.left_out = [
            *(
                LeftOut(row.question_id, "no_answer_key", "the question has no key to explain")
                for row in material.keyless
            ),
            *(
                LeftOut(row.question_id, "no_explanation", "the paper does not explain the question")
                for row in material.questions
                if not row.explanation
            ),
        ]
        self.prompts: list[Prompt] = []
        self._wanted: dict[str, Wanted] = {}
        for row in explained:
            asked = messages(template, row, examples.of(row))
            for repeat in range(options.repeats):
                name = row.question_id if repeat == 0 else f"{row.question_id}#{repeat}"
                self.prompts.append(Prompt(name, asked, row, repeat=repeat))
                self._wanted[name] = Wanted(
                    row.question_id, row.explanation or "", tuple(slices_of(row)), cluster(row)
                )

    def read(self, run: str, backend: Backend, made: Mapping[str, Generation]) -> Reading:  # noqa: ARG002
        """See ``TaskWork``."""
        return read_texts(
            run, Task.EXPLANATION, self.prompts, self._wanted, made, keep_prompts=self._keep_prompts
        )


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


class ClinicalWork:
    """Every question of every case."""

    def __init__(self, options: Asked, material: Material) -> None:
        self._keep_prompts = material.keep_prompts
        template = load_template(options.template(), options.task)
        self.left_out: Sequence[LeftOut] = ()
        self.prompts: list[Prompt] = []
        self._wanted: dict[str, Wanted] = {}
        asked = 0
        for case in load_cases(material.cases):
            for number, turn in enumerate(case.turns):
                if material.limit is not None and asked >= material.limit:
                    return
                asked += 1
                item = item_id(case, number)
                for repeat in range(options.repeats):
                    name = item if repeat == 0 else f"{item}#{repeat}"
                    self.prompts.append(Prompt(name, conversation(template, case, number), repeat=repeat))
                    self._wanted[name] = Wanted(item, turn.solution, (OVERALL,), case.id)

    def read(self, run: str, backend: Backend, made: Mapping[str, Generation]) -> Reading:  # noqa: ARG002
        """See ``TaskWork``."""
        return read_texts(
            run, Task.CLINICAL, self.prompts, self._wanted, made, keep_prompts=self._keep_prompts
        )


def item_id(case: Case, number: int) -> str:
    """The name of a case's question in every table; ``number`` counts from 0."""
    return f"clin-{case.id}-{number + 1}"


def conversation(template: Template, case: Case, number: int) -> tuple[Message, ...]:
    """The case, what was asked of it before and the solutions, and question ``number``."""
    turns: list[Message] = []
    if template.system is not None:
        turns.append({"role": "system", "content": template.system})
    for index, turn in enumerate(case.turns[: number + 1]):
        asked = template.question if index == 0 or template.follow_up is None else template.follow_up
        turns.append({"role": "user", "content": _fill(asked, case, turn)})
        if index < number:
            turns.append({"role": "assistant", "content": _fill(template.answer, case, turn)})
    return tuple(turns)


def _fill(template: str, case: Case, turn: Turn) -> str:
    return template.strip("\n").format(
        title=case.title or "", description=case.description, question=turn.question, solution=turn.solution
    )
