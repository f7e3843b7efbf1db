"""What people corrected in questions; how many did, not who."""

from __future__ import annotations

import polars as pl

from pipeline.report import words
from pipeline.report.build import Build
from pipeline.report.params import ReportParams
from pipeline.report.section import Section
from pipeline.report.shown import compare, spread, tally


def section(build: Build, params: ReportParams) -> Section | None:
    """Corrections by field, with a few before and after; None where nobody corrected anything."""
    corrections = build.table("clean/corrections")
    if corrections is None or corrections.is_empty():
        return None
    corrections = corrections.with_columns(part=pl.col("field").str.split(":").list.first())
    texts = corrections.filter(pl.col("part") != "verdict").sort("question_id", "field")
    values = {
        "count": corrections.height,
        "questions": corrections["question_id"].n_unique(),
        "people": corrections["by"].n_unique(),
        "parts": [(part, words.FIELDS.get(part, ""), count) for part, count in tally(corrections["part"])],
        "examples": [
            {**row, "sides": compare(row["before"], row["after"], params.characters)}
            for row in spread(texts, params.pairs).to_dicts()
        ],
    }
    return Section("corrected", "Corrected by people", "人工更正", values)
