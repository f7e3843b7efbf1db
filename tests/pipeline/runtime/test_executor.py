"""The promises of every executor; tests/services/test_ray_contract.py checks the one on Ray."""

import io
import os
import re
import signal
import sys
import time
from concurrent.futures import CancelledError, Future
from pathlib import Path
from types import SimpleNamespace

import pytest
from pebble import ProcessExpired
from rich.console import Console

from build_dataset.pipeline.runtime import executor as module
from build_dataset.pipeline.runtime.executor import LocalExecutor, available_cores
from build_dataset.pipeline.stage import Context, Failure
from build_dataset.schemas.dataset import DatasetParams

sys.path.insert(0, str(Path(__file__).parent))  # workers import the functions by module name
import workers


@pytest.fixture
def executor():
    found = LocalExecutor(2)
    yield found
    found.close()


@pytest.fixture(autouse=True)
def _workers_find_the_functions(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))


def test_results_come_with_their_items(executor):
    found = dict(executor.map(workers.square, range(50), None))
    assert found == {number: number * number for number in range(50)}


def test_no_items_start_no_processes(executor):
    assert list(executor.map(workers.square, [], None)) == []


def test_what_fails_costs_its_own_item_alone(executor):
    found = dict(executor.map(workers.sometimes_bad, range(8), 5.0))
    assert {number: found[number] for number in (0, 7)} == {0: 0, 7: 7}
    assert found[1] == Failure("encrypted", "needs a password")
    assert found[2] == Failure("error", "ValueError: odd")
    assert found[3].reason == "crashed"
    assert found[4].reason == "timeout"
    assert (found[5].reason, "executor.workers" in found[5].detail) == ("killed", True)
    assert found[6] == Failure("io_error", "Stale file handle: check the disk or the network and run again")


@pytest.mark.skipif(not Path("/proc/self/oom_score_adj").exists(), reason="Linux alone chooses whom to end")
def test_where_memory_ends_the_system_ends_a_worker_before_the_command(executor):
    ((_, told),) = executor.map(workers.first_to_go, [0], None)
    assert int(told) > int(Path("/proc/self/oom_score_adj").read_text())


def test_items_are_taken_only_as_workers_get_free(executor):
    taken = []

    def items():
        for number in range(1000):
            taken.append(number)
            yield number

    results = executor.map(workers.square, items(), None)
    next(results)
    assert len(taken) < 20
    results.close()


def test_workers_are_kept_from_one_map_to_the_next(executor):
    first = {result for _, result in executor.map(workers.own_pid, range(20), None)}
    second = {result for _, result in executor.map(workers.own_pid, range(20), None)}
    assert first & second, "whichever of them was the quicker"
    assert len(first | second) <= executor.workers


def test_a_map_that_is_given_up_stops_its_workers(executor):
    results = executor.map(workers.own_pid, range(1000), None)
    _, pid = next(results)
    results.close()
    assert is_gone(pid)


def is_gone(pid):
    """Return whether the process ends; on a cluster its machine may take a moment to remove it."""
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


def test_there_are_as_many_workers_as_cores_where_no_number_is_given(monkeypatch):
    assert LocalExecutor().workers == LocalExecutor(0).workers == available_cores()
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3, 5, 7} if process == 0 else set())
    assert available_cores() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    for cores, told in ((6, 6), (None, 1)):
        monkeypatch.setattr(os, "cpu_count", lambda cores=cores: cores)
        assert available_cores() == told


def expired(code):
    return ProcessExpired("gone", code=code)


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (expired(-signal.SIGPROF), Failure("timeout", "took more processor time than the limit")),
        (expired(signal.SIGKILL), Failure("crashed", f"the worker process died ({expired(signal.SIGKILL)})")),
        (CancelledError("x"), Failure("crashed", "the worker process died (x)")),
        (OSError("odd"), Failure("error", "OSError: odd")),
    ],
)
def test_each_way_to_fail_has_its_reason(error, failure):
    future = Future()
    future.set_exception(error)
    assert module._outcome(future) == failure


def test_ctrl_c_is_held_back_while_workers_start_and_only_then():
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    with module._interrupt_held():
        assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before | {signal.SIGINT}
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_a_bar_on_a_terminal_alone(tmp_path, terminal):
    stream, closed = io.StringIO(), []
    parts = [SimpleNamespace(close=lambda name=name: closed.append(name)) for name in ("store", "executor")]
    console = Console(file=stream, force_terminal=terminal, width=100, color_system=None)
    dataset = DatasetParams(name="x", raw=tmp_path, build=tmp_path / "b", seed=5)
    context = Context(tmp_path, tmp_path, dataset, *parts, console)
    with context.progress(4, "pages") as step:
        step(1)
        step(2)
    assert context.seed == 5
    if terminal:
        assert re.search(r"  pages ━+.* 3/4 0:00:\d\d ETA ", stream.getvalue())
        assert stream.getvalue().endswith("\x1b[1A\x1b[2K"), "the bar is gone in the end"
    else:
        assert stream.getvalue() == ""
    context.close()
    assert closed == ["executor", "store"]
