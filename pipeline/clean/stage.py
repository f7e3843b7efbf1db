"""The clean stage: texts tidied, figure and table items and invalid questions taken out with their reasons."""

from collections import Counter

import polars as pl

from build_dataset.pipeline.clean.corrections import Patches, patch_questions, tidy_questions, verified_questions
from build_dataset.pipeline.clean.filters import POINTS_AT, UNANSWERED, FilterVerdict, judge_question, suspect_reasons
from build_dataset.pipeline.clean.params import CleanParams
from build_dataset.pipeline.stage import Context, Counts, Result, Tables
from build_dataset.schemas.annotations import Correction
from build_dataset.schemas.questions import Question, Rejection, ReviewItem


def run(tables: Tables, params: CleanParams, context: Context) -> Result:
    """Tidy every question and keep the ones that pass all filters, in the order they came.

    Questions that waited in parse and were verified since come along. Corrections are applied where a question still
    says what it said when they were made. The table ``changes`` holds each text that tidying changed, as it was.
    """
    parsed = tables["questions"]
    verified = verified_questions(tables)  # waited in parse, and somebody read them
    questions, changes = tidy_questions(pl.concat([parsed, verified.select(parsed.columns)]))
    patches = patch_questions(questions, tables.get("corrections"))
    questions = patches.questions
    reasons = suspect_reasons(questions, params)
    settled = questions["question_id"].is_in(list(patches.verdicts)).to_list()  # by people
    doubted = [row for row, doubts in enumerate(reasons) if doubts or settled[row]]
    stopped: list[int] = []
    aside: list[Rejection | ReviewItem] = []
    for glance in POINTS_AT.values():
        glance.look(questions["stem"][doubted].to_list())
    with context.progress(len(doubted), "questions") as advance:
        for row, question in zip(doubted, Question.from_frame(questions[doubted]), strict=True):
            if (verdict := _verdict(question, params, patches, reasons[row])) is not None:
                stopped.append(row)
                record = ReviewItem if verdict.action == "review" else Rejection
                why = {"reason": verdict.reason, "detail": verdict.detail}
                item = question.model_dump_json(exclude_none=True)
                aside.append(record(item_id=question.question_id, stage="clean", item=item, **why))
            advance(1)
    kept = questions.with_row_index("row").filter(~pl.col("row").is_in(stopped)).drop("row")
    applied = Correction.to_frame(patches.applied)
    rejects = [item for item in aside if isinstance(item, Rejection)]
    waiting = [item for item in aside if isinstance(item, ReviewItem)]
    return Result(
        tables={"questions": kept, "changes": changes, "corrections": applied},
        counts=Counts(questions.height, kept.height, rejected=len(rejects), waiting=len(waiting)),
        rejects=rejects,
        review=waiting,
        facts={
            "reasons": dict(sorted(Counter(item.reason for item in aside).items())),
            "texts_changed": changes.height,
            "corrections_applied": applied.height,
            "verified_since_parse": verified.height,
        },
    )


def _verdict(question: Question, params: CleanParams, patches: Patches, reasons: list[str]) -> FilterVerdict | None:
    """Return the decision of people, else of the filters; doubts that people answered are dropped."""
    # A doubt about an unreadable character is settled only by a text without it, one about a key only by another key.
    if question.question_id in patches.verdicts:
        return patches.verdicts[question.question_id]
    verdict = judge_question(question, params, reasons)
    answerable = verdict is not None and verdict.action == "review" and verdict.reason not in UNANSWERED
    return None if answerable and question.question_id in patches.kept else verdict
