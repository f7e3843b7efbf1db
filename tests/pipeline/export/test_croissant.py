import json
import socket

import polars as pl
import pytest

FULL = {
    "title": "考题",
    "description": "一段说明",
    "license": "apache-2.0",
    "homepage": "https://example.org/exam",
    "date": "2026-01-31",
    "creators": ["某大学", "An Institute"],
    "citation": "@misc{exam, title={Exam}}",
}


@pytest.fixture
def offline(monkeypatch):
    def refuse(*arguments):
        raise AssertionError(f"a connection to {arguments[-1]}")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture
def released(export, publish, tables, tmp_path):
    return publish(export(tables, FULL), tmp_path / "release")


def test_mlcroissant_validates_the_metadata_without_a_network(released, offline):
    import mlcroissant

    issues = mlcroissant.Dataset(jsonld=released / "croissant.json").metadata.ctx.issues
    assert not issues.errors
    assert not issues.warnings


def test_a_dataset_that_says_little_of_itself_is_valid_too(export, publish, tables, tmp_path, offline):
    import mlcroissant

    folder = publish(export(tables, {"license": "自定义：仅供研究"}), tmp_path / "release")
    found = mlcroissant.Dataset(jsonld=folder / "croissant.json").metadata
    assert not found.ctx.issues.errors
    assert json.loads((folder / "croissant.json").read_text(encoding="utf-8"))["license"] == "自定义：仅供研究"


def test_mlcroissant_reads_every_column_of_every_split(released, offline):
    import mlcroissant

    dataset = mlcroissant.Dataset(jsonld=released / "croissant.json")

    def plain(value):
        if isinstance(value, bytes):
            return value.decode()
        if isinstance(value, list):
            return [plain(item) for item in value]
        if isinstance(value, dict):
            return {key.rsplit("/", 1)[-1]: plain(item) for key, item in value.items()}
        return None if value is None or value != value else value

    for split in ("train", "validation", "test"):
        rows = pl.read_parquet(released / f"{split}.parquet").rows(named=True)
        assert [plain(record) for record in dataset.records(split)] == rows


def test_the_metadata_names_licence_makers_version_and_citation(released):
    metadata = json.loads((released / "croissant.json").read_text(encoding="utf-8"))
    assert metadata["license"] == "https://choosealicense.com/licenses/apache-2.0/"
    assert [maker["name"] for maker in metadata["creator"]] == FULL["creators"]
    assert (metadata["version"], metadata["datePublished"]) == ("0.1.0", "2026-01-31")
    assert metadata["citeAs"] == FULL["citation"]
