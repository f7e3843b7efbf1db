"""What reviews add up to: labels, and where each question stands. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from annotation.adjudication import ADJUDICATION, Rules, final_labels, latest_reviews
from annotation.corrections import answered_flags
from annotation.params import ReviewParams
from annotation.standing import Standing, standings
from pipeline.stage import Tables
from schemas.annotations import Annotation, ExpertReview, Label
from schemas.corrections import Correction
from schemas.taxonomy import dimensions


@dataclass(frozen=True)
class Settled:
    """What reviews add up to."""

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
    found = standings(labels, reviews, rules, answered_flags(corrections))
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
