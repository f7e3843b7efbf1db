"""What was rejected and what waits, by stage and reason, with examples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from pipeline.report import words
from pipeline.report.build import Build
from pipeline.report.params import ReportParams
from pipeline.report.section import Section
from pipeline.report.shown import item_text
from schemas.wording import counted

_SHOWN_APART = "conflicting_answers"


def rejected(build: Build, params: ReportParams) -> Section | None:
    """What was taken out; None when nothing was."""
    groups = list(_groups(build, "rejected", "rejects", params))
    return Section("rejected", "Taken out, and why", "剔除及原因", _values(groups)) if groups else None


def waiting(build: Build, params: ReportParams) -> Section | None:
    """What waits for a person; None when nothing does."""
    groups = list(_groups(build, "waiting", "review", params))
    if not groups:
        return None
    return Section("waiting", "Waiting", "待处理", _values(groups), list(_warnings(build)))


def _warnings(build: Build) -> Iterator[str]:
    """What waits in a stage that hands questions on is missing from the splits; what waits later is only unsettled."""
    waiting = {stage.name: stage.counts["waiting"] for stage in build.ran if stage.counts["waiting"]}
    missing = sum(
        count
        for name, count in waiting.items()
        if name == "ocr" or build.stage(name).rows("questions") is not None
    )
    if missing:
        yield f"Waiting for a person to decide, and in no split: {counted(missing, 'item')}."
    for name, count in waiting.items():
        if name != "ocr" and build.stage(name).rows("questions") is None:
            yield f"Not settled in {name}: {counted(count, build.stage(name).counts['unit'].removesuffix('s'))}."


def _values(groups: list[dict[str, Any]]) -> dict[str, Any]:
    return {"groups": groups, "largest": max(group["count"] for group in groups)}


def _groups(build: Build, outcome: str, table: str, params: ReportParams) -> Iterator[dict[str, Any]]:
    """One group a stage and reason, in the order of stages, most frequent first."""
    examples = {stage: _examples(frame, params) for stage, frame in build.set_aside(table)}
    for stage in build.ran:
        for reason, count in stage.reasons(outcome).items():
            yield {
                "stage": stage.name,
                "chinese": words.STAGES.get(stage.name, ""),
                "reason": reason,
                "count": count,
                "apart": reason == _SHOWN_APART,
                "examples": examples.get(stage.name, {}).get(reason, []) if reason != _SHOWN_APART else [],
            }


def _examples(frame: pl.DataFrame, params: ReportParams) -> Mapping[str, list[dict[str, Any]]]:
    """A few items of each reason, evenly spread over all in the order of their ids."""
    ordered = frame.select("item_id", "reason", "detail", "item").sort("reason", "item_id", "detail")
    place, size = pl.int_range(pl.len()).over("reason"), pl.len().over("reason")
    quota = params.examples
    chosen = ordered.filter((place * quota // size != (place - 1) * quota // size) & (quota > 0))
    found: dict[str, list[dict[str, Any]]] = {}
    for item_id, reason, detail, item in chosen.iter_rows():
        shown = item_text(item, params.characters)
        found.setdefault(reason, []).append(
            {"id": item_id, "detail": detail[: params.characters], "item": shown}
        )
    return found
