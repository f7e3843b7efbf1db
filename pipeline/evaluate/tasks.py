"""Tasks that models are given: choosing the right options, explanations (CMExam), clinical cases (CMB-Clin)."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import AliasChoices, BaseModel, Field

from build_dataset.pipeline.evaluate import scoring
from build_dataset.pipeline.evaluate.backends import Generation
from build_dataset.pipeline.evaluate.extraction import answers_first
from build_dataset.pipeline.evaluate.grading import READABLE, grade, provenance, read_text
from build_dataset.pipeline.evaluate.judging.scores import WrittenText
from build_dataset.pipeline.evaluate.metrics import score_items
from build_dataset.pipeline.evaluate.params import AskOptions, EvaluateParams, ModelOptions
from build_dataset.pipeline.evaluate.prompting import Examples, Message, Prompt, Template, chat, load_template, messages
from build_dataset.pipeline.evaluate.submission import read_items, validate
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.evaluation import Outcome, Prediction, Score, Task
from build_dataset.schemas.identity import sha256
from build_dataset.schemas.questions import Rejection, ReviewItem
from build_dataset.schemas.release import ReleaseRow


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
    cases = [validate(Case, row, f"{path}, item {at}") for at, row in enumerate(read_items(path), start=1)]
    if twice := [name for name, count in Counter(case.id for case in cases).items() if count > 1]:
        raise UserError(f"{path}: two cases have the id {twice[0]!r}")
    return cases


def item_id(case: Case, number: int) -> str:
    """The name of a case's question in every table; ``number`` counts from 0."""
    return f"clin-{case.id}-{number + 1}"


def conversation(template: Template, case: Case, number: int) -> tuple[Message, ...]:
    """The case, what was asked of it before and the solutions, and question ``number``."""
    wordings = [template.question, *[template.follow_up or template.question] * number]
    asked = [_fill(wording, case, turn) for wording, turn in zip(wordings, case.turns, strict=False)]
    answers = [_fill(template.answer, case, turn) for turn in case.turns[:number]]
    return chat(template.system, zip(asked, answers, strict=False), asked[-1])


def _fill(template: str, case: Case, turn: Turn) -> str:
    return template.strip("\n").format(title=case.title or "", description=case.description, **turn.model_dump())


@dataclass(frozen=True)
class PromptSource:
    """The source of prompts: the release, and the file of clinical cases."""

    splits: Mapping[str, Sequence[ReleaseRow]]
    params: EvaluateParams
    seed: int

    @cached_property
    def chosen(self) -> list[ReleaseRow]:
        """At most ``limit`` rows, spread over the split by their ids, in the split's order."""
        rows, limit = list(self.splits[self.params.split]), self.params.limit
        if limit is None or len(rows) <= limit:
            return rows
        # a fixed lot that a larger limit holds
        taken = {row.question_id for row in sorted(rows, key=lambda row: sha256(row.question_id))[:limit]}
        return [row for row in rows if row.question_id in taken]

    @cached_property
    def questions(self) -> list[ReleaseRow]:
        """Return the chosen questions with a key to score against."""
        return [row for row in self.chosen if scoring.accepted_answers(row)]

    def keyless(self, detail: str) -> list[Rejection]:
        """Return the chosen questions without a key as left out."""
        return [left_out(row, "no_answer_key", detail) for row in self.chosen if not scoring.accepted_answers(row)]

    def examples(self, shots: int) -> Examples:
        """Worked examples from the splits that are not asked."""
        # CMB takes its examples from validation
        sources = [self.splits[name] for name in ("validation", "train") if name != self.params.split]
        return Examples(shots, sources, self.seed)


def left_out(row: ReleaseRow, reason: str, detail: str) -> Rejection:
    """A question that a run is not asked, and why."""
    return Rejection(item_id=row.question_id, stage="evaluate", reason=reason, detail=detail)


def repeated(item_id: str, repeat: int) -> str:
    """Return the id of a prompt, which says its repetition."""
    return f"{item_id}#{repeat}" if repeat else item_id  # q-1, q-1#1


@dataclass
class RunOutcome:
    """Results of one run's outputs."""

    predictions: list[Prediction] = field(default_factory=list)
    scores: list[Score] = field(default_factory=list)
    graded: list[scoring.Graded] = field(default_factory=list)
    """Chosen answers, for comparisons between runs; empty for free text."""
    written: list[WrittenText] = field(default_factory=list)
    """Free texts, for judges; those that were refused or empty are not among them."""
    waiting: list[ReviewItem] = field(default_factory=list)
    """Prompts whose requests failed; the next run asks them again."""
    ended: UserError | None = None  # the reason why the run stopped early
    facts: Mapping[str, Any] = field(default_factory=dict)  # the model, tokens and cost


class AnswerWork:
    """Every question of the split, as often as asked."""

    def __init__(self, options: AskOptions, source: PromptSource) -> None:
        self._template = load_template(options.template(), options.task)
        examples = source.examples(options.shots)
        self.left_out = source.keyless("the question has no key to score against")
        asked = ((row, messages(self._template, row, examples.of(row))) for row in source.questions)
        each = ((row, chat, repeat) for row, chat in asked for repeat in range(options.repeats))
        self.prompts = [Prompt(repeated(row.question_id, repeat), chat, row, repeat) for row, chat, repeat in each]

    def read(self, run: str, made: Mapping[str, Generation]) -> RunOutcome:
        """Read and score generations by prompt id."""
        graded = partial(grade, run, answer_first=self._answers_first(made))
        graded_pairs = [graded(prompt, made[prompt.id]) for prompt in self.prompts]
        reading = RunOutcome([prediction for prediction, _ in graded_pairs])
        reading.graded = [item for _, item in graded_pairs if item is not None]
        slices = scoring.by_slice(reading.graded).items()
        reading.scores = [score for part, items in slices for score in score_items(run, part, items)]
        return reading

    def _answers_first(self, made: Mapping[str, Generation]) -> bool | None:
        """Return how to read a run's outputs: never from the opening where the prompt asks for reasoning first."""
        if not self._template.answer_first:
            return False
        # A model that obeys is read so; one that reasons all the same is read text by text, so that its analysis of
        # option A is not taken for its answer.
        pairs = ((made[prompt.id].text, prompt.asked.options) for prompt in self.prompts)
        return answers_first((text, [each.label for each in options]) for text, options in pairs if text is not None)


class TextWork:
    """A task whose answers are free text, each compared with a reference."""

    def __init__(self, options: AskOptions, source: PromptSource) -> None:
        clinical = options.task is Task.CLINICAL
        template = load_template(options.template(), options.task)
        items: list[tuple[Prompt, str, tuple[scoring.Slice, ...], str]] = []  # with reference, slices and cluster
        cases = load_cases(source.params.cases) if clinical else ()
        turns = ((case, number) for case in cases for number in range(len(case.turns)))
        for case, number in islice(turns, source.params.limit):
            prompt = Prompt(item_id(case, number), conversation(template, case, number))
            items.append((prompt, case.turns[number].solution, (scoring.OVERALL,), case.id))
        examples = source.examples(options.shots)
        for row in () if clinical else source.questions:
            if row.explanation:
                prompt = Prompt(row.question_id, messages(template, row, examples.of(row)), row)
                items.append((prompt, row.explanation, tuple(scoring.slices_of(row)), scoring.cluster_id(row)))
        self._task = options.task
        self._asked = [
            (replace(prompt, id=repeated(prompt.id, repeat), repeat=repeat), prompt.id, reference, slices, cluster)
            for prompt, reference, slices, cluster in items
            for repeat in range(options.repeats)
        ]
        self.prompts = [prompt for prompt, *_ in self._asked]
        self.left_out = [] if clinical else source.keyless("the question has no key to explain")
        detail = "the paper does not explain the question"
        silent = () if clinical else (row for row in source.questions if not row.explanation)
        self.left_out += [left_out(row, "no_explanation", detail) for row in silent]

    def read(self, run: str, made: Mapping[str, Generation]) -> RunOutcome:
        """Read and score generations by prompt id; those that failed are predictions without a score."""
        reading = RunOutcome()
        graded: dict[scoring.Slice, list[scoring.GradedText]] = defaultdict(list)
        for prompt, name, reference, slices, cluster in self._asked:
            given, outcome, visible = made[prompt.id], Outcome.FAILED, ""
            if given.text is not None:
                outcome, visible = read_text(given.text, given.finish)
            row: dict[str, Any] = dict.fromkeys(("extracted", "rule", "correct")) | provenance(run, prompt, given)
            reading.predictions.append(Prediction(**row, task=self._task, question_id=name, outcome=outcome))
            if outcome is Outcome.FAILED:
                continue
            if outcome in READABLE:
                reading.written.append(WrittenText(run, self._task, name, prompt, visible, reference))
            item = scoring.GradedText(name, cluster, outcome, scoring.count_overlap(visible, reference), prompt.repeat)
            for part in slices:
                graded[part].append(item)
        for part, items in graded.items():
            reading.scores += score_items(run, part, items, "texts", self._task)
        return reading


TaskWork = AnswerWork | TextWork
"""A task as one run is asked to do it: prompts, what is left out, and how outputs are read."""


def task_work(options: ModelOptions, source: PromptSource) -> TaskWork:
    """Return the work that a model's options ask for, its prompts made."""
    return (AnswerWork if options.task is Task.ANSWER else TextWork)(options, source)
