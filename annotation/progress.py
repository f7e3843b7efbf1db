"""How fast experts work, and how long the rest will take them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from math import ceil
from statistics import median

from annotation.adjudication import ADJUDICATION, Rules
from schemas.annotations import ExpertReview

EXPERTS = 2
QUICK = 5.0
"""Seconds: an exam question of 30 characters with five options and five labels is not read in less."""
_ENOUGH = 30  # questions before anybody is spoken of
_MOST_QUICK, _MOST_ACCEPTED = 0.2, 0.99
"""Shares beyond which somebody should look: the best annotator measured is right in .83 of its labels, so nobody who
reads leaves 99 of 100 as they are."""
_FILLED_IN = ("prediction", "prediction-changed")
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


@dataclass(frozen=True)
class Work:
    """What an expert has done, as whoever pays and whoever worries wants to see it; shares are null where unknown."""

    reviewer: str
    questions: int
    left: int
    seconds: float | None
    """Median time a question."""
    hours: float | None
    """Time that the screen measured, in all; pauses beyond ten minutes count ten minutes."""
    quick: float | None
    """Share of the measured questions that were answered in less time than it takes to read one."""
    accepted: float | None
    """Share of the labels filled in that were left as they were."""
    agreed: float | None
    """Share of the labels on which another expert's was the same."""
    first: str
    last: str

    def alarms(self) -> list[str]:
        """What somebody should look at, in words."""
        told = []
        if self.questions >= _ENOUGH and (self.quick or 0.0) > _MOST_QUICK:
            told.append(f"{self.quick:.0%} answered in under {QUICK:.0f} s")
        if self.questions >= _ENOUGH and (self.accepted or 0.0) > _MOST_ACCEPTED:
            told.append(f"{self.accepted:.1%} of the labels filled in were left as they were")
        return told


def work(paces_found: Iterable[Pace], reviews: Sequence[ExpertReview], rules: Rules) -> list[Work]:
    """The work of each expert, adjudicators apart, by name.

    Args:
        paces_found: of the same reviews.
        reviews: those that count.
        rules: who adjudicates.
    """
    own: dict[str, list[ExpertReview]] = {}
    said: dict[tuple[str, str], dict[str, str]] = {}
    for review in reviews:
        if not rules.rules(review):
            own.setdefault(review.reviewer, []).append(review)
            said.setdefault((review.question_id, review.dimension), {})[review.reviewer] = review.label
    return [_work(pace, own[pace.reviewer], said) for pace in paces_found if pace.reviewer in own]


def _work(
    pace: Pace, mine: Sequence[ExpertReview], said: Mapping[tuple[str, str], Mapping[str, str]]
) -> Work:
    times = list({each.question_id: each.seconds for each in mine if each.seconds is not None}.values())
    filled = [each.origin == "prediction" for each in mine if each.origin in _FILLED_IN and not each.blind]
    alike = [
        label == each.label
        for each in mine
        for who, label in said[each.question_id, each.dimension].items()
        if who != each.reviewer
    ]
    moments = [each.updated_at for each in mine]
    return Work(
        reviewer=pace.reviewer,
        questions=pace.done,
        left=pace.left,
        seconds=pace.seconds,
        hours=sum(min(time, _BREAK) for time in times) / 3600 if times else None,
        quick=_share([time < QUICK for time in times]),
        accepted=_share(filled),
        agreed=_share(alike),
        first=min(moments),
        last=max(moments),
    )


def _share(found: Sequence[bool]) -> float | None:
    return sum(found) / len(found) if found else None


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
