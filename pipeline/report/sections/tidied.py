"""Which texts were tidied, and how: width, spaces, misread characters."""

from __future__ import annotations

import polars as pl

from pipeline.report import words
from pipeline.report.build import Build
from pipeline.report.params import ReportParams
from pipeline.report.section import Section
from pipeline.report.shown import compare, spread, tally


def section(build: Build, params: ReportParams) -> Section | None:
    """Counts by part of the question, a few texts before and after; None where no text was changed."""
    changes = build.table("clean/changes")
    if changes is None or changes.is_empty():
        return None
    parts = tally(changes.select(pl.col("part").str.split(":").list.first())["part"])
    chosen = spread(changes.sort("question_id", "part"), params.pairs)
    values = {
        "texts": changes.height,
        "questions": changes["question_id"].n_unique(),
        "parts": [(part, words.FIELDS.get(part, ""), count) for part, count in parts],
        "examples": [
            {"id": name, "part": part, "sides": compare(before, after, params.characters)}
            for name, part, before, after in chosen.select(
                "question_id", "part", "before", "after"
            ).iter_rows()
        ],
    }
    return Section("tidied", "Texts tidied", "文本规范化", values)
