"""Saved web pages, Markdown, and formats that are refused by name."""

from __future__ import annotations

import pytest

from pipeline.ocr.params import OcrParams
from pipeline.ocr.readers import find_reader, webpage
from schemas.documents import LineKind
from schemas.errors import UnreadableDocument

PAGE = """<!DOCTYPE html><html><head><title>t</title><style>p {}</style></head><body><nav>菜单</nav>
<h2>一、单选题</h2><div><b>1.</b> 首选的<i>药物</i>是</div><ul><li>A. 甲</li><li>B. 乙<script>x()</script></li></ul>
<p>2. 见图<img src="file:///etc/passwd"></p><table><tr><td>A. 丙</td><td>B. 丁</td></tr></table>
答案：A<br>完</body></html>"""
LINES = ["一、单选题", "1. 首选的药物是", "A. 甲", "B. 乙", "2. 见图", "", "A. 丙\tB. 丁", "答案：A", "完"]


def read(path):
    (page,) = find_reader(path, OcrParams()).read(path, [1], OcrParams())
    return page.lines


def test_a_web_page_is_read_a_line_a_block(tmp_path):
    path = tmp_path / "a.html"
    path.write_text(PAGE, encoding="utf-8")
    assert [line.text for line in read(path)] == LINES
    assert [line.kind for line in read(path)].count(LineKind.FIGURE) == 1


def test_an_mhtml_page_is_the_same(tmp_path):
    path = tmp_path / "a.mhtml"
    head = "MIME-Version: 1.0\nContent-Type: multipart/related; boundary=x\n\n--x\n"
    head += "Content-Type: text/html; charset=utf-8\n"
    path.write_bytes(f"{head}Content-Transfer-Encoding: 8bit\n\n{PAGE}\n--x--\n".encode())
    assert [line.text for line in read(path)] == LINES


def test_an_entity_in_a_page_reads_no_file(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("geheim")
    path = tmp_path / "a.html"
    path.write_text(f'<!DOCTYPE x [<!ENTITY e SYSTEM "file://{secret}">]><p>1. &e; 题</p>', encoding="utf-8")
    assert "geheim" not in "".join(line.text for line in read(path))


def test_tags_nested_without_end_are_read_or_refused(tmp_path):
    path = tmp_path / "a.html"
    path.write_text("<div>" * 50_000 + "题", encoding="utf-8")
    try:
        read(path)
    except UnreadableDocument as error:
        assert error.reason  # noqa: PT017


def test_a_page_without_text_is_told(tmp_path):
    path = tmp_path / "a.html"
    path.write_text("<html><body><script>load()</script></body></html>", encoding="utf-8")
    with pytest.raises(UnreadableDocument, match="no_text"):
        find_reader(path, OcrParams()).count_pages(path, OcrParams())


def test_marks_of_markdown_do_not_hide_numbers_options_and_answers(tmp_path):
    path = tmp_path / "a.md"
    text = "## 单选题\n\n**1.** 首选的药物是\n\n- A. 甲\n- B. 2**3 乙\n\n**答案：A**\n\n2\\. 第二题\n\n> 解析：略\n"
    path.write_text(text, encoding="utf-8")
    found = [line.text for line in read(path)]
    assert found == ["单选题", "1. 首选的药物是", "A. 甲", "B. 2**3 乙", "答案：A", "2. 第二题", "解析：略"]


@pytest.mark.parametrize(
    ("name", "head", "said"),
    [
        ("a.rar", b"Rar!\x1a\x07", "RAR archive; unpack"),
        ("a.caj", b"CAJ\x00", "CAJViewer"),
        ("a.djvu", b"AT&TFORM\x00", "DjVu"),
        ("a.pptx", b"PK\x03\x04ppt/", "PowerPoint presentation; save it as PDF"),
        ("a.epub", b"PK\x03\x04mimetype", "EPUB book"),
        ("a.apkg", b"PK\x03\x04collection", "Anki deck"),
        ("a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old Word document; install LibreOffice"),
        ("a.zip", b"PK\x03\x04a.pdf", "ZIP archive within another; unpack"),
    ],
)
def test_other_formats_are_refused_by_name_with_a_remedy(tmp_path, name, head, said):
    path = tmp_path / name
    path.write_bytes(head + b"\x00" * 100)
    with pytest.raises(UnreadableDocument) as caught:
        find_reader(path, OcrParams())
    assert caught.value.reason == "unknown_format"
    assert said in caught.value.detail


def test_raised_and_lowered_text_and_the_lines_of_a_program_are_kept(tmp_path):
    path = tmp_path / "a.html"
    path.write_text(
        "<p>1. 10<sup>9</sup>/L 与 CO<sub>2</sub></p><pre><code>int a;\nreturn a;</code></pre>",
        encoding="utf-8",
    )
    assert [line.text for line in read(path)] == ["1. 10⁹/L 与 CO₂", "int a;", "return a;"]


MARKDOWN = """---
title: 测验
---
# 测验

| 题号 | 1 | 2 |
|---|---|---|
| 答案 | A | B |

## 第1题
**【第1题】**
式中 2*3*4 与 `a_b` 的 \\{x\\} 是（  ）。

(1)> A. 甲
> B. 乙

---
### 答案
**A**

### 解析
<details>
<summary>查看解析</summary>

1. 第一
![图](./a.png)
[视频讲解](https://example.org/v)
</details>
"""


def test_marks_of_markdown_end_in_no_text(tmp_path):
    path = tmp_path / "a.md"
    path.write_text(MARKDOWN, encoding="utf-8")
    lines = [line.text for line in read(path)]
    assert lines[:3] == ["测验", "题号\t1\t2", "答案\tA\tB"]
    assert lines[3:9] == [
        "第1题",
        "【第1题】",
        "式中 2*3*4 与 a_b 的 \\{x\\} 是（ ）。",
        "(1) A. 甲",
        "B. 乙",
        "答案",
    ]
    assert lines[9:] == ["A", "解析", "解析", "1. 第一", "", "视频讲解"]


def grid(rows: str) -> list[list[str]]:
    return webpage._grid(webpage.parse_page(f"<table>{rows}</table>"))


def test_cells_that_span_rows_have_their_text_in_each():
    rows = "<tr><td rowspan=3>a<td>b</tr><tr><td>c</tr><tr><td>d</tr><tr><td>e<td>f</tr>"
    assert grid(rows) == [["a", "b"], ["a", "c"], ["a", "d"], ["e", "f"]]
    assert grid("<tr><td>a<td rowspan=2>b</tr><tr><td>c</tr>") == [["a", "b"], ["c", "b"]]
    assert grid("<tr><td rowspan=x>a<td colspan=2>b<td>c</tr>") == [["a", "b", "", "c"]]
    assert grid("<tr><td rowspan=2>a<td rowspan=3>b</tr><tr></tr><tr><td>c</tr><tr><td>d</tr>") == [
        ["a", "b"],
        ["a", "b"],
        ["c", "b"],
        ["d"],
    ]
    assert len(grid("<tr><td colspan=2000>a<td>b</tr>")[0]) == 1001


def test_tables_of_markdown_follow_a_header_with_a_rule():
    text = "前言\n| 题目 | **答案** |\n|---|---|\n| 甲\\|乙 | A<br>B |\n| 丙 | `B` |\n后记\n| x | y |\na|b\n-|-\nc|d"
    assert webpage._pipe_tables(text) == (
        [[["题目", "答案"], ["甲|乙", "A\nB"], ["丙", "B"]], [["a", "b"], ["c", "d"]]],
        len("前言") + len("后记") + len("| x | y |"),
    )


def test_characters_outside_of_tables_are_told_of_from_two_hundred_on(tmp_path, flips):
    def told(count: int) -> list[str]:
        path = tmp_path / "a.html"
        row = "<table><tr><td>题目<td>A<td>答案</tr><tr><td>甲<td>乙<td>A</tr></table>"
        path.write_text(f"<html><body><p>{'x' * count}</p>{row}</body></html>", encoding="utf-8")
        said: list[str] = []
        assert len([*webpage.PageTableReader().rows(path, OcrParams(), said)]) == 1
        return said

    assert flips(lambda count: bool(told(count)), range(180, 220)) == [201]
    assert told(1234) == ["1,234 characters outside of its tables were left out"]


def test_a_page_is_a_table_where_most_of_it_stands_in_one(flips):
    def table(count: int, header="<td>题目<td>A<td>答案", suffix=".html") -> bool:
        row = f"<table><tr>{header}</tr><tr><td>甲乙丙<td>x<td>A</tr></table>"
        return webpage.PageTableReader().recognises(f"<p>{'y' * count}</p>{row}\n".encode(), suffix)

    assert flips(table, range(30)) == [10]
    assert (table(0, "<td>题目<td>A"), table(0, "<td>题目<td>答案"), table(0, "<td>A<td>答案")) == (
        False,
    ) * 3
    assert (table(0, suffix=".xls"), table(0, suffix=".pdf")) == (True, False)
