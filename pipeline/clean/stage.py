"""The clean stage: texts tidied, figure and table items and invalid questions taken out with their reasons."""

from collections import Counter

import polars as pl

from pipeline.clean.corrections import Patches, patch_questions, tidy_questions, verified_questions
from pipeline.clean.filters import UNREADABLE, FilterVerdict, judge_question, suspect_reasons
from pipeline.clean.params import CleanParams
from pipeline.stage import Context, Counts, Result, Tables
from schemas.annotations import Correction
from schemas.questions import Question, Rejection, ReviewItem

STAGE = "clean"


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
    looked_at = [row for row, found in enumerate(reasons) if found or settled[row]]
    stopped: list[int] = []
    result = Result(tables={}, counts=Counts(n_input=questions.height, kept=0))
    with context.progress(len(looked_at), "questions") as advance:
        for row, question in zip(looked_at, Question.from_frame(questions[looked_at]), strict=True):
            if (verdict := _verdict(question, params, patches, reasons[row])) is not None:
                stopped.append(row)
                _set_aside(question, verdict, result)
            advance(1)
    kept = questions.with_row_index("row").filter(~pl.col("row").is_in(stopped)).drop("row")
    applied = Correction.to_frame(patches.applied)
    result.tables |= {"questions": kept, "changes": changes, "corrections": applied}
    result.counts = Counts(
        questions.height, kept.height, rejected=len(result.rejects), waiting=len(result.review)
    )
    given = Counter([item.reason for item in result.rejects] + [item.reason for item in result.review])
    result.facts = {
        "reasons": dict(sorted(given.items())),
        "texts_changed": changes.height,
        "corrections_applied": applied.height,
        "verified_since_parse": verified.height,
    }
    return result


def _verdict(
    question: Question, params: CleanParams, patches: Patches, reasons: list[str]
) -> FilterVerdict | None:
    """Return the decision of people, else of the filters; doubts that people answered are dropped.

    A doubt about an unreadable character is settled only by a text without that character.
    """
    if question.question_id in patches.verdicts:
        return patches.verdicts[question.question_id]
    verdict = judge_question(question, params, reasons)
    answerable = verdict is not None and verdict.action == "review" and verdict.reason != UNREADABLE
    return None if answerable and question.question_id in patches.kept else verdict


def _set_aside(question: Question, verdict: FilterVerdict, result: Result) -> None:
    told = {
        "item_id": question.question_id,
        "stage": STAGE,
        "reason": verdict.reason,
        "detail": verdict.detail,
        "item": question.model_dump_json(exclude_none=True),
    }
    if verdict.action == "review":
        result.review.append(ReviewItem(question_ids=[question.question_id], **told))
    else:
        result.rejects.append(Rejection(**told))
