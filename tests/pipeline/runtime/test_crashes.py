"""Killed before any operation on files, a run leaves the old result or the new one, and the next run finishes."""

import json
import os
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from build_dataset.pipeline.runtime.publish import intact_manifest, recover
from build_dataset.pipeline.stage import Counts, Result
from tests.pipeline.runtime.small import STAGES, Word, install, upper


class Killed(BaseException):
    """The process dies here."""


def words(tables, params, context):
    names = tables["files"]["document"].to_list()
    return Result(
        {"words": Word.to_frame(Word(text=name) for name in names)},
        Counts(len(names), len(names)),
        files={"card.md": "、".join(names).encode()},
    )


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs both stages over ``raw`` into a build folder of that name."""
    runner = install(monkeypatch, tmp_path, {"x:words": words, "x:upper": upper})
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "a.pdf").write_bytes(b"a")
    return lambda build: runner(**{"dataset.build": str(tmp_path / build)}).run(["ocr", "parse"])


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class Death:
    """Kills at the n-th operation on files; one that writes has then only made the file."""

    def __init__(self, monkeypatch, at):
        self.steps, self.at = 0, at
        for owner, name in (
            (Path, "rename"),
            (Path, "replace"),
            (Path, "mkdir"),
            (Path, "write_bytes"),
            (Path, "write_text"),
            (pq, "write_table"),
            (json, "dump"),
            (os, "fsync"),
            (shutil, "rmtree"),
        ):
            monkeypatch.setattr(owner, name, self._deadly(getattr(owner, name), name))

    def _deadly(self, real, name):
        def operation(*given, **named):
            self.steps += 1
            if self.steps == self.at:
                if name.startswith("write_") and name != "write_table":  # its file is open, and so is there
                    given[0].touch()
                raise Killed(f"at {name}")
            return real(*given, **named)

        return operation


def test_killed_at_any_operation_the_old_or_the_new_result_is_whole_and_a_rerun_finishes(run, tmp_path, monkeypatch):
    run("old")
    (tmp_path / "raw" / "b.pdf").write_bytes(b"b")
    run("new")
    stages = [stage.name for stage in STAGES]
    whole = {name: [contents(tmp_path / build / name) for build in ("old", "new")] for name in stages}
    for at in range(1, 200):
        build = tmp_path / f"build-{at}"
        shutil.copytree(tmp_path / "old", build)
        with monkeypatch.context() as patch:
            death = Death(patch, at)
            try:
                run(build.name)
            except Killed:
                pass
            else:
                break
        for name in stages:
            recover(build / name)
            assert contents(build / name) in whole[name], f"killed at step {at}"
            assert intact_manifest(build / name)
        run(build.name)
        assert [contents(build / name) for name in stages] == [whole[name][1] for name in stages]
        assert not list(build.glob(".*.new")) + list(build.glob(".*.old"))
    assert at > 20, "it was killed at every step"
    assert death.steps < at
