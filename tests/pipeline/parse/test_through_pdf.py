"""Papers printed to PDF are read back as they were written: layout, reading order and parser together."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from benchmarks.papers.check import differences, read_lines
from benchmarks.papers.layouts import LAYOUTS
from benchmarks.papers.model import Paper
from benchmarks.papers.pdf import to_pdf
from benchmarks.papers.render import render
from pipeline.config import load
from pipeline.runtime.runner import Runner
from schemas.documents import Line

pytestmark = pytest.mark.slow

ONE_COLUMN = (
    "taiwan_one_option_a_line",
    "taiwan_four_options_a_line",
    "licensing_all_types",
    "western_medicine_x_types",
    "nurse_answers_inline",
    "key_after_every_section",
    "entries_at_the_end",
    "old_types_c_and_k",
)
TWO_COLUMNS = ("licensing_all_types",)


def through_pdf(tmp_path, paper: Paper, columns: int) -> list[str]:
    """What differs after the paper was printed, and read by the ocr stage."""
    (tmp_path / "raw").mkdir()
    printed = render(paper)
    (tmp_path / "raw" / "exam.pdf").write_bytes(to_pdf(printed.pages, columns=columns))
    if printed.key:
        (tmp_path / "raw" / "exam_answers.pdf").write_bytes(to_pdf(printed.key))
    (tmp_path / "dataset.toml").write_text('[dataset]\nname = "p"\nraw = "raw"\nbuild = "build"\n')
    Runner(load(tmp_path / "dataset.toml", {})).run(["ocr"])
    lines = list(Line.from_frame(pl.read_parquet(tmp_path / "build" / "ocr" / "lines.parquet")))
    own = [line for line in lines if line.document == "exam.pdf"]
    return differences(paper, read_lines(own, [line for line in lines if line not in own]))


@pytest.mark.parametrize("name", ONE_COLUMN)
def test_a_paper_in_one_column(tmp_path, name):
    assert through_pdf(tmp_path, LAYOUTS[name], 1) == []


@pytest.mark.parametrize("name", TWO_COLUMNS)
def test_a_paper_in_two_columns(tmp_path, name):
    paper = LAYOUTS[name]
    narrow = Paper(paper.sections, replace(paper.style, width=20, page_lines=80, layout="one"))
    assert through_pdf(tmp_path, narrow, 2) == []
