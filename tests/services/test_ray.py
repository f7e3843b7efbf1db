"""The sample read on a local Ray cluster of two machines: the same bytes, also when one of them dies midway."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from build_dataset.pipeline.runtime.ray_executor import RayExecutor
from build_dataset.schemas.errors import UserError
from tests.making import bank

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "pipeline" / "runtime"))
from ray_cluster import MISSING, RayCluster, ray_cluster  # noqa: E402

pytestmark = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
PATIENCE = 240


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with ray_cluster(2, gpus=1) as found:
        yield found


@pytest.fixture(scope="module")
def papers(tmp_path_factory) -> Path:
    """A dataset of the sample's papers, and what one machine makes of it in ``local``."""
    folder = tmp_path_factory.mktemp("papers")
    (folder / "raw").mkdir()
    for name in ("internal-medicine.pdf", "scan-2024-03.pdf", "laboratory-note.png", "truncated.pdf"):
        shutil.copy(ROOT / "raw" / "sample" / "papers" / name, folder / "raw")
    (folder / "dataset.toml").write_text('[dataset]\nname = "x"\n[ocr]\nforce_ocr = true\n')
    assert ocr(folder, "local").wait(PATIENCE) == 0
    return folder


def ocr(folder: Path, build: str, cluster: RayCluster | None = None) -> subprocess.Popen:
    return start(folder, build, "ocr", cluster=cluster)


def start(folder: Path, build: str, *words: str, cluster: RayCluster | None = None) -> subprocess.Popen:
    program = [sys.executable, "-c", "from build_dataset.pipeline.cli import main; main()", *words]
    options = [f"dataset.build={folder / build}"]
    if cluster:
        options += ["executor.kind=ray", f"executor.address={cluster.address}"]
    sets = [word for option in options for word in ("--set", option)]
    return subprocess.Popen(
        [*program, "--config", str(folder / "dataset.toml"), *sets],
        env={**os.environ, **(cluster.environment if cluster else {})},
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def stored(build: Path) -> int:
    path = build / "store" / "ocr.sqlite"
    if not path.exists():
        return 0
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            return connection.execute("SELECT count(*) FROM items").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def wait_for(build: Path, items: int, process: subprocess.Popen) -> None:
    deadline = time.monotonic() + PATIENCE
    while stored(build) < items:
        assert process.poll() is None, process.stderr.read().decode()
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_machine_that_dies_midway_changes_nothing(papers, cluster):
    process = ocr(papers, "ray", cluster)
    wait_for(papers / "ray", 3, process)
    os.killpg(cluster.nodes[1].pid, signal.SIGKILL)
    assert process.wait(PATIENCE) == 0, process.stderr.read().decode()
    assert contents(papers / "ray" / "ocr") == contents(papers / "local" / "ocr")
    cluster.add()


def test_a_bank_is_read_and_labelled_in_blocks_on_all_machines_also_when_one_dies(tmp_path, cluster):
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "bank.jsonl").write_text("".join(json.dumps(row) + "\n" for row in bank(6000)))
    (tmp_path / "dataset.toml").write_text('[dataset]\nname = "x"\n[annotate]\nannotator = "lexicon"\n')
    command = ("run", "--to", "annotate")
    assert start(tmp_path, "local", *command).wait(PATIENCE) == 0
    process = start(tmp_path, "ray", *command, cluster=cluster)
    deadline = time.monotonic() + PATIENCE
    while not (tmp_path / "ray" / "ocr").exists():
        assert process.poll() is None, process.stderr.read().decode()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(cluster.nodes[-1].pid, signal.SIGKILL)
    assert process.wait(PATIENCE) == 0, process.stderr.read().decode()
    for stage in ("parse", "dedup", "annotate"):
        assert contents(tmp_path / "ray" / stage) == contents(tmp_path / "local" / stage)
    cluster.add()


def test_interrupted_it_stops_its_workers_and_goes_on_from_there(papers, cluster):
    process = ocr(papers, "interrupted", cluster)
    wait_for(papers / "interrupted", 3, process)
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) != 0
    assert "Traceback" not in process.stderr.read().decode()
    before = stored(papers / "interrupted")
    again = ocr(papers, "interrupted", cluster)
    assert again.wait(PATIENCE) == 0, again.stderr.read().decode()
    assert contents(papers / "interrupted" / "ocr") == contents(papers / "local" / "ocr")
    assert 3 <= before <= stored(papers / "interrupted")


def test_a_worker_has_the_gpu_that_it_asked_for(cluster, monkeypatch):
    for name, value in cluster.environment.items():
        monkeypatch.setenv(name, value)
    with closing(RayExecutor(cluster.address, workers=1, gpus=1.0)) as executor:
        [(_, devices)] = executor.map(os.getenv, ["CUDA_VISIBLE_DEVICES"], None)
    assert devices == "0"


def test_more_gpus_than_there_are_is_told(cluster, monkeypatch):
    for name, value in cluster.environment.items():
        monkeypatch.setenv(name, value)
    with closing(RayExecutor(cluster.address, gpus=8)) as executor, pytest.raises(UserError, match="a worker needs"):
        list(executor.map(abs, [1], None))
