"""Tables that programs read back and papers print: in LaTeX nothing in a cell is markup, and none is too wide."""

from __future__ import annotations

import io
import re

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from build_dataset.pipeline.rendering.markdown import number, percent
from build_dataset.pipeline.rendering.tables import Table, latex

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


def test_markdown_keeps_its_columns_and_numbers():
    lines = TABLE.files()["tables/t.md"].decode().splitlines()
    assert lines[-2] == r"| 甲 &amp; 乙\_丙 \| 100% | 1,234 |"
    assert lines[-1].endswith("| 29.41 |")


def test_the_same_table_has_the_same_bytes():
    assert TABLE.files() == TABLE.files()


def test_nothing_is_a_dash_and_no_zero():
    assert (number(None), number(0), number(1234.5, 2)) == ("–", "0", "1,234.50")
    assert (percent(0, 0), percent(1, 8)) == ("–", "12.5 %")


CELL = "61.6 ± 0.1 [60.4, 62.8]"


def made(rows: int, numbers: int, *, label: str = "药师 Pharmacist", cell: str = CELL, **more) -> str:
    head = ["考试 Exam", *(f"模型 model{number}" for number in range(numbers))]
    body = [[label, *[cell] * numbers] for _ in range(rows)]
    return latex(Table("t", "50 % of_all", pl.DataFrame({"n": [1]}), head, body, **more))


def cells(text: str) -> list[list[str]]:
    """Rows of all tables, without the heads that following pages repeat."""
    lines = re.sub(r"(?s)\\endfirsthead.*?\\endfoot\n", "", text).splitlines()
    return [line.removesuffix(r" \\").split(" & ") for line in lines if " & " in line]


def test_a_small_table_stands_as_it_is():
    assert made(1, 1, best=frozenset({(0, 1)})).splitlines() == [
        "% XeLaTeX or LuaLaTeX with ctex or xeCJK;",
        r"% \usepackage{array, booktabs, longtable, pdflscape}",
        r"{\normalsize\setlength{\tabcolsep}{0.6em}",
        r"\begin{longtable}{lr}",
        r"\caption{50 \% of\_\allowbreak{}all}\label{tab:t} \\",
        r"\toprule",
        r"考试 Exam & 模型 model0 \\",
        r"\midrule",
        r"\endfirsthead",
        r"\toprule",
        r"考试 Exam & 模型 model0 \\",
        r"\midrule",
        r"\endhead",
        r"\bottomrule",
        r"\endfoot",
        r"药师 Pharmacist & \textbf{61.6~$\pm$~0.1} {[}60.4,~62.8] \\",
        r"\end{longtable}}",
    ]


def test_cells_of_a_wide_table_are_broken_a_value_above_its_interval():
    text = made(3, 4, second=frozenset({(0, 1)}))
    assert r"\underline{61.6~$\pm$~0.1} {[}60.4,~62.8] &" in text
    column = r">{\raggedleft\arraybackslash}p{7.0em}"
    assert r"\begin{longtable}{>{\raggedright\arraybackslash}p{8.4em}" + 4 * column + "}" in text


def shape(text: str) -> tuple[int, bool, str]:
    """Tables, whether they lie on their side, and the size of the first."""
    size = re.search(r"^\{\\(\w+)", text, re.MULTILINE)
    return text.count(r"\begin{longtable}"), r"\begin{landscape}" in text, size[1] if size else ""


def test_a_table_is_set_smaller_then_turned_then_divided_as_it_gets_wider():
    shapes = [shape(made(1, 3, cell="9" * width)) for width in range(10, 60)]
    sizes = ["normalsize", "small", "footnotesize", "scriptsize"]
    assert list(dict.fromkeys(size for tables, turned, size in shapes if (tables, turned) == (1, False))) == sizes[:3]
    assert list(dict.fromkeys(size for tables, turned, size in shapes if (tables, turned) == (1, True))) == sizes
    assert [(tables, turned) for tables, turned, _ in shapes if tables == 1] == sorted(
        (tables, turned) for tables, turned, _ in shapes if tables == 1
    )
    assert [tables for tables, _, _ in shapes] == sorted(tables for tables, _, _ in shapes)


def test_a_text_is_broken_where_the_table_is_wider_than_the_page():
    columns = {width: r"{lr}" in made(1, 1, label="x" * width, cell="9" * 20) for width in range(30, 42)}
    assert columns == {width: width < 36 for width in columns}
    assert r"arraybackslash}p{13.0em}" in made(1, 1, label="x" * 36, cell="9" * 20)


def test_each_table_of_several_has_the_texts_and_its_share_of_the_columns():
    text = made(3, 30)
    assert re.findall(r"\((\d/\d)\)", text) == ["1/5", "2/5", "3/5", "4/5", "5/5"]
    assert text.count(r"\label{tab:t}") == 1
    assert [int(name) for row in cells(text) for name in re.findall(r"model(\d+)", " ".join(row))] == [*range(30)]
    assert {row[0] for row in cells(text)} == {"考试 Exam", "药师 Pharmacist"}


def test_a_table_of_texts_alone_and_one_without_rows_are_tables():
    frame = pl.DataFrame({"n": [1]})
    assert cells(latex(Table("t", "c", frame, ["a", "b"], [["x", "y"]], left=2))) == [["a", "b"], ["x", "y"]]
    assert cells(latex(Table("t", "c", frame, ["a", "b"], []))) == [["a", "b"]]


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("甲 & 乙_丙 | 100%", r"甲 \& 乙\_\allowbreak{}丙 \textbar{} 100\%"),
        ("$x^2$", r"\$x\textasciicircum{}2\$"),
        (r"\end{table}", r"\textbackslash{}end\{table\}"),
        ("[1] *", "{[}1] {*}"),
        ("< 0.001", r"\textless{} 0.001"),
        ("“A” – κ ≥ 0.7", r"``A'' -- $\kappa$ $\geq$ 0.7"),
        ("a\nb\x00c\x7f", "a b c "),
    ],
)
def test_what_is_special_in_latex_is_printed(text, printed):
    table = Table("t", text, pl.DataFrame({"n": [1]}), [text, "n"], [[text, "-1.5"]])
    assert rf"\caption{{{printed}}}" in latex(table)
    assert [row.replace(r"\&", "") for row in latex(table).splitlines() if row.endswith(r"$-$1.5 \\")]
    assert printed + r" & $-$1.5 \\" in latex(table)


@given(
    st.integers(1, 60),
    st.integers(1, 40),
    st.sampled_from(["短", "某些感染性疾病或寄生虫病 Certain infectious or parasitic diseases", "x" * 60]),
    st.sampled_from(["9", CELL]),
)
def test_every_cell_is_there_once_whatever_the_shape(rows, numbers, label, cell):
    text = made(rows, numbers, label=label, cell=cell)
    body = [row for row in cells(text) if "Exam" not in row[0]]
    assert sum(len(row) - 1 for row in body) == rows * numbers
