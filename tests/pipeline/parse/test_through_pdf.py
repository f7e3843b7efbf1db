"""Papers printed to PDF are read back as they were written: layout, reading order and parser together."""

from collections import defaultdict
from dataclasses import replace

import polars as pl
import pytest

from benchmarks.papers.check import differences, read_lines
from benchmarks.papers.layouts import LAYOUTS
from benchmarks.papers.model import Paper
from benchmarks.papers.pdf import to_pdf
from benchmarks.papers.render import render
from build_dataset.pipeline.config import load
from build_dataset.pipeline.runtime.runner import Runner
from build_dataset.schemas.documents import Line

pytestmark = pytest.mark.slow

MANY_LINES = 10
TWO_COLUMNS = [name for name, paper in LAYOUTS.items() if paper.style.page_lines > MANY_LINES]
"""All but pages of a few lines, on which nothing tells columns from cells side by side."""


def print_all(folder) -> None:
    """Every layout, printed in one and in two columns, and read by one run of the ocr stage."""
    (folder / "raw").mkdir(parents=True)
    for name, paper in LAYOUTS.items():
        _print(folder / "raw", f"one_{name}", paper, 1)
    for name in TWO_COLUMNS:
        _print(folder / "raw", f"two_{name}", narrow(LAYOUTS[name]), 2)
    (folder / "dataset.toml").write_text('[dataset]\nname = "p"\nraw = "raw"\nbuild = "build"\n')
    Runner(load(folder / "dataset.toml", {})).run(["ocr"])


@pytest.fixture(scope="module")
def lines(once):
    """The lines of every layout, by document."""
    folder = once("layouts", print_all)
    found = defaultdict(list)
    for line in Line.from_frame(pl.read_parquet(folder / "build" / "ocr" / "lines.parquet")):
        found[line.document].append(line)
    return found


def _print(folder, name: str, paper: Paper, columns: int) -> None:
    printed = render(paper)
    (folder / f"{name}.pdf").write_bytes(to_pdf(printed.pages, columns=columns))
    if printed.key:
        (folder / f"{name}_answers.pdf").write_bytes(to_pdf(printed.key))


def narrow(paper: Paper) -> Paper:
    """The paper in lines that fit half a page: four options a line stand below each other there."""
    layout = "one" if paper.style.layout == "four" else paper.style.layout
    return Paper(paper.sections, replace(paper.style, width=20, page_lines=80, layout=layout))


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_paper_in_one_column(lines, name):
    read = read_lines(lines[f"one_{name}.pdf"], lines[f"one_{name}_answers.pdf"])
    assert differences(LAYOUTS[name], read) == []


@pytest.mark.parametrize("name", TWO_COLUMNS)
def test_a_paper_in_two_columns(lines, name):
    key = lines[f"two_{name}_answers.pdf"] or lines[f"one_{name}_answers.pdf"]  # the same bytes are read once
    read = read_lines(lines[f"two_{name}.pdf"], key)
    assert differences(narrow(LAYOUTS[name]), read) == []
