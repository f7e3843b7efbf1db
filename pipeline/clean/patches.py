"""People's corrections over a whole table: which questions they change, keep, drop, or no longer fit."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import polars as pl

from annotation.label_studio.editable import SHARED
from pipeline.clean.corrections import OUTDATED, Corrected, accepted, apply
from pipeline.clean.filters import Verdict
from pipeline.clean.tidying import tidied
from pipeline.stage import Tables
from schemas.corrections import Correction
from schemas.questions import Question, ReviewItem

DROPPED = "dropped_by_expert"


@dataclass
class Patches:
    """A table of questions after corrections."""

    questions: pl.DataFrame
    applied: list[Correction] = field(default_factory=list)
    kept: set[str] = field(default_factory=set)
    """Questions that somebody verified: what doubts there were are answered."""
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    """Questions that somebody dropped, or whose correction was made on another text."""


def patched(questions: pl.DataFrame, corrections: pl.DataFrame | None) -> Patches:
    """Apply the corrections that count.

    Args:
        questions: a ``Question`` table, tidy.
        corrections: a ``Correction`` table.
    """
    if corrections is None or corrections.is_empty():
        return Patches(questions)
    wanted = accepted(Correction.from_frame(corrections))
    _spread(questions, wanted)
    rows = questions.filter(pl.col("question_id").is_in(list(wanted)))
    found = Patches(questions)
    changed = []
    for question in Question.from_frame(rows):
        result = apply(question, wanted[question.question_id])
        found.applied += result.applied
        if result.question != question:
            changed.append(result.question)
        _judge(result, found)
    if changed:
        again = Question.to_frame(changed)
        order = questions.select("question_id").with_row_index("row")
        others = questions.filter(~pl.col("question_id").is_in(again["question_id"].implode()))
        everything = pl.concat([others, again.select(questions.columns)]).join(order, on="question_id")
        found.questions = everything.sort("row").drop("row")
    return found


def released(tables: Tables) -> pl.DataFrame:
    """Questions that waited in parse and that somebody verified or corrected since; a ``Question`` table."""
    empty = Question.to_frame([])
    if "corrections" not in tables or "review" not in tables:
        return empty
    wanted = list(accepted(Correction.from_frame(tables["corrections"])))
    items = ReviewItem.from_frame(tables["review"].filter(pl.col("item_id").is_in(wanted)))
    return Question.to_frame(_questions(items)) if wanted else empty


def tidied_items(items: Iterable[ReviewItem]) -> dict[str, Question]:
    """The questions inside review items, tidy, by id; items that hold none are passed over."""
    tidy, _ = tidied(Question.to_frame(_questions(items)))
    return {question.question_id: question for question in Question.from_frame(tidy)}


def _questions(items: Iterable[ReviewItem]) -> list[Question]:
    found: dict[str, Question] = {}
    for item in items:
        content = json.loads(item.item) if item.item else None
        if isinstance(content, dict) and content.get("question_id") == item.item_id:
            absent = dict.fromkeys(Question.model_fields)  # some stages leave out what is null
            found.setdefault(item.item_id, Question.model_validate(absent | content))
    return list(found.values())


def _judge(result: Corrected, found: Patches) -> None:
    question_id = result.question.question_id
    if result.verdict == "drop":
        who = ", ".join(dict.fromkeys(each.by for each in result.applied if each.after == "drop"))
        notes = "; ".join(dict.fromkeys(each.note for each in result.applied if each.note))
        found.verdicts[question_id] = Verdict(
            DROPPED, f"dropped by {who}{f': {notes}' if notes else ''}", "reject"
        )
    elif result.outdated:
        found.verdicts[question_id] = Verdict(OUTDATED, result.conflict(), "review")
    elif result.verdict == "keep":
        found.kept.add(question_id)


def _spread(questions: pl.DataFrame, wanted: dict[str, list[Correction]]) -> None:
    """A shared case that was corrected at one question is corrected at all that share it, in place."""
    for correction in [each for own in list(wanted.values()) for each in own if each.field == SHARED]:
        here = questions.filter(pl.col("question_id") == correction.question_id)
        if here.is_empty() or here["group_id"][0] is None:
            continue
        same = pl.col("document").eq(here["document"][0]) & pl.col("group_id").eq(here["group_id"][0])
        shared = pl.col("shared_stem").eq_missing(here["shared_stem"][0])
        others = questions.filter(same & shared & (pl.col("question_id") != correction.question_id))
        for question_id, content_hash in others.select("question_id", "content_hash").iter_rows():
            own: Sequence[Correction] = wanted.setdefault(question_id, [])
            if not any(each.field == SHARED for each in own):
                changes = {"question_id": question_id, "content_hash": content_hash}
                wanted[question_id] = [*own, correction.model_copy(update=changes)]
