"""The filters of the clean stage, in order. The first that a question fails gives the reason.

To add one: write a function that takes a question and the parameters and returns a sentence or None, and list it
here under a reason code. A ``prefilter`` makes it fast; it needs none.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal

import polars as pl

from pipeline.characters import UNREADABLE as NO_MEANING
from pipeline.clean import validity
from pipeline.clean.params import CleanParams
from pipeline.clean.validity import PATTERNS as _P
from schemas.questions import Question

UNREADABLE = "unreadable_characters"
_COMMENT = "comment"
"""Stands for the rules on comments among the reasons to look at a question."""
_LABELS = "".join(chr(ord("A") + place) for place in range(26))

Action = Literal["reject", "review"]
Check = Callable[[Question, CleanParams], str | None]
"""One sentence for people when the question fails, None when it passes."""
Prefilter = pl.Expr | Callable[[CleanParams], pl.Expr]
"""An expression over a ``Question`` table: true for all rows that fail, and for few others."""


@dataclass(frozen=True)
class FilterVerdict:
    """The reason for which a question is not kept."""

    reason: str
    detail: str
    action: Action


@dataclass(frozen=True)
class Filter:
    """A check under the reason code that its failures are counted by.

    Attributes:
        reason: the code.
        check: what it looks for.
        prefilter: spares it most questions (of CMExam's nineteen in twenty); without one it sees every question.
        action: what becomes of those that fail.
    """

    reason: str
    check: Check
    prefilter: Prefilter | None = None
    action: Action = "reject"

    def suspects(self, params: CleanParams) -> pl.Expr:
        """The rows that the check has to see: also those for which the prefilter is null."""
        if self.prefilter is None:
            return pl.lit(value=True)
        expression = self.prefilter if isinstance(self.prefilter, pl.Expr) else self.prefilter(params)
        return expression.fill_null(value=True)


def _option(field: str) -> pl.Expr:
    return pl.col("options").list.eval(pl.element().struct.field(field))


_SHARED = pl.col("shared_stem").fill_null("")
_TEXT = pl.concat_str(_SHARED, "stem", _option("text").list.join("\n").fill_null(""), separator="\n")
"""All that a reader sees before answering."""
_BESIDE = pl.col("attachments").fill_null([]).list
_IN_TURN = pl.lit(_LABELS).str.starts_with(_option("label").list.join("").fill_null(""))
_NO_TEXT = _option("text").list.contains("")
_SEVERAL = pl.col("accepted_answers").is_not_null()
_FORMS = pl.col("options").list.eval(pl.element().struct.field("text").str.normalize("NFKC")).list
# A character that is seldom part of a word: of a wrong decoding (锟斤拷, Ã©), or for private use.
_SIGNS = r"\(cid:|锟|烫|屯|[À-ÿ]|\?{5}|[\x{E000}-\x{F8FF}\x{FFF0}-\x{FFFF}\x{E0000}-\x{10FFFF}]"


def _too_long(params: CleanParams) -> pl.Expr:
    return _TEXT.str.len_chars() > params.max_characters


def _few_options(params: CleanParams) -> pl.Expr:
    return (pl.col("options").list.len() < params.min_options) | _NO_TEXT


def _unsure(params: CleanParams) -> pl.Expr:
    return pl.col("confidence").fill_null(1.0) < params.min_confidence


FILTERS: tuple[Filter, ...] = (
    Filter("too_long", validity.too_long, _too_long),
    Filter(
        "needs_figure",
        validity.needs_figure,
        _BESIDE.contains("figure") | _TEXT.str.contains(_P.figure_words.pattern),
    ),
    Filter(
        "needs_table",
        validity.needs_table,
        _BESIDE.contains("table") | _TEXT.str.contains(_P.table_words.pattern),
    ),
    Filter("needs_formula", validity.needs_formula, _BESIDE.contains("formula")),
    Filter("garbled_text", validity.garbled_text, _TEXT.str.contains(_SIGNS)),
    Filter(UNREADABLE, validity.unreadable, _TEXT.str.contains(NO_MEANING), action="review"),
    Filter(
        "suspicious_text",
        validity.suspicious_text,
        pl.concat_str(_TEXT, pl.col("explanation").fill_null("")).str.contains(validity.SUSPICIOUS),
        action="review",
    ),
    Filter(
        "empty_stem",
        validity.empty_stem,
        ~pl.concat_str(_SHARED, "stem").str.contains(r"(?s)[\p{L}\p{N}].*[\p{L}\p{N}]"),
    ),
    Filter("too_few_options", validity.too_few_options, _few_options),
    Filter(
        "truncated",
        validity.truncated,
        pl.col("stem").str.contains(_P.last_words.pattern) | _NO_TEXT | ~_IN_TURN,
    ),
    Filter("duplicate_options", validity.duplicate_options, _FORMS.n_unique() < _FORMS.len()),
    Filter("every_answer_accepted", validity.every_answer_accepted, _SEVERAL),
    Filter("no_answer", validity.no_answer, pl.col("answer").list.len().fill_null(0) == 0),
    Filter(
        "answer_not_in_options",
        validity.answer_not_in_options,
        (pl.col("answer").list.set_difference(_option("label")).list.len().fill_null(0) > 0) | _SEVERAL,
    ),
    Filter("low_confidence", validity.low_confidence, _unsure, action="review"),
)


def suspect_reasons(questions: pl.DataFrame, params: CleanParams) -> list[list[str]]:
    """The reasons for which each row of a ``Question`` table has to be looked at; none for most."""
    looks = {item.reason: item.suspects(params) for item in FILTERS}
    looks[_COMMENT] = pl.col("comment").is_not_null() & bool(params.comment_rules)
    named = [pl.when(look).then(pl.lit(reason)) for reason, look in looks.items()]
    reasons: list[list[str]] = questions.select(pl.concat_list(named).list.drop_nulls())[:, 0].to_list()
    return reasons


def judge_question(
    question: Question, params: CleanParams, reasons: Collection[str] | None = None
) -> FilterVerdict | None:
    """Return the reason for which ``question`` is not kept, or None when it is; ``reasons`` are those to look at."""
    for item in FILTERS:
        if (reasons is None or item.reason in reasons) and (detail := item.check(question, params)):
            return FilterVerdict(item.reason, detail, item.action)
    for rule in params.comment_rules:
        if question.comment and re.search(rule.pattern, question.comment):
            said = f"the source's comment says “{question.comment[:80]}”"
            return FilterVerdict(rule.reason, said, rule.action)
    return None
