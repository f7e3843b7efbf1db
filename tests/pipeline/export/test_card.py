"""The card counts what is there: sizes, answers, labels, leaks."""

import json

import polars as pl
import pytest

from build_dataset.pipeline.export.card import size_category
from build_dataset.pipeline.rendering.markup import code
from build_dataset.schemas.release import Leak
from build_dataset.schemas.taxonomy import dimensions


@pytest.mark.parametrize(("questions", "size"), [(999, "n<1K"), (1000, "1K<n<10K"), (10**6, "n>1M")])
def test_the_size_category_is_hugging_faces(questions, size):
    assert size_category(questions) == size


def test_questions_with_several_answers_are_counted(export, tables):
    card = export(tables).described["README.md"].decode()
    assert "| train 训练集 | 4 | 1 | 0 | 3 |" in card
    assert "| validation 验证集 | 1 | 0 | 1 | 1 |" in card


def test_labels_outside_the_taxonomy_and_missing_ones_are_rows_too(export, tables):
    here = pl.col("dimension") == "competency"
    changed = (
        pl.when(here & (pl.col("question_id") == "abcdef01-1-000"))
        .then(pl.lit("自创"))
        .when(here & (pl.col("question_id") == "abcdef01-1-001"))
        .then(None)
        .otherwise("label")
    )
    tables["labels"] = tables["labels"].with_columns(label=changed)
    card = export(tables).described["README.md"].decode()
    section = card.split("### Area of competency")[1].split("###")[0]
    assert "| 自创 | 1 | 0 | 0 |" in section
    assert "| *no label 无标签* | 1 | 0 | 0 |" in section


def test_labels_that_do_not_occur_are_counted(export, tables):
    section = export(tables).described["README.md"].decode().split("### ICD-11 disease group")[1]
    unused = len(dimensions()["disease_group"].labels) - 7
    assert f"Labels of this dimension that do not occur: {unused}." in section.split("###")[0]


def test_exact_and_near_duplicates_are_told_apart(export, tables):
    near = Leak(question_id="a", split="test", kind="near", score=0.9, other_id="b", other_split="train")
    tables["leaks"] = Leak.to_frame([near, near.model_copy(update={"question_id": "c"})])
    card = export(tables).described["README.md"].decode()
    assert "Exact duplicates across splits: 0. Near duplicates (stems and options" in card
    assert "nine tenths alike): 2." in card


def test_the_metadata_name_the_key_and_leave_out_what_was_set_aside(export, tables):
    result = export(tables)
    outputs = {name: {"sha256": "0", "bytes": 1} for name in ("train.parquet", "rejects.parquet", "review.parquet")}
    metadata = json.loads(result.describe(outputs)["croissant.json"])
    assert [file["@id"] for file in metadata["distribution"]] == ["train.parquet"]
    assert metadata["recordSet"][0]["key"] == {"@id": "train/question_id"}


def test_code_that_begins_with_a_back_quote_alone_is_padded_too():
    assert code("`a") == "`` `a ``"
