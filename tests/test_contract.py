"""The columns that scripts outside the project rely on."""

import json

import polars as pl
import pytest

from build_dataset.pipeline.catalogue import STAGES

QUESTION = {
    "question_id": pl.String,
    "document": pl.String,
    "number": pl.Int64,
    "question_type": pl.String,
    "stem": pl.String,
    "shared_stem": pl.String,
    "group_id": pl.String,
    "options": pl.List(pl.Struct({"label": pl.String, "text": pl.String})),
    "answer": pl.List(pl.String),
    "accepted_answers": pl.List(pl.List(pl.String)),
    "explanation": pl.String,
    "pages": pl.List(pl.Int64),
}
TABLES = {
    "parse/questions": QUESTION,
    "dedup/questions": QUESTION,
    "dedup/merges": {
        "question_id": pl.String,
        "survivor_id": pl.String,
        "kind": pl.String,
        "score": pl.Float64,
        "reason": pl.String,
    },
    "dedup/clusters": {"question_id": pl.String, "cluster_id": pl.String, "kind": pl.String},
    "dedup/review": {"question_ids": pl.List(pl.String), "reason": pl.String},
    "annotate/annotations": {
        "question_id": pl.String,
        "dimension": pl.String,
        "label": pl.String,
        "annotator": pl.String,
        "confidence": pl.Float64,
    },
}

SPLITS = ("train", "validation", "test")


@pytest.mark.parametrize("table", TABLES)
def test_a_table_has_its_promised_columns(sample_build, table):
    schema = pl.read_parquet_schema(sample_build / f"{table}.parquet")
    assert {name: schema[name] for name in TABLES[table]} == TABLES[table]


@pytest.mark.parametrize("stage", [stage.name for stage in STAGES if stage.params().off() is None])
def test_every_stage_has_rejects_and_a_manifest_whose_counts_add_up(sample_build, stage):
    rejects = pl.read_parquet(sample_build / stage / "rejects.parquet")
    assert {"item_id", "stage", "reason", "detail"} <= set(rejects.columns)
    manifest = json.loads((sample_build / stage / "manifest.json").read_text())
    counts = manifest["counts"]
    assert counts["in"] == counts["kept"] + counts["merged"] + counts["rejected"] + counts["waiting"]
    assert counts["rejected"] == rejects.height == sum(manifest["reasons"]["rejected"].values())
    assert counts["waiting"] == sum(manifest["reasons"]["waiting"].values())


def test_a_kept_question_has_at_most_one_label_in_each_dimension(sample_build):
    questions = pl.read_parquet(sample_build / "dedup" / "questions.parquet")
    annotations = pl.read_parquet(sample_build / "annotate" / "annotations.parquet")
    assert annotations.select("question_id", "dimension").is_unique().all()
    measured = questions["human_accuracy"].count()  # difficulty is measured, never guessed
    assert annotations.filter(dimension="difficulty").height == measured
    assert annotations["label"].null_count() == 0


def test_no_question_that_was_set_aside_is_exported(sample_build):
    exported = pl.concat(
        pl.read_parquet(sample_build / "export" / f"{name}.parquet") for name in ("train", "validation", "test")
    )
    aside = [
        pl.read_parquet(sample_build / stage / f"{table}.parquet")["item_id"]
        for stage in ("parse", "clean", "dedup")
        for table in ("rejects", "review")
    ]
    assert not set(exported["question_id"]) & set(pl.concat(aside))
