"""Checks: what makes a question of a paper wait. Each is registered beside its function with reason and example.

``judge`` runs all of them in one order: the first reason that a question has names it.
"""

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from functools import cached_property, partial
from typing import Any, NamedTuple

from build_dataset.pipeline.parse.draft import Draft
from build_dataset.pipeline.parse.line_gaps import LineGaps
from build_dataset.pipeline.parse.lines import ColumnEdges
from build_dataset.pipeline.parse.paper import ParsedPaper


class Judged:
    """A paper that is checked, its keys applied: its questions that are not set aside, the edges of its columns."""

    def __init__(self, paper: ParsedPaper) -> None:
        self.paper, self.edges = paper, ColumnEdges(paper.pieces)
        self.questions = [draft for draft in paper.questions if not draft.set_aside]

    @cached_property
    def gaps(self) -> LineGaps:
        """The white between its lines."""
        return LineGaps(self.paper, self.edges)


class Scope(StrEnum):
    """The part of a paper that a check is called with, and what it yields."""

    QUESTION = "question"  # a question and its paper → a detail for each finding
    PAPER = "paper"  # the paper → questions, each with a detail


class ParseCheck(NamedTuple):
    """A check: for each finding of its function a question waits under its reason."""

    reason: str
    function: Callable[..., Iterable[Any]]
    scope: Scope
    example: str

    def findings(self, judged: Judged) -> Iterable[tuple[Draft, str]]:
        """Return the questions for which it finds something, with details."""
        if self.scope is Scope.PAPER:
            return self.function(judged)
        return ((draft, detail) for draft in judged.questions for detail in self.function(draft, judged))


class Checks(list[ParseCheck]):
    """Checks in their order; its methods register the function below them."""

    def of_question(self, reason: str, example: str) -> Callable[[Any], Any]:
        """Register a check of one question."""
        return partial(self._register, reason, Scope.QUESTION, example)

    def of_paper(self, reason: str, example: str) -> Callable[[Any], Any]:
        """Register a check that compares the questions of a paper."""
        return partial(self._register, reason, Scope.PAPER, example)

    def _register(self, reason: str, scope: Scope, example: str, function: Any) -> Any:
        self.append(ParseCheck(reason, function, scope, example))
        return function


def run_checks(paper: ParsedPaper, checks: Sequence[ParseCheck]) -> None:
    """Flag the questions of a paper for which checks find something, in place."""
    judged = Judged(paper)
    for check in checks:
        for draft, detail in check.findings(judged):
            draft.flag(check.reason, detail)
