"""Labels in every dimension, split by split."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from pipeline.export.statistics import distribution
from pipeline.report import words
from pipeline.report.build import Build
from pipeline.report.figures import figure2
from pipeline.report.params import ReportParams
from pipeline.report.section import Section
from pipeline.tables import Table, number
from schemas.annotations import LabelStatus
from schemas.taxonomy import Dimension, dimensions

SETTLED = (LabelStatus.AGREED.value, LabelStatus.ADJUDICATED.value)
_FEW = 30
"""Test questions of a label below which a 95 % interval of an accuracy is wider than ± 18 points (Wilson, p = .5)."""


def section(build: Build, params: ReportParams) -> Section | None:
    """Distribution of every dimension; None before the export."""
    splits = build.splits
    if splits is None or not any(rows.height for rows in splits.values()):
        return None
    shown = [_dimension(dimension, splits) for dimension in dimensions().values()]
    few = {item["english"]: item["few"] for item in shown if item["few"]}
    warnings = []
    if few:
        told = ", ".join(f"{name} {count}" for name, count in few.items())
        warnings.append(
            f"Labels with fewer than {_FEW} test questions, so that scores by label are rough: {told}."
        )
    values = {
        "dimensions": shown,
        "splits": [(name, words.SPLITS[name], rows.height) for name, rows in splits.items()],
    }
    files = {**_table(shown, splits).files(), **(figure2(splits) if params.figures else {})}
    return Section("labels", "Labels in each split", "各划分的标签分布", values, warnings, files)


def _dimension(dimension: Dimension, splits: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
    counts = distribution(splits, dimension.name)
    settled = _settled(dimension.name, splits)
    order = {label.zh: place for place, label in enumerate(dimension.labels)}
    keys = sorted(counts, key=lambda zh: (zh is None, order.get(zh or "", len(order)), zh or ""))
    largest = max(
        (_share(counts[key][name], rows) for key in keys for name, rows in splits.items()), default=0
    )
    rows = [
        {
            "chinese": key or "无标签",
            "english": (dimension.english(key) or "") if key else "no label",
            "counts": counts[key],
            "shares": {name: _share(counts[key][name], frame) for name, frame in splits.items()},
            "total": sum(counts[key].values()),
            "settled": settled.get(key, 0),
        }
        for key in keys
    ]
    return {
        "name": dimension.name,
        "chinese": dimension.zh,
        "english": dimension.en,
        "rows": rows,
        "largest": largest or 1,
        "unused": len(dimension.labels) - sum(key in order for key in keys),
        "few": sum(0 < counts[key].get("test", 0) < _FEW for key in keys),
    }


def _settled(name: str, splits: Mapping[str, pl.DataFrame]) -> dict[str | None, int]:
    """Questions by label whose label experts have settled."""
    whole = pl.concat([rows.select(name, f"{name}_status") for rows in splits.values()])
    counted = whole.filter(pl.col(f"{name}_status").is_in(SETTLED))[name].value_counts()
    return dict(counted.iter_rows())


def _share(count: int, rows: pl.DataFrame) -> float:
    return count / rows.height if rows.height else 0.0


def _table(shown: list[dict[str, Any]], splits: Mapping[str, pl.DataFrame]) -> Table:
    records = [
        {
            "dimension": item["name"],
            "label": row["chinese"],
            "label_en": row["english"],
            **row["counts"],
            "total": row["total"],
            "settled_by_experts": row["settled"],
        }
        for item in shown
        for row in item["rows"]
    ]
    names = (*splits, "total", "settled_by_experts")
    rows = [
        (
            record["dimension"],
            f"{record['label']} {record['label_en']}",
            *(number(record[name]) for name in names),
        )
        for record in records
    ]
    head = (
        "Dimension 维度",
        "Label 标签",
        *(f"{name} {words.SPLITS[name]}" for name in splits),
        "total",
        "settled",
    )
    return Table("labels", "Labels by split", pl.DataFrame(records), head, rows, 2)
