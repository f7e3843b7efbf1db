"""The promises of every executor; tests/services/test_ray_contract.py checks the one on Ray."""

import os
import sys
import time
from pathlib import Path

import pytest

from pipeline.runtime.executor import LocalExecutor
from pipeline.stage import Failure

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
    assert found[5].reason == "killed"
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
