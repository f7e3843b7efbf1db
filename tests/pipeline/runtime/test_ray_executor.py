"""Faults of a cluster, simulated; tests/services/test_ray.py has a real one."""

import socket
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from build_dataset.pipeline.config import ExecutorParams, load
from build_dataset.pipeline.doctor import CheckState, preflight, run_checks
from build_dataset.pipeline.runtime import ray_executor
from build_dataset.pipeline.runtime.ray_executor import RayExecutor, expected, fitting_workers, lacks, room
from build_dataset.pipeline.stage import Failure
from build_dataset.schemas.errors import UserError

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
    monkeypatch.setattr("build_dataset.pipeline.runtime.ray_executor.version", lambda name: "0.0.1")
    assert "numpy 0.0.1, this machine" in lacks(wanted)
    lacks.cache_clear()
    monkeypatch.setattr("build_dataset.pipeline.runtime.ray_executor.code_hash", lambda module: "other")
    assert "has build-dataset with the code" in lacks(wanted)


def test_a_run_that_reads_nothing_asks_no_cluster(config, monkeypatch):
    monkeypatch.setattr(ray_executor, "find_spec", lambda name: None)
    preflight(config, ["clean", "split"])
    preflight(config, [])
    with pytest.raises(UserError, match="needs the package ray"):
        preflight(config, ["parse"])


@pytest.mark.parametrize(("cpus", "gpus", "each"), [(0.9, 0, 0), (8, 0.4, 0.5), (16, 0, 1)])
def test_no_room_for_one_worker_is_told_whole(cpus, gpus, each):
    with pytest.raises(UserError) as caught:
        fitting_workers(cpus, gpus, each)
    assert str(caught.value) == (
        f"[executor] the Ray cluster has {cpus:g} CPUs and {gpus:g} GPUs, a worker needs 1 and {each:g}: "
        "join a machine that has them, or set num_gpus"
    )


class RayError(Exception):
    """The base of Ray's errors."""


class RayTaskError(RayError):
    """An error of a task."""

    def __init__(self, text, cause=None):
        super().__init__(text)
        self.cause = cause


class FakeRay:
    """Ray in this process: a task runs when it is asked for, and every wait answers with the first."""

    exceptions = SimpleNamespace(RayTaskError=RayTaskError, RayError=RayError)

    def __init__(self):
        self.options, self.waits, self.cancelled, self.joined, self.left = None, [], [], [], 0
        self.ready = True

    def init(self, **named):
        self.joined.append(named)

    def shutdown(self):
        self.left += 1

    def cluster_resources(self):
        return {"CPU": 4.0, "GPU": 1.0}

    def nodes(self):
        return [{"Alive": True}, {"Alive": False}, {"Alive": True}]

    def put(self, value):
        return value

    def remote(self, **options):
        self.options = options
        return lambda task: SimpleNamespace(remote=lambda wanted, function, *given: (function, *given))

    def wait(self, refs, num_returns=1, timeout=None):
        self.waits.append((len(refs), num_returns, timeout))
        return (refs[:1], refs[1:]) if self.ready else ([], refs)

    def get(self, ref):
        function, item, _ = ref
        return function(item)

    def cancel(self, ref):
        self.cancelled.append(ref)


@pytest.fixture
def ray(monkeypatch):
    found = FakeRay()
    monkeypatch.setattr(ray_executor, "find_spec", lambda name: name)
    monkeypatch.setattr(ray_executor, "import_module", lambda name: found)
    monkeypatch.setattr(ray_executor, "expected", lambda shared: ())
    for name in ("RAY_USAGE_STATS_ENABLED", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"):
        monkeypatch.setenv(name, "1")
    return found


def failing(error):
    def fails(item):
        raise error

    return fails


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (RayTaskError("Traceback\nValueError: odd\n"), Failure("error", "ValueError: odd")),
        (RayError("gone"), Failure("crashed", "3 Ray workers died under it")),
    ],
)
def test_what_fails_on_the_cluster_costs_its_item(ray, error, failure):
    assert list(RayExecutor().map(failing(error), [1], None)) == [(1, failure)]


def test_a_machine_that_would_read_otherwise_stops_the_run(ray):
    with pytest.raises(UserError, match=r"^another version$"):
        list(RayExecutor().map(failing(RayTaskError("x", UserError("another version"))), [1], None))


def test_workers_that_do_not_come_up_are_told_whole(ray, monkeypatch):
    monkeypatch.setattr(ray, "get", failing(RayTaskError("x\nModuleNotFoundError: no")))
    with pytest.raises(UserError) as caught:
        list(RayExecutor().map(abs, [1], None))
    same = "build-dataset must be installed on every machine of the cluster (docs/scale.md)"
    assert str(caught.value) == f"[executor] Ray workers do not start: ModuleNotFoundError: no: {same}"
    ray.ready = False
    with pytest.raises(UserError) as caught:
        list(RayExecutor().map(abs, [1], None))
    advice = "see `ray status`"
    assert str(caught.value) == f"[executor] no Ray worker came up within 120 s: {advice}"


def test_the_room_of_a_cluster_is_told_and_the_cluster_left(ray):
    assert room("auto", 0.5) == "2 machines, 4 CPUs, 1 GPUs at auto: 2 workers"
    assert room("auto", 1.0) == "2 machines, 4 CPUs, 1 GPUs at auto: 1 worker"
    assert ray.left == 2


def test_another_gpu_takes_another_child(monkeypatch):
    monkeypatch.setattr(ray_executor, "_held", {})
    first = ray_executor._local("0")
    assert ray_executor._local("0") is first
    closed = []
    monkeypatch.setattr(first, "close", lambda: closed.append("0"))
    assert ray_executor._local(None) is not first
    assert (closed, list(ray_executor._held)) == (["0"], [None])
    assert first.workers == 1


def test_a_worker_of_another_version_does_nothing(monkeypatch):
    monkeypatch.setattr(ray_executor, "lacks", lambda wanted: "n1 has numpy 1.0" if wanted else None)
    with pytest.raises(UserError) as caught:
        ray_executor.run_on_worker((("numpy", "2.0"),), abs, -1, None)
    assert str(caught.value) == "[executor] a machine of the Ray cluster n1 has numpy 1.0 (docs/scale.md)"
    fake = SimpleNamespace(map=lambda function, items, timeout: [(items[0], (function(items[0]), timeout))])
    monkeypatch.setattr(ray_executor, "_local", lambda devices: fake)
    assert ray_executor.run_on_worker((), abs, -1, 2.0) == (1, 2.0)
