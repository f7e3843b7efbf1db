"""Tables that programs read back and papers print: in LaTeX nothing in a cell is markup."""

import io

import polars as pl
import pytest

from build_dataset.pipeline.rendering.markup import number, percent
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


def made(*rows: str, **more) -> str:
    cells = [(row, "-1.5") for row in rows]
    return latex(Table("t", "50 % of_all", pl.DataFrame({"n": [1]}), ("Label", "n"), cells, **more))


def test_a_table_is_a_float_that_is_shrunk_to_its_page():
    assert made("甲", "乙", best=frozenset({(0, 1)})).splitlines() == [
        r"% XeLaTeX with ctex or xeCJK; \usepackage{adjustbox, booktabs}",
        r"\begin{table}\centering",
        r"\caption{50 \% of\_all}",
        r"\begin{adjustbox}{max width=\linewidth, max totalheight=.9\textheight}",
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"Label & n \\",
        r"\midrule",
        r"甲 & \textbf{$-$1.5} \\",
        r"乙 & $-$1.5 \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{adjustbox}",
        r"\end{table}",
    ]


def test_a_table_of_many_rows_goes_on_in_further_ones():
    text = made(*(f"row{number}" for number in range(101)))
    assert text.count(r"\begin{table}") == text.count(r"Label & n \\") == 3
    assert [f"row{number} & " in text for number in range(101)] == [True] * 101


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("甲 & 乙_丙 | 100%", r"甲 \& 乙\_丙 \textbar{} 100\%"),
        ("$x^2$", r"\$x\textasciicircum{}2\$"),
        (r"\end{table}", r"\textbackslash{}end\{table\}"),
        ("[1] *", "{[}1] {*}"),
        ("< 0.001", r"\textless{} 0.001"),
        ("“A” – κ ≥ 0.7", r"``A'' -- $\kappa$ $\geq$ 0.7"),
        ("a\nb\x00c\x7f", "a b c "),
    ],
)
def test_what_is_special_in_latex_is_printed(text, printed):
    tex = latex(Table("t", text, pl.DataFrame({"n": [1]}), [text, "n"], [[text, "-1.5"]]))
    assert rf"\caption{{{printed}}}" in tex
    assert printed + r" & n \\" in tex
    assert printed + r" & $-$1.5 \\" in tex
