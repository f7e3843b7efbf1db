"""Record which tests enter which functions: a pytest plugin, and the marks that it puts into modules.

Every test writes a line of JSON to the file that ``MUTATION_RECORD`` names.
"""

from __future__ import annotations

import ast
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

for _name, _examples in (("recording", 5), ("mutation", 50)):
    settings.register_profile(
        _name,
        max_examples=_examples,
        deadline=None,
        derandomize=True,
        database=None,
        phases=(Phase.explicit, Phase.generate),  # a failing example need not be small
        suppress_health_check=list(HealthCheck),  # they look at the clock, which a busy machine slows down
    )

LONGEST = 5.0
"""Processor seconds after which the recording of a test is broken off; it counts as one that fails."""

_entered: set[str] = set()


@dataclass
class Cost:
    """Processor seconds, and the functions that were entered in them."""

    seconds: float = 0.0
    entered: set[str] = field(default_factory=set)


_fixtures: dict[str, Cost] = {}
"""The costs of fixtures of a module or session, which every test that uses one pays when it runs alone."""
_passed: dict[str, bool] = {}


class TooLong(BaseException):
    """A test takes more than the longest time; no ``except Exception`` may hide it."""


def _stop(*_: object) -> None:
    raise TooLong


signal.signal(signal.SIGPROF, _stop)


def enter(function: str) -> None:
    """Note that a function was entered."""
    _entered.add(function)


@pytest.hookimpl(hookwrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
    """Note the cost of a fixture that later tests get for nothing."""
    begun, before = time.process_time(), set(_entered)
    _entered.clear()
    yield
    if fixturedef.scope != "function":
        _fixtures[fixturedef.argname] = Cost(time.process_time() - begun, set(_entered))
    _entered.update(before)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Write the functions that a test enters, alone, and the seconds that it takes."""
    _entered.clear()
    made = set(_fixtures)
    begun = time.process_time()
    yield
    seconds, entered = time.process_time() - begun, set(_entered)
    for name in set(getattr(item, "fixturenames", ())) & set(_fixtures):
        entered |= _fixtures[name].entered
        seconds += _fixtures[name].seconds if name in made else 0.0
    row = {
        "test": item.nodeid,
        "seconds": round(seconds, 3),
        "passed": _passed.get(item.nodeid, False),
        "entered": sorted(entered),
    }
    with Path(os.environ["MUTATION_RECORD"]).open("a", encoding="utf-8") as out:
        out.write(json.dumps(row) + "\n")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """Limit the time of a test, its fixtures apart."""
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    yield
    signal.setitimer(signal.ITIMER_PROF, 0)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note whether a test passes."""
    if report.when == "call":
        _passed[report.nodeid] = report.passed
    elif report.failed:
        _passed[report.nodeid] = False


def pytest_sessionfinish() -> None:
    """Write the names of the libraries that the tests import: a worker imports them once, before it forks.

    Modules with private names are left to those that import them: ``_asyncio`` before ``asyncio`` breaks both.
    """
    ours = ("build_dataset", "tests", "benchmarks", "conftest", "__main__")
    names = sorted(
        name
        for name in list(sys.modules)
        if name.split(".")[0] not in ours and not any(part.startswith("_") for part in name.split("."))
    )
    with Path(os.environ["MUTATION_RECORD"]).open("a", encoding="utf-8") as out:
        out.write(json.dumps({"libraries": names}) + "\n")


def functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Yield the functions of a module and of its classes with their qualified names, but none inside another."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield prefix + node.name, node
        else:
            yield from functions(node, f"{prefix}{node.name}." if isinstance(node, ast.ClassDef) else prefix)


def marked(source: str, path: str) -> str:
    """Return a module whose functions call ``enter`` with their path and name when they begin."""
    lines = source.splitlines(keepends=True)
    tree = ast.parse(source)
    calls = [(node.body, f"_enter_function({f'{path}:{name}'!r})\n") for name, node in functions(tree)]
    importing = "from benchmarks.mutation.recorder import enter as _enter_function\n"
    after = [node for node in tree.body if getattr(node, "module", None) == "__future__"]
    for body, call in sorted([*calls, (after[-1:] or tree.body[:1], importing)], key=_line, reverse=True):
        first = body[0]
        if call == importing or _is_docstring(first):
            lines.insert(first.end_lineno or 0, " " * first.col_offset + call)
        elif lines[first.lineno - 1][: first.col_offset].isspace() or not first.col_offset:
            lines.insert(_line((body, call)) - 1, " " * first.col_offset + call)
    return "".join(lines)


def _line(mark: tuple[list[ast.stmt], str]) -> int:
    """Return the line where the first statement begins, with its decorators."""
    first = mark[0][0]
    return min([first.lineno, *(one.lineno for one in getattr(first, "decorator_list", ()))])


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
