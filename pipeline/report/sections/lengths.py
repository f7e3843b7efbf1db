"""How long questions are, and CMExam's table 2."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import polars as pl

from pipeline.export.formats import question_text
from pipeline.report import words
from pipeline.report.build import Build
from pipeline.report.params import ReportParams
from pipeline.report.published import question_types, table2
from pipeline.report.section import Section

_EDGES = (0, 10, 20, 30, 40, 50, 60, 80, 100, 150, 200, 300, 500)
"""Characters: bins are (edge, next edge]; the last is open. Half of CMExam's questions are within 12 to 32."""


def section(build: Build, params: ReportParams) -> Section | None:  # noqa: ARG001 - every section's form
    """Lengths of the released questions; None before the export."""
    if build.splits is None or not any(rows.height for rows in build.splits.values()):
        return None
    lengths, types = table2(build.splits), question_types(build.splits)
    shares = {name: _shares(rows) for name, rows in build.splits.items() if rows.height}
    values = {
        "table": lengths,
        "types": types,
        "splits": [(name, words.SPLITS[name]) for name in shares],
        "bins": [
            {"name": name, "shares": [(split, found[place]) for split, found in shares.items()]}
            for place, name in enumerate(_names())
        ],
        "largest": max(share for found in shares.values() for share in found),
    }
    return Section(
        "lengths", "Lengths and item types", "长度与题型", values, files={**lengths.files(), **types.files()}
    )


def _names() -> list[str]:
    return [f"{low + 1}–{high}" for low, high in pairwise(_EDGES)] + [f"> {_EDGES[-1]}"]


def _shares(rows: pl.DataFrame) -> list[float]:
    """The share of questions in each bin."""
    length = rows.select(question_text().str.len_chars().cast(pl.Int64).alias("length"))["length"]
    bins = length.cut(list(_EDGES[1:]), labels=_names()).cast(pl.String)
    counts: dict[Any, int] = dict(bins.value_counts().iter_rows())
    return [counts.get(name, 0) / rows.height for name in _names()]
