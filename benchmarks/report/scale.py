"""Measure how long the report of a large dataset takes: the tables of a build, repeated under new ids.

python -m benchmarks.report.scale build --questions 280000
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

import polars as pl
from rich.console import Console
from rich.table import Table

from build_dataset.pipeline.catalogue import stage
from build_dataset.pipeline.config import load
from build_dataset.pipeline.report.stage import PAGE
from build_dataset.pipeline.runtime.runner import Runner

_IDS = ("question_id", "survivor_id", "cluster_id", "item_id", "other_id")
_CASES = ("evaluate/open_questions", "evaluate/judgements")
"""Tables of clinical cases, whose number is their own."""


def main() -> None:
    """Repeat, report, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path, help="a build folder, e.g. of the sample")
    parser.add_argument("--questions", type=int, default=280_000, help="released questions to reach")
    parser.add_argument("--out", type=Path, help="write the page there")
    given = parser.parse_args()
    runner = Runner(load(Path("dataset.toml"), {"dataset.build": str(given.build)}))
    report = stage("report")
    tables = runner.tables(report)
    released = sum(tables[f"export/{name}"].height for name in ("train", "validation", "test"))
    copies = -(-given.questions // released)
    repeated = {name: frame if name in _CASES else repeat(frame, copies) for name, frame in tables.items()}
    before = resource.getrusage(resource.RUSAGE_SELF)
    clock = time.perf_counter()
    result = report.function()(repeated, runner.config.params("report"), runner.context(report))
    wall = time.perf_counter() - clock
    after = resource.getrusage(resource.RUSAGE_SELF)
    shown = Table(title=f"report of {copies * released:,} released questions", title_justify="left")
    for name in ("rows read", "wall s", "CPU s", "peak MB", "of it tables MB", "page kB", "files kB"):
        shown.add_column(name, justify="right")
    page = result.files[PAGE]
    shown.add_row(
        f"{sum(frame.height for frame in repeated.values()):,}",
        f"{wall:.1f}",
        f"{after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime:.1f}",
        f"{after.ru_maxrss / 1024:,.0f}",
        f"{sum(frame.estimated_size() for frame in repeated.values()) / 2**20:,.0f}",
        f"{len(page) / 1024:,.0f}",
        f"{sum(map(len, result.files.values())) / 1024:,.0f}",
    )
    Console().print(shown)
    if given.out:
        given.out.write_bytes(page)


def repeat(frame: pl.DataFrame, copies: int) -> pl.DataFrame:
    """``copies`` of a table, each with ids of its own; one without ids tells of all questions together and stays."""
    named = [name for name in _IDS if name in frame.columns]
    if not named:
        return frame
    number = pl.DataFrame({"copy": [f"~{place}" for place in range(copies)]})
    return (
        frame.join(number, how="cross")
        .with_columns(pl.concat_str(name, "copy") for name in named)
        .drop("copy")
        .select(frame.columns)
    )


if __name__ == "__main__":
    main()
