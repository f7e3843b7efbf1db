"""What an annotator is, and how one is chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from schemas.annotations import AnnotationRequest
from schemas.questions import Question
from schemas.taxonomy import LabelName


@dataclass(frozen=True)
class Verdict:
    """A label for one dimension."""

    label: LabelName
    confidence: float | None
    estimate: bool
    """True where it stands in for something that was not measured."""


@dataclass(frozen=True)
class Labelled:
    """A question with a verdict in every dimension that could be told."""

    question_id: str
    verdicts: Mapping[str, Verdict]
    """By name of the dimension."""
    requests: Sequence[AnnotationRequest] = ()


@dataclass(frozen=True)
class Unlabelled:
    """A question that got no labels this time; it is asked again on the next run."""

    question_id: str
    reason: str
    detail: str
    requests: Sequence[AnnotationRequest] = ()
    """What was billed, or may have been."""


@dataclass(frozen=True)
class Identity:
    """What stands on every annotation of an annotator."""

    name: str
    model: str | None = None
    prompt_hash: str | None = None
    notes: Sequence[str] = field(default_factory=tuple)
    """Lines for the user."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What else the manifest should say of it."""


class Annotator(Protocol):
    """Labels questions."""

    @property
    def identity(self) -> Identity:
        """Who it is."""

    def annotate(
        self, questions: Sequence[Question], progress: Callable[[int], None]
    ) -> Iterator[Labelled | Unlabelled]:
        """One result a question, in any order.

        Args:
            questions: to label.
            progress: called with the number of units of work that have just ended; see ``units``.
        """

    def units(self, questions: Sequence[Question]) -> int:
        """How many units of work those questions are."""
