"""The export stage: the release as Parquet, with a card, statistics and other people's formats."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping

import polars as pl

from pipeline.export.card import card
from pipeline.export.formats import cmb_json, cmexam_csv, formula_cells
from pipeline.export.params import ExportParams
from pipeline.export.release import release
from pipeline.export.statistics import distribution, statistics
from pipeline.stage import Context, Counts, Result, Tables
from schemas.taxonomy import dimensions


def run(tables: Tables, params: ExportParams, context: Context) -> Result:
    """Join questions, labels and assignments to the released splits.

    Args:
        tables: ``questions, clusters, labels, assignments``.
        params: the ``[export]`` section.
        context: of the run; its ``[dataset]`` section is what the card says.
    """
    splits, rejects = release(tables)
    kept = sum(rows.height for rows in splits.values())
    files = _formats(splits, params)
    figures = statistics(splits)
    files["statistics.json"] = _json({**figures, "labels": _labels(splits)})
    checksums = {f"rows of {name}.parquet as JSON Lines": _rows_sha256(rows) for name, rows in splits.items()}
    checksums |= {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    files["README.md"] = card(context.dataset, splits, figures, checksums).encode()
    formulas = sum(formula_cells(rows) for rows in splits.values()) if params.cmexam_csv else 0
    sizes = {name: rows.height for name, rows in splits.items()}
    return Result(
        tables=dict(splits),
        counts=Counts(into=kept + len(rejects), kept=kept, rejected=len(rejects)),
        rejects=rejects,
        files=files,
        facts={"splits": sizes, "csv_cells_like_formulas": formulas},
        notes=_notes(sizes, formulas, sum(map(_unlabelled, splits.values()))),
    )


def _formats(splits: Mapping[str, pl.DataFrame], params: ExportParams) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for name, rows in splits.items():
        if params.cmb_json:
            files[f"cmb/{name}.json"] = cmb_json(rows)
        if params.cmexam_csv:
            files[f"cmexam/{name}.csv"] = cmexam_csv(rows)
    return files


def _labels(splits: Mapping[str, pl.DataFrame]) -> dict[str, list[dict[str, object]]]:
    """Questions by dimension, label and split."""
    return {
        name: [
            {"label": label, "label_en": dimension.english(label), **counts}
            for label, counts in sorted(distribution(splits, name).items(), key=lambda item: item[0] or "")
        ]
        for name, dimension in dimensions().items()
    }


def _rows_sha256(rows: pl.DataFrame) -> str:
    """SHA-256 of the rows, whatever writes the Parquet file: ``polars.read_parquet(f).write_ndjson()``."""
    target = io.BytesIO()
    rows.write_ndjson(target)
    return hashlib.sha256(target.getvalue()).hexdigest()


def _json(content: object) -> bytes:
    return (json.dumps(content, ensure_ascii=False, indent=2) + "\n").encode()


def _unlabelled(rows: pl.DataFrame) -> int:
    """Questions without a label in any dimension."""
    return rows.filter(pl.all_horizontal(pl.col(list(dimensions())).is_null())).height


def _notes(sizes: Mapping[str, int], formulas: int, unlabelled: int) -> list[str]:
    notes = []
    empty = [name for name, size in sizes.items() if not size]
    if empty:
        notes.append(f"warning: no questions in {', '.join(empty)}")
    if unlabelled:
        notes.append(f"warning: {unlabelled:,} questions have no label at all: is annotate complete?")
    if formulas:
        notes.append(
            f"{formulas:,} cells of cmexam/*.csv begin with = + - or @: do not open the files in a spreadsheet"
        )
    return notes
