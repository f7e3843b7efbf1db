"""Tables in LaTeX: nothing in a cell is markup, and no table is wider than its page."""

from __future__ import annotations

import re

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.rendering.latex import latex
from pipeline.rendering.tables import Table

CELL = "61.6 ± 0.1 [60.4, 62.8]"


def table(rows: int, numbers: int, *, label: str = "药师 Pharmacist", cell: str = CELL) -> Table:
    head = ["考试 Exam", *(f"模型 model{number}" for number in range(numbers))]
    body = [[label, *[cell] * numbers] for _ in range(rows)]
    return Table("t", "50 % of_all", pl.DataFrame({"n": [1]}), head, body, best=frozenset({(0, numbers)}))


def cells(text: str) -> list[list[str]]:
    """Rows of all tabulars, heads included."""
    return [
        line.removesuffix(r" \\").split(" & ")
        for line in text.splitlines()
        if " & " in line and not line.startswith("%")
    ]


def test_a_small_table_stands_as_it_is():
    text = latex(table(3, 1))
    assert r"\begin{table}" in text
    assert r"\begin{tabular}{lr}" in text
    assert r"\caption{50 \% of\_all}\label{tab:t}" in text
    assert r"\textbf{61.6 $\pm$ 0.1 {[}60.4, 62.8]}" in text
    assert "makecell[" not in text


def test_a_wide_table_stacks_intervals_and_languages_and_is_scaled():
    text = latex(table(3, 4))
    assert r"\makecell[tr]{\textbf{61.6 $\pm$ 0.1} \\ {[}60.4, 62.8]}" in text
    assert r"\makecell[tl]{考试 \\ Exam}" in text
    assert r"\begin{table}" in text
    assert r"\begin{adjustbox}{max width=\linewidth" in text


def test_a_wider_one_lies_on_its_side_and_the_widest_becomes_several():
    assert r"\begin{sidewaystable}" in latex(table(3, 7))
    text = latex(table(3, 30))
    assert text.count(r"\begin{tabular}") == 4
    assert "(1/4)" in text
    assert text.count(r"\label{tab:t}") == 1
    assert sorted({int(name) for name in re.findall(r"model(\d+)", text)}) == list(range(30))


def test_a_long_table_goes_on_over_pages_with_its_head():
    text = latex(table(174, 2))
    assert r"\begin{longtable}" in text
    assert r"\endhead" in text
    assert text.count("药师") == 174


def test_a_long_name_is_set_in_lines():
    text = latex(table(3, 2, label="某些感染性疾病或寄生虫病 Certain infectious or parasitic diseases"))
    assert r"p{13em}r" in text


def test_a_table_of_texts_alone_and_one_without_rows_are_tables():
    frame = pl.DataFrame({"n": [1]})
    assert "a & b" in latex(Table("t", "c", frame, ["a", "b"], [["x", "y"]], left=2))
    assert r"\bottomrule" in latex(Table("t", "c", frame, ["a", "b"], []))


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("$x^2$", r"\$x\textasciicircum{}2\$"),
        (r"\end{table}", r"\textbackslash{}end\{table\}"),
        ("[1] *", "{[}1] {*}"),
        ("< 0.001", r"\textless{} 0.001"),
        ("“A” – κ ≥ 0.7", r"``A'' -- $\kappa$ $\geq$ 0.7"),
        ("a\nb\x00c", "a b c"),
    ],
)
def test_what_is_special_in_latex_is_printed(text, printed):
    made = Table("t", text, pl.DataFrame({"n": [1]}), [text, "n"], [[text, "-1.5"]])
    assert cells(latex(made)) == [[printed, "n"], [printed, "$-$1.5"]]


@given(
    st.integers(1, 60),
    st.integers(1, 40),
    st.sampled_from(["短", "某些感染性疾病或寄生虫病 Certain infectious or parasitic diseases", "x" * 60]),
    st.sampled_from(["9", CELL]),
)
def test_every_cell_is_there_once_whatever_the_shape(rows, numbers, label, cell):
    text = latex(table(rows, numbers, label=label, cell=cell))
    value = cell.split(" ")[0]
    assert (
        len(re.findall(rf"(?<![\w.]){re.escape(value)}(?![\d.])", text.partition("toprule")[2]))
        >= rows * numbers
    )
    assert all(len(row) > 1 for row in cells(text))
