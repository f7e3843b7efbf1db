"""How far experts agree, with intervals."""

from __future__ import annotations

from typing import Any

import polars as pl

from pipeline.report.build import Build
from pipeline.report.params import ReportParams
from pipeline.report.section import Section
from pipeline.tables import number
from schemas.taxonomy import dimensions

_TENTATIVE = 0.667
"""Below this alpha Krippendorff (Content Analysis, 2nd ed., 11.4) would draw not even tentative conclusions."""
_ALL = "all"
_LISTED = 40


def section(build: Build, params: ReportParams) -> Section | None:  # noqa: ARG001 - every section's form
    """Agreement by dimension and pair, then by slice and label; None where no question was judged by two."""
    found = build.table("review/agreement")
    if found is None:
        return None
    judged = _ordered(found.filter(pl.col("items") > 0))
    whole = judged.filter(pl.col("label").is_null() & pl.col("slice").is_null())
    if whole.is_empty():
        return None
    slices = judged.filter(pl.col("label").is_null() & pl.col("slice").is_not_null())
    labels = judged.filter(
        pl.col("label").is_not_null() & pl.col("slice").is_null() & (pl.col("reviewers") == _ALL)
    )
    values = {
        "rows": _rows(whole),
        "more": [
            {"title": title, "count": part.height, "rows": _rows(part.head(_LISTED))}
            for title, part in (
                (
                    "By label, the least agreed first 按标签",
                    labels.sort("alpha", "dimension", "label", nulls_last=True),
                ),
                ("By batch, week and prefilling 按批次、周与预填", slices),
            )
            if part.height
        ],
    }
    return Section("agreement", "Agreement of experts", "专家一致性", values, _warnings(whole))


def _ordered(rows: pl.DataFrame) -> pl.DataFrame:
    """Dimensions in the taxonomy's order, all experts before pairs of them."""
    names = list(dimensions())
    place = pl.col("dimension").replace_strict(names, list(range(len(names))), default=len(names))
    return rows.sort(place, pl.col("reviewers") != _ALL, "reviewers", "slice", "label", nulls_last=False)


def _rows(rows: pl.DataFrame) -> list[dict[str, Any]]:
    known = dimensions()
    return [
        {
            **row,
            "chinese": known[row["dimension"]].zh if row["dimension"] in known else "",
            "english": known[row["dimension"]].en if row["dimension"] in known else row["dimension"],
            "what": " · ".join(part for part in (row["label"], row["slice"], row["reviewers"]) if part),
            "measures": [_measure(row, name) for name in ("raw", "kappa", "alpha")],
        }
        for row in rows.iter_rows(named=True)
    ]


def _measure(row: dict[str, Any], name: str) -> str:
    """``0.40 [0.20, 0.50]``; a dash where it is undefined."""
    value, low, high = (row[key] for key in (name, f"{name}_low", f"{name}_high"))
    interval = "" if value is None or low is None else f" [{number(low, 2)}, {number(high, 2)}]"
    return number(value, 2) + interval


def _warnings(whole: pl.DataFrame) -> list[str]:
    weak = [
        f"{row['english']} {number(row['alpha'], 2)}"
        for row in _rows(whole)
        if row["reviewers"] == _ALL and row["alpha"] is not None and row["alpha"] < _TENTATIVE
    ]
    if not weak:
        return []
    return [f"Experts agree too little for conclusions (alpha below {_TENTATIVE}): {', '.join(weak)}."]
