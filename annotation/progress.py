"""How fast experts work, and how long the rest will take them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from math import ceil
from statistics import median

from annotation.adjudication import ADJUDICATION, Rules
from schemas.annotations import ExpertReview

EXPERTS = 2
_BREAK = 600.0  # seconds: a longer gap between two answers is a pause, not work


@dataclass(frozen=True)
class Pace:
    """An expert's work."""

    reviewer: str
    done: int
    """Questions reviewed."""
    left: int
    """Questions that wait for this expert: the open ones, shared evenly where more than two experts work."""
    seconds: float | None
    """Median time a question; null where it is unknown."""

    @property
    def seconds_left(self) -> float | None:
        """Time for what is left, at this pace."""
        return None if self.seconds is None else self.seconds * self.left


def paces(question_ids: Iterable[str], reviews: Sequence[ExpertReview], rules: Rules) -> list[Pace]:
    """The pace of each expert, adjudicators apart, by name.

    Args:
        question_ids: of all questions.
        reviews: those that count.
        rules: who adjudicates.
    """
    done: dict[str, dict[str, ExpertReview]] = {}
    judged: dict[str, set[str]] = {question_id: set() for question_id in question_ids}
    for review in reviews:
        if review.question_id in judged and not rules.rules(review):
            done.setdefault(review.reviewer, {})[review.question_id] = review
            judged[review.question_id].add(review.reviewer)
    wanted = sum(max(0, EXPERTS - len(people)) for people in judged.values())
    share = ceil(wanted / len(done)) if len(done) > EXPERTS else wanted
    found = []
    for reviewer, own in sorted(done.items()):
        still = sum(1 for who in judged.values() if len(who) < EXPERTS and reviewer not in who)
        found.append(Pace(reviewer, len(own), min(still, share), _seconds(list(own.values()))))
    return found


def adjudicated_questions(reviews: Iterable[ExpertReview]) -> set[str]:
    """Questions on which a ruling was given in the adjudication project."""
    return {review.question_id for review in reviews if review.project == ADJUDICATION}


def _seconds(reviews: Sequence[ExpertReview]) -> float | None:
    """The median time a question: as the screen measured it, otherwise from answer to answer without pauses."""
    measured = [review.seconds for review in reviews if review.seconds is not None]
    if measured:
        return median(measured)
    moments = sorted(datetime.fromisoformat(review.updated_at) for review in reviews)
    gaps = [(later - earlier).total_seconds() for earlier, later in pairwise(moments)]
    working = [gap for gap in gaps if 0 < gap <= _BREAK]
    return median(working) if working else None
