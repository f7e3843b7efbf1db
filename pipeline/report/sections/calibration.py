"""How often each annotator is right, by the experts' labels, and what could be left to it."""

from __future__ import annotations

import polars as pl

from pipeline.report.build import Build
from pipeline.report.params import ReportParams
from pipeline.report.section import Section
from pipeline.tables import Table, number, percent
from schemas.taxonomy import dimensions

EXPERTS = "experts"
_FEW = 30
"""Reviewed labels below which an accuracy says little: its interval is wider than 30 points."""


def section(build: Build, params: ReportParams) -> Section | None:  # noqa: ARG001 - every section's form
    """Accuracy with its interval in each dimension; None where no expert's label was compared."""
    table = build.table("calibrate/calibration")
    if table is None:
        return None
    rows = table.filter(pl.col("reference") == EXPERTS).sort("annotator")
    if rows.is_empty():
        return None
    shown = Table(
        "calibration",
        "Annotators against the experts · 标注器与专家对比",
        rows,
        (
            "Annotator 标注器",
            "Dimension 维度",
            "Labels 标签数",
            "Accuracy (95 %) 准确率",
            "κ",
            "Calibration error 校准误差",
            "Left to it from 可采信",
        ),
        [_row(row) for row in rows.iter_rows(named=True)],
        left=2,
    )
    few = rows.filter(pl.col("items") < _FEW).height
    return Section("calibration", "Annotators against experts", "标注校准", {"table": shown, "few": few})


def _row(row: dict[str, object]) -> list[str]:
    dimension = dimensions().get(str(row["dimension"]))
    name = f"{dimension.en} {dimension.zh}" if dimension else str(row["dimension"])
    low, high, accuracy = (percent(float(str(row[part])), 1, 0) for part in ("low", "high", "accuracy"))
    return [
        str(row["annotator"]),
        name,
        f"{row['items']:,}",
        f"{accuracy} ({low.removesuffix(' %')}–{high})",
        _number(row["kappa"]),
        _number(row["calibration_error"]),
        "–"
        if row["threshold"] is None
        else f"{_number(row['threshold'])}: {_share(row['accepted'])} of labels",
    ]


def _number(value: object) -> str:
    return number(value if isinstance(value, float) else None, 2)


def _share(value: object) -> str:
    return percent(value, 1, 0) if isinstance(value, float) else "–"
