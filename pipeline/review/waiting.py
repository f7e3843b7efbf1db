"""Questions that wait before annotation, and those whose keys the audit doubts, as people have to see them."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from pipeline.clean.patches import tidied_items
from pipeline.runtime.publish import read_table
from schemas.errors import UserError
from schemas.questions import Question, ReviewItem

_STAGES = ("parse", "clean", "dedup", "audit")


def waiting_questions(build: Path) -> tuple[list[tuple[ReviewItem, Question]], int]:
    """What waits in parse, clean, dedup and the audit with its question, tidy as clean makes it.

    A conflict of several questions gives a pair for each of them.

    Returns:
        The pairs; and how many items hold no question, such as a number that was not found.

    Raises:
        UserError: nothing was parsed yet.
    """
    if not (build / "parse" / "review.parquet").exists():
        raise UserError(f"nothing was parsed in {build}: run `build-dataset parse` first")
    pairs: list[tuple[ReviewItem, Question]] = []
    without = 0
    cleaned = _questions(build)
    for stage in _STAGES:
        path = build / stage / "review.parquet"
        items = list(ReviewItem.from_frame(read_table(path))) if path.exists() else []
        whole = tidied_items(items)
        for item in items:
            own = whole.get(item.item_id)
            found = [cleaned[each] for each in item.question_ids if each in cleaned] if own is None else [own]
            pairs += [(item, question) for question in found]
            without += not found
    return pairs, without


def _questions(build: Path) -> dict[str, Question]:
    """The questions of dedup's conflicts, by id."""
    review, questions = build / "dedup" / "review.parquet", build / "clean" / "questions.parquet"
    if not (review.exists() and questions.exists()):
        return {}
    wanted = read_table(review)["question_ids"].explode().drop_nulls()
    rows = read_table(questions).filter(pl.col("question_id").is_in(wanted.implode()))
    return {question.question_id: question for question in Question.from_frame(rows)}
