"""One question, two keys: what dedup would not settle by itself."""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from pipeline.report.build import Build
from pipeline.report.pairs import side_by_side
from pipeline.report.params import ReportParams
from pipeline.report.section import Section
from schemas.wording import counted

REASON = "conflicting_answers"


def section(build: Build, params: ReportParams) -> Section | None:
    """Copies of a question whose keys contradict each other; None when there are none."""
    review = build.table("dedup/review")
    if review is None:
        return None
    found = review.filter(pl.col("reason") == REASON).sort("item_id")
    if found.is_empty():
        return None
    shown = found.head(params.conflicts)
    copies = int(found["question_ids"].list.len().sum())
    values = {
        "count": found.height,
        "all_copies": copies,
        "shown": shown.height,
        "conflicts": [
            _conflict(detail, item, params) for detail, item in shown.select("detail", "item").iter_rows()
        ],
    }
    warning = (
        f"{counted(found.height, 'question')} with contradicting keys: "
        f"all {copies:,} copies of {'it' if found.height == 1 else 'them'} wait, none is in a split."
    )
    return Section("conflicts", "Contradicting keys", "答案冲突", values, [warning])


def _conflict(detail: str, item: str | None, params: ReportParams) -> dict[str, Any]:
    """The first copy beside each other one, at most three."""
    copies = json.loads(item or "[]")
    pairs = [side_by_side(copies[0], other, params.characters) for other in copies[1:4]]
    return {
        "detail": detail[: params.characters],
        "copies": len(copies),
        "cards": [pairs[0][0], *(pair[1] for pair in pairs)] if pairs else [],
    }
