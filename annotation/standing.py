"""Where the review of each question stands. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from annotation.adjudication import Flag, Rules, standing_flags
from schemas.annotations import ExpertReview, Label, LabelStatus


class State(StrEnum):
    """Of a question, all dimensions together; the first that applies."""

    DISPUTED = "disputed"
    """Experts disagree in at least one dimension."""
    FLAGGED = "flagged"
    """An expert says that the question itself is wrong."""
    ONE_OF_TWO = "one_of_two"
    """At least one dimension waits for the second expert."""
    UNREVIEWED = "unreviewed"
    """Nobody has looked at it."""
    DONE = "done"
    """Settled in every dimension."""


WAITING = (State.DISPUTED, State.FLAGGED, State.ONE_OF_TWO)
"""States in which a question waits for a person who has been, or was, asked."""


@dataclass(frozen=True)
class Standing:
    """A question's state, and who said what."""

    question_id: str
    state: State
    labels: Sequence[Label]
    flags: Sequence[Flag]
    reviews: Sequence[ExpertReview]

    def detail(self) -> str:
        """Who said what, in one line."""
        parts = [
            f"{label.dimension}: " + " / ".join(self._votes(label.dimension))
            for label in self.labels
            if label.status is LabelStatus.DISPUTED
        ]
        parts += [f"{flag.kind} by {', '.join(flag.reviewers)}" for flag in self.flags]
        if not parts:
            who = sorted({review.reviewer for review in self.reviews})
            parts = [f"reviewed by {', '.join(who)}"]
        notes = sorted({(review.reviewer, review.note) for review in self.reviews if review.note})
        parts += [f"note by {reviewer}: {' '.join(note.split())}" for reviewer, note in notes]
        return "; ".join(parts)

    def _votes(self, dimension: str) -> list[str]:
        return [f"{r.reviewer} = {r.label}" for r in self.reviews if r.dimension == dimension]


@dataclass(frozen=True)
class ReviewStatus:
    """How far the review has come, as of the last pull."""

    questions: int
    states: Mapping[State, int]
    """Questions by state; they add up to ``questions``."""
    dimensions: Mapping[str, Mapping[LabelStatus, int]]
    """Questions by status of the label, for each dimension."""
    experts: Mapping[str, int]
    """Questions that each expert reviewed."""
    flags: Mapping[str, int]
    """Flags that stand, by kind."""
    last_review: str | None
    """When the latest review was made (UTC)."""


def standings(
    labels: Iterable[Label],
    reviews: Iterable[ExpertReview],
    rules: Rules,
    answered: Mapping[str, Set[str]] = MappingProxyType({}),
) -> list[Standing]:
    """Where each question stands, in the order of ``labels``.

    Args:
        labels: of all questions in all dimensions.
        reviews: those that count.
        rules: whose flags are final.
        answered: kinds of flags, by question, that an accepted correction has answered.
    """
    said: dict[str, list[ExpertReview]] = {}
    for review in reviews:
        said.setdefault(review.question_id, []).append(review)
    grouped: dict[str, list[Label]] = {}
    for label in labels:
        grouped.setdefault(label.question_id, []).append(label)
    found = []
    for question_id, own in grouped.items():
        own_reviews = said.get(question_id, [])
        done = answered.get(question_id, frozenset())
        flags = [flag for flag in standing_flags(own_reviews, rules) if flag.kind not in done]
        found.append(Standing(question_id, _state(own, flags), own, flags, own_reviews))
    return found


def review_status(found: Sequence[Standing]) -> ReviewStatus:
    """Count where questions stand."""
    states = Counter(standing.state for standing in found)
    by_dimension: dict[str, Counter[LabelStatus]] = {}
    experts: Counter[str] = Counter()
    flags: Counter[str] = Counter()
    for standing in found:
        for label in standing.labels:
            by_dimension.setdefault(label.dimension, Counter())[label.status] += 1
        experts.update({review.reviewer for review in standing.reviews})
        flags.update(flag.kind for flag in standing.flags)
    moments = [review.updated_at for standing in found for review in standing.reviews]
    return ReviewStatus(
        questions=len(found),
        states={state: states[state] for state in State},
        dimensions={
            name: {status: counter[status] for status in LabelStatus}
            for name, counter in by_dimension.items()
        },
        experts=dict(sorted(experts.items())),
        flags=dict(sorted(flags.items())),
        last_review=max(moments, default=None),
    )


def _state(labels: Sequence[Label], flags: Sequence[Flag]) -> State:
    statuses = {label.status for label in labels}
    if LabelStatus.DISPUTED in statuses:
        return State.DISPUTED
    if flags:
        return State.FLAGGED
    if LabelStatus.SINGLE in statuses:
        return State.ONE_OF_TWO
    if statuses == {LabelStatus.UNREVIEWED}:
        return State.UNREVIEWED
    return State.ONE_OF_TWO if LabelStatus.UNREVIEWED in statuses else State.DONE
