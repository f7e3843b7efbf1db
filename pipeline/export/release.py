"""Rows of a release: questions joined with their labels, split by split."""

from __future__ import annotations

import polars as pl

from annotation.label_studio.editable import OPTION, VERDICT
from pipeline.releases import SPLITS
from pipeline.stage import Tables
from schemas.annotations import LabelStatus
from schemas.questions import Rejection
from schemas.release import ReleaseRow
from schemas.taxonomy import dimensions

NO_ANSWER = "no_answer"


def release(tables: Tables) -> tuple[dict[str, pl.DataFrame], list[Rejection]]:
    """The released rows of each split, sorted by ``question_id``, and what cannot be released.

    Args:
        tables: ``questions, clusters, merges, labels, assignments, corrections``, and where it is there
            ``parse/questions``, for the places of merged copies.
    """
    rows = tables["assignments"].select("question_id", "split").join(tables["questions"], on="question_id")
    answered = pl.col("answer").list.len().fill_null(0) > 0
    unanswered = rows.filter(~answered)["question_id"].sort().to_list()
    rows = rows.filter(answered)
    for name in dimensions():
        rows = _label(rows, tables["labels"], name)
    rows = (
        rows.join(_estimates(tables["labels"]), on="question_id", how="left")
        .join(_annotators(tables["labels"]), on="question_id", how="left")
        .join(_clusters(tables["clusters"]), on="question_id", how="left")
        .join(_corrected(tables["corrections"]), on="question_id", how="left")
        .join(_sources(tables), on="question_id", how="left")
        .with_columns(pl.col("corrected").fill_null([]))
        .sort("question_id")
    )
    schema = ReleaseRow.polars_schema()
    splits = {
        split: rows.filter(pl.col("split") == split).select(schema.names()).cast(schema) for split in SPLITS
    }
    return splits, [_unanswered(name) for name in unanswered]


def _label(rows: pl.DataFrame, labels: pl.DataFrame, name: str) -> pl.DataFrame:
    """Add the label, its English name and its status in one dimension; a missing label is null, unreviewed."""
    columns = labels.filter(pl.col("dimension") == name).select(
        "question_id",
        pl.col("label").alias(name),
        pl.col("label_en").alias(f"{name}_en"),
        pl.col("status").alias(f"{name}_status"),
    )
    return rows.join(columns, on="question_id", how="left", validate="1:1").with_columns(
        pl.col(f"{name}_status").fill_null(LabelStatus.UNREVIEWED.value)
    )


def _estimates(labels: pl.DataFrame) -> pl.DataFrame:
    """Whether difficulty is a guess, where there is one."""
    return labels.filter((pl.col("dimension") == "difficulty") & pl.col("label").is_not_null()).select(
        "question_id", difficulty_estimate="estimate"
    )


def _annotators(labels: pl.DataFrame) -> pl.DataFrame:
    """Who gave the labels of a question that are no expert's, sorted and joined with commas."""
    theirs = labels.filter(pl.col("annotator").is_not_null() & pl.col("label").is_not_null())
    return theirs.group_by("question_id").agg(pl.col("annotator").unique().sort().str.join(", "))


def _corrected(corrections: pl.DataFrame) -> pl.DataFrame:
    """Which parts of a question people corrected; not who, and not that somebody found it right as it was."""
    changes = corrections.filter(pl.col("field") != VERDICT)
    part = pl.col("field").str.replace(f"^{OPTION}.*$", "options")
    return changes.group_by("question_id").agg(corrected=part.unique().sort())


def _clusters(clusters: pl.DataFrame) -> pl.DataFrame:
    return clusters.group_by("question_id").agg(pl.col("cluster_id").min())


def _sources(tables: Tables) -> pl.DataFrame:
    """Every place where each question stands, those of the copies merged into it included."""
    read = tables.get("parse/questions", tables["questions"])
    merged = tables["merges"].select("question_id", "survivor_id")
    place = pl.struct(
        "document",
        row=pl.when(pl.col("pages").is_null()).then("number"),
        page=pl.col("pages").list.first(),
    )
    return (
        read.select("question_id", "document", "number", "pages")
        .join(merged, on="question_id", how="left")
        .sort("document", "number", "question_id")
        .group_by(question_id=pl.coalesce("survivor_id", "question_id"), maintain_order=True)
        .agg(sources=place)
    )


def _unanswered(question_id: str) -> Rejection:
    return Rejection(
        item_id=question_id,
        stage="export",
        reason=NO_ANSWER,
        detail="No answer key is known; a released question needs one.",
    )
