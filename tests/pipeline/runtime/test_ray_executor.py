"""Faults of a cluster, simulated; tests/services/test_ray.py has a real one."""

import socket
import sys
from pathlib import Path

import pytest

from pipeline.config import ExecutorParams, load
from pipeline.doctor import CheckState, preflight, run_checks
from pipeline.runtime import ray_executor
from pipeline.runtime.ray_executor import RayExecutor, expected, fitting_workers, lacks
from schemas.errors import UserError
from schemas.identity import sha256

sys.path.insert(0, str(Path(__file__).parent))
from ray_cluster import MISSING


@pytest.fixture(autouse=True)
def _asked_anew():
    lacks.cache_clear()


@pytest.fixture
def config(tmp_path):
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "paper.pdf").write_bytes(b"%PDF-1.7")
    text = '[dataset]\nname = "x"\n[executor]\nkind = "ray"\naddress = "127.0.0.1:{}"\n'
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (tmp_path / "dataset.toml").write_text(text.format(port))
    return load(tmp_path / "dataset.toml")


def test_without_the_package_the_remedy_is_told(config, monkeypatch):
    monkeypatch.setattr(ray_executor, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"package ray, which is not installed: pip install -e '.\[ray\]'"):
        preflight(config, ["ocr"])


@pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
def test_a_cluster_that_does_not_answer_is_told_before_anything_is_read(config):
    with pytest.raises(UserError, match=r"no Ray cluster answers at 127\.0\.0\.1:\d+ .*docs/scale\.md"):
        preflight(config, ["ocr"])
    found = {check.name: check for check in run_checks(config)}
    assert found["ray cluster"].state is CheckState.WRONG


def test_a_dataset_of_one_machine_asks_for_no_cluster(tmp_path):
    (tmp_path / "dataset.toml").write_text('[dataset]\nname = "x"\n')
    config = load(tmp_path / "dataset.toml")
    preflight(config, ["ocr"])
    assert "ray cluster" not in {check.name for check in run_checks(config)}


def test_no_items_ask_no_cluster():
    assert list(RayExecutor("127.0.0.1:1").map(str, [], None)) == []


@pytest.mark.parametrize("address", ["auto", "head.example.org:6379", "10.0.0.7:6379", "[fd00::7]:6379"])
def test_addresses(address):
    assert ExecutorParams(address=address).address == address


@pytest.mark.parametrize("address", ["", "head", "ray://head:10001", "http://head:6379/", "head:", "a b:1"])
def test_what_is_no_address_is_refused(address):
    with pytest.raises(ValueError, match="should match pattern"):
        ExecutorParams(kind="ray", address=address)


def test_where_work_runs_makes_nothing_stale():
    here, there = ExecutorParams(), ExecutorParams(kind="ray", address="head:6379", workers=64, num_gpus=0.25)
    assert here.semantic() == there.semantic()


@pytest.mark.parametrize(("gpus", "workers"), [(0, 16), (1, 4), (0.25, 16), (2, 2)])
def test_a_cluster_has_room_for_as_many_workers_as_cpus_and_gpus_allow(gpus, workers):
    assert fitting_workers(16, 4, gpus) == workers


def test_a_cluster_without_gpus_has_no_room_for_who_needs_one():
    with pytest.raises(UserError, match="16 CPUs and 0 GPUs"):
        fitting_workers(16, 0, 1)


def test_a_machine_with_the_same_has_nothing_wrong(config):
    assert lacks(expected(config.dataset.raw)) is None


@pytest.mark.parametrize("change", ["remove", "other"])
def test_a_machine_that_sees_another_folder_is_told_with_the_file(config, change):
    wanted = expected(config.dataset.raw)
    paper = config.dataset.raw / "paper.pdf"
    paper.unlink() if change == "remove" else paper.write_bytes(b"another")
    assert f"does not see {paper}" in lacks(wanted)


def test_a_machine_with_another_version_is_told(monkeypatch):
    wanted = expected(None)
    monkeypatch.setattr("pipeline.runtime.ray_executor.version", lambda name: "0.0.1")
    assert "numpy 0.0.1, this machine" in lacks(wanted)
    lacks.cache_clear()
    monkeypatch.setattr("pipeline.runtime.ray_executor.code_hash", lambda module: "other")
    assert f"build-dataset with the code {sha256('other', 'other')[:12]}" in lacks(wanted)


def test_a_run_that_reads_nothing_asks_no_cluster(config, monkeypatch):
    monkeypatch.setattr(ray_executor, "find_spec", lambda name: None)
    preflight(config, ["dedup", "split"])
    preflight(config, [])
    with pytest.raises(UserError, match="needs the package ray"):
        preflight(config, ["parse"])
