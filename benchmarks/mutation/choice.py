"""The choice of the tests that may notice a mutant, and their order."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from benchmarks.mutation.mutants import PACKAGES, ROOT, Mutant
from benchmarks.mutation.recorder import functions
from benchmarks.mutation.recording import Row

OPTIONS = "tests/pipeline/test_options.py"
"""The test of the defaults and limits of all options, which no function reads."""
SLOW = 3.0
"""Processor seconds: a slower test is left out where a faster one enters the function."""
WORD = re.compile(r"\w+")


class Choice:
    """Choose the tests of a mutant."""

    def __init__(self, rows: Sequence[Row]):
        self.rows = {row["test"]: row for row in rows}
        self.by_function: dict[str, set[str]] = defaultdict(set)
        for row in rows:
            for name in row["entered"]:
                self.by_function[name].add(row["test"])
        self.words: dict[str, set[str]] = {}
        for path in [path for part in PACKAGES for path in (ROOT / part).rglob("*.py")]:
            source = path.read_text(encoding="utf-8")
            lines = source.splitlines()
            for name, node in functions(ast.parse(source)):
                text = " ".join(lines[node.lineno - 1 : node.end_lineno])
                self.words[f"{path.relative_to(ROOT)}:{name}"] = set(WORD.findall(text))
        self.test_words = {
            file: set(WORD.findall((ROOT / file).read_text(encoding="utf-8")))
            for file in {test.partition("::")[0] for test in self.rows}
        }

    def tests(self, mutant: Mutant, budget: float) -> tuple[dict[str, float], bool]:
        """Return tests with their seconds, and whether these are all of them (else the budget was too small)."""
        chosen = self._concerned(mutant)
        if fast := {test for test in chosen if self.rows[test]["seconds"] <= SLOW}:
            chosen = fast
        path = Path(mutant.path)
        classes = _classes(ast.parse((ROOT / mutant.path).read_text(encoding="utf-8")), mutant.line)

        def order(test: str) -> tuple[bool, float, int, str]:
            file = test.partition("::")[0]
            near = file.endswith(f"/test_{path.name}") or bool(self.test_words[file] & classes)
            return not near, round(self.rows[test]["seconds"], 1), len(self.rows[test]["entered"]), test

        found: dict[str, float] = {}
        for test in sorted(chosen, key=order):
            if found and sum(found.values()) + self.rows[test]["seconds"] > budget:
                return found, False
            found[test] = self.rows[test]["seconds"]
        return found, True

    def _concerned(self, mutant: Mutant) -> set[str]:
        """Return the tests that enter the function of a mutant, or that may see a value that no function holds."""
        tree = ast.parse((ROOT / mutant.path).read_text(encoding="utf-8"))
        for name, node in functions(tree):
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            if first <= mutant.line <= (node.end_lineno or 0):
                found = self.by_function[f"{mutant.path}:{name}"]
                stored = any("cache" in ast.unparse(one) for one in node.decorator_list)
                return found | self._that_name({node.name}) if stored else found
        return self._that_name(_names(tree, mutant.line))

    def _that_name(self, names: set[str]) -> set[str]:
        """Return the tests that enter a function with one of these names in it, or have one in their file."""
        inside = [key for key, words in self.words.items() if words & names]
        files = {file for file, words in self.test_words.items() if words & names or file == OPTIONS}
        return {
            *(test for key in inside for test in self.by_function[key]),
            *(test for test in self.rows if test.partition("::")[0] in files),
        }


def _names(tree: ast.Module, line: int) -> set[str]:
    """Return the names that a statement outside functions gives a value, and those of constants made with them."""
    assigned = [node for node in ast.walk(tree) if isinstance(node, ast.Assign | ast.AnnAssign)]
    around = [node for node in assigned if node.lineno <= line <= (node.end_lineno or 0)]
    if not around:
        return _classes(tree, line)
    found = _targets(min(around, key=lambda node: (node.end_lineno or 0) - node.lineno))
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value:
            used = {inner.id for inner in ast.walk(node.value) if isinstance(inner, ast.Name)}
            found = found | _targets(node) if used & found else found
    return found


def _targets(node: ast.Assign | ast.AnnAssign) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {inner.id for target in targets for inner in ast.walk(target) if isinstance(inner, ast.Name)}


def _classes(tree: ast.Module, line: int) -> set[str]:
    """Return the names of the classes around a line."""
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and node.lineno <= line <= (node.end_lineno or 0)
    }
