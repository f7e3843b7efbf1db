"""Texts of questions tidied, column by column, and what was changed: tidying can be undone text by text."""

import re
from collections.abc import Mapping

import polars as pl

from pipeline.characters import UNREADABLE
from pipeline.releases import hashes_of
from pipeline.text import TIDIABLE, tidy
from schemas.questions import TextChange

_OPTIONAL = ("shared_stem", "explanation", "comment")
"""Absent when nothing visible is left of them."""
_UNASKED = ("explanation", "comment")
"""Texts that ask nothing: □ takes the place of characters that cannot be read. Questions with such wait."""
_TEXTS = ("stem", *_OPTIONAL)


def tidy_questions(questions: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The questions with tidy texts and the hash of what they now say.

    Returns:
        The questions in the same order, and a ``TextChange`` table: each text that changed, as it was and as it is.
    """
    ids = questions["question_id"]
    tidy_texts = {name: _tidy_column(questions[name]) for name in _TEXTS}
    changes = [
        _changed({"question_id": ids, "part": name, "before": questions[name], "after": after})
        for name, after in tidy_texts.items()
    ]
    options = questions.select("question_id", "options").explode("options").unnest("options")
    tidy_options = options.with_columns(_tidy_column(options["text"]))
    parts, before, after = "option:" + options["label"], options["text"], tidy_options["text"]
    of_options = _changed(
        {"question_id": options["question_id"], "part": parts, "before": before, "after": after}
    )
    found = pl.concat([*changes, of_options]).sort("question_id", "part")
    if found.is_empty():
        return questions, found
    tidy_frame = questions.with_columns(**tidy_texts)
    if not of_options.is_empty():
        tidy_frame = _with_options(tidy_frame, tidy_options, of_options["question_id"])
    return _rehashed(tidy_frame, found["question_id"]), found


def _tidy_column(texts: pl.Series) -> pl.Series:
    """Tidy what may need it: a glance at all texts takes a twentieth of tidying them."""
    doubtful = texts.str.contains(f"{TIDIABLE}|{UNREADABLE}") | (texts.str.normalize("NFC") != texts)
    if texts.name in _OPTIONAL:
        doubtful |= texts == ""
    rows = doubtful.fill_null(value=False).arg_true()
    made: list[str | None] = [tidy(text) for text in texts.gather(rows).to_list()]
    if texts.name in _UNASKED:
        made = [text and re.sub(UNREADABLE, "□", text) for text in made]
    if texts.name in _OPTIONAL:
        made = [text or None for text in made]
    return texts.clone().scatter(rows, pl.Series(made, dtype=pl.String))


def _changed(columns: Mapping[str, pl.Series | str]) -> pl.DataFrame:
    """The rows whose ``before`` is not their ``after``."""
    return pl.DataFrame(columns, schema=TextChange.polars_schema()).filter(
        pl.col("before").ne_missing(pl.col("after"))
    )


def _with_options(questions: pl.DataFrame, options: pl.DataFrame, ids: pl.Series) -> pl.DataFrame:
    """The questions with the tidy ``options`` (one a row) of those with these ``ids``."""
    again = (
        options.filter(pl.col("question_id").is_in(ids.unique().implode()))
        .group_by("question_id", maintain_order=True)
        .agg(pl.struct("label", "text").alias("options"))
    )
    return questions.update(again, on="question_id").select(questions.columns)


def _rehashed(questions: pl.DataFrame, ids: pl.Series) -> pl.DataFrame:
    """The questions with ``content_hash`` anew for those with these ``ids``."""
    changed = questions.filter(pl.col("question_id").is_in(ids.unique().implode()))
    return questions.update(changed.select("question_id", content_hash=hashes_of(changed)), on="question_id")
