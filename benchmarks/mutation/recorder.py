"""Record which tests enter which functions: a pytest plugin, and the marks that it puts into modules."""

from __future__ import annotations

import ast
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

_entered: set[str] = set()
_rows: list[dict[str, Any]] = []


def enter(function: str) -> None:
    """Note that a function was entered."""
    _entered.add(function)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Note the functions that a test enters, and the seconds that it takes."""
    _entered.clear()
    begun = time.process_time()
    yield
    row = {"test": item.nodeid, "seconds": time.process_time() - begun, "entered": sorted(_entered)}
    _rows.append(row)


def pytest_sessionfinish() -> None:
    """Write the rows where the environment says."""
    Path(os.environ["MUTATION_RECORD"]).write_text(json.dumps(_rows), encoding="utf-8")


def marked(source: str, path: str) -> str:
    """Return a module whose functions call ``enter`` with their path and line when they begin."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            call = ast.parse(f"_enter_function({f'{path}:{node.lineno};'!r})").body
            node.body[_after_docstring(node.body) : _after_docstring(node.body)] = call
    place = _after_docstring(tree.body)
    while place < len(tree.body) and getattr(tree.body[place], "module", None) == "__future__":
        place += 1
    tree.body[place:place] = ast.parse(
        "from benchmarks.mutation.recorder import enter as _enter_function"
    ).body
    return ast.unparse(ast.fix_missing_locations(tree))


def _after_docstring(body: list[ast.stmt]) -> int:
    first = body[0] if body else None
    return int(isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant))
