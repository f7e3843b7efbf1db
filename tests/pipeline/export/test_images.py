"""Questions are exported with the cut-out from their page where that is asked for, figure items apart."""

import io
from types import SimpleNamespace

import polars as pl
import pyarrow.parquet as pq
import pytest
from PIL import Image

from build_dataset.pipeline.export.stage import FIGURE_ITEM, image_files
from build_dataset.pipeline.runtime.publish import read_table
from build_dataset.schemas.questions import Question, Rejection


@pytest.fixture
def questions(built) -> pl.DataFrame:
    return read_table(built.build / "parse" / "questions.parquet")


def rejects(questions: pl.DataFrame, reason: str) -> dict[str, pl.DataFrame]:
    told = {"stage": "clean", "reason": reason, "detail": ""}
    rows = Question.from_frame(questions)
    found = [Rejection(item_id=row.question_id, item=row.model_dump_json(), **told) for row in rows]
    return {"clean/rejects": Rejection.to_frame(found)}


def test_figure_items_stand_with_their_cut_out_in_a_split_of_their_own(questions, context) -> None:
    files = image_files({}, rejects(questions, FIGURE_ITEM), context, of_all=False)
    assert [*files] == ["figures/test.parquet"]
    rows = pl.read_parquet(files["figures/test.parquet"]).to_dicts()
    assert {row["question_id"] for row in rows} == set(questions.filter(pl.col("regions").is_not_null())["question_id"])
    for row in rows:
        assert Image.open(io.BytesIO(row["image"]["bytes"])).width > 100
        assert row["image"]["path"].startswith(row["question_id"])
    assert b"Image" in pq.read_schema(io.BytesIO(files["figures/test.parquet"])).metadata[b"huggingface"]


def test_other_rejects_have_no_images(questions, context) -> None:
    assert image_files({}, rejects(questions, "needs_figure"), context, of_all=True) == {}


def test_images_of_all_splits_hold_what_the_pages_show(questions, context) -> None:
    splits = {"train": questions.head(3), "test": questions.tail(2)}
    files = image_files(splits, {"questions": questions}, context, of_all=True)
    assert all(path.startswith("images/") for path in files)
    again = image_files(splits, {"questions": questions}, context, of_all=True)
    assert files == again
    assert image_files(splits, {"questions": questions}, context, of_all=False) == {}


def test_the_card_names_the_configurations(export, tables, monkeypatch) -> None:
    from build_dataset.pipeline.export import stage

    monkeypatch.setattr(
        stage, "image_files", lambda *_, **__: {"figures/test.parquet": b"", "images/train.parquet": b""}
    )
    result = SimpleNamespace(**vars(export(tables, images=True)))
    card = result.described["README.md"].decode()
    assert "- config_name: figures\n  data_files:\n  - split: test\n    path: figures/test.parquet" in card
    assert "    path: images/train.parquet" in card
    assert "in no other file" in card


def test_tables_have_statistics_of_their_pages(folder) -> None:
    column = pq.ParquetFile(folder / "train.parquet").metadata.row_group(0).column(0)
    assert column.has_column_index
    assert column.has_offset_index
