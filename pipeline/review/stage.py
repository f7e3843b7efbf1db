"""The review stage: final labels and agreement, a pure function of what was pulled."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from build_dataset.annotation import adjudication
from build_dataset.annotation.params import ReviewParams
from build_dataset.pipeline.clean.corrections import tidied_items
from build_dataset.pipeline.rendering.markup import notes
from build_dataset.pipeline.review import agreement as agreeing, progress
from build_dataset.pipeline.review.lineage import Lineage, QuestionChange, trace
from build_dataset.pipeline.runtime.publish import find_rows, find_table
from build_dataset.pipeline.stage import Context, Counts, Result, Tables
from build_dataset.schemas import errors, taxonomy
from build_dataset.schemas.annotations import Agreement, Annotation, Correction, ExpertReview, Label, LabelStatus
from build_dataset.schemas.questions import Question, ReviewItem

STAGE = "review"  # of what waits
FLAGGED_BY_ADJUDICATOR = "flagged_by_adjudicator"
"""Reason of questions with final labels and an error: somebody must correct them in `review verify`."""
_STAGES = ("parse", "clean", "proofread", "dedup", "audit", STAGE)  # stages whose waiting questions are verified


class Settled(NamedTuple):
    """Labels and states that reviews add up to."""

    rules: adjudication.Rules
    annotations: list[Annotation]
    labels: list[Label]
    reviews: list[ExpertReview]  # those that count
    corrections: list[Correction]
    statuses: list[adjudication.QuestionStatus]
    ignored: dict[str, int]  # reviews that do not count, by reason
    lineage: Lineage

    def judged(self) -> list[ExpertReview]:
        """Reviews by experts, without those of people who know the others' answers."""
        return [review for review in self.reviews if not self.rules.rules(review)]


def settle_questions(tables: Tables, params: ReviewParams) -> Settled:
    """Settle all questions."""
    question_ids = tables["questions"]["question_id"].to_list()
    rules = adjudication.Rules(frozenset(params.adjudicators), params.majority)
    annotations = list(Annotation.from_frame(tables["annotations"]))
    corrections = list(Correction.from_frame(tables["corrections"])) if "corrections" in tables else []
    lineage = trace(tables)
    counted, ignored = _counted(lineage.pulled, set(question_ids), params, rules)
    ignored |= {"changed_question": gone} if (gone := tables["pulled"].height - lineage.pulled.height) else {}
    reviews, superseded = adjudication.latest_reviews(counted)
    ignored |= {"superseded": len(superseded)} if superseded else {}
    labels = adjudication.final_labels(question_ids, annotations, reviews, rules)
    for at, each in enumerate(labels):
        if each.question_id in lineage.unconfirmed and each.status in (LabelStatus.AGREED, LabelStatus.ADJUDICATED):
            labels[at] = each.model_copy(update={"status": LabelStatus.SINGLE})  # both said so of other words
    groups = progress.groups_of(tables["questions"])
    single = progress.single_reviewed(groups, params.overlap) if params.overlap < 1 else set()
    answered, changed = adjudication.answered_flags(corrections), lineage.unconfirmed
    statuses = adjudication.question_statuses(labels, reviews, rules, answered, single, changed)
    return Settled(rules, annotations, labels, reviews, corrections, statuses, ignored, lineage)


def _counted(
    pulled: pl.DataFrame, question_ids: set[str], params: ReviewParams, rules: adjudication.Rules
) -> tuple[list[ExpertReview], dict[str, int]]:
    """The reviews that count, and how many do not for which reason."""
    known = {name: set(dimension.zh_names()) for name, dimension in taxonomy.dimensions().items()}
    everything = list(ExpertReview.from_frame(pulled))
    labelled = {(each.question_id, each.reviewer) for each in everything if not rules.rules(each)}
    counted: list[ExpertReview] = []
    ignored: Counter[str] = Counter()
    for review in everything:
        in_ruling = review.project == adjudication.ADJUDICATION
        rulers = params.adjudicators if in_ruling else ()
        if review.question_id not in question_ids:
            ignored["other_question"] += 1
        elif not (review.reviewer in rulers if rulers else params.invites(review.reviewer)):
            ignored["other_reviewer"] += 1
        elif in_ruling and (review.question_id, review.reviewer) in labelled:
            ignored["ruled_on_own_label"] += 1
        elif review.label not in known.get(review.dimension, ()):
            ignored["unknown_label"] += 1
        else:
            counted.append(review)
    return counted, dict(sorted(ignored.items()))


def waiting_questions(build: Path) -> tuple[list[tuple[ReviewItem, Question]], int]:
    """Return what waits in stages up to dedup and in the audit, or was flagged by the adjudicator, with its question.

    A conflict of several questions gives a pair for each of them. The number is of items that hold no question, such
    as a number that was not found.
    """
    if not (build / "parse" / "review.parquet").exists():
        raise errors.UserError(f"nothing was parsed in {build}: run `build-dataset parse` first")
    pairs: list[tuple[ReviewItem, Question]] = []
    without = 0
    rows_of = {stage: find_table(build, f"{stage}/review") for stage in _STAGES}
    waiting = {stage: list(ReviewItem.from_frame(rows)) for stage, rows in rows_of.items() if rows is not None}
    # Of the review, what the adjudicator flagged and left to be put right.
    waiting[STAGE] = [item for item in waiting.get(STAGE, ()) if item.reason == FLAGGED_BY_ADJUDICATOR]
    wanted = {name for stage in ("dedup", STAGE) for item in waiting.get(stage, ()) for name in item.question_ids}
    rows = find_rows(build, "clean/questions", pl.col("question_id").is_in(wanted))
    cleaned = {row["question_id"]: Question.model_validate(row) for row in rows}
    tables = (find_table(build, "clean/questions"), find_table(build, "clean/rejects"))
    settled = {name for table in tables if table is not None for name in table[:, 0]}  # kept or dropped by somebody
    for items in waiting.values():
        whole = tidied_items(items)
        for item in items:
            single = whole.get(item.item_id)
            known = whole if item.stage == "parse" else cleaned  # a doubt about a source holds its questions
            concerned = [known[each] for each in item.question_ids if each in known] if single is None else [single]
            without += not concerned
            decided = settled if item.stage == "parse" else ()
            pairs += [(item, question) for question in concerned if question.question_id not in decided]
    return pairs, without


def run(tables: Tables, params: ReviewParams, context: Context) -> Result:
    """Settle every question's label in every dimension, and measure the experts' agreement.

    Counts are of questions: *waiting* are those that are disputed, flagged, or seen by one of two experts, each
    with a review item; all others are kept, whether settled or not reviewed at all.
    """
    settled = settle_questions(tables, params)
    waiting = [standing for standing in settled.statuses if standing.state in adjudication.WAITING]
    judged = ExpertReview.to_frame(settled.judged())
    draws = agreeing.draws_of(taxonomy.dimensions(), params.bootstrap, context.seed)
    rows = agreeing.agreement(judged, draws, labels=True)
    rows += agreeing.agreement_by_part(judged, draws)
    rows += agreeing.agreement_with_annotators(judged, settled.annotations, draws)
    status = adjudication.review_status(settled.statuses)
    total = len(settled.statuses)
    names = set(settled.lineage.pulled["question_id"]) - set(tables["questions"]["question_id"])
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
        notes=notes(
            "build_dataset.pipeline.review",
            status=status,
            totals=list(filter(_is_total, rows)),
            reviewed=bool(settled.reviews),
            ignored=settled.ignored,
            strangers=[*sorted(names)[:5], *["…"] * (len(names) > 5)],
        ),
    )


def _review_item(standing: adjudication.QuestionStatus, rules: adjudication.Rules) -> ReviewItem:
    """Return a question that waits, with everybody's opinions."""
    ruled = any(review.flags and rules.rules(review) for review in standing.reviews)
    is_final = ruled and standing.state is adjudication.State.FLAGGED
    shown = {"dimension", "reviewer", "label", "flags", "note"}
    opinions = [review.model_dump(include=shown) for review in standing.reviews]
    return ReviewItem(
        item_id=standing.question_id,
        stage=STAGE,
        reason=FLAGGED_BY_ADJUDICATOR if is_final else standing.state.value,
        detail=standing.detail(),
        item=json.dumps(opinions, ensure_ascii=False, sort_keys=True),
    )


def status(
    tables: Tables, params: ReviewParams, control: pl.DataFrame
) -> tuple[adjudication.ReviewStatus, list[progress.ExpertWork], list[Agreement], Sequence[QuestionChange]]:
    """Return progress as of the last pull, each expert's work, agreement so far, and what changed since reviewed."""
    settled = settle_questions(tables, params)
    ids = [standing.question_id for standing in settled.statuses]
    judged = ExpertReview.to_frame(settled.judged())
    rows = agreeing.agreement(judged, agreeing.draws_of(taxonomy.dimensions(), params.bootstrap, seed=0))
    current = {**tables, "pulled": settled.lineage.pulled}
    mine = progress.assignment(current, params).questions if params.assign else None
    work = progress.expert_work(ids, settled.reviews, settled.rules, mine, progress.controls(control), params.experts)
    totals = [row for row in rows if _is_total(row)]
    return adjudication.review_status(settled.statuses), work, totals, settled.lineage.changes


def _is_total(row: Agreement) -> bool:
    return row.reviewers == agreeing.ALL and row.label is None and row.slice is None
