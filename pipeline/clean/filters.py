"""The filters of the clean stage, in order. The first that a question fails gives the reason.

To add one: write a function that takes a question and the parameters and returns a sentence or None, and list it
here under a reason code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.clean import evidence, validity
from pipeline.clean.params import CleanParams
from pipeline.clean.verdicts import Filter, Verdict
from schemas.questions import Question

FILTERS: tuple[Filter, ...] = (
    Filter("too_long", validity.too_long),
    Filter("needs_figure", evidence.needs_figure),
    Filter("needs_table", evidence.needs_table),
    Filter("garbled_text", validity.garbled_text),
    Filter("empty_stem", validity.empty_stem),
    Filter("too_few_options", validity.too_few_options),
    Filter("truncated", validity.truncated),
    Filter("duplicate_options", validity.duplicate_options),
    Filter("every_answer_accepted", validity.every_answer_accepted),
    Filter("no_answer", validity.no_answer),
    Filter("answer_not_in_options", validity.answer_not_in_options),
    Filter("low_confidence", validity.low_confidence, action="review"),
)


def judge(question: Question, params: CleanParams) -> Verdict | None:
    """Why ``question`` is not kept, or None when it is."""
    return next(_verdicts(question, params), None)


def _verdicts(question: Question, params: CleanParams) -> Iterator[Verdict]:
    for item in FILTERS:
        if detail := item.check(question, params):
            yield Verdict(item.reason, detail, item.action)
    for rule in params.comment_rules:
        if question.comment and re.search(rule.pattern, question.comment):
            yield Verdict(rule.reason, f"the source's comment says “{question.comment[:80]}”", rule.action)
