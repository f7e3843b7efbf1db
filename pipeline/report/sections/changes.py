"""What is different from the previous release."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from pipeline.report.build import Build
from pipeline.report.params import ReportParams
from pipeline.report.section import Section
from pipeline.report.shown import spread
from pipeline.report.words import several

_CHINESE: Mapping[str, str] = {
    "added": "新增",
    "removed": "移除",
    "renamed": "改编号",
    "moved": "换划分",
    "changed": "内容修改",
    "relabelled": "标签修改",
    "updated": "其他更新",
}


def section(build: Build, params: ReportParams) -> Section | None:
    """Questions by kind of change, with a few ids of each; None without an earlier release or a difference."""
    changes = build.table("export/changes")
    if changes is None or changes.is_empty():
        return None
    kinds = []
    for (kind,), part in changes.sort("change", "question_id").group_by("change", maintain_order=True):
        columns = (
            part["columns"]
            .explode()
            .drop_nulls()
            .value_counts()
            .sort(["count", "columns"], descending=[True, False])
        )
        kinds.append(
            {
                "kind": kind,
                "chinese": _CHINESE.get(str(kind), ""),
                "count": part.height,
                "columns": ", ".join(f"{name} {count:,}" for name, count in columns.head(6).iter_rows()),
                "ids": spread(part, params.examples)["question_id"].to_list(),
            }
        )
    moved = changes.filter((pl.col("previous_split") == "test") & (pl.col("split") == "train")).height
    warnings = (
        [f"{several(moved, 'question')} moved from test to train since the previous release."]
        if moved
        else []
    )
    return Section("changes", "Since the previous release", "与上一版本的差异", {"kinds": kinds}, warnings)
