"""Tables that programs read back and papers print."""

from __future__ import annotations

import io

import polars as pl

from pipeline.rendering.markdown import number, percent
from pipeline.rendering.tables import Table

TABLE = Table(
    "t",
    "50 % of_all",
    pl.DataFrame({"label": ["甲 & 乙_丙 | 100%", None], "n": [1234, 5]}),
    ("Label", "n"),
    [("甲 & 乙_丙 | 100%", "1,234"), ("$x^2$", "29.41")],
)


def test_programs_read_the_numbers_back():
    files = TABLE.files()
    assert pl.read_parquet(io.BytesIO(files["tables/t.parquet"])).equals(TABLE.data)
    assert pl.read_csv(io.BytesIO(files["tables/t.csv"])).equals(TABLE.data)


def test_latex_prints_what_is_special_in_it():
    tex = TABLE.files()["tables/t.tex"].decode()
    assert r"甲 \& 乙\_丙 \textbar{} 100\% & 1,234 \\" in tex
    assert r"\$x\textasciicircum{}2\$" in tex
    assert r"\begin{tabular}{lr}" in tex
    assert r"\caption{50 \% of\_all}" in tex


def test_markdown_keeps_its_columns_and_numbers():
    lines = TABLE.files()["tables/t.md"].decode().splitlines()
    assert lines[-2] == r"| 甲 &amp; 乙\_丙 \| 100% | 1,234 |"
    assert lines[-1].endswith("| 29.41 |")


def test_the_same_table_has_the_same_bytes():
    assert TABLE.files() == TABLE.files()


def test_nothing_is_a_dash_and_no_zero():
    assert (number(None), number(0), number(1234.5, 2)) == ("–", "0", "1,234.50")
    assert (percent(0, 0), percent(1, 8)) == ("–", "12.5 %")
