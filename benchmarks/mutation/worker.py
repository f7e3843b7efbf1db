"""Decide mutants of one module in this process: the changed code is put in place of the old, and the tests run.

Starting Python takes five times as long as most tests do, so it is done once a module. Run by ``measure`` in a copy of
the repository, with JSON on standard input: the module, its mutants and their tests. A line of JSON answers each.
"""

from __future__ import annotations

import ast
import contextlib
import faulthandler
import functools
import importlib
import io
import json
import os
import subprocess
import sys
import time
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ONE_TEST = 20
"""Seconds that a test may take: a mutant that loops for ever fails by it."""
OPTIONS = ("-x", "-q", "--no-header", "-p", "no:cacheprovider", "--timeout", str(ONE_TEST))

UNDECIDED = "no time left"
TOGETHER = 12
"""Tests that run together, before the time is looked at."""

Undo = Callable[[], None]


def functions(value: Any) -> Iterator[types.FunctionType]:
    """Yield the function below decorators such as ``cache``, ``property`` and ``contextmanager``."""
    for name in ("__wrapped__", "__func__", "fget", "func"):
        inner = getattr(value, name, None)
        if inner is not None and inner is not value:
            yield from functions(inner)
    if isinstance(value, types.FunctionType):
        yield value


def transplant(old: dict[str, Any], new: dict[str, Any], undo: list[Undo]) -> None:
    """Give the functions of a namespace the code of those of another, and its data their values."""
    for name, changed in new.items():
        before = old.get(name)
        if (
            isinstance(changed, type)
            and isinstance(before, type)
            and changed.__module__ == old.get("__name__")
        ):
            transplant({**vars(before), "__name__": None}, dict(vars(changed)), undo)
            continue
        pairs = list(zip(functions(before), functions(changed), strict=False))
        for one, other in pairs:
            _swap(one, other, undo)
        if not pairs and "__name__" in old and old["__name__"] and name in old and _is_data(before):
            _replace(name, before, changed, undo)


def _is_data(value: Any) -> bool:
    return not isinstance(value, types.ModuleType | type) and not callable(value)


def _swap(one: types.FunctionType, other: types.FunctionType, undo: list[Undo]) -> None:
    kept = one.__code__, one.__defaults__, one.__kwdefaults__

    def back() -> None:
        one.__code__, one.__defaults__, one.__kwdefaults__ = kept

    if one.__module__ == other.__module__ and one.__code__.co_freevars == other.__code__.co_freevars:
        one.__code__, one.__defaults__, one.__kwdefaults__ = (
            other.__code__,
            other.__defaults__,
            other.__kwdefaults__,
        )
        undo.append(back)


def _replace(name: str, before: Any, changed: Any, undo: list[Undo]) -> None:
    """Replace a constant in every module that has it, where it is another now."""
    with contextlib.suppress(Exception):
        if repr(before) == repr(changed):
            return
    for module in list(sys.modules.values()):
        if vars(module).get(name) is before:
            setattr(module, name, changed)
            undo.append(functools.partial(setattr, module, name, before))


def clear_caches() -> None:
    """Forget what cached functions of ours returned."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in ("pipeline", "annotation", "schemas"):
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


def run(tests: list[str]) -> str:
    """Return the first failure; empty where all tests pass."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = pytest.main([*OPTIONS, *tests])
    if code in (0, 5):
        return ""
    lines = [line for line in out.getvalue().splitlines() if line.startswith(("FAILED", "ERROR", "E  "))]
    return (lines[-1] if lines else out.getvalue()[-160:])[:160]


def in_place(tree: ast.Module, mutant: dict[str, Any]) -> bool:
    """Return whether the changed line lies in a function or a constant of the module, and in no decorator or field."""
    for node in tree.body:
        for inner in node.body if isinstance(node, ast.ClassDef) else [node]:
            if inner.lineno <= mutant["line"] <= (inner.end_lineno or 0):
                constant = isinstance(inner, ast.Assign | ast.AnnAssign) and inner is node
                return constant or isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef)
    return False


def decide(told: dict[str, Any], mutant: dict[str, Any], module: types.ModuleType) -> str:
    """Return the failure that notices a mutant; empty where none does."""
    source = Path(told["path"]).read_text(encoding="utf-8")
    text = source[: mutant["start"]] + mutant["after"] + source[mutant["end"] :]
    if not in_place(ast.parse(source), mutant):
        return _anew(told, text, source, mutant["tests"])
    changed = types.ModuleType(module.__name__)
    changed.__file__, changed.__package__ = module.__file__, module.__package__
    sys.modules[changed.__name__] = changed  # dataclasses look up their module
    undo: list[Undo] = []
    found, until = "", time.process_time() + told["limit"]
    try:
        exec(compile(text, told["path"], "exec"), vars(changed))
        sys.modules[module.__name__] = module
        transplant(vars(module), vars(changed), undo)
        clear_caches()
        tests = mutant["tests"]
        for start in range(0, len(tests), TOGETHER):
            if not found:
                in_time = time.process_time() < until
                found = run(tests[start : start + TOGETHER]) if in_time else UNDECIDED
    except Exception as error:  # the changed module cannot even be imported
        found = f"{type(error).__name__}: {error}"
    finally:
        sys.modules[module.__name__] = module
    for back in reversed(undo):
        back()
    clear_caches()
    return found


def _anew(told: dict[str, Any], text: str, source: str, tests: list[str]) -> str:
    """Decide a change of a class or a decorator in a process of its own."""
    place = Path(told["path"])
    try:
        rewrite(place, text)
        command = [sys.executable, "-m", "pytest", *OPTIONS, *tests]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=10 * told["limit"], check=False
        )
        return "" if done.returncode in (0, 5) else (done.stdout + done.stderr)[-160:]
    except subprocess.TimeoutExpired:
        return UNDECIDED
    finally:
        rewrite(place, source)


def rewrite(module: Path, source: str) -> None:
    """Write a module and forget its bytecode, which Python would take for it if size and second are the same."""
    module.write_text(source, encoding="utf-8")
    for compiled in (module.parent / "__pycache__").glob(f"{module.stem}.*"):
        compiled.unlink()


def main() -> None:
    """Decide each mutant."""
    told = json.loads(sys.stdin.read())
    module = importlib.import_module(told["path"].removesuffix(".py").replace("/", "."))
    answers = os.fdopen(os.dup(1), "w")  # tests may write to standard output
    for mutant in told["mutants"]:
        faulthandler.dump_traceback_later(20 * told["limit"], exit=True)
        found = decide(told, mutant, module)
        verdict = "undecided" if found == UNDECIDED else "killed" if found else "survived"
        print(json.dumps({"verdict": verdict, "by": found}), file=answers, flush=True)


if __name__ == "__main__":
    main()
