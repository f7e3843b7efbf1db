"""Assignment of questions to named experts, with quotas and a share that two of them review. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from math import ceil, inf

import polars as pl

from annotation.params import ReviewParams
from pipeline.review.progress import EXPERTS
from schemas.identity import sha256

_LOTS = 2**32


@dataclass(frozen=True)
class Assigned:
    """Assignment of questions to experts."""

    questions: Mapping[str, Set[str]]
    """Of each expert, the questions that wait for their answer."""
    unassigned: int
    """Answers for which nobody is left: quotas are full, or there are too few experts."""


def singles(groups: Mapping[str, str], overlap: float) -> set[str]:
    """Return the questions that one expert reviews, not two; questions of a group are drawn together.

    Args:
        groups: the group of each question.
        overlap: share of questions that two review.
    """
    return {
        question_id
        for question_id, group in groups.items()
        if int(sha256("overlap", group)[:8], 16) >= overlap * _LOTS
    }


def groups_of(questions: pl.DataFrame) -> dict[str, str]:
    """Return the group of each question: its own id where it belongs to none."""
    return dict(questions.select("question_id", pl.coalesce("group_id", "question_id")).iter_rows())


def assign(groups: Mapping[str, str], params: ReviewParams, answered: Mapping[str, Set[str]]) -> Assigned:
    """Assign every answer that is still wanted to an expert.

    Each group ranks the experts by a hash and takes the first ones who have room (consistent hashing with bounded
    loads: Mirrokni et al. 2018). So the result hardly depends on history, and when somebody stops only their open
    questions, and few others, change hands.

    Args:
        groups: the group of each question.
        params: experts, overlap and quotas. A quota of 0 gives an expert no more questions; what they did counts.
        answered: who has answered each question already.
    """
    single = singles(groups, params.overlap)
    wanted = {
        name: max(0, (1 if name in single else EXPERTS) - len(answered.get(name, ()))) for name in groups
    }
    load = {who: sum(who in people for people in answered.values()) for who in params.reviewers}
    room = _room(params, sum(wanted.values()) + sum(load.values()))
    mine: dict[str, set[str]] = {who: set() for who in params.reviewers}
    order = sorted(groups, key=lambda name: (sha256(groups[name]), name))
    for limits in (room, {who: params.quotas.get(who, inf) for who in params.reviewers}):
        for name in order:
            for who in _ranked(groups[name], params.reviewers) if wanted[name] else ():
                free = name not in mine[who] and who not in answered.get(name, ())
                if wanted[name] and free and load[who] < limits[who]:
                    mine[who].add(name)
                    load[who] += 1
                    wanted[name] -= 1
    return Assigned(mine, sum(wanted.values()))


def _ranked(group: str, experts: Sequence[str]) -> list[str]:
    return sorted(experts, key=lambda who: sha256("assign", group, who))


def _room(params: ReviewParams, total: int) -> dict[str, float]:
    """Return the most answers of each expert: their quota, or an even share of what the quotas leave."""
    free = [who for who in params.reviewers if who not in params.quotas]
    rest = total - sum(params.quotas.values())
    share = max(0, ceil(rest / len(free))) if free else 0
    return {who: params.quotas.get(who, share) for who in params.reviewers}


def answered_by(reviews: pl.DataFrame) -> dict[str, set[str]]:
    """Return who has answered each question, rulings apart."""
    own = (
        reviews.filter(pl.col("project") == "review").group_by("question_id").agg(pl.col("reviewer").unique())
    )
    return {question_id: set(people) for question_id, people in own.iter_rows()}
