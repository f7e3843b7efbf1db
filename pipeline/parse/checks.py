"""Checks: what makes a question of a paper wait. Each is registered beside its function with reason and example.

``judge`` runs all of them in one order: the first reason that a question has names it.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple

from build_dataset.pipeline.parse.line_gaps import LineGaps
from build_dataset.pipeline.parse.lines import ColumnEdges
from build_dataset.pipeline.parse.paper import ParsedPaper

Scope = Literal["question", "paper"]
"""A function gets a question and its paper, and yields details; or the paper, and yields questions with details."""


class Judged:
    """A paper that is checked, its keys applied: its questions that are not set aside, the edges of its columns."""

    def __init__(self, paper: ParsedPaper) -> None:
        self.paper, self.edges = paper, ColumnEdges(paper.pieces)
        self.questions = [draft for draft in paper.questions if not draft.set_aside]

    @cached_property
    def gaps(self) -> LineGaps:
        """The white between its lines."""
        return LineGaps(self.paper, self.edges)


class ParseCheck(NamedTuple):
    """A check: for each finding of its function a question waits under its reason."""

    reason: str
    function: Callable[..., Iterable[Any]]
    scope: Scope
    example: str


class Checks(list[ParseCheck]):
    """Checks of one scope, in their order."""

    def __init__(self, scope: Scope) -> None:
        super().__init__()
        self.scope: Scope = scope

    def __call__(self, reason: str, example: str) -> Callable[[Any], Any]:
        """Register the function below, for which questions wait under that reason."""

        def register(function: Any) -> Any:
            self.append(ParseCheck(reason, function, self.scope, example))
            return function

        return register


def run_checks(paper: ParsedPaper, checks: Sequence[ParseCheck]) -> None:
    """Flag the questions of a paper for which checks find something, in place."""
    judged = Judged(paper)
    for check in checks:
        findings = ((draft, detail) for draft in judged.questions for detail in check.function(draft, judged))
        for draft, detail in findings if check.scope == "question" else check.function(judged):
            draft.flag(check.reason, detail)
