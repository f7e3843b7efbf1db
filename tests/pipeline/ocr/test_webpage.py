"""Saved web pages, Markdown, and formats that are refused by name."""

from pathlib import Path

import pytest

from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers import find_reader, webpage
from build_dataset.schemas.documents import LineKind
from build_dataset.schemas.errors import UnreadableDocument

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
    text = "## 单选题\n\n**1.** *(2)* 首选的是\n\n- A. 甲\n- B. 2**3 乙\n\n**答案：A**\n\n2\\. 第二题\n\n> 解析：略\n"
    path.write_text(text, encoding="utf-8")
    found = [line.text for line in read(path)]
    assert found == ["单选题", "1. (2) 首选的是", "A. 甲", "B. 2**3 乙", "答案：A", "2. 第二题", "解析：略"]


@pytest.mark.parametrize("mark", ["**{}**", "__{}__", "=={}==", "<mark>{}</mark>"])
def test_an_option_that_is_set_apart_in_a_list_shows_the_key_and_loses_its_mark(tmp_path, mark):
    path = tmp_path / "a.md"
    path.write_text(f"### 1. 首选的是\n\n- A. 甲\n- {mark.format('B. 乙')}\n* C. 丙\n", encoding="utf-8")
    assert [line.text for line in read(path)] == ["1. 首选的是", "A. 甲", "B. 乙☜", "C. 丙"]


@pytest.mark.parametrize(
    ("name", "head", "said"),
    [
        ("a.rar", b"Rar!\x1a\x07", "RAR archive; unpack"),
        ("a.caj", b"CAJ\x00", "CAJViewer"),
        ("a.djvu", b"AT&TFORM\x00", "DjVu"),
        ("a.pptx", b"PK\x03\x04ppt/", "PowerPoint presentation; save it as PDF"),
        ("a.epub", b"PK\x03\x04mimetype", "EPUB book"),
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
        "<p>1. 10<sup>9</sup>/L 与 CO<sub>2</sub></p><pre><code>int a;\nreturn a;</code></pre>", encoding="utf-8"
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
    assert lines[3:9] == ["第1题", "【第1题】", "式中 2*3*4 与 a_b 的 \\{x\\} 是（ ）。", "(1) A. 甲", "B. 乙", "答案"]
    assert lines[9:] == ["A", "解析", "解析", "1. 第一", "", "视频讲解"]


@pytest.mark.parametrize("code", ["MyClass.__mro__", "__init__()", "2**3**2", "a==b==c"])
def test_a_span_of_code_keeps_its_signs(tmp_path, code):
    (tmp_path / "paper.md").write_text(f"1. What is `{code}`?\n\n- [x] **`{code}`**\n", encoding="utf-8")
    assert [line.text for line in read(tmp_path / "paper.md")] == [f"1. What is {code}?", f"[x] {code}"]


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
    assert (table(0, "<td>题目<td>A"), table(0, "<td>题目<td>答案"), table(0, "<td>A<td>答案")) == (False,) * 3
    assert (table(0, suffix=".xls"), table(0, suffix=".pdf")) == (True, False)


HTML = b"<html><body>x</body></html>"


@pytest.mark.parametrize(
    ("head", "suffix", "read"),
    [
        (HTML, ".html", True),
        (HTML, ".doc", True),
        (HTML, ".pdf", False),
        (b"plain", ".htm", True),
        (b"plain", ".md", True),
        (b"plain", ".mhtml", True),
        (b"plain", ".doc", False),
        (b"plain", ".pdf", False),
        (b"x\0", ".html", False),
        (HTML + b"\0", ".doc", False),
    ],
)
def test_a_page_is_told_by_its_name_or_its_beginning(head: bytes, suffix: str, read: bool) -> None:
    assert webpage.WebPageReader().recognises(head, suffix) == read


def test_the_declaration_of_xml_is_no_part_of_a_page() -> None:
    page = '<?xml version="1.0" encoding="utf-8"?><html><body><p>甲</p></body></html>'
    assert [*webpage.element_lines(webpage.parse_page(page))] == ["甲"]
    assert [*webpage.element_lines(webpage.parse_page("  \n" + page))] == ["甲"]
    assert [*webpage.element_lines(webpage.parse_page("<p>a ?> b</p>"))] == ["a ?> b"]


def test_lines_of_a_program_end_where_it_ends() -> None:
    page = "<div><pre>a\n<b>b\nc</b>d\ne</pre>f\ng<p>h\ni</p></div>"
    assert [*webpage.element_lines(webpage.parse_page(page))] == ["a", "b", "cd", "e", "f g", "h i"]


@pytest.mark.parametrize(
    ("page", "lines"),
    [
        ("<p>a<br>b</p>", ["a", "b"]),
        ("<p>a<span>b</span>c</p>", ["abc"]),
        ("<p>a<div>b</div>c</p>", ["a", "b", "c"]),
        ("<p>a<!-- x -->b<script>y</script>c</p>", ["abc"]),
        (
            '<h3 class="no">Question 1</h3><div class="state">Correct</div><h4 class="accesshide">Text</h4>a',
            ["Question 1", "a"],
        ),
        ("<p>a<img>b</p>", ["a", "<img>", "b"]),
        ("<p>10<sup>9</sup> H<sub>2</sub>O</p>", ["10⁹ H₂O"]),
        ("<table><tr><td>a</td><td> b  c </td></tr><tr><th>d<th>e</table>", ["a\tb c", "d\te"]),
        ("<details><summary>点击查看解析</summary>a</details>", ["解析", "a"]),
        ("<p>a\tb\nc</p>", ["a b c"]),
    ],
)
def test_a_page_is_a_line_a_block(page: str, lines: list[str]) -> None:
    assert [*webpage.element_lines(webpage.parse_page(page))] == lines


def test_a_page_without_tables_has_none() -> None:
    assert webpage._grids("<p>text</p>", ".html") == ([], 0)
    assert webpage._grids("text", ".xls") == ([], 0)
    assert webpage._grids("text\nmore", ".md") == ([], 8)
    page = "<p>outside</p><TABLE><tr><td><table><tr><td>in<td>side</table></table>"
    assert webpage._grids(page, ".html") == ([[["in", "side"]]], len("outside"))


def test_a_page_is_judged_by_its_whole_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, str]] = []

    def grids(text: str, suffix: str) -> tuple[list[webpage.Grid], int]:
        seen.append((text, suffix))
        return [[["题目", "A", "答案"], ["x", "y", "A"]]], 0

    monkeypatch.setattr(webpage, "_grids", grids)
    reader = webpage.PageTableReader()
    heads = ("题\n干\n".encode() + b"\xe9", b"ab\ncd", b"ab\n", b"ab", b"\n", b"")
    assert [reader.recognises(head, ".md") for head in heads] == [True] * 6
    assert [text for text, _ in seen] == ["题\n干\n", "ab\n", "ab\n", "ab", "\n", ""]


def test_a_page_in_no_encoding_is_no_table() -> None:
    assert not webpage.PageTableReader().recognises(b"<table>\xff\xff\x81</table>\n", ".html")
    assert not webpage.PageTableReader().recognises(b"<p>text</p>\n", ".html")


def test_tables_of_a_page_are_numbered(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    rule = "|-|-|-|\n"
    path.write_text(
        f"|题目|A|答案|\n{rule}|甲|x|A|\n\n|说明|\n|---|\n|y|\n\n|题干|A|答案|\n{rule}|乙|z|A|\n", encoding="utf-8"
    )
    told: list[str] = []
    found = [*webpage.PageTableReader().rows(path, OcrParams(), told)]
    assert [row.sheet for row in found] == ["table 1", "table 3"]
    assert [note.partition(":")[0] for note in told] == ["table 2 was left out"]


@pytest.mark.parametrize(("span", "rows"), [("0", 1), ("1", 1), ("2", 2), ("3", 3), ("4", 4), ("5", 5), ("x", 1)])
def test_a_cell_is_repeated_in_as_many_rows_as_it_spans(span: str, rows: int) -> None:
    found = grid(f"<tr><td rowspan={span}>a<td>b</tr>" + "<tr><td>c</tr>" * 5)
    assert [row[0] for row in found] == ["a"] * rows + ["c"] * (6 - rows)


def test_a_cell_spans_a_thousand_rows_or_columns_at_most() -> None:
    assert [len(grid(f"<tr><td colspan={span}>a</tr>")[0]) for span in (999, 1000, 1001)] == [999, 1000, 1000]
    found = grid("<tr><td rowspan=1001>a</tr>" + "<tr></tr>" * 1001)
    assert [len(row) for row in found] == [1] * 1000 + [0] * 2


def test_a_line_with_pipes_before_any_table_is_none() -> None:
    assert webpage._pipe_tables("a|b\nc") == ([], 4)
    assert webpage._pipe_tables("a|b\n---\nc|d") == ([], 9)
    assert webpage._pipe_tables("ab\n-|-\nc|d") == ([], 8)
    assert webpage._pipe_tables("a|b\n-|-") == ([[["a", "b"]]], 0)
    assert webpage._pipe_tables(" a|b \n-|-\nx\n y|z ") == ([[["a", "b"]]], 4)


@pytest.mark.parametrize(
    ("attributes", "items", "shown"),
    [
        ("", ("甲", "乙"), ["1. 甲", "2. 乙"]),
        ("start=3", ("甲", "乙"), ["3. 甲", "4. 乙"]),
        ("type=A", ("甲", "乙"), ["A. 甲", "B. 乙"]),
        ("", ("A. 甲", "B. 乙"), ["A. 甲", "B. 乙"]),
        ("", ("（1）甲", "乙"), ["（1）甲", "乙"]),
        ("style='list-style: none'", ("甲", "乙"), ["甲", "乙"]),
    ],
)
def test_items_of_a_list_have_the_numbers_that_the_page_shows(tmp_path, attributes, items, shown):
    path = tmp_path / "a.html"
    listed = "".join(f"<li>{one}</li>" for one in items)
    path.write_text(f"<html><p>题</p><ol {attributes}>{listed}</ol></html>", encoding="utf-8")
    assert [line.text for line in read(path)] == ["题", *shown]


def test_headings_of_pages_and_markdown_are_told(tmp_path):
    path = tmp_path / "a.md"
    path.write_text("### Digestive System\n\n**1.** 首选的是\n\nA) 甲\n", encoding="utf-8")
    assert [(line.kind.value, line.text) for line in read(path)][:2] == [
        ("heading", "Digestive System"),
        ("text", "1. 首选的是"),
    ]


def test_a_fold_in_japanese_leaves_no_words(tmp_path):
    path = tmp_path / "a.html"
    path.write_text("<p>題</p><details><summary>解答を見る</summary><p>正解：2</p></details>", encoding="utf-8")
    assert [line.text for line in read(path)] == ["題", "正解：2"]


@pytest.mark.parametrize(
    ("page", "lines"),
    [
        ('<div data-correct="b"><p>题</p></div>', ["题", "答案：B"]),
        ('<ul><li>甲</li><li data-correct="true">乙</li></ul>', ["甲", "乙(正确答案)"]),
        ('<div data-answer="12"><p>题</p></div>', ["题"]),
    ],
)
def test_a_key_in_an_attribute_is_told(tmp_path, page, lines):
    path = tmp_path / "a.html"
    path.write_text(page, encoding="utf-8")
    assert [line.text for line in read(path)] == lines


def test_contents_go_and_headings_over_boxes_to_tick_are_questions(tmp_path):
    asked = ["Which of these?", "What of 3 drugs?", "第三题问什么？"]
    contents = "".join(f"| {n} | [{ask}](#q-{n})\n" for n, ask in enumerate(asked, 1))
    body = "".join(
        f"### {ask}\n\n- [ ] 甲{n}\n- [x] 乙{n}\n\n**[⬆ top](#contents)**\n\n" for n, ask in enumerate(asked)
    )
    path = tmp_path / "a.md"
    path.write_text(f"# Contents\n\n{contents}\n{body}", encoding="utf-8")
    texts = [line.text for line in read(path)]
    assert [text for text in texts if text[0].isdigit()] == [f"{n}. {ask}" for n, ask in enumerate(asked, 1)]
    assert len(texts) == 10
    assert not any("top" in text or "|" in text for text in texts)
