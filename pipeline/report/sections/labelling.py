"""Who labelled, and how far experts have looked: what nobody reviewed is shown apart."""

from __future__ import annotations

from typing import Any

import polars as pl

from pipeline.report.build import Build
from pipeline.report.params import ReportParams
from pipeline.report.section import Section
from pipeline.tables import percent
from schemas.annotations import LabelStatus
from schemas.taxonomy import dimensions
from schemas.wording import counted

STATUSES = {
    LabelStatus.AGREED.value: ("two experts agree", "两位专家一致"),
    LabelStatus.ADJUDICATED.value: ("experts disagreed, settled", "经仲裁"),
    LabelStatus.SINGLE.value: ("one expert so far", "仅一位专家"),
    LabelStatus.DISPUTED.value: ("experts disagree, no label", "有分歧"),
    LabelStatus.UNREVIEWED.value: ("no expert has looked", "未经专家审核"),
}


def section(build: Build, params: ReportParams) -> Section | None:  # noqa: ARG001 - every section's form
    """Labels by dimension, status and annotator; None before the review stage has run."""
    labels = build.table("review/labels")
    if labels is None or labels.is_empty():
        return None
    names = list(dimensions())
    by_status = _counts(labels, "status")
    by_annotator = _counts(labels.filter(pl.col("annotator").is_not_null()), "annotator")
    sizes = dict(labels.group_by("dimension").len().iter_rows())
    values = {
        "statuses": [(name, *said) for name, said in STATUSES.items()],
        "annotators": sorted({annotator for _, annotator in by_annotator}),
        "dimensions": [
            {
                "chinese": dimensions()[name].zh,
                "english": dimensions()[name].en,
                "total": sizes.get(name, 0),
                "statuses": [(status, by_status.get((name, status), 0)) for status in STATUSES],
                "annotators": {who: count for (dim, who), count in by_annotator.items() if dim == name},
            }
            for name in names
        ],
    }
    return Section("labelling", "Who labelled", "标注来源", values, _warnings(labels, by_annotator))


def _counts(labels: pl.DataFrame, column: str) -> dict[tuple[str, str], int]:
    counted = labels.group_by("dimension", column).len().sort("dimension", column)
    return {(dimension, value): int(count) for dimension, value, count in counted.iter_rows()}


def _warnings(labels: pl.DataFrame, by_annotator: dict[tuple[str, str], int]) -> list[str]:
    found = []
    unreviewed = labels.filter(pl.col("status") == LabelStatus.UNREVIEWED.value).height
    if unreviewed:
        share = percent(unreviewed, labels.height, 0)
        found.append(f"{share} of all labels were seen by no expert ({unreviewed:,} of {labels.height:,}).")
    lexicon = sum(count for (_, who), count in by_annotator.items() if who == "lexicon")
    if lexicon:
        found.append(
            f"Labelled by the offline lexicon, which counts key words: {counted(lexicon, 'label')}. "
            "That is good for trying the pipeline, not for conclusions."
        )
    guesses = _estimates(labels)
    if guesses:
        found.append(f"Difficulty is an estimate, not measured on people, of {counted(guesses, 'question')}.")
    return found


def _estimates(labels: pl.DataFrame) -> Any:
    return labels.filter(
        (pl.col("dimension") == "difficulty") & pl.col("estimate") & pl.col("label").is_not_null()
    ).height
