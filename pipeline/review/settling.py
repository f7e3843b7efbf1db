"""Settling labels from reviews, and the questions that wait for a person."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from annotation.adjudication import ADJUDICATION, Rules, Standing, final_labels, latest_reviews, standings
from annotation.corrections import answered_flags
from annotation.params import ReviewParams
from pipeline.clean.corrections import tidied_items
from pipeline.review.assignment import groups_of, singles
from pipeline.runtime.publish import read_table
from pipeline.stage import Tables
from schemas.annotations import Annotation, ExpertReview, Label
from schemas.corrections import Correction
from schemas.errors import UserError
from schemas.questions import Question, ReviewItem
from schemas.taxonomy import dimensions

STAGE = "review"
FLAGGED_BY_ADJUDICATOR = "flagged_by_adjudicator"
"""The last word on the labels is said, and the question is wrong: somebody has to put it right, in `review verify`."""
_STAGES = ("parse", "clean", "dedup", "audit", STAGE)
"""Stages whose waiting questions are verified."""


@dataclass(frozen=True)
class Settled:
    """Labels and states that reviews add up to."""

    rules: Rules
    annotations: list[Annotation]
    labels: list[Label]
    reviews: list[ExpertReview]
    """Those that count."""
    corrections: list[Correction]
    standings: list[Standing]
    ignored: dict[str, int]
    """Reviews that do not count, by reason."""

    def judged(self) -> list[ExpertReview]:
        """Reviews by experts, without those of people who know the others' answers."""
        return [review for review in self.reviews if not self.rules.rules(review)]


def settle(tables: Tables, params: ReviewParams) -> Settled:
    """Settle all questions.

    Args:
        tables: ``questions``, ``annotations``, ``pulled`` and, where there are any, ``corrections``.
        params: of the stage.
    """
    question_ids = tables["questions"]["question_id"].to_list()
    rules = Rules(frozenset(params.adjudicators), params.majority)
    annotations = list(Annotation.from_frame(tables["annotations"]))
    corrections = list(Correction.from_frame(tables["corrections"])) if "corrections" in tables else []
    counted, ignored = _counted(tables["pulled"], set(question_ids), params, rules)
    reviews, superseded = latest_reviews(counted)
    if superseded:
        ignored["superseded"] = len(superseded)
    labels = final_labels(question_ids, annotations, reviews, rules)
    single = singles(groups_of(tables["questions"]), params.overlap) if params.overlap < 1 else set()
    found = standings(labels, reviews, rules, answered_flags(corrections), single)
    return Settled(rules, annotations, labels, reviews, corrections, found, ignored)


def _counted(
    pulled: pl.DataFrame, question_ids: set[str], params: ReviewParams, rules: Rules
) -> tuple[list[ExpertReview], dict[str, int]]:
    """The reviews that count, and how many do not for which reason."""
    known = {name: set(dimension.zh_names()) for name, dimension in dimensions().items()}
    everything = list(ExpertReview.from_frame(pulled))
    own = {(each.question_id, each.reviewer) for each in everything if not rules.rules(each)}
    counted: list[ExpertReview] = []
    ignored: dict[str, int] = {}
    for review in everything:
        reason = None
        if review.question_id not in question_ids:
            reason = "other_question"
        elif _uninvited(review, params):
            reason = "other_reviewer"
        elif review.project == ADJUDICATION and (review.question_id, review.reviewer) in own:
            reason = "ruled_on_own_label"
        elif review.label not in known.get(review.dimension, ()):
            reason = "unknown_label"
        if reason is None:
            counted.append(review)
        else:
            ignored[reason] = ignored.get(reason, 0) + 1
    return counted, dict(sorted(ignored.items()))


def _uninvited(review: ExpertReview, params: ReviewParams) -> bool:
    if review.project == ADJUDICATION and params.adjudicators:
        return review.reviewer not in params.adjudicators
    return bool(params.reviewers) and review.reviewer not in {*params.reviewers, *params.adjudicators}


def waiting_questions(build: Path) -> tuple[list[tuple[ReviewItem, Question]], int]:
    """Return what waits in parse, clean, dedup and the audit, or was flagged by the adjudicator, with its question.

    A conflict of several questions gives a pair for each of them.

    Returns:
        The pairs; and how many items hold no question, such as a number that was not found.

    Raises:
        UserError: nothing was parsed yet.
    """
    if not (build / "parse" / "review.parquet").exists():
        raise UserError(f"nothing was parsed in {build}: run `build-dataset parse` first")
    pairs: list[tuple[ReviewItem, Question]] = []
    without = 0
    cleaned = _questions(build)
    for stage in _STAGES:
        items = _items(build, stage)
        whole = tidied_items(items)
        for item in items:
            own = whole.get(item.item_id)
            found = [cleaned[each] for each in item.question_ids if each in cleaned] if own is None else [own]
            pairs += [(item, question) for question in found]
            without += not found
    return pairs, without


def _items(build: Path, stage: str) -> list[ReviewItem]:
    """Return what waits in a stage; of the review, what the adjudicator flagged and left to be put right."""
    path = build / stage / "review.parquet"
    items = list(ReviewItem.from_frame(read_table(path))) if path.exists() else []
    return [item for item in items if stage != STAGE or item.reason == FLAGGED_BY_ADJUDICATOR]


def _questions(build: Path) -> dict[str, Question]:
    """The questions of dedup's conflicts, and those that an adjudicator flagged, by id."""
    path = build / "clean" / "questions.parquet"
    if not path.exists():
        return {}
    wanted = {
        name for stage in ("dedup", STAGE) for item in _items(build, stage) for name in item.question_ids
    }
    rows = read_table(path).filter(pl.col("question_id").is_in(wanted))
    return {question.question_id: question for question in Question.from_frame(rows)}
