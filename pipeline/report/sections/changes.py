"""What is different from the previous release."""

from __future__ import annotations

import polars as pl

from pipeline.report import words
from pipeline.report.build import Build
from pipeline.report.params import ReportParams
from pipeline.report.section import Section
from pipeline.report.shown import spread, tally
from schemas.wording import counted

_COLUMNS = 6
"""Named of each kind of change, the most frequent."""


def section(build: Build, params: ReportParams) -> Section | None:
    """Questions by kind of change, with a few ids of each; None without an earlier release or a difference."""
    changes = build.table("export/changes")
    if changes is None or changes.is_empty():
        return None
    kinds = []
    for (kind,), part in changes.sort("change", "question_id").group_by("change", maintain_order=True):
        columns = tally(part["columns"].explode())[:_COLUMNS]
        kinds.append(
            {
                "kind": kind,
                "chinese": words.CHANGES.get(str(kind), ""),
                "count": part.height,
                "columns": ", ".join(f"{name} {count:,}" for name, count in columns),
                "ids": spread(part, params.examples)["question_id"].to_list(),
            }
        )
    moved = changes.filter((pl.col("previous_split") == "test") & (pl.col("split") == "train")).height
    warnings = (
        [f"{counted(moved, 'question')} moved from test to train since the previous release."]
        if moved
        else []
    )
    return Section("changes", "Since the previous release", "与上一版本的差异", {"kinds": kinds}, warnings)
