"""Questions that wait before annotation, and those whose keys the audit doubts, as people have to see them."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from pipeline.clean.corrections import tidied_items
from pipeline.review.stage import FLAGGED_BY_ADJUDICATOR
from pipeline.review.stage import STAGE as REVIEW
from pipeline.runtime.publish import read_table
from schemas.errors import UserError
from schemas.questions import Question, ReviewItem

_STAGES = ("parse", "clean", "dedup", "audit")


def waiting_questions(build: Path) -> tuple[list[tuple[ReviewItem, Question]], int]:
    """What waits in parse, clean, dedup and the audit, or was flagged by the adjudicator, with its question, tidy.

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
    for stage in (*_STAGES, REVIEW):
        items = _items(build, stage)
        whole = tidied_items(items)
        for item in items:
            own = whole.get(item.item_id)
            found = [cleaned[each] for each in item.question_ids if each in cleaned] if own is None else [own]
            pairs += [(item, question) for question in found]
            without += not found
    return pairs, without


def _items(build: Path, stage: str) -> list[ReviewItem]:
    """What waits in a stage; of the review, what the adjudicator flagged and left to be put right."""
    path = build / stage / "review.parquet"
    items = list(ReviewItem.from_frame(read_table(path))) if path.exists() else []
    return [item for item in items if stage != REVIEW or item.reason == FLAGGED_BY_ADJUDICATOR]


def _questions(build: Path) -> dict[str, Question]:
    """The questions of dedup's conflicts, and those that an adjudicator flagged, by id."""
    path = build / "clean" / "questions.parquet"
    if not path.exists():
        return {}
    wanted = {
        name for stage in ("dedup", REVIEW) for item in _items(build, stage) for name in item.question_ids
    }
    rows = read_table(path).filter(pl.col("question_id").is_in(wanted))
    return {question.question_id: question for question in Question.from_frame(rows)}
