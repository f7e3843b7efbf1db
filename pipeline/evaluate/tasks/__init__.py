"""Tasks that models are given, one row each; choosing the right options is the first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from pkgutil import resolve_name
from typing import Protocol, cast

from pipeline.evaluate.backends import Backend, Generation
from pipeline.evaluate.extraction import answers_first
from pipeline.evaluate.extraction.reader import LLM, OutputReader, UnreadOutput
from pipeline.evaluate.grading import grade
from pipeline.evaluate.metrics import score_items
from pipeline.evaluate.params import Asked, ModelOptions
from pipeline.evaluate.prompting import Examples, Prompt, load_template, messages, versions
from pipeline.evaluate.scoring import OVERALL, Graded, Versions, accepted, by_slice
from schemas.evaluation import Outcome, Prediction, Score, Task
from schemas.identity import sha256
from schemas.questions import Rejection
from schemas.release import ReleaseRow

Splits = Mapping[str, Sequence[ReleaseRow]]


@dataclass(frozen=True)
class Material:
    """The source of prompts: the release, and the file of clinical cases."""

    splits: Splits
    split: str
    """The one that is asked."""
    limit: int | None
    seed: int
    cases: Path | None = None
    keep_prompts: bool = False
    """True if predictions hold their prompts."""
    reader: OutputReader | None = None
    """Reads outputs that no rule read."""

    @cached_property
    def chosen(self) -> list[ReleaseRow]:
        """At most ``limit`` rows, spread over the split by their ids, in the split's order."""
        rows = list(self.splits[self.split])
        if self.limit is None or len(rows) <= self.limit:
            return rows
        taken = {
            row.question_id for row in sorted(rows, key=lambda row: sha256(row.question_id))[: self.limit]
        }
        return [row for row in rows if row.question_id in taken]

    @cached_property
    def questions(self) -> list[ReleaseRow]:
        """Those of them that have a key to score against."""
        return [row for row in self.chosen if accepted(row)]

    @cached_property
    def keyless(self) -> list[ReleaseRow]:
        """Those that have none."""
        return [row for row in self.chosen if not accepted(row)]

    def examples(self, shots: int) -> Examples:
        """Worked examples from the splits that are not asked."""
        sources = [self.splits[name] for name in ("validation", "train") if name != self.split]
        return Examples(shots, sources, self.seed)


def left_out(row: ReleaseRow, reason: str, detail: str) -> Rejection:
    """A question that a run is not asked, and why."""
    return Rejection(item_id=row.question_id, stage="evaluate", reason=reason, detail=detail)


@dataclass(frozen=True)
class Written:
    """A text that a run wrote, and what it is to be compared with."""

    run: str
    task: Task
    item_id: str
    prompt: Prompt
    said: str
    """The part that a reader is meant to see."""
    reference: str


@dataclass
class Reading:
    """Results of one run's outputs."""

    predictions: list[Prediction] = field(default_factory=list)
    scores: list[Score] = field(default_factory=list)
    graded: list[Graded] = field(default_factory=list)
    """Chosen answers, for comparisons between runs; empty for free text."""
    written: list[Written] = field(default_factory=list)
    """Free texts, for judges; those that were refused or empty are not among them."""


class TaskWork(Protocol):
    """A task as one run is asked to do it."""

    prompts: Sequence[Prompt]
    left_out: Sequence[Rejection]

    def read(self, run: str, backend: Backend, made: Mapping[str, Generation]) -> Reading:
        """Read and score the generations, by prompt id; those that failed are predictions without a score."""


TASKS: dict[Task, str] = {
    Task.ANSWER: "pipeline.evaluate.tasks:AnswerWork",
    Task.EXPLANATION: "pipeline.evaluate.tasks.freetext:ExplanationWork",
    Task.CLINICAL: "pipeline.evaluate.tasks.freetext:ClinicalWork",
}
"""Work by task, as ``module:class``."""


def open_task(options: ModelOptions, material: Material) -> TaskWork:
    """The work that ``options`` ask for, its prompts made."""
    return cast("TaskWork", resolve_name(TASKS[options.task])(options, material))


class AnswerWork:
    """Every question of the split, as often as asked, and its further versions."""

    def __init__(self, options: Asked, material: Material) -> None:
        self._template = load_template(options.template(), options.task)
        self._keep_prompts = material.keep_prompts
        self._reader = material.reader
        self._examples = material.examples(options.shots)
        self.left_out = [
            left_out(row, "no_answer_key", "the question has no key to score against")
            for row in material.keyless
        ]
        self.prompts = [
            prompt for row in material.questions for prompt in self._of(row, options, material.seed)
        ]

    def read(self, run: str, backend: Backend, made: Mapping[str, Generation]) -> Reading:
        """See ``TaskWork``. Scores are of the printed question; its other versions only show how steady a model is."""
        graded = partial(grade, run, answer_first=self._answers_first(made), keep_prompt=self._keep_prompts)
        expected = {prompt.id: backend.expected(prompt) for prompt in self.prompts}
        found = {
            prompt.id: graded(prompt, made[prompt.id], expected=expected[prompt.id])
            for prompt in self.prompts
        }
        if self._reader is not None:
            unread = self.unread(prediction for prediction, _ in found.values())
            letters = self._reader.read(run, unread)
            for prompt in (prompt for prompt in self.prompts if prompt.id in letters):
                read = replace(made[prompt.id], letters=letters[prompt.id], read_by=LLM)
                found[prompt.id] = graded(prompt, read, expected=expected[prompt.id])
        reading = Reading([prediction for prediction, _ in found.values()])
        everything = [item for _, item in found.values() if item is not None]
        reading.graded = [item for item in everything if item.variant is None]
        slices = by_slice(reading.graded).items()
        reading.scores = [score for part, items in slices for score in score_items(run, part, items)]
        reading.scores += score_items(run, OVERALL, _versions(everything), "versions")
        return reading

    def unread(self, predictions: Iterable[Prediction]) -> list[UnreadOutput]:
        """Return the outputs of a run that hold text and that no rule read."""
        rows = {
            (row.question_id, row.repeat, row.variant): row.raw_output
            for row in predictions
            if row.outcome is Outcome.NO_ANSWER
        }
        found = (
            (prompt, rows.get((prompt.printed.question_id, prompt.repeat, prompt.variant)))
            for prompt in self.prompts
        )
        return [
            UnreadOutput(prompt.id, prompt.asked(), text) for prompt, text in found if text and text.strip()
        ]

    def _of(self, row: ReleaseRow, options: Asked, seed: int) -> Iterator[Prompt]:
        examples = self._examples.of(row)
        for repeat in range(options.repeats):
            name = row.question_id if repeat == 0 else f"{row.question_id}#{repeat}"
            yield Prompt(name, messages(self._template, row, examples), row, repeat=repeat)
        for shown, template in versions(row, self._template, options.shuffles, options.perturbations, seed):
            asked = messages(template, shown.question, examples)
            yield Prompt(f"{row.question_id}~{shown.variant.removeprefix('order ')}", asked, row, shown=shown)

    def _answers_first(self, made: Mapping[str, Generation]) -> bool | None:
        """Return how to read a run's outputs: never from the opening where the prompt asks for reasoning first.

        Where it asks for the answer first, a model that obeys is read so; one that reasons all the same is read text
        by text, so that its analysis of option A is not taken for its answer.
        """
        if not self._template.answer_first:
            return False
        texts = ((made[prompt.id].text, prompt) for prompt in self.prompts)
        return answers_first(
            (text, [option.label for option in prompt.asked().options])
            for text, prompt in texts
            if text is not None
        )


def _versions(items: Sequence[Graded]) -> list[Versions]:
    """All that was asked of each question, together."""
    found: dict[str, list[Graded]] = {}
    for item in items:
        found.setdefault(item.item_id, []).append(item)
    return [Versions(tuple(asked)) for asked in found.values()]
