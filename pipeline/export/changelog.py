"""CHANGELOG.md of a release: what changed since the previous one, above what changed before."""

from __future__ import annotations

import polars as pl

from pipeline.export.changes import KINDS
from pipeline.export.markdown import code, table, text
from pipeline.export.versions import Standing
from pipeline.releases import SPLITS
from schemas.dataset import DatasetParams

_LISTED = 20
"""Questions of a kind that are named; ``changes.parquet`` has all."""
_MEANING = {
    "added": "new 新增",
    "removed": "no longer there 删除",
    "renamed": "another id, the same question 改号",
    "moved": "another split 换集",
    "changed": "another stem, options or answer 修改",
    "relabelled": "another label 改标",
    "updated": "other columns: explanation, status … 更新",
}


def changelog(dataset: DatasetParams, standing: Standing) -> str:
    """The whole file as Markdown."""
    head = f"# Changes of {text(dataset.title or dataset.name)} 变更记录"
    note = "Versions follow semantic versioning; the dataset card says what counts as major, minor and patch."
    parts = [head, note, f"## {_heading(dataset, standing)}", summary(standing), *_questions(standing)]
    return "\n\n".join([*parts, standing.history]).rstrip() + "\n"


def summary(standing: Standing) -> str:
    """What changed, in numbers."""
    if standing.previous is None:
        return "The first release."
    counts = standing.changes.counts()
    said = f"Compared with {code(standing.previous)}: "
    if standing.changes.rows.is_empty() and standing.level == "patch":
        return said + "no changes."
    rows = standing.changes.rows.with_columns(of=pl.coalesce("split", "previous_split"))
    lines = [
        (
            f"{kind}: {_MEANING[kind]}",
            *(f"{_count(rows, kind, split):,}" for split in SPLITS),
            f"{counts[kind]:,}",
        )
        for kind in KINDS
        if counts[kind]
    ]
    parts = [f"{said}a **{standing.level}** release.", table(("Questions", *SPLITS, "all"), lines)]
    for told, names in (
        ("New", standing.changes.columns_added),
        ("Removed", standing.changes.columns_removed),
    ):
        if names:
            parts.append(f"{told} columns: {', '.join(map(code, names))}.")
    return "\n\n".join(parts)


def _heading(dataset: DatasetParams, standing: Standing) -> str:
    if standing.is_draft:
        return f"Unreleased (the changes ask for version {standing.suggested})"
    return dataset.version + (f" ({dataset.date})" if dataset.date else "")


def _count(rows: pl.DataFrame, kind: str, split: str) -> int:
    return rows.filter((pl.col("change") == kind) & (pl.col("of") == split)).height


def _questions(standing: Standing) -> list[str]:
    """The first questions of each kind, with what changed in them."""
    parts = []
    for kind in KINDS:
        rows = standing.changes.rows.filter(pl.col("change") == kind)
        if rows.is_empty() or kind == "added":
            continue
        lines = [f"- {_line(row)}" for row in rows.head(_LISTED).iter_rows(named=True)]
        if rows.height > _LISTED:
            lines.append(f"- … and {rows.height - _LISTED:,} more in `changes.parquet`")
        parts += [f"### {kind}", "\n".join(lines)]
    return parts


def _line(row: dict[str, object]) -> str:
    said = code(row["question_id"])
    if row["previous_id"]:
        said += f", was {code(row['previous_id'])}"
    if row["change"] == "moved":
        said += f": {row['previous_split']} → {row['split']}"
    columns = row["columns"]
    return said + (f": {', '.join(columns)}" if isinstance(columns, list) and columns else "")
