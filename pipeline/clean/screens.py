"""What each filter looks for, as an expression over the whole table: a glance.

It may say yes too often, never too seldom. Filters then look closely at the few questions that are left (a twentieth
of CMExam's), and give the reason.
"""

from __future__ import annotations

import polars as pl

from pipeline.characters import UNREADABLE
from pipeline.clean.params import CleanParams
from pipeline.clean.validity import SUSPICIOUS

_LABELS = "".join(chr(ord("A") + place) for place in range(26))


def _option(field: str) -> pl.Expr:
    return pl.col("options").list.eval(pl.element().struct.field(field))


def _text() -> pl.Expr:
    """All that a reader sees before answering."""
    shared, options = pl.col("shared_stem").fill_null(""), _option("text").list.join("\n").fill_null("")
    return pl.concat_str(shared, "stem", options, separator="\n")


def _has(kind: str) -> pl.Expr:
    return pl.col("attachments").list.contains(kind).fill_null(value=False)


def figure(params: CleanParams) -> pl.Expr:
    """A figure in its place, or a word for one."""
    if params.keep_figures:
        return pl.lit(value=False)
    words = r"(?i)[图圖像片光]|心[电電]|shown|\bfig|[结結][构構]|structure"
    return _has("figure") | _text().str.contains(words)


def table(params: CleanParams) -> pl.Expr:
    """A table in its place, or a word for one."""
    return pl.lit(value=False) if params.keep_tables else _has("table") | _text().str.contains("(?i)表|table")


def formula(params: CleanParams) -> pl.Expr:
    """A formula in its place."""
    return pl.lit(value=False) if params.keep_formulas else _has("formula")


def too_long(params: CleanParams) -> pl.Expr:
    """As many characters as are too many, breaks included."""
    return _text().str.len_chars() > params.max_characters


def garbled(_: CleanParams) -> pl.Expr:
    """A character that is seldom part of a word."""
    signs = r"\(cid:|锟|烫|屯|[Ã-ï]|\?{5}|[\x{E000}-\x{F8FF}\x{FFF0}-\x{FFFF}\x{E0000}-\x{10FFFF}]"
    return _text().str.contains(signs)


def unreadable(_: CleanParams) -> pl.Expr:
    """A character without meaning."""
    return _text().str.contains(UNREADABLE)


def empty_stem(_: CleanParams) -> pl.Expr:
    """At most one letter or digit."""
    stem = pl.concat_str(pl.col("shared_stem").fill_null(""), "stem")
    return ~stem.str.contains(r"(?s)[\p{L}\p{N}].*[\p{L}\p{N}]")


def options(params: CleanParams) -> pl.Expr:
    """Too few, or one without text."""
    return (pl.col("options").list.len() < params.min_options) | _option("text").list.contains("")


def open_end(_: CleanParams) -> pl.Expr:
    """A stem that ends within a sentence, an option without text, labels out of turn."""
    in_turn = pl.lit(_LABELS).str.starts_with(_option("label").list.join("").fill_null(""))
    cut_off = pl.col("stem").str.contains(r"[，、；,;（(《【\[“‘]\s*$")
    return cut_off | _option("text").list.contains("") | ~in_turn


def duplicate_options(_: CleanParams) -> pl.Expr:
    """Fewer texts than options."""
    texts = pl.col("options").list.eval(pl.element().struct.field("text").str.normalize("NFKC"))
    return texts.list.n_unique() < texts.list.len()


def accepted(_: CleanParams) -> pl.Expr:
    """More than one answer earns the mark."""
    return pl.col("accepted_answers").is_not_null()


def no_answer(_: CleanParams) -> pl.Expr:
    """No letter."""
    return pl.col("answer").list.len().fill_null(0) == 0


def strange_answer(_: CleanParams) -> pl.Expr:
    """A letter that no option has, or answers to be looked at one by one."""
    strange = pl.col("answer").list.set_difference(_option("label")).list.len().fill_null(0) > 0
    return strange | pl.col("accepted_answers").is_not_null()


def low_confidence(params: CleanParams) -> pl.Expr:
    """Less than asked for."""
    return (pl.col("confidence") < params.min_confidence).fill_null(value=False)


def suspicious(_: CleanParams) -> pl.Expr:
    """Words that speak to a model."""
    return _text().str.contains(SUSPICIOUS) | pl.col("explanation").str.contains(SUSPICIOUS).fill_null(
        value=False
    )
