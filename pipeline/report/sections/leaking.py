"""Questions found again where they should not be: across splits, and in public benchmarks."""

from __future__ import annotations

from typing import Any

import polars as pl

from pipeline.report.build import Build
from pipeline.report.params import ReportParams
from pipeline.report.section import Section
from pipeline.report.shown import cut
from schemas.wording import counted

_ACROSS = ("exact", "near")


def section(build: Build, params: ReportParams) -> Section | None:
    """Leaks by kind with the worst of each, and the benchmarks compared with; None before the check has run."""
    leaks = build.table("leaks/leaks")
    if leaks is None:
        return None
    across = leaks.filter(pl.col("kind").is_in(_ACROSS)).height
    published = leaks.filter(~pl.col("kind").is_in(_ACROSS))["question_id"].n_unique()
    files = build.table("leaks/benchmarks")
    values = {
        "across": across,
        "published": published,
        "files": files.height if files is not None else 0,
        "kinds": [
            _kind(str(kind), part, params)
            for (kind,), part in leaks.sort("kind").group_by("kind", maintain_order=True)
        ],
    }
    warnings = []
    if across:
        warnings.append(f"{counted(across, 'question')} of one split found again in another.")
    if published:
        warnings.append(
            f"{counted(published, 'question')} overlapping with public benchmarks: models may have seen them."
        )
    if not values["files"]:
        warnings.append(
            "No public benchmark was compared with: whether models have seen the questions is unknown."
        )
    return Section("leaking", "Leaks", "泄漏检查", values, warnings)


def _kind(kind: str, part: pl.DataFrame, params: ReportParams) -> dict[str, Any]:
    worst = part.sort(["score", "question_id"], descending=[True, False]).head(params.examples)
    rows = [
        {**row, "span": cut(row["span"], params.characters)}
        for row in worst.select(
            "question_id", "split", "score", "other_id", "other_split", "file", "line", "span"
        ).to_dicts()
    ]
    return {"kind": kind, "count": part.height, "rows": rows}
