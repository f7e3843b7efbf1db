"""Killed at any instant, the same command finishes the job with the same bytes and pays for nothing twice."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from tests.annotation.scripted_server import Reply, ScriptedServer
from tests.making import bank

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 900


def command(build: Path, *words: str) -> list[str]:
    program = [sys.executable, "-c", "from build_dataset.pipeline.cli import main; main()"]
    return [*program, *words, "--config", str(ROOT / "dataset.toml"), "--set", f"dataset.build={build}"]


def finish(build: Path, *words: str) -> None:
    done = subprocess.run(command(build, *words), capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr


def kill_when(happened: Callable[[], bool], build: Path, *words: str) -> None:
    """Start the command, and kill it with all its workers at once when something happened."""
    process = subprocess.Popen(
        command(build, *words), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    deadline = time.monotonic() + PATIENCE
    while not happened():
        assert process.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def stored(build: Path, stage: str) -> int:
    """Return the number of items in the stage's store, without the notes on calls whose answer never came."""
    path = build / "store" / f"{stage}.sqlite"
    if not path.exists():
        return 0
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
            return connection.execute("SELECT count(*) FROM items WHERE key NOT LIKE 'wasted:%'").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def runs(build: Path, stage: str) -> list[dict]:
    lines = (build / "runs.jsonl").read_text().splitlines()
    return [entry for entry in map(json.loads, lines) if entry["stage"] == stage]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def differences(one: dict[str, bytes], other: dict[str, bytes]) -> set[str]:
    return {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}


@pytest.mark.slow
def test_killed_while_pages_are_read_it_reads_no_page_twice(sample_build, tmp_path):
    build = tmp_path / "build"
    kill_when(lambda: stored(build, "ocr") >= 2, build, "run")
    before = stored(build, "ocr")
    assert not (build / "ocr").exists(), "nothing half-done is published"
    finish(build, "run", "--to", "parse")
    undisturbed = runs(sample_build, "ocr")[-1]
    last = runs(build, "ocr")[-1]
    assert before >= 2
    assert (last["reused"], last["reused"] + last["added"]) == (before, undisturbed["added"])
    assert contents(build / "parse") == contents(sample_build / "parse")


@pytest.mark.slow
def test_killed_while_a_bank_is_read_or_labelled_in_blocks_it_begins_the_stage_anew(tmp_path):
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "bank.jsonl").write_text("".join(json.dumps(row) + "\n" for row in bank(6000)))
    given = ["--set", f"dataset.raw={tmp_path / 'raw'}", "--set", "annotate.annotator=lexicon"]
    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
    finish(undisturbed, "run", "--to", "annotate", *given)
    for before, stage in (("ocr", "parse"), ("dedup", "annotate")):
        kill_when((killed / before).exists, killed, "run", "--to", "annotate", *given)
        assert not (killed / stage).exists(), "nothing half-done is published"
    finish(killed, "run", "--to", "annotate", *given)
    for stage in ("parse", "dedup", "annotate"):
        assert contents(killed / stage) == contents(undisturbed / stage)


@pytest.mark.slow
def test_killed_while_a_model_annotates_it_pays_for_no_answer_twice(sample_build, tmp_path):
    concurrency = 4
    with closing(ScriptedServer(lambda *_: Reply(stall=0.05))) as server:
        pairs = {"annotator": "llm", "llm.model": "m", "llm.base_url": server.url, "llm.concurrency": concurrency}
        options = [word for key, value in pairs.items() for word in ("--set", f"annotate.{key}={value}")]
        undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
        for build in (undisturbed, killed):
            for name in ("ocr", "parse", "clean", "dedup"):
                shutil.copytree(sample_build / name, build / name)
        finish(undisturbed, "run", "--from", "annotate", "--to", "export", *options)
        questions = sum(server.answered.values())
        for _ in range(3):
            enough = stored(killed, "annotate") + 5
            kill_when(partial(_holds, killed, enough), killed, "annotate", *options)
        in_flight = 3 * concurrency
        finish(killed, "run", "--from", "annotate", "--to", "export", *options)
        asked = sum(server.asked.values()) - questions
    assert stored(killed, "annotate") == questions
    assert questions <= asked <= questions + in_flight, "only what was in flight at a kill is asked again"
    assert contents(killed / "export") == contents(undisturbed / "export")


@pytest.mark.slow
def test_killed_while_a_model_is_evaluated_it_pays_for_no_answer_twice(sample_build, tmp_path):
    with closing(ScriptedServer(lambda *_: Reply(content="答案是A。", stall=0.1))) as server:
        pairs = {"model": "scripted", "base_url": server.url, "split": "train"}
        options = [word for key, value in pairs.items() for word in ("--set", f"evaluate.{key}={value}")]
        undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
        for build in (undisturbed, killed):
            shutil.copytree(sample_build, build)
            shutil.rmtree(build / "evaluate")
        finish(undisturbed, "evaluate", *options)
        questions, most = sum(server.answered.values()), server.most_at_once
        for _ in range(2):
            enough = stored(killed, "evaluate") + 5
            kill_when(partial(_holds, killed, enough, "evaluate"), killed, "evaluate", *options)
        finish(killed, "evaluate", *options)
        asked = sum(server.asked.values()) - questions
    assert questions <= asked <= questions + 2 * most, "only what was in flight at a kill is asked again"
    differing = differences(contents(killed / "evaluate"), contents(undisturbed / "evaluate"))
    assert differing <= {"manifest.json", "requests.parquet"}, "these tell of calls that a killed run may have to pay"


@pytest.mark.slow
def test_killed_while_it_is_written_the_report_is_the_old_one_or_the_new_one(sample_build, tmp_path):
    build = tmp_path / "build"
    shutil.copytree(sample_build, build)
    old = contents(build / "report")
    for moment in (lambda: (build / ".report.new").exists(), lambda: (build / ".lock.pid").exists()):
        kill_when(moment, build, "report", "--force")
        assert contents(build / "report") == old
    finish(build, "report", "--force")
    assert contents(build / "report") == old
    assert not [*build.glob(".report.*")]


def _holds(build: Path, items: int, stage: str = "annotate") -> bool:
    return stored(build, stage) >= items
