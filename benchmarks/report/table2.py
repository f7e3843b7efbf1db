"""CMExam's table 2 of files in its own columns, twice: of the files as they are, and of what our parser makes of them.

    python -m benchmarks.report.table2 val.csv
    python -m benchmarks.report.table2 train.csv val.csv test.csv

Each file (CSV, or JSON Lines, with Question, Answer and Explanation) is a split.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

import polars as pl
from rich.console import Console
from rich.table import Table as Shown

from build_dataset.pipeline.config import load
from build_dataset.pipeline.report.published import table2
from build_dataset.pipeline.runtime.runner import Runner
from build_dataset.schemas.questions import Question


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+")
    files: list[Path] = parser.parse_args().files
    show("as they are", {path.stem: as_it_is(path) for path in files})
    show("as parsed", parsed(files))


def as_it_is(path: Path) -> pl.DataFrame:
    """The texts of a file, untouched; a missing explanation is null."""
    frame = pl.read_csv(path, infer_schema=False) if path.suffix == ".csv" else pl.read_ndjson(path)
    return frame.select(
        shared_stem=pl.lit(None, pl.String),
        stem=pl.col("Question"),
        answer=pl.col("Answer").fill_null("").str.split(""),
        explanation=pl.col("Explanation"),
    )


def parsed(files: list[Path]) -> dict[str, pl.DataFrame]:
    """The questions that the stages ocr and parse make of each file."""
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / "raw"
        raw.mkdir()
        for path in files:
            shutil.copy(path, raw)
        (Path(folder) / "dataset.toml").write_text('[dataset]\nname = "table2"\n', encoding="utf-8")
        runner = Runner(load(Path(folder) / "dataset.toml", {}), Console(quiet=True))
        runner.run(["ocr", "parse"])
        questions = pl.read_parquet(runner.build / "parse" / "questions.parquet")
    assert questions.schema == Question.polars_schema()
    return {path.stem: questions.filter(pl.col("document") == path.name) for path in files}


def show(title: str, splits: dict[str, pl.DataFrame]) -> None:
    """Print a table 2."""
    found = table2(splits)
    shown = Shown(title=title, title_justify="left")
    for place, name in enumerate(found.head):
        shown.add_column(name, justify="right" if place else "left")
    for row in found.rows:
        shown.add_row(*row)
    Console().print(shown)


if __name__ == "__main__":
    main()
