"""Rows of question banks read in a second of processor time, from the file to clean questions, and what takes it.

    python -m benchmarks.scale.reading BANK … [--repeat 3]

Every bank is read in this process, without workers, and after another one, so that no pattern is compiled in its time;
the least time of several counts, and caches of texts are emptied before each. The columns are microseconds a row: the
file as rows (``ocr``), the mapping of columns, what explanations say of the key (``claims``), the rest of ``parse``,
and ``clean``.
"""

import argparse
import functools
import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import polars as pl

from build_dataset.pipeline.clean import stage as clean
from build_dataset.pipeline.clean.params import CleanParams
from build_dataset.pipeline.ocr.assemble import DocumentState, Exam, document_of, rows_of
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.tasks import FileTask, inspect_file
from build_dataset.pipeline.parse import mapping, rows, stage as parse
from build_dataset.pipeline.parse.params import ParseParams
from build_dataset.pipeline.runtime.executor import relax_gc
from build_dataset.pipeline.stage import here
from build_dataset.schemas.documents import Document, Line, RawFile
from build_dataset.schemas.identity import file_sha256

_STEPS = ("ocr", "mapping", "claims", "parse", "clean")


class _Context:
    """A context that maps in this process and shows no progress."""

    map = staticmethod(here)

    @contextmanager
    def progress(self, *_: Any) -> Iterator[Callable[[int], None]]:
        yield lambda _: None


class _Clock:
    """Seconds of processor time by step; what a step calls that is a step of its own counts there."""

    def __init__(self) -> None:
        self.took, self._open = dict.fromkeys(_STEPS, 0.0), [0.0]

    def of(self, step: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*given: Any, **named: Any) -> Any:
            start = time.process_time()
            self._open.append(0.0)
            try:
                return function(*given, **named)
            finally:
                whole = time.process_time() - start
                self.took[step] += whole - self._open.pop()
                self._open[-1] += whole

        return timed


def read(path: Path, clock: _Clock) -> pl.DataFrame:
    """Read a bank up to the clean stage, and return its rows as they were found."""
    file = RawFile(document=path.name, sha256=file_sha256(path), bytes=path.stat().st_size)

    def found() -> DocumentState:
        return DocumentState(file, path, inspect_file(FileTask(path.name, path, OcrParams())))

    state = clock.of("ocr", found)()
    table = clock.of("ocr", rows_of)(state)
    lines = Line.to_frame([])
    tables = {"documents": Document.to_frame([document_of(state, Exam())]), "lines": lines, "rows": table}
    with (
        mock.patch.object(mapping, "find_mapping", clock.of("mapping", mapping.find_mapping)),
        mock.patch.object(rows, "contradiction", clock.of("claims", rows.contradiction)),
    ):
        parsed = clock.of("parse", parse.run)(tables, ParseParams(), _Context())
    clock.of("clean", clean.run)(parsed.tables, CleanParams(), _Context())
    return table


def _forget() -> None:
    """Empty the caches of texts; tables that are made once stay."""
    for one in gc.get_objects():
        if isinstance(one, functools._lru_cache_wrapper) and one.cache_info().maxsize is not None:
            one.cache_clear()
    gc.collect()


def measured(path: Path, repeat: int) -> tuple[int, float, dict[str, float]]:
    """Return the rows of a bank, their mean characters, and the least seconds of each step."""
    least = dict.fromkeys(_STEPS, float("inf"))
    for _ in range(repeat):
        _forget()
        clock = _Clock()
        table = read(path, clock)
        least = {step: min(least[step], clock.took[step]) for step in _STEPS}
    return table.height, table["fields"].str.len_chars().mean(), least


def main() -> None:
    """Print a line for each bank."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("banks", type=Path, nargs="+")
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    relax_gc()  # as in every run
    for path in given.banks:
        measured(path, 1)
    print(f"| bank | rows | characters a row | {' | '.join(_STEPS)} | rows a second | … of parse alone |")
    print(f"| --- |{' --: |' * (len(_STEPS) + 4)}")
    for path in given.banks:
        size, characters, took = measured(path, given.repeat)
        steps = " | ".join(f"{1e6 * seconds / size:.0f}" for seconds in took.values())
        whole = sum(took.values())
        parsing = whole - took["ocr"] - took["clean"]
        print(f"| {path.name} | {size} | {characters:.0f} | {steps} | {size / whole:,.0f} | {size / parsing:,.0f} |")


if __name__ == "__main__":
    main()
