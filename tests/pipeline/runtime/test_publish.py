import hashlib
import json

import duckdb
import polars as pl
import pytest

from build_dataset.pipeline.runtime.publish import (
    Publication,
    built,
    find_rows,
    find_table,
    intact_manifest,
    read_manifest,
    read_table,
    recover,
    write_json,
    write_table,
)
from build_dataset.schemas.errors import UserError

MANIFEST = {"stage": "parse", "fingerprint": "x", "complete": True, "counts": {}, "reasons": {}, "facts": {}}
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


def test_a_new_publication_clears_what_a_killed_one_left(tmp_path):
    Publication(tmp_path / "parse").table("leftover", FRAME)
    publish(tmp_path / "parse")
    names = {path.name for path in (tmp_path / "parse").iterdir()}
    assert names == {"cards", "manifest.json", "questions.parquet"}
    assert [path.name for path in tmp_path.iterdir()] == ["parse"]


def test_a_manifest_names_each_file_with_its_hash_and_rows(tmp_path):
    publish(tmp_path / "parse")
    outputs = read_manifest(tmp_path / "parse")["outputs"]
    card = {"sha256": hashlib.sha256("数据集".encode()).hexdigest(), "bytes": 9}
    table = (tmp_path / "parse" / "questions.parquet").read_bytes()
    assert outputs == {
        "cards/README.md": card,
        "questions.parquet": {"sha256": hashlib.sha256(table).hexdigest(), "bytes": len(table), "rows": 2},
    }
    assert list(outputs) == ["cards/README.md", "questions.parquet"]


def test_a_folder_that_lost_a_file_is_not_intact(tmp_path):
    publish(tmp_path / "parse")
    assert intact_manifest(tmp_path / "parse") == read_manifest(tmp_path / "parse")
    (tmp_path / "parse" / "questions.parquet").unlink()
    assert intact_manifest(tmp_path / "parse") is None


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


def test_json_is_replaced_whole(tmp_path):
    (tmp_path / "x.json").write_text("old")
    write_json(tmp_path / "x.json", {"b": "甲", "a": [1]})
    assert (tmp_path / "x.json").read_text(encoding="utf-8") == '{\n  "b": "甲",\n  "a": [\n    1\n  ]\n}\n'
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]


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


EDITS = [{"counts": {"in": 9}}, {"facts": None}, {"seal": "0"}, {"reasons": []}, *({key: ...} for key in MANIFEST)]


@pytest.mark.parametrize("edit", EDITS)
def test_a_manifest_that_was_edited_or_lacks_what_a_version_says_is_none(tmp_path, edit):
    publish(tmp_path / "parse")
    path = tmp_path / "parse" / "manifest.json"
    content = json.loads(path.read_text()) | edit
    path.write_text(json.dumps({key: value for key, value in content.items() if value is not ...}))
    assert read_manifest(tmp_path / "parse") is None


@pytest.mark.parametrize("text", ["[1]", "3", "{}", "", "{"])
def test_a_manifest_that_is_no_object_of_a_stage_is_none(tmp_path, text):
    (tmp_path / "manifest.json").write_text(text)
    assert read_manifest(tmp_path) is None


def test_a_file_in_the_place_of_a_folder_is_told_and_stays(tmp_path):
    (tmp_path / "clean").write_text("mine")
    told = f"{tmp_path}/clean is in the way and no stage wrote it: move it away, or set dataset.build anew"
    with pytest.raises(UserError) as caught:
        publish(tmp_path / "clean")
    assert (str(caught.value), (tmp_path / "clean").read_text()) == (told, "mine")


def test_a_stage_makes_its_folder_and_those_above_it(tmp_path):
    publication = Publication(tmp_path / "a" / "b" / "clean")
    publication.files({"x/2": b"two", "x/1": b"one"})
    assert list(publication.outputs) == ["x/1", "x/2"]
    found = publication.commit(MANIFEST)
    assert found == read_manifest(tmp_path / "a" / "b" / "clean")
    assert {key: found[key] for key in MANIFEST} == MANIFEST


def test_a_table_that_was_not_made_is_none_and_has_no_rows(tmp_path):
    assert find_table(tmp_path, "ocr/lines") is None
    assert find_rows(tmp_path, "ocr/lines", pl.lit(True)) == []
    with pytest.raises(UserError) as caught:
        built(tmp_path, "ocr/lines")
    told = f"{tmp_path}/ocr/lines.parquet is not there: run `build-dataset run` first"
    assert str(caught.value) == told


def test_rows_that_meet_a_condition_are_found(tmp_path):
    write_table(pl.DataFrame({"n": [1, 2, 3], "m": list("abc")}), tmp_path / "t.parquet")
    assert find_rows(tmp_path, "t", pl.col("n") > 2) == [{"n": 3, "m": "c"}]
    assert built(tmp_path, "t").height == 3
    assert find_table(tmp_path, "t", ["n"]).columns == ["n"]
