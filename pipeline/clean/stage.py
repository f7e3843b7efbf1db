"""The clean stage: texts tidied, figure and table items and invalid questions taken out with their reasons.

The texts as they were parsed stay in ``parse/questions`` under the same question_id.
"""

from __future__ import annotations

from collections import Counter

from pipeline.clean.filters import judge
from pipeline.clean.params import CleanParams
from pipeline.clean.verdicts import Verdict
from pipeline.stage import Context, Counts, Result, Tables
from pipeline.text import tidy
from schemas.identity import content_hash
from schemas.questions import Option, Question, Rejection, ReviewItem

STAGE = "clean"


def run(tables: Tables, params: CleanParams, context: Context) -> Result:
    """Tidy every question and keep the ones that pass all filters, in the order they came.

    Args:
        tables: ``questions`` as parsed.
        params: thresholds and rules.
        context: for progress.

    Returns:
        Table ``questions``; the others as rejections or, for people to decide, review items.
    """
    frame = tables["questions"]
    kept: list[Question] = []
    result = Result(tables={}, counts=Counts(into=frame.height, kept=0))
    with context.progress(frame.height, "questions") as advance:
        for parsed in Question.from_frame(frame):
            question = tidied(parsed)
            verdict = judge(question, params)
            if verdict is None:
                kept.append(question)
            else:
                _set_aside(question, verdict, result)
            advance(1)
    result.tables["questions"] = Question.to_frame(kept)
    result.counts = Counts(frame.height, len(kept), rejected=len(result.rejects), waiting=len(result.review))
    reasons = Counter([item.reason for item in result.rejects] + [item.reason for item in result.review])
    result.facts["reasons"] = dict(sorted(reasons.items()))
    return result


def tidied(question: Question) -> Question:
    """The question with tidy texts and the hash of what it now says."""
    options = [_tidied_option(option) for option in question.options]
    stem, shared = tidy(question.stem), _tidy_or_none(question.shared_stem)
    changes = {
        "stem": stem,
        "shared_stem": shared,
        "options": options,
        "explanation": _tidy_or_none(question.explanation),
        "comment": _tidy_or_none(question.comment),
        "content_hash": content_hash(stem, [option.text for option in options], shared),
    }
    return question.model_copy(update=changes)


def _tidied_option(option: Option) -> Option:
    text = tidy(option.text)
    return option if text == option.text else Option(label=option.label, text=text)


def _tidy_or_none(text: str | None) -> str | None:
    return (tidy(text) or None) if text else None


def _set_aside(question: Question, verdict: Verdict, result: Result) -> None:
    item = question.model_dump_json(exclude_none=True)
    if verdict.action == "review":
        result.review.append(
            ReviewItem(
                item_id=question.question_id,
                question_ids=[question.question_id],
                stage=STAGE,
                reason=verdict.reason,
                detail=verdict.detail,
                item=item,
            )
        )
    else:
        result.rejects.append(
            Rejection(
                item_id=question.question_id,
                stage=STAGE,
                reason=verdict.reason,
                detail=verdict.detail,
                item=item,
            )
        )
