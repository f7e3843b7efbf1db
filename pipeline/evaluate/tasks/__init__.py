"""Tasks that models are given: one module a task, one row here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from pipeline.evaluate.backends import Backend, Generation
from pipeline.evaluate.extraction.reader import Reader
from pipeline.evaluate.params import ModelOptions
from pipeline.evaluate.prompting import Examples, Prompt
from pipeline.evaluate.scoring import Graded, accepted
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
    reader: Reader | None = None
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
    outcome: Outcome
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
    Task.ANSWER: "pipeline.evaluate.tasks.answer:AnswerWork",
    Task.EXPLANATION: "pipeline.evaluate.tasks.freetext:ExplanationWork",
    Task.CLINICAL: "pipeline.evaluate.tasks.freetext:ClinicalWork",
}
"""Work by task, as ``module:class``."""


def open_task(options: ModelOptions, material: Material) -> TaskWork:
    """The work that ``options`` ask for, its prompts made.

    Raises:
        UserError: a template or a file of cases cannot be used.
    """
    module, _, name = TASKS[options.task].partition(":")
    return cast("TaskWork", getattr(import_module(module), name)(options, material))
