"""How far experts agree, with intervals."""

from __future__ import annotations

import polars as pl

from pipeline.report.build import Build
from pipeline.report.params import ReportParams
from pipeline.report.section import Section
from schemas.taxonomy import dimensions

_TENTATIVE = 0.667
"""Below this alpha Krippendorff (Content Analysis, 2nd ed., 11.4) would draw not even tentative conclusions."""
_ALL = "all"


def section(build: Build, params: ReportParams) -> Section | None:  # noqa: ARG001 - every section's form
    """Agreement by dimension and pair of experts; None where no question was judged by two."""
    found = build.table("review/agreement")
    if found is None or not found.filter(pl.col("items") > 0).height:
        return None
    names = dimensions()
    place = pl.col("dimension").replace_strict(list(names), list(range(len(names))), default=len(names))
    whole = pl.col("label").is_null() & pl.col("slice").is_null()
    judged = found.filter((pl.col("items") > 0) & whole).sort(place, pl.col("reviewers") != _ALL, "reviewers")
    rows = [
        {
            **row,
            "chinese": names[row["dimension"]].zh if row["dimension"] in names else "",
            "english": names[row["dimension"]].en if row["dimension"] in names else row["dimension"],
            "whole": row["reviewers"] == _ALL,
        }
        for row in judged.iter_rows(named=True)
    ]
    weak = [
        f"{row['english']} {row['alpha']:.2f}"
        for row in rows
        if row["whole"] and row["alpha"] is not None and row["alpha"] < _TENTATIVE
    ]
    warnings = (
        [f"Experts agree too little for conclusions (alpha below {_TENTATIVE}): {', '.join(weak)}."]
        if weak
        else []
    )
    return Section("agreement", "Agreement of experts", "专家一致性", {"rows": rows}, warnings)
