"""Tables are set by a real XeLaTeX: no error, no missing glyph, nothing beyond the margin."""

import re
import shutil
import subprocess

import polars as pl
import pytest

from build_dataset.pipeline.rendering.tables import Table

pytestmark = pytest.mark.skipif(shutil.which("xelatex") is None, reason="no XeLaTeX on this machine")

HEAD = r"""\documentclass{article}
\usepackage{xeCJK}
\usepackage{adjustbox, booktabs}
\begin{document}
"""
LABELS = (
    "临床医学 Clinical medicine",
    "某些感染性疾病或寄生虫病 Certain infectious or parasitic diseases",
    r"[x] *y* \end{table} 100 % & _z_ #1 ~ ^ { } < > | “κ” – ≥",
)
SHAPES = [(3, 1), (6, 8), (28, 3), (28, 13), (174, 2), (60, 9), (40, 30)]


@pytest.mark.parametrize(("rows", "runs"), SHAPES)
def test_a_table_of_any_shape_stays_on_its_page(tmp_path, rows, runs):
    head = ["考试 Exam", "题数 n", *(f"openai:model-{run}b chain_of_thought" for run in range(runs))]
    cells = [[LABELS[row % len(LABELS)], "1,234", *[f"6{row % 10}.6 ± 0.1 [60.4, 62.8]"] * runs] for row in range(rows)]
    table = Table("t", "准确率 Accuracy – in percent", pl.DataFrame({"n": [1]}), head, cells)
    text = table.files()["tables/t.tex"].decode()
    (tmp_path / "main.tex").write_text(HEAD + text + r"\end{document}", encoding="utf-8")
    command = ["xelatex", "-interaction=nonstopmode", "-halt-on-error", "main.tex"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    log = (tmp_path / "main.log").read_text(encoding="utf-8", errors="replace")
    assert re.findall(r"Overfull|Float too large", log) == []
    missing = re.findall(r"Missing character: There is no (.)", log)
    assert [glyph for glyph in missing if ord(glyph) < 0x2E80] == [], "glyphs of Chinese need a font of it"
