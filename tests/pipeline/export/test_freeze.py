"""Releases as users make them; one by the whole pipeline, the others from deduplicated questions on."""

import errno
import json
import os
import random
import shutil

import polars as pl
import pytest
from typer.testing import CliRunner

from build_dataset.pipeline.catalogue import STAGES, stage as stage_named
from build_dataset.pipeline.cli.app import app
from build_dataset.pipeline.config import load
from build_dataset.pipeline.export import release as module
from build_dataset.pipeline.export.release import freeze
from build_dataset.pipeline.releases import release_files
from build_dataset.pipeline.runtime.publish import Publication, sealed
from build_dataset.pipeline.runtime.runner import Runner
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.questions import Question

NAMES = [stage.name for stage in STAGES if stage.params().off() is None]
TO_EXPORT = NAMES[: NAMES.index("export") + 1]
DONE = dict.fromkeys(TO_EXPORT, "done")


def texts(count, least=20):
    lots = random.Random(0)
    return ["".join(chr(lots.randrange(0x4E00, 0x5200)) for _ in range(least)) for _ in range(count)]


def question(number, stem):
    return {
        "question_id": f"q{number:04d}",
        "document": "d",
        "question_type": "A1",
        "stem": stem,
        "options": [{"label": label, "text": stem[place : place + 3]} for place, label in enumerate("ABCD")],
        "answer": ["A"],
        "exam_class": ("执业医师", "护师")[number % 2],
        "content_hash": stem,
    }


@pytest.fixture
def project(tmp_path):
    """A folder with ``dataset.toml``; ``make`` builds so many questions, from deduplication on."""

    class Project:
        home = tmp_path
        releases = tmp_path / "releases"

        def configure(self, version):
            (tmp_path / "dataset.toml").write_text(f'[dataset]\nname = "d"\nversion = "{version}"\n')
            return load(tmp_path / "dataset.toml")

        def make(self, version, count):
            config = self.configure(version)
            for stage in STAGES:
                if stage.name in TO_EXPORT[: TO_EXPORT.index("split")]:
                    publication = Publication(tmp_path / "build" / stage.name)
                    for name, record in stage.writes.items():
                        publication.table(name, pl.DataFrame(schema=record.polars_schema()))
                    if stage.name == "dedup":
                        rows = [question(*item) for item in enumerate(texts(count))]
                        publication.table("questions", pl.DataFrame(rows, schema=Question.polars_schema()))
                    publication.commit(
                        {key: {} for key in ("stage", "fingerprint", "counts", "reasons", "facts")} | {"complete": True}
                    )
            assert Runner(config).run(["split", "leaks", "export"])
            return config

        def splits(self, folder):
            return {
                name: split
                for split in ("train", "validation", "test")
                for name in pl.read_parquet(folder / f"{split}.parquet")["question_id"].to_list()
            }

    return Project()


def test_a_thousand_questions_more_move_none_of_those_released(project):
    freeze(project.make("1.0.0", 300).dataset, DONE)
    before = project.splits(project.releases / "1.0.0")
    config = project.make("1.1.0", 1300)
    after = project.splits(project.home / "build" / "export")
    assert {name: after[name] for name in before} == before
    assert [[*after.values()].count(split) for split in ("train", "validation", "test")] == [1040, 130, 130]
    made = freeze(config.dataset, DONE)
    assert made["changes"]["added"] == 1000
    assert made["changes"]["moved"] == 0
    assert made["level"] == "minor"


def test_the_command_releases_what_the_whole_pipeline_made(project):
    config = project.configure("1.0.0")
    items = [{"question": text, "option": {"A": text[:3], "B": text[3:6]}, "answer": "A"} for text in texts(30)]
    config.dataset.raw.mkdir()
    (config.dataset.raw / "a.json").write_text(json.dumps(items), encoding="utf-8")

    def call():
        return CliRunner().invoke(app, ["release", "--yes", "-c", str(project.home / "dataset.toml")])

    assert "ocr is missing: run `build-dataset run --to export`" in str(call().exception)
    Runner(config).run(TO_EXPORT)
    result = call()
    assert result.exit_code == 0, result.output
    assert "released 1.0.0 (the first release)" in result.output
    assert isinstance(call().exception, UserError)
    folder, export = project.releases / "1.0.0", project.home / "build" / "export"
    for path in export.rglob("*.*"):
        if path.is_file():
            assert (folder / path.relative_to(export)).read_bytes() == path.read_bytes()
    assert {path.stem for path in (folder / "manifests").iterdir()} == set(TO_EXPORT)


def test_the_same_run_after_a_release_changes_no_row(project):
    config = project.make("1.0.0", 80)
    files = [project.home / f"build/export/{name}.parquet" for name in ("train", "validation", "test")]
    before = [path.read_bytes() for path in files]
    freeze(config.dataset, DONE)
    assert Runner(config).run(["split", "leaks", "export"])
    assert [path.read_bytes() for path in files] == before
    assert Runner(config).state(stage_named("export")) == "done"


def test_what_stands_in_the_way_of_a_release_is_told(project):
    config = project.make("0.1.0", 60)
    hints = {"stale": "split is stale: run `build-dataset run --to export`", "incomplete": "split is not complete"}
    for state, hint in hints.items():
        with pytest.raises(UserError, match=hint):
            freeze(config.dataset, DONE | {"split": state})
    freeze(config.dataset, DONE)
    with pytest.raises(UserError, match=r"0\.1\.0 is released already .*: set dataset\.version to a higher one"):
        freeze(config.dataset, DONE)
    with pytest.raises(UserError, match=r"released already .*there is nothing to release"):
        freeze(project.make("0.1.0", 60).dataset, DONE)
    with pytest.raises(UserError, match=r"released already .*, set dataset\.version to 0\.2\.0"):
        freeze(project.make("0.1.0", 30).dataset, DONE)
    config = project.make("0.1.1", 30)
    with pytest.raises(UserError, match=r"since 0\.1\.0 there are major changes: set dataset\.version to 0\.2\.0"):
        freeze(config.dataset, DONE)
    assert [path.name for path in project.releases.iterdir()] == ["0.1.0"]
    freeze(project.make("0.2.0", 30).dataset, DONE)


def test_duplicates_across_splits_are_not_released(project):
    config = project.make("1.0.0", 60)
    path = project.home / "build" / "leaks" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["facts"]["across_splits"] = {"exact": 0, "near": 1}
    path.write_text(json.dumps(sealed(manifest)))
    with pytest.raises(UserError, match=r"0 exact and 1 near duplicates .*leaks\.parquet"):
        freeze(config.dataset, DONE)
    assert not project.releases.exists()


def test_an_export_that_somebody_edited_is_not_released(project):
    config = project.make("1.0.0", 60)
    card = project.home / "build" / "export" / "README.md"
    card.write_text(card.read_text() + " ")
    with pytest.raises(UserError, match=r"README\.md of the export was changed"):
        freeze(config.dataset, DONE)
    assert [*project.releases.iterdir()] == []


def test_a_release_killed_while_it_is_copied_is_none_and_can_be_made_again(project, monkeypatch):
    config = project.make("1.0.0", 60)

    def killed(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(module, "_changed", killed)
        with pytest.raises(KeyboardInterrupt):
            freeze(config.dataset, DONE)
    assert Runner(config).state(stage_named("split")) == "done"
    freeze(config.dataset, DONE)
    assert [path.name for path in project.releases.iterdir()] == ["1.0.0"]


@pytest.mark.parametrize("call", ["copytree", "copyfile"])
def test_a_disk_that_fills_up_leaves_nothing_among_the_releases(project, monkeypatch, call):
    config = project.make("1.0.0", 60)
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def fails(source, target, *_, **__):
        if call == "copytree":
            raise shutil.Error([(source, target, str(full))])
        raise full

    monkeypatch.setattr(module.shutil, call, fails)
    with pytest.raises(UserError, match=r"No space left on device.*nothing was released"):
        freeze(config.dataset, DONE)
    assert not any(project.releases.glob("*"))
    assert not any(project.releases.glob(".*"))


def test_a_release_is_known_by_its_splits_and_its_changelog(tmp_path):
    names = {"train.parquet", "validation.parquet", "test.parquet", "CHANGELOG.md"}
    for name in (*names, "README.md"):
        (tmp_path / name).write_bytes(b"")
    assert release_files(tmp_path) == {name: tmp_path / name for name in names}
