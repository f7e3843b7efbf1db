"""Two processes on one build folder: one works, the other is told so; nothing is corrupted. A folder of many files."""

import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

FILES = 400


@pytest.fixture
def dataset(tmp_path):
    """Many small papers of one question each, every other with the bytes of the one before."""
    (tmp_path / "raw").mkdir()
    for number in range(FILES):
        row = f"Question,Options,Answer\n第{number // 2}题的题干是什么,A 甲 B 乙,A\n"
        (tmp_path / "raw" / f"{number:05}.csv").write_text(row, encoding="utf-8")
    (tmp_path / "dataset.toml").write_text('[dataset]\nname = "x"\n')
    return tmp_path


def start(folder: Path, build: str) -> subprocess.Popen:
    program = [sys.executable, "-c", "from build_dataset.pipeline.cli import main; main()", "ocr"]
    options = ["--config", str(folder / "dataset.toml"), "--set", f"dataset.build={folder / build}"]
    return subprocess.Popen([*program, *options], stderr=subprocess.PIPE, text=True, env={**os.environ})


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.slow
def test_of_two_at_once_one_works_and_the_other_says_who_does(dataset):
    both = [start(dataset, "shared") for _ in range(2)]
    told = {process.pid: process.communicate()[1] for process in both}
    codes = {process.pid: process.returncode for process in both}
    (winner,) = (pid for pid, code in codes.items() if code == 0)
    (other,) = (pid for pid, code in codes.items() if code != 0)
    assert codes[other] == 2
    assert f"another build-dataset (process {winner}) is writing" in " ".join(told[other].split())
    alone = start(dataset, "alone")
    alone.communicate()
    assert contents(dataset / "shared" / "ocr") == contents(dataset / "alone" / "ocr")
    assert pl.read_parquet(dataset / "alone" / "ocr" / "documents.parquet").height == FILES // 2
