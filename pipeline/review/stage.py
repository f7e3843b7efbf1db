"""The review stage: final labels and agreement, a pure function of what was pulled."""

from __future__ import annotations

import json
from collections.abc import Sequence

import polars as pl

from annotation.adjudication import WAITING, ReviewStatus, Rules, Standing, State, review_status
from annotation.params import ReviewParams
from pipeline.review.agreement import ALL, agreement, agreement_by_part, agreement_with_annotators
from pipeline.review.assignment import answered_by, assign, groups_of
from pipeline.review.control import controls
from pipeline.review.progress import ExpertWork, expert_work
from pipeline.review.settling import FLAGGED_BY_ADJUDICATOR, STAGE, Settled, settle
from pipeline.stage import Context, Counts, Result, Tables
from schemas.annotations import Agreement, ExpertReview, Label
from schemas.questions import ReviewItem
from schemas.taxonomy import dimensions


def run(tables: Tables, params: ReviewParams, context: Context) -> Result:
    """Settle every question's label in every dimension, and measure the experts' agreement.

    Counts are of questions: *waiting* are those that are disputed, flagged, or seen by one of two experts, each
    with a review item; all others are kept, whether settled or not reviewed at all.
    """
    settled = settle(tables, params)
    waiting = [standing for standing in settled.standings if standing.state in WAITING]
    rows = _agreement(settled, params, context.seed)
    status = review_status(settled.standings)
    total = len(settled.standings)
    return Result(
        tables={"labels": Label.to_frame(settled.labels), "agreement": Agreement.to_frame(rows)},
        counts=Counts(n_input=total, kept=total - len(waiting), waiting=len(waiting)),
        review=[_review_item(standing, settled.rules) for standing in waiting],
        facts={
            "states": {state.value: count for state, count in status.states.items()},
            "experts": dict(status.experts),
            "flags": dict(status.flags),
            "ignored_reviews": settled.ignored,
            "alpha": {row.dimension: row.alpha for row in rows if _is_total(row)},
        },
        notes=_notes(status, rows, settled),
    )


def status(
    tables: Tables, params: ReviewParams, control: pl.DataFrame | None = None
) -> tuple[ReviewStatus, list[ExpertWork], list[Agreement]]:
    """Return the progress of the review as of the last pull, each expert's work, and agreement so far.

    Asks no server.

    Args:
        tables: ``questions``, ``annotations`` and ``pulled``.
        params: of the stage.
        control: answers to gold questions and probes, see ``folder.read_control``.
    """
    settled = settle(tables, params)
    ids = [standing.question_id for standing in settled.standings]
    judged = ExpertReview.to_frame(settled.judged())
    rows = agreement(judged, dimensions(), resamples=params.bootstrap, seed=0)
    assigned = None
    if params.assign:
        assigned = assign(groups_of(tables["questions"]), params, answered_by(tables["pulled"])).questions
    return (
        review_status(settled.standings),
        expert_work(
            ids, settled.reviews, settled.rules, assigned, controls(control) if control is not None else {}
        ),
        [row for row in rows if _is_total(row)],
    )


def _agreement(settled: Settled, params: ReviewParams, seed: int) -> list[Agreement]:
    judged = ExpertReview.to_frame(settled.judged())
    names = list(dimensions())
    rows = agreement(judged, names, resamples=params.bootstrap, seed=seed, labels=True)
    rows += agreement_by_part(judged, names, resamples=params.bootstrap, seed=seed)
    rows += agreement_with_annotators(
        judged, settled.annotations, names, resamples=params.bootstrap, seed=seed
    )
    return rows


def _is_total(row: Agreement) -> bool:
    return row.reviewers == ALL and row.label is None and row.slice is None


def _review_item(standing: Standing, rules: Rules) -> ReviewItem:
    ruled = any(review.flags and rules.rules(review) for review in standing.reviews)
    flagged = FLAGGED_BY_ADJUDICATOR if ruled else standing.state.value
    said = [
        {"dimension": r.dimension, "reviewer": r.reviewer, "label": r.label, "flags": r.flags, "note": r.note}
        for r in standing.reviews
    ]
    return ReviewItem(
        item_id=standing.question_id,
        question_ids=[standing.question_id],
        stage=STAGE,
        reason=flagged if standing.state is State.FLAGGED else standing.state.value,
        detail=standing.detail(),
        item=json.dumps(said, ensure_ascii=False, sort_keys=True),
    )


def _notes(status: ReviewStatus, rows: Sequence[Agreement], settled: Settled) -> list[str]:
    if not settled.reviews:
        return [
            "no expert has reviewed yet: labels are the annotators' (`build-dataset review push` sends them)"
        ]
    states = ", ".join(f"{status.states[state]} {state.value.replace('_', ' ')}" for state in State)
    notes = [f"reviews of {len(status.experts)} people: {states}"]
    for row in rows:
        if _is_total(row) and row.alpha is not None:
            interval = f" [{row.alpha_low:.2f}, {row.alpha_high:.2f}]" if row.alpha_low is not None else ""
            notes.append(
                f"agreement in {row.dimension}: alpha {row.alpha:.2f}{interval}, {row.items} questions"
            )
    if settled.ignored:
        reasons = ", ".join(f"{count} {reason}" for reason, count in settled.ignored.items())
        notes.append(f"reviews that do not count: {reasons}")
    if status.states[State.DISPUTED] or status.states[State.FLAGGED]:
        notes.append("disputes and flags go to a third expert with `build-dataset review adjudicate`")
    return notes
