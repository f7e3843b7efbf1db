import json

import duckdb
import polars as pl
import pytest

from pipeline.runtime.publish import Publication, intact, read_manifest, write_json

FRAME = pl.DataFrame({"stem": ["题干", None], "options": [[{"label": "A", "text": "甲"}], []]})


def publish(folder, frame=FRAME):
    publication = Publication(folder)
    publication.table("questions", frame)
    publication.file("cards/README.md", "数据集".encode())
    publication.commit({"stage": "parse"})


def test_a_published_table_is_read_by_polars_and_duckdb(tmp_path):
    publish(tmp_path / "parse")
    path = tmp_path / "parse" / "questions.parquet"
    assert pl.read_parquet(path).equals(FRAME)
    assert duckdb.sql(f"select stem from '{path}'").fetchall() == [("题干",), (None,)]


def test_the_same_result_is_the_same_bytes(tmp_path):
    publish(tmp_path / "a")
    publish(tmp_path / "b")
    names = ["questions.parquet", "manifest.json", "cards/README.md"]
    assert all((tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes() for name in names)


def test_until_it_is_committed_the_old_result_stands(tmp_path):
    publish(tmp_path / "parse")
    publication = Publication(tmp_path / "parse")
    publication.table("questions", FRAME.head(0))
    assert pl.read_parquet(tmp_path / "parse" / "questions.parquet").height == 2
    publication.commit({})
    assert pl.read_parquet(tmp_path / "parse" / "questions.parquet").height == 0


def test_a_new_publication_clears_what_a_killed_one_left(tmp_path):
    Publication(tmp_path / "parse").table("leftover", FRAME)
    publish(tmp_path / "parse")
    assert sorted(path.name for path in (tmp_path / "parse").iterdir()) == [
        "cards",
        "manifest.json",
        "questions.parquet",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["parse"]


def test_a_manifest_names_each_file_with_its_hash_and_rows(tmp_path):
    publish(tmp_path / "parse")
    outputs = read_manifest(tmp_path / "parse")["outputs"]
    assert outputs["questions.parquet"]["rows"] == 2
    assert set(outputs) == {"questions.parquet", "cards/README.md"}


def test_a_folder_that_lost_a_file_is_not_intact(tmp_path):
    publish(tmp_path / "parse")
    manifest = read_manifest(tmp_path / "parse")
    assert intact(tmp_path / "parse", manifest)
    (tmp_path / "parse" / "questions.parquet").unlink()
    assert not intact(tmp_path / "parse", manifest)


def test_half_a_manifest_is_none(tmp_path):
    publish(tmp_path / "parse")
    path = tmp_path / "parse" / "manifest.json"
    path.write_text(path.read_text()[:40])
    assert read_manifest(tmp_path / "parse") is None


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", "manifest.json"])
def test_a_file_outside_the_folder_is_refused(tmp_path, name):
    with pytest.raises(ValueError, match="not a file name"):
        Publication(tmp_path / "parse").file(name, b"")


def test_json_is_replaced_whole(tmp_path):
    write_json(tmp_path / "x.json", {"a": "甲"})
    assert json.loads((tmp_path / "x.json").read_text()) == {"a": "甲"}
