"""Run tests against changed modules, one forked process for each mutant.

This process imports pytest and the libraries once; a forked child imports only the project, from files of which one
is changed, so nothing of one mutant is left when the next begins. Run by ``measure`` in a copy of the repository. Each
line of JSON on standard input names a file, its changed text and the tests; a line of JSON answers.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import benchmarks.mutation.recorder  # noqa: F401  (registers the hypothesis profile)

RESULT = Path("mutation-result.json")
FIRST = 30
"""Tests of the first process of a mutant; most mutants fail one of them, and the other test files stay unread."""
SLOWER = 10
"""A test that takes this many times its recorded processor seconds, and ``GRACE`` more, has no end."""
GRACE = 5.0
LONGEST = 900.0
"""Seconds on the clock after which a child that waits is ended, undecided."""
MEMORY = 4 << 30
"""Bytes of data that a child may hold or write to a file: a mutant may allocate without end."""
OPTIONS = (
    "-x", "-q", "--no-header", "-p", "no:cacheprovider", "--hypothesis-profile", "mutation", "--timeout", "200",
)  # fmt: skip


class NoEnd(BaseException):
    """A test took far more processor time than it should; no ``except Exception`` may hide it."""


class Chosen:
    """A pytest plugin that runs the chosen tests in their order and writes the first failure."""

    def __init__(self, tests: dict[str, float]):
        self.tests = tests
        self.places = {test: place for place, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the chosen tests. One whose name is another now (a parameter that moved) does not run."""
        items[:] = sorted(
            (item for item in items if item.nodeid in self.places), key=lambda item: self.places[item.nodeid]
        )

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Limit the processor time of a test."""
        signal.setitimer(signal.ITIMER_PROF, GRACE + SLOWER * self.tests[item.nodeid])
        yield
        signal.setitimer(signal.ITIMER_PROF, 0)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Write a failure."""
        if report.failed:
            _write(report.nodeid, report.longreprtext)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Write that a test file cannot be read."""
        if report.failed:
            _write(report.nodeid, report.longreprtext)


def _write(test: str, text: str) -> None:
    if not RESULT.exists():
        told = [line for line in text.splitlines() if line.startswith("E  ")]
        RESULT.write_text(json.dumps({"test": test, "why": (told or [text[-160:]])[0][:160]}), encoding="utf-8")


def _no_end(*_: object) -> None:
    raise NoEnd


def child(tests: dict[str, float]) -> None:
    """Run tests in this process and end it with the status of pytest."""
    os.setpgrp()
    for what in (resource.RLIMIT_DATA, resource.RLIMIT_FSIZE):
        resource.setrlimit(what, (MEMORY, MEMORY))
    most = int(60 + SLOWER * sum(tests.values()))
    resource.setrlimit(resource.RLIMIT_CPU, (most, most))
    signal.signal(signal.SIGPROF, _no_end)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
    base = str(Path.cwd().with_name(Path.cwd().name + "-tests"))
    code = pytest.main([*OPTIONS, "--basetemp", base, *files], plugins=[Chosen(tests)])
    os._exit(int(code))


def fork(tests: dict[str, float]) -> dict[str, str]:
    """Run tests in a child. The answer has the test that fails, or "" where all pass, and why.

    A child that ends in another way failed its first test; "undecided" stands for the test where it did not end.
    """
    RESULT.unlink(missing_ok=True)
    number = os.fork()
    if not number:
        try:
            child(tests)
        finally:
            os._exit(99)
    status = _wait(number)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(number, signal.SIGKILL)  # what the tests left running
    if RESULT.exists():
        found: dict[str, str] = json.loads(RESULT.read_text(encoding="utf-8"))
        return found
    if status in (0, 5):
        return {"test": "", "why": ""}
    ended = status not in (None, -signal.SIGKILL)  # else it waited, or the machine had no memory left
    return {"test": next(iter(tests)) if ended else "undecided", "why": f"status {status}"}


def _wait(number: int) -> int | None:
    """Return the exit status of a child; None where it was ended because it waited too long."""
    until, pause = time.monotonic() + LONGEST, 0.005
    while time.monotonic() < until:
        ended, status = os.waitpid(number, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(pause)
        pause = min(0.1, pause * 1.5)
    os.killpg(number, signal.SIGKILL)
    os.waitpid(number, 0)
    return None


def decide(told: dict[str, Any]) -> dict[str, str]:
    """Return the first test that fails with a changed module; without a change, where no path is given."""
    if not told["path"]:
        return fork(told["tests"])
    place = Path(told["path"])
    kept = place.read_text(encoding="utf-8")
    rewrite(place, told["text"])
    try:
        return _in_two(told["tests"])
    finally:
        rewrite(place, kept)


def _in_two(tests: dict[str, float]) -> dict[str, str]:
    """Run the first tests, and the others only where those pass."""
    names = list(tests)
    found = fork({name: tests[name] for name in names[:FIRST]})
    if found["test"] or len(names) <= FIRST:
        return found
    return fork({name: tests[name] for name in names[FIRST:]})


def rewrite(module: Path, source: str) -> None:
    """Write a module and forget its bytecode, which Python would take for it if size and second are the same."""
    module.write_text(source, encoding="utf-8")
    for compiled in (module.parent / "__pycache__").glob(f"{module.stem}.*"):
        compiled.unlink()


def main() -> None:
    """Import the libraries of the first line, then decide each mutant."""
    answers = os.fdopen(os.dup(1), "w")  # tests and libraries may write to standard output
    os.dup2(2, 1)
    for name in json.loads(sys.stdin.readline())["libraries"]:
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    for line in sys.stdin:
        print(json.dumps(decide(json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
