import hashlib
import json
import os
import zipfile

import polars as pl
import pytest

from build_dataset.pipeline.runtime import sources as module
from build_dataset.pipeline.runtime.publish import Publication, write_table
from build_dataset.pipeline.runtime.sources import (
    MANIFESTS,
    SOURCES,
    files_of_releases,
    manifests,
    papers,
    raw_files,
    released_ids,
    upstream_stages,
)
from build_dataset.schemas.dataset import DatasetParams
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.identity import content_hash
from tests.pipeline.runtime.small import stage


@pytest.fixture
def dataset(tmp_path):
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "a.pdf").write_bytes(b"a")
    folders = {name: tmp_path / name for name in ("raw", "build", "releases")}
    return DatasetParams(name="x", **folders)


def names(dataset):
    return raw_files(dataset)["document"].to_list()


def test_papers_in_folders_are_found_and_notes_settings_and_hidden_files_are_not(dataset):
    (dataset.raw / "b [2024]").mkdir()
    for name in ("b [2024]/c.pdf", ".DS_Store", "~$open.docx", "README.md", "dataset.toml", "labels.toml"):
        (dataset.raw / name).write_bytes(b"x")
    assert names(dataset) == ["a.pdf", "b [2024]/c.pdf"]


def test_a_link_that_leads_back_is_not_followed(dataset):
    (dataset.raw / "loop").symlink_to(dataset.raw, target_is_directory=True)
    assert names(dataset) == ["a.pdf"]


@pytest.mark.parametrize("own", ["build", "releases"])
def test_a_folder_of_ours_among_the_papers_is_passed_over(dataset, own):
    inside = dataset.model_copy(update={own: dataset.raw / "out"})
    (dataset.raw / "out" / "export").mkdir(parents=True)
    (dataset.raw / "out" / "export" / "train.parquet").write_bytes(b"x")
    assert names(inside) == ["a.pdf"]


def test_a_file_that_vanishes_while_it_is_listed_is_told(dataset, monkeypatch):
    def gone(path):
        path.unlink()
        return path.read_bytes()

    monkeypatch.setattr("build_dataset.pipeline.runtime.sources.file_sha256", gone)
    with pytest.raises(UserError, match=r"a\.pdf cannot be read: No such file"):
        raw_files(dataset)


def test_a_name_that_is_not_utf_8_is_told_as_its_owner_knows_it(dataset):
    try:
        (dataset.raw / os.fsdecode("内科.pdf".encode("gbk"))).write_bytes(b"x")
    except OSError:
        pytest.skip("this file system takes UTF-8 names alone")
    with pytest.raises(UserError, match=r"not UTF-8 \(in GBK: 内科\.pdf\): rename it"):
        raw_files(dataset)


def test_a_locale_without_such_names_is_told_as_what_it_is(dataset, monkeypatch):
    name = "内科.pdf".encode().decode("ascii", "surrogateescape")
    monkeypatch.setattr(
        "build_dataset.pipeline.runtime.sources.os.fsencode", lambda text: text.encode("ascii", "surrogateescape")
    )
    monkeypatch.setattr("build_dataset.pipeline.runtime.sources._walk", lambda *_, **__: iter([dataset.raw / name]))
    monkeypatch.setattr("build_dataset.pipeline.runtime.sources.file_sha256", lambda path: "0")
    with pytest.raises(UserError, match=r"内科\.pdf: this locale reads no such names: run with PYTHONUTF8=1"):
        raw_files(dataset)


def test_a_file_is_told_with_its_hash_and_its_size(dataset):
    (dataset.raw / "A.pdf").write_bytes(b"")
    assert raw_files(dataset).to_dicts() == [
        {"document": "A.pdf", "sha256": hashlib.sha256(b"").hexdigest(), "bytes": 0},
        {"document": "a.pdf", "sha256": hashlib.sha256(b"a").hexdigest(), "bytes": 1},
    ]


def test_no_folder_and_an_empty_folder_are_told_whole(dataset):
    (dataset.raw / "a.pdf").unlink()
    with pytest.raises(UserError) as caught:
        raw_files(dataset)
    kinds = "PDF, images, DOCX, JSON, CSV, XLSX"
    assert str(caught.value) == f"nothing to read in {dataset.raw}: put exam papers there ({kinds})"
    dataset.raw.rmdir()
    with pytest.raises(UserError) as caught:
        raw_files(dataset)
    told = f"no raw folder {dataset.raw}: make it and put exam papers there, or set dataset.raw"
    assert str(caught.value) == told


@pytest.mark.parametrize(("bad", "named"), [(False, ["b.zip/x.pdf"]), (True, ["b.zip", "b.zip/x.pdf"])])
def test_an_archive_is_named_by_its_members_and_itself_where_some_were_refused(dataset, monkeypatch, bad, named):
    (dataset.raw / "a.pdf").unlink()
    with zipfile.ZipFile(dataset.raw / "b.zip", "w") as archive:
        archive.writestr("x.pdf", "x")
    unpack = module.unpack

    def refusing(path, build):
        found = unpack(path, build)
        return type(found)(found.members, {"y.pdf": "odd"} if bad else {})

    monkeypatch.setattr(module, "unpack", refusing)
    assert sorted(papers(dataset)) == named


def test_a_folder_that_two_links_name_is_read_by_both_names(dataset):
    (dataset.raw.parent / "more").mkdir()
    (dataset.raw.parent / "more" / "c.pdf").touch()
    for name in ("x", "y"):
        (dataset.raw / name).symlink_to(dataset.raw.parent / "more", target_is_directory=True)
    assert names(dataset) == ["a.pdf", "x/c.pdf", "y/c.pdf"]


QUESTION = {"question_id": "row-1", "document": "d", "stem": "题", "shared_stem": None, "options": [{"text": "甲"}]}


@pytest.fixture
def releases(dataset):
    """Two releases; the earlier one lacks columns."""
    for version, rows in (("1.0.0", [{"question_id": "x"}]), ("1.10.0", [QUESTION]), ("1.9.0", [QUESTION] * 2)):
        folder = dataset.releases / version
        folder.mkdir(parents=True)
        for split in ("train", "validation", "test"):
            write_table(pl.DataFrame(rows), folder / f"{split}.parquet")
    (folder / "other.txt").touch()
    return dataset


def test_files_of_releases_are_told_with_the_previous_release_last(releases):
    found = files_of_releases(releases)
    named = [f"{version}/{split}.parquet" for version in ("1.0.0", "1.9.0", "1.10.0") for split in SPLITS]
    assert found["document"].to_list() == named
    last = releases.releases / "1.10.0" / "test.parquet"
    assert found.row(-1) == ("1.10.0/test.parquet", hashlib.sha256(last.read_bytes()).hexdigest(), last.stat().st_size)


SPLITS = ("train", "validation", "test")


def test_ids_of_rows_are_told_once_and_releases_without_the_columns_have_none(releases, monkeypatch):
    monkeypatch.setattr(module, "ROW_PREFIX", "row")
    said = {"document": "d", "question_id": "row-1", "content_hash": content_hash("题", ["甲"], None)}
    assert released_ids(releases).to_dicts() == [said]
    monkeypatch.setattr(module, "ROW_PREFIX", "other")
    assert released_ids(releases).height == 0


def test_before_the_first_release_there_are_no_files_and_no_ids(dataset):
    assert (files_of_releases(dataset).height, released_ids(dataset).height) == (0, 0)


CHAIN = (
    stage("ocr", "words", ("raw/files",), "x:run"),
    stage("parse", "words", ("ocr/words",), "x:run"),
    stage("clean", "words", ("parse/words",), "x:run", optional=("ocr/facts",)),
    stage("report", "words", (MANIFESTS,), "x:run"),
    stage("export", "words", ("clean/words",), "x:run", optional=("*/rejects",)),
)


def test_a_stage_stands_behind_those_that_it_reads(monkeypatch):
    monkeypatch.setattr(module, "STAGES", CHAIN)
    behind = {one.name: upstream_stages(one) for one in CHAIN}
    assert behind == {
        "ocr": set(),
        "parse": {"ocr"},
        "clean": {"ocr", "parse"},
        "report": {"ocr", "parse", "clean"},
        "export": {"ocr", "parse", "clean", "report"},
    }


def test_manifests_leave_out_hashes_and_say_the_rest_as_sorted_json(dataset, monkeypatch):
    monkeypatch.setattr(module, "STAGES", CHAIN)
    keys = ("stage", "fingerprint", "complete", "counts", "reasons", "facts")
    Publication(dataset.build / "parse").commit(dict.fromkeys(keys, "值") | {"params": {"b": 1, "a": 2}})
    found = manifests(dataset)
    assert found["stage"].to_list() == ["ocr", "parse", "clean", "export"], "not the one that reads this"
    assert found["title"].to_list() == ["does ocr", "does parse", "does clean", "does export"]
    said = {key: "值" for key in keys if key != "fingerprint"} | {"outputs": {}, "params": {"a": 2, "b": 1}}
    told = json.dumps(dict(sorted(said.items())), ensure_ascii=False)
    assert found["manifest"].to_list() == [None, told, None, None]


def test_work_of_people_is_empty_before_any_was_pulled(dataset):
    for name in ("pulled", "corrections", "answer_scores"):
        assert SOURCES[f"reviews/{name}"](dataset).height == 0
