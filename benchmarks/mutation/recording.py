"""The tests of the repository: their seconds, and the functions that each enters."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmarks.mutation.mutants import PACKAGES, ROOT
from benchmarks.mutation.recorder import marked

RECORDED = ("tests/annotation", "tests/docs", "tests/pipeline", "tests/schemas")
"""The tests that can notice a mutant, without those marked as slow and those that start processes of their own."""
IN_PROCESS = {"tests/services/test_transformers_backend.py": "pipeline/evaluate/backends/local"}
"""Tests that need a package and no server, with the folder that they mirror; without the package they have no rows."""
TOGETHER = 16
"""Test files that one process records: starting one takes longer than most tests."""

Row = dict[str, Any]


class Recording:
    """The seconds of each test and the functions that it enters, stored in a file.

    A test file is recorded anew when it, or the folder that it mirrors, is not what it was.
    """

    def __init__(self, place: Path):
        self.place = place
        self.place.parent.mkdir(parents=True, exist_ok=True)

    @cached_property
    def files(self) -> dict[str, str]:
        """The test files, each with a hash of what it depends on most."""
        return {
            str(test.relative_to(ROOT)): _hash([test, *_mirrored(test)])
            for tests in (
                *(sorted((ROOT / folder).rglob("test_*.py")) for folder in RECORDED),
                [ROOT / file for file in IN_PROCESS],
            )
            for test in tests
        }

    def read(self) -> tuple[list[Row], list[str]]:
        """Return the rows of tests that pass, and the libraries that they import."""
        rows: list[Row] = []
        libraries: set[str] = set()
        for line in self.place.read_text(encoding="utf-8").splitlines() if self.place.exists() else ():
            found = json.loads(line)
            libraries.update(found.get("libraries", ()))
            if self.files.get(found.get("file")) == found.get("hash"):
                rows.extend(row for row in found.get("tests", ()) if row["passed"])
        return rows, sorted(libraries)

    def left(self, area: str) -> list[str]:
        """Return the test files of a folder that are new or changed; of all folders where none is given."""
        lines = self.place.read_text(encoding="utf-8").splitlines() if self.place.exists() else []
        known = {(found.get("file"), found.get("hash")) for found in map(json.loads, lines)}
        files = self.files.items()
        return [file for file, value in files if (file, value) not in known and _is_of(file, area)]

    def complete(self, area: str, jobs: int, copy: Path) -> None:
        """Record those test files."""
        if not (left := self.left(area)):
            return
        copy_to(copy)
        for path in [path for part in PACKAGES for path in (copy / part).rglob("*.py")]:
            name = str(path.relative_to(copy))
            path.write_text(marked(path.read_text(encoding="utf-8"), name), encoding="utf-8")
        parts = [left[start : start + TOGETHER] for start in range(0, len(left), TOGETHER)]
        with ThreadPoolExecutor(jobs) as pool:
            for done, (part, rows) in enumerate(pool.map(lambda part: (part, _record(part, copy)), parts), 1):
                libraries = [name for row in rows for name in row.get("libraries", ())]
                with self.place.open("a", encoding="utf-8") as out:
                    for file in part:
                        tests = [row for row in rows if row.get("test", "").partition("::")[0] == file]
                        told = {"file": file, "hash": self.files[file], "libraries": libraries, "tests": tests}
                        out.write(json.dumps(told) + "\n")
                        libraries = []
                print(f"recorded {done}/{len(parts)}", flush=True)


def _is_of(file: str, area: str) -> bool:
    """Return whether a test file mirrors a module of a folder; those below ``pipeline`` are folders of their own."""
    own = _folder(Path(file))
    return not area or (own == Path(area) if area == "pipeline" else own.is_relative_to(area))


def _folder(file: Path) -> Path:
    """Return the folder that a test file mirrors."""
    return Path(IN_PROCESS.get(str(file)) or file.parent.relative_to("tests"))


def _record(files: Sequence[str], copy: Path) -> list[Row]:
    """Run test files in a process of their own."""
    out = copy / f"{_hash([copy / file for file in files])}.jsonl"
    command = [
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "benchmarks.mutation.recorder",
        "--hypothesis-profile", "recording", "--basetemp", str(out.with_suffix("")), "-m", "not slow", *files,
    ]  # fmt: skip
    variables = {**environment(copy), "MUTATION_RECORD": str(out)}
    subprocess.run(command, cwd=copy, env=variables, capture_output=True, check=False)
    lines = out.read_text(encoding="utf-8").splitlines() if out.exists() else []
    return [json.loads(line) for line in lines]


def _hash(paths: Sequence[Path]) -> str:
    whole = hashlib.sha256()
    for path in paths:
        whole.update(path.read_bytes())
    return whole.hexdigest()


def _mirrored(test: Path) -> list[Path]:
    """Return the modules of the folder that a test file mirrors, or of the module that it is named after."""
    folder = ROOT / _folder(test.relative_to(ROOT))
    module = folder / test.name.removeprefix("test_")
    return [module] if module.is_file() else sorted(folder.glob("*.py"))


def copy_to(place: Path) -> None:
    """Copy the repository without environments and caches."""
    left_out = shutil.ignore_patterns(".venv*", ".git", ".*_cache", "__pycache__", ".hypothesis")
    shutil.copytree(ROOT, place, ignore=left_out)


def environment(copy: Path) -> dict[str, str]:
    """Return the variables of a process that runs in a copy."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"), "1")
    return {**os.environ, "PYTHONPATH": str(copy), **one}
