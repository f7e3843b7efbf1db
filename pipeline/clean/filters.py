"""The filters of the clean stage, in order. The first that a question fails gives the reason.

To add one: write a function that takes a question and the parameters and returns a sentence or None, and list it
here under a reason code. A ``screen`` makes it fast; it needs none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import polars as pl

from pipeline.clean import evidence, screens, validity
from pipeline.clean.params import CleanParams
from pipeline.clean.verdicts import Filter, Verdict
from schemas.questions import Question

UNREADABLE = "unreadable_characters"

FILTERS: tuple[Filter, ...] = (
    Filter("too_long", validity.too_long, screen=screens.too_long),
    Filter("needs_figure", evidence.needs_figure, screen=screens.figure),
    Filter("needs_table", evidence.needs_table, screen=screens.table),
    Filter("needs_formula", evidence.needs_formula, screen=screens.formula),
    Filter("garbled_text", validity.garbled_text, screen=screens.garbled),
    Filter(UNREADABLE, validity.unreadable, action="review", screen=screens.unreadable),
    Filter("suspicious_text", validity.suspicious_text, action="review", screen=screens.suspicious),
    Filter("empty_stem", validity.empty_stem, screen=screens.empty_stem),
    Filter("too_few_options", validity.too_few_options, screen=screens.options),
    Filter("truncated", validity.truncated, screen=screens.open_end),
    Filter("duplicate_options", validity.duplicate_options, screen=screens.duplicate_options),
    Filter("every_answer_accepted", validity.every_answer_accepted, screen=screens.accepted),
    Filter("no_answer", validity.no_answer, screen=screens.no_answer),
    Filter("answer_not_in_options", validity.answer_not_in_options, screen=screens.strange_answer),
    Filter("low_confidence", validity.low_confidence, action="review", screen=screens.low_confidence),
)


def doubtful(params: CleanParams) -> pl.Expr:
    """Which rows of a ``Question`` table any filter or rule may stop."""
    screened = [item.screen(params) for item in FILTERS]
    commented = pl.col("comment").is_not_null() & bool(params.comment_rules)
    return pl.any_horizontal(*screened, commented)


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
