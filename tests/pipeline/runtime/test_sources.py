import os

import pytest

from pipeline.runtime.sources import raw_files
from schemas.dataset import DatasetParams
from schemas.errors import UserError


@pytest.fixture
def dataset(tmp_path):
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "a.pdf").write_bytes(b"a")
    return DatasetParams(name="x", raw=tmp_path / "raw", build=tmp_path / "build")


def names(dataset):
    return raw_files(dataset)["document"].to_list()


def test_papers_in_folders_are_found_and_notes_and_hidden_files_are_not(dataset):
    (dataset.raw / "b [2024]").mkdir()
    for name in ("b [2024]/c.pdf", ".DS_Store", "~$open.docx", "README.md"):
        (dataset.raw / name).write_bytes(b"x")
    assert names(dataset) == ["a.pdf", "b [2024]/c.pdf"]


def test_a_link_that_leads_back_is_not_followed(dataset):
    (dataset.raw / "loop").symlink_to(dataset.raw, target_is_directory=True)
    assert names(dataset) == ["a.pdf"]


def test_a_build_folder_among_the_papers_is_passed_over(dataset):
    inside = dataset.model_copy(update={"build": dataset.raw / "build"})
    (inside.build / "export").mkdir(parents=True)
    (inside.build / "export" / "train.parquet").write_bytes(b"x")
    assert names(inside) == ["a.pdf"]


def test_a_file_that_vanishes_while_it_is_listed_is_told(dataset, monkeypatch):
    def gone(path):
        path.unlink()
        return path.read_bytes()

    monkeypatch.setattr("pipeline.runtime.sources.file_sha256", gone)
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
        "pipeline.runtime.sources.os.fsencode", lambda text: text.encode("ascii", "surrogateescape")
    )
    monkeypatch.setattr("pipeline.runtime.sources._walk", lambda *_, **__: iter([dataset.raw / name]))
    monkeypatch.setattr("pipeline.runtime.sources.file_sha256", lambda path: "0")
    with pytest.raises(UserError, match=r"内科\.pdf: this locale reads no such names: run with PYTHONUTF8=1"):
        raw_files(dataset)


def test_settings_beside_the_papers_are_none(dataset):
    for name in ("dataset.toml", "labels.toml"):
        (dataset.raw / name).write_text("")
    assert names(dataset) == ["a.pdf"]
