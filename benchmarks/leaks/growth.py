"""Growth of the leaks stage with the number of questions: processor time and peak memory of the stage alone.

    python -m benchmarks.leaks.growth QUESTIONS.jsonl BENCHMARK --sizes 31000 125000 280000

Copies and twins of a question are in one split, as ``split`` leaves them. Each size runs in a process of its own, which
begins by reading its tables; what it holds then is printed too.
"""

import argparse
import multiprocessing
import re
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import polars as pl

from benchmarks.dedup.generate import generate, read_questions
from benchmarks.dedup.measure import distinct
from build_dataset.pipeline.leaks.params import LeaksParams
from build_dataset.pipeline.leaks.stage import run
from build_dataset.pipeline.stage import Context
from build_dataset.schemas.questions import Assignment, Question

_SPLITS = ["train"] * 8 + ["validation", "test"]
_AT_ONCE = 20_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument("benchmark", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=[31_000, 125_000, 280_000])
    parser.add_argument("--folder", type=Path, help="keeps the tables that are made for the next time")
    options = parser.parse_args()
    print("| questions | with tables read, MiB | peak, MiB | CPU s | wall s | leaks |\n|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        table = (options.folder or Path(folder)) / f"questions-{max(options.sizes)}.parquet"
        if not table.exists():
            write(table, options.questions, max(options.sizes))
        for size in sorted(options.sizes):
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                row = pool.apply(measured, (table, size, options.benchmark))
            print(f"| {size:,} | " + " | ".join(f"{value:,.0f}" for value in row) + " |", flush=True)


def write(path: Path, source: Path, size: int) -> None:
    """Write generated questions with the number of the question that each is a copy of."""
    parts, rows, owners = [], [], []
    numbers: dict[str, int] = {}
    for made in generate(distinct(read_questions(source)), size, 0):
        rows.append(made.question)
        owners.append(numbers.setdefault(made.base, len(numbers)))
        if len(rows) == _AT_ONCE:
            parts.append(Question.to_frame(rows).with_columns(owner=pl.Series(owners)))
            rows, owners = [], []
    if rows:
        parts.append(Question.to_frame(rows).with_columns(owner=pl.Series(owners)))
    pl.concat(parts).write_parquet(path)


def measured(table: Path, size: int, benchmark: Path) -> tuple[float, ...]:
    """Return memory before, peak, processor time, time and leaks of the stage over the first ``size`` questions."""
    questions = pl.read_parquet(table, n_rows=size)
    split = pl.Series("split", _SPLITS).gather((questions["owner"] % len(_SPLITS)).to_numpy())
    assignments = pl.DataFrame(
        {"question_id": questions["question_id"], "split": split, "stratum": ["s"] * size},
        schema=Assignment.polars_schema(),
    )
    tables = {"questions": questions.drop("owner"), "assignments": assignments}
    before, started, clock = _peak(), time.perf_counter(), _processor()
    context = cast(Context, SimpleNamespace(progress=_unwatched, store=None))
    found = run(tables, LeaksParams(benchmarks=benchmark), context)
    return before, _peak(), _processor() - clock, time.perf_counter() - started, found.tables["leaks"].height


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


@contextmanager
def _unwatched(*_: object) -> Iterator[Callable[[int], None]]:
    """Progress that nobody watches."""
    yield lambda _: None


def _peak() -> int:
    """Largest resident memory of this program, in MiB; ``ru_maxrss`` also counts the one that started it."""
    found = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    return int(found[1]) // 1024 if found else 0


if __name__ == "__main__":
    main()
