"""Measure how many small wrong changes of the code the nearest tests notice.

A mutant is one change at one place: a comparison, a constant, a boolean operator, an arithmetic operator, a negation or
a returned value. Places are drawn at random with a seed. Each mutant runs in a copy of the repository against the tests
nearest to its module, the whole folder of its area, and the golden sample, in this order, until one fails.
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
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

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

    annotations = {id(inner) for node in ast.walk(tree) for inner in _annotation(node)}
    for node in ast.walk(tree):
        if id(node) in annotations:
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


def nearest(path: str) -> list[list[str]]:
    """Return groups of test paths for a module, nearest first: its own file, those that import it, its area."""
    module = Path(path)
    dotted = ".".join(module.with_suffix("").parts)
    own = ROOT / "tests" / module.parent / f"test_{module.stem}.py"
    importing = [
        test
        for test in sorted((ROOT / "tests").rglob("test_*.py"))
        if "services" not in test.parts and test != own and _imports(test, dotted)
    ]
    area = ROOT / "tests" / module.parent
    while not area.is_dir():
        area = area.parent
    files = sorted(area.glob("test_*.py"))
    gold = ROOT / "tests/test_sample_gold.py"
    groups = [
        [own] if own.exists() else [],
        importing,
        [f for f in files if f != own and f not in importing],
        [gold],
    ]
    return [[str(test.relative_to(ROOT)) for test in group] for group in groups if group]


def _imports(test: Path, dotted: str) -> bool:
    package, _, name = dotted.rpartition(".")
    text = test.read_text(encoding="utf-8")
    return f"{dotted} import" in text or f"import {dotted}" in text or f"from {package} import {name}" in text


def decide(mutant: Mutant, copy: Path, limit: float) -> tuple[str, str]:
    """Return ``killed``, ``survived`` or ``time`` for a mutant, and the test that noticed it."""
    target = copy / mutant.path
    source = target.read_text(encoding="utf-8")
    target.write_text(source[: mutant.start] + mutant.after + source[mutant.end :], encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    until = time.monotonic() + limit
    try:
        for tests in nearest(mutant.path):
            command = [
                sys.executable,
                "-m",
                "pytest",
                "-x",
                "-q",
                "--no-header",
                "-p",
                "no:cacheprovider",
                *tests,
            ]
            done = subprocess.run(
                command, cwd=copy, env=environment, capture_output=True, text=True,
                timeout=max(1.0, until - time.monotonic()),
            )  # fmt: skip
            if done.returncode not in (0, 5):
                failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
                return "killed", failed[0][:160] if failed else (done.stdout + done.stderr)[-160:]
    except subprocess.TimeoutExpired:
        return "time", ""
    finally:
        target.write_text(source, encoding="utf-8")
    return "survived", ""


def main() -> None:
    """Draw mutants, decide each and print the score by kind; every decision goes to ``--out`` as a JSON line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--under", nargs="*", default=PACKAGES, help="packages or folders to draw from")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds a mutant may take")
    parser.add_argument("--out", type=Path, default=Path("mutants.jsonl"))
    given = parser.parse_args()
    paths = sorted(path for part in given.under for path in (ROOT / part).rglob("*.py"))
    every = [mutant for path in paths for mutant in mutants(path)]
    drawn = random.Random(given.seed).sample(every, min(given.sample, len(every)))
    score: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as folder, given.out.open("w", encoding="utf-8") as out:
        copy = Path(folder) / "project"
        shutil.copytree(
            ROOT, copy, ignore=shutil.ignore_patterns(".venv*", ".git", ".*_cache", "__pycache__")
        )
        for index, mutant in enumerate(drawn, 1):
            verdict, by = decide(mutant, copy, given.limit)
            score[mutant.kind, verdict] += 1
            out.write(json.dumps({**asdict(mutant), "verdict": verdict, "by": by}, ensure_ascii=False) + "\n")
            out.flush()
            change = f"{mutant.path}:{mutant.line}: {mutant.before[:60]} -> {mutant.after[:60]}"
            print(f"{index}/{len(drawn)} {verdict:8} {change}", flush=True)
    for kind in sorted({kind for kind, _ in score}):
        tried = sum(count for (own, _), count in score.items() if own == kind)
        noticed = tried - score[kind, "survived"]
        print(f"{kind:12} {noticed:4} of {tried:4} noticed ({noticed / tried:.2f})")


if __name__ == "__main__":
    main()
