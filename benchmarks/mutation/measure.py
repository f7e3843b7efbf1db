"""Measure how many small wrong changes of the code the tests notice.

A mutant is one change at one place: a comparison, a constant, a boolean operator, an arithmetic operator or a
negation. Places are drawn at random with a seed, from each folder as many as its share of the lines. Each mutant runs
in a copy of the repository against the tests that enter its function, its own and the fast ones first, until one fails.
Changes that can have no effect are left out: type annotations, and ``frozen``, ``slots`` and ``strict``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
from collections import Counter, defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

from benchmarks.mutation.choice import Choice
from benchmarks.mutation.mutants import PACKAGES, ROOT, Mutant, draw
from benchmarks.mutation.recording import Recording, Row, copy_to, environment
from build_dataset.pipeline.stats import wilson


class Workers:
    """Processes that decide mutants, each with a copy of the repository."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.libraries: list[str] = []
        self.own = threading.local()
        self.count = 0
        self.lock = threading.Lock()

    def decide(self, mutant: Mutant, tests: dict[str, float]) -> dict[str, str]:
        """Return the test that fails, "" where all pass, and why."""
        source = (ROOT / mutant.path).read_text(encoding="utf-8")
        text = source[: mutant.start] + mutant.after + source[mutant.end :]
        return self._ask({"path": mutant.path, "text": text, "tests": tests})

    def unsound(self, tests: dict[str, float]) -> set[str]:
        """Return the tests that fail without a change: what they noticed does not count."""
        found: set[str] = set()
        while left := {test: seconds for test, seconds in tests.items() if test not in found}:
            failed = self._ask({"path": "", "tests": left})["test"]
            if failed in ("", "undecided"):
                break
            found.update({test for test in left if test.startswith(failed)} or left)
        return found

    def _ask(self, told: Row) -> dict[str, str]:
        worker = self._worker()
        self._tell(worker, told)
        assert worker.stdout is not None
        if not (line := worker.stdout.readline()):
            del self.own.process
            return {"test": "undecided", "why": "the worker ended"}
        found: dict[str, str] = json.loads(line)
        return found

    def _worker(self) -> subprocess.Popen[str]:
        """Return the process of this thread."""
        if not hasattr(self.own, "process"):
            with self.lock:
                self.count += 1
                copy = self.folder / f"project{self.count}"
            copy_to(copy)
            self.own.process = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.mutation.worker"],
                cwd=copy, env=environment(copy), text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )  # fmt: skip
            self._tell(self.own.process, {"libraries": self.libraries})
        process: subprocess.Popen[str] = self.own.process
        return process

    @staticmethod
    def _tell(worker: subprocess.Popen[str], told: Row) -> None:
        assert worker.stdin is not None
        worker.stdin.write(json.dumps(told) + "\n")
        worker.stdin.flush()


def table(rows: Sequence[Row]) -> str:
    """Return the score by folder and by kind as a Markdown table."""
    score: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        parts = Path(row["path"]).parent.parts
        for name in ("all", "/".join(parts[:2]), f"kind: {row['kind']}"):
            score[name][row["verdict"]] += 1
    lines = ["| | noticed | of | share | 95 % | undecided |", "|---|---|---|---|---|---|"]
    for name in sorted(score, key=lambda name: (name != "all", name.startswith("kind"), name)):
        noticed, decided = score[name]["killed"], score[name]["killed"] + score[name]["survived"]
        low, high = wilson(noticed, decided) if decided else (0.0, 1.0)
        share = f"{noticed / max(1, decided):.0%} | {low:.0%}–{high:.0%}"
        lines.append(f"| {name} | {noticed} | {decided} | {share} | {score[name]['undecided']} |")
    return "\n".join(lines)


def _verdict(found: dict[str, str], whole: bool) -> str:
    if found["test"] == "undecided" or not (found["test"] or whole):
        return "undecided"
    return "killed" if found["test"] else "survived"


def main() -> None:
    """Draw mutants, decide each and print the score; every verdict goes to ``--out`` as a JSON line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=260)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--under", nargs="*", default=PACKAGES, help="packages, folders or files to draw from")
    parser.add_argument("--near", action="store_true", help="leave out the last step: tests of other folders")
    parser.add_argument("--budget", type=float, default=60.0, help="processor seconds of a mutant's tests")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--record", type=Path, default=ROOT / "build" / "mutation-record.jsonl")
    parser.add_argument("--out", type=Path, default=Path("mutants.jsonl"), help="verdicts in it are kept")
    given = parser.parse_args()
    drawn = draw(given.under, given.sample, given.seed)
    lines = given.out.read_text(encoding="utf-8").splitlines() if given.out.exists() else []
    kept = {line["id"]: line for line in map(json.loads, lines)}
    recording = Recording(given.record)
    areas: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in drawn:
        areas["/".join(Path(mutant.path).parent.parts[:2])].append(mutant)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(given.jobs) as pool:
        workers = Workers(Path(folder))

        def decide(choice: Choice, mutant: Mutant) -> Row:
            name = f"{mutant.path}:{mutant.start}:{mutant.before}:{mutant.after}"
            tests, whole = choice.tests(mutant, given.budget)
            old = kept.get(name)
            if old and (old["verdict"] == "killed" or old["ran"] >= len(tests)):
                return old
            found = workers.decide(mutant, tests) if tests else {"test": "", "why": "no test enters it"}
            row = {"id": name, **asdict(mutant), "ran": len(tests), "verdict": _verdict(found, whole), **found}
            with given.out.open("a", encoding="utf-8") as out:
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
            kept[name] = row
            change = f"{row['path']}:{row['line']}: {row['before'][:60]} -> {row['after'][:60]}"
            print(f"{row['verdict']:9} {change}  [{row['test']}]", flush=True)
            return row

        # Recorded and large folders first; what their own tests did not notice, those of the other folders may.
        ordered = sorted(areas, key=lambda area: (bool(recording.left(area)), -len(areas[area]), area))
        for step, area in enumerate(ordered if given.near else [*ordered, ""]):
            recording.complete(area, given.jobs, Path(folder) / f"marked{step}")
            rows, workers.libraries = recording.read()
            choice = Choice(rows)
            mutants = areas[area] if area else drawn
            decided = list(pool.map(lambda mutant, choice=choice: decide(choice, mutant), mutants))
        noticing = {
            test: row["seconds"] for test, row in choice.rows.items() if test in {row["test"] for row in decided}
        }
        unsound = pool.submit(workers.unsound, noticing).result()
    for row in decided:
        if row["test"] in unsound:
            print(f"fails without a change, too: {row['test']} ({row['path']}:{row['line']})")
            row["verdict"] = "undecided"
    print(table(decided))


if __name__ == "__main__":
    main()
