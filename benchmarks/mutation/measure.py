"""Measure how many small wrong changes of the code the nearest tests notice.

A mutant is one change at one place: a comparison, a constant, a boolean operator, an arithmetic operator, a negation or
a returned value. Places are drawn at random with a seed. Each mutant runs in a copy of the repository against those
tests of its folder's mirror that enter its function, the most specific first, until one fails. Changes that can have no
effect are left out: type annotations, and ``frozen``, ``slots`` and ``strict``.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks.mutation.recorder import marked
from benchmarks.mutation.worker import rewrite

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("pipeline", "annotation", "schemas")
COMPARED = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
COUNTED = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "*"}


@dataclass(frozen=True)
class Mutant:
    """One change: the text from ``start`` to ``end`` (character offsets) of a file becomes ``after``."""

    path: str
    line: int
    kind: str
    start: int
    end: int
    before: str
    after: str


def mutants(path: Path) -> Iterator[Mutant]:
    """Yield every mutant of a module, in the order of its syntax tree."""
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))

    def at(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    def change(node: ast.expr, kind: str, after: str) -> Mutant:
        first, last = at(node.lineno, node.col_offset), at(node.end_lineno or 0, node.end_col_offset or 0)
        name = str(path.relative_to(ROOT))
        return Mutant(name, node.lineno, kind, first, last, source[first:last], after)

    without_effect = {
        id(inner) for node in ast.walk(tree) for inner in (*_annotation(node), *_declaration(node))
    }
    for node in ast.walk(tree):
        if id(node) in without_effect:
            continue
        for kind, after in _changes(node, source):
            assert isinstance(node, ast.expr)
            yield change(node, kind, after)


def _annotation(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of type annotations: a change there changes nothing at run time."""
    for name in ("annotation", "returns"):
        found = getattr(node, name, None)
        if isinstance(found, ast.AST):
            yield from ast.walk(found)


DECLARATIONS = {"frozen", "slots", "strict"}
"""Keywords of ``dataclass`` and ``zip`` that forbid mistakes and change no result of right code."""


def _declaration(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the values of such keywords."""
    if isinstance(node, ast.keyword) and node.arg in DECLARATIONS:
        yield node.value


def _changes(node: ast.AST, source: str) -> Iterator[tuple[str, str]]:
    def text(part: ast.AST) -> str:
        return ast.get_source_segment(source, part) or ""

    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARED:
        yield "comparison", f"{text(node.left)} {COMPARED[type(node.ops[0])]} {text(node.comparators[0])}"
    elif isinstance(node, ast.BoolOp):
        joined = " or " if isinstance(node.op, ast.And) else " and "
        yield "boolean", "(" + joined.join(f"({text(value)})" for value in node.values) + ")"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "negation", f"bool({text(node.operand)})"
    elif (
        isinstance(node, ast.BinOp) and type(node.op) in COUNTED and not isinstance(node.left, ast.JoinedStr)
    ):
        yield "arithmetic", f"{text(node.left)} {COUNTED[type(node.op)]} {text(node.right)}"
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield "constant", str(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield "constant", str(node.value + 1)
    elif isinstance(node, ast.Constant) and isinstance(node.value, float):
        yield "constant", repr(round(node.value * 1.2 or 0.1, 6))


OPTIONS = "tests/pipeline/test_options.py"
"""The test of the defaults and limits of all options, which no function reads."""


def tests_of(area: str) -> list[str]:
    """Return the test files of a folder of modules: its mirror, or the nearest folder above that has one."""
    folder = ROOT / "tests" / area
    while not folder.is_dir():
        folder = folder.parent
    return [str(test.relative_to(ROOT)) for test in sorted(folder.glob("test_*.py"))]


def record(area: str, copy: Path) -> list[dict[str, Any]]:
    """Return the tests of a folder of modules, each with its seconds and the functions that it enters."""
    sources = {path: path.read_text(encoding="utf-8") for path in sorted((copy / area).glob("*.py"))}
    out = copy / "record.json"
    out.unlink(missing_ok=True)
    for path, source in sources.items():
        rewrite(path, marked(source, str(path.relative_to(copy))))
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "benchmarks.mutation.recorder",
    ]
    environment = {**_environment(copy), "MUTATION_RECORD": str(out)}
    subprocess.run([*command, *tests_of(area)], cwd=copy, env=environment, capture_output=True, check=False)
    for path, source in sources.items():
        rewrite(path, source)
    found: list[dict[str, Any]] = json.loads(out.read_text(encoding="utf-8"))
    return found


def nearest(mutant: Mutant, tree: ast.Module, rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return the tests that enter the function of a mutant, or any of its module, those of few functions first."""
    inside = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.lineno <= mutant.line <= (node.end_lineno or 0)
    ]
    wanted = f"{mutant.path}:{min(inside)};" if inside else f"{mutant.path}:"
    hits = [row for row in rows if any(name.startswith(wanted) for name in row["entered"])]
    found = [
        row["test"]
        for row in sorted(hits, key=lambda row: (len(row["entered"]), row["seconds"], row["test"]))
    ]
    return [*found, OPTIONS] if mutant.path.endswith(("params.py", "options.py")) else found


def decide(
    path: str, group: Sequence[Mutant], copy: Path, limit: float, rows: Sequence[dict[str, Any]]
) -> Iterator[tuple[Mutant, str, str]]:
    """Yield each mutant of a module with ``killed``, ``survived`` or ``undecided`` (no time left), and the failure."""
    tree = ast.parse((copy / path).read_text(encoding="utf-8"))
    left = [(mutant, nearest(mutant, tree, rows)) for mutant in group]
    while left:
        running = _worker(path, left, copy, limit)
        assert running.stdout is not None
        for line in running.stdout:
            found = json.loads(line)
            yield left.pop(0)[0], found["verdict"], found["by"]
        if running.wait() and left:
            yield left.pop(0)[0], "killed", "the process ended"


def _environment(copy: Path) -> dict[str, str]:
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"), "1")
    return {**os.environ, "PYTHONPATH": str(copy), **one}


def _worker(
    path: str, left: Sequence[tuple[Mutant, list[str]]], copy: Path, limit: float
) -> subprocess.Popen[str]:
    told = {"path": path, "limit": limit, "mutants": [{**asdict(one), "tests": tests} for one, tests in left]}
    running = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.mutation.worker"],
        cwd=copy, env=_environment(copy), text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert running.stdin is not None
    running.stdin.write(json.dumps(told))
    running.stdin.close()
    return running


def main() -> None:
    """Draw mutants, decide each and print the score by kind; every decision goes to ``--out`` as a JSON line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--under", nargs="*", default=PACKAGES, help="packages or folders to draw from")
    parser.add_argument("--limit", type=float, default=60.0, help="processor seconds of a mutant's tests")
    parser.add_argument("--out", type=Path, default=Path("mutants.jsonl"))
    given = parser.parse_args()
    paths = sorted(path for part in given.under for path in (ROOT / part).rglob("*.py"))
    every = [mutant for path in paths for mutant in mutants(path)]
    drawn = random.Random(given.seed).sample(every, min(given.sample, len(every)))
    drawn.sort(key=lambda mutant: mutant.path)
    score: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as folder, given.out.open("w", encoding="utf-8") as out:
        copy = Path(folder) / "project"
        left_out = shutil.ignore_patterns(".venv*", ".git", ".*_cache", "__pycache__")
        shutil.copytree(ROOT, copy, ignore=left_out)
        rows: dict[str, list[dict[str, Any]]] = {}
        for path, group in groupby(drawn, key=lambda mutant: mutant.path):
            area = str(Path(path).parent)
            rows[area] = rows.get(area) or record(area, copy)
            for mutant, verdict, by in decide(path, list(group), copy, given.limit, rows[area]):
                score[mutant.kind, verdict] += 1
                row = {**asdict(mutant), "verdict": verdict, "by": by}
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
                out.flush()
                change = f"{mutant.path}:{mutant.line}: {mutant.before[:60]} -> {mutant.after[:60]}"
                print(f"{score.total()}/{len(drawn)} {verdict:8} {change}", flush=True)
    for kind in sorted({kind for kind, _ in score}):
        noticed, decided = score[kind, "killed"], score[kind, "killed"] + score[kind, "survived"]
        print(f"{kind:12} {noticed:4} of {decided:4} noticed, {score[kind, 'undecided']} undecided")


if __name__ == "__main__":
    main()
