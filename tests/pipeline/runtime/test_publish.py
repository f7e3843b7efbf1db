import json

import duckdb
import polars as pl
import pytest

from pipeline.runtime.publish import (
    Publication,
    intact_manifest,
    read_manifest,
    read_table,
    recover,
    write_json,
)
from schemas.errors import UserError

MANIFEST = {
    "stage": "parse",
    "fingerprint": "x",
    "complete": True,
    "counts": {},
    "reasons": {},
    "facts": {},
}
FRAME = pl.DataFrame({"stem": ["题干", None], "options": [[{"label": "A", "text": "甲"}], []]})


def publish(folder, frame=FRAME):
    publication = Publication(folder)
    publication.table("questions", frame)
    publication.file("cards/README.md", "数据集".encode())
    publication.commit(MANIFEST)


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
    publication.commit(MANIFEST)
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
    assert intact_manifest(tmp_path / "parse") == read_manifest(tmp_path / "parse")
    (tmp_path / "parse" / "questions.parquet").unlink()
    assert intact_manifest(tmp_path / "parse") is None


def test_half_a_manifest_is_none(tmp_path):
    publish(tmp_path / "parse")
    path = tmp_path / "parse" / "manifest.json"
    path.write_text(path.read_text()[:40])
    assert read_manifest(tmp_path / "parse") is None


@pytest.mark.parametrize("key", sorted(MANIFEST))
def test_a_manifest_of_another_version_is_none(tmp_path, key):
    publish(tmp_path / "parse")
    path = tmp_path / "parse" / "manifest.json"
    content = json.loads(path.read_text())
    del content[key]
    path.write_text(json.dumps(content))
    assert read_manifest(tmp_path / "parse") is None


def test_a_commit_killed_between_its_renames_is_finished(tmp_path):
    publish(tmp_path / "parse")
    (tmp_path / "parse").rename(tmp_path / ".parse.old")
    publish(tmp_path / "other", FRAME.head(1))
    (tmp_path / "other").rename(tmp_path / ".parse.new")
    recover(tmp_path / "parse")
    assert read_table(tmp_path / "parse" / "questions.parquet").height == 1


def test_without_a_whole_new_result_the_old_one_is_put_back(tmp_path):
    publish(tmp_path / "parse")
    (tmp_path / "parse").rename(tmp_path / ".parse.old")
    (tmp_path / ".parse.new").mkdir()
    recover(tmp_path / "parse")
    assert read_table(tmp_path / "parse" / "questions.parquet").height == 2


def test_a_folder_with_brackets_is_no_pattern(tmp_path):
    publish(tmp_path / "papers [2024] *" / "parse")
    table = tmp_path / "papers [2024] *" / "parse" / "questions.parquet"
    assert read_table(table, ["stem"])["stem"].to_list() == ["题干", None]


@pytest.mark.parametrize("damage", [b"", b"PAR1 and nothing else", None])
def test_a_damaged_table_is_told_in_one_line(tmp_path, damage):
    path = tmp_path / "questions.parquet"
    if damage is not None:
        path.write_bytes(damage)
    with pytest.raises(UserError, match=r"^[^\n]*questions.parquet cannot be read [^\n]*: delete it"):
        read_table(path)


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", "manifest.json"])
def test_a_file_outside_the_folder_is_refused(tmp_path, name):
    with pytest.raises(ValueError, match="not a file name"):
        Publication(tmp_path / "parse").file(name, b"")


def test_json_is_replaced_whole(tmp_path):
    write_json(tmp_path / "x.json", {"a": "甲"})
    assert json.loads((tmp_path / "x.json").read_text()) == {"a": "甲"}


def test_a_folder_that_no_stage_wrote_is_never_replaced(tmp_path):
    paper = tmp_path / "clean" / "paper.pdf"
    paper.parent.mkdir()
    paper.write_bytes(b"x")
    (tmp_path / "clean" / "manifest.json").write_text('{"name": "of a site"}')
    with pytest.raises(UserError, match="no stage wrote it"):
        publish(tmp_path / "clean")
    assert paper.read_bytes() == b"x"


def test_a_link_in_the_place_of_a_folder_is_not_followed(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "clean").symlink_to("elsewhere")
    with pytest.raises(UserError, match="no stage wrote it"):
        publish(tmp_path / "clean")


@pytest.mark.parametrize("names", [[], ["rejects.parquet", "review.parquet", "manifest.json"]])
def test_an_empty_folder_and_one_whose_manifest_is_damaged_are_replaced(tmp_path, names):
    (tmp_path / "clean").mkdir()
    for name in names:
        (tmp_path / "clean" / name).write_text("{")
    publish(tmp_path / "clean")
    assert read_manifest(tmp_path / "clean") is not None


@pytest.mark.parametrize("edit", [{"counts": {"in": 9}}, {"facts": None}, {"seal": "0"}, {"reasons": []}])
def test_a_manifest_that_was_edited_is_none(tmp_path, edit):
    publish(tmp_path / "parse")
    path = tmp_path / "parse" / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **edit}))
    assert read_manifest(tmp_path / "parse") is None
