"""How models scored, if any were asked."""

from __future__ import annotations

from typing import Any

import polars as pl

from pipeline.report.build import Build
from pipeline.report.params import ReportParams
from pipeline.report.section import Section
from schemas.evaluation import Task

_OVERALL = "overall"
_RATES = ("no_answer_rate", "refused_rate", "truncated_rate")


def section(build: Build, params: ReportParams) -> Section | None:  # noqa: ARG001 - every section's form
    """Accuracy of each run with its interval; None where nothing was evaluated."""
    scores = build.table("evaluate/scores")
    if scores is None:
        return None
    rows = _runs(scores.filter((pl.col("dimension") == _OVERALL) & (pl.col("task") == Task.ANSWER.value)))
    if not rows:
        return None
    asked = max(row["questions"] for row in rows)
    warnings = []
    if asked < 100:
        warnings.append(f"Models were asked {asked} questions only: the intervals of their scores are wide.")
    split = build.stage("evaluate").params.get("split", "")
    return Section("evaluation", "Evaluation", "模型评测", {"rows": rows, "split": split}, warnings)


def _runs(overall: pl.DataFrame) -> list[dict[str, Any]]:
    """One row a run, in the table's order."""
    found: dict[str, dict[str, Any]] = {}
    for row in overall.iter_rows(named=True):
        run = found.setdefault(row["run"], {"run": row["run"], "questions": 0, "expected": None, "rates": {}})
        if row["metric"] in ("accuracy", "mean_accuracy") and "accuracy" not in run:
            run |= {
                "accuracy": row["value"],
                "low": row["low"],
                "high": row["high"],
                "questions": row["questions"],
            }
        elif row["metric"] == "expected_accuracy":
            run["expected"] = row["value"]
        elif row["metric"] in _RATES:
            run["rates"][row["metric"]] = row["value"]
    return [run for run in found.values() if run.get("accuracy") is not None]
