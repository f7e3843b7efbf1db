"""Records of documents, pages, lines and rows, and what a manifest says."""

from pathlib import Path

import pytest

from build_dataset.pipeline.ocr.assemble import (
    DocumentState,
    Exam,
    build_tables,
    document_of,
    mark_running_lines,
    read_manifest,
    rows_of,
)
from build_dataset.pipeline.ocr.interfaces import TableRow
from build_dataset.pipeline.ocr.model import PageLine, PageRead, Rect
from build_dataset.pipeline.ocr.tasks import FileFacts
from build_dataset.pipeline.stage import Failure
from build_dataset.schemas.documents import LineKind, RawFile, ReadMethod
from build_dataset.schemas.errors import UserError

ROWS = (TableRow('{"a": 1}', "s"), TableRow('{"a": 2}'))


def document(name: str, pages: int | None = None, rows: tuple[TableRow, ...] | None = None) -> DocumentState:
    return DocumentState(RawFile(document=name, sha256="ab" * 32, bytes=1), Path("absent"), FileFacts("f", pages, rows))


def page(*lines: PageLine, height: float = 842.0) -> PageRead:
    return PageRead(595.0, height, ReadMethod.TEXT_LAYER, "e", "v", None, [*lines])


def test_a_document_has_the_pages_that_did_not_fail() -> None:
    read = document("a", 4)
    read.failures[2] = Failure("timeout", "x")
    assert ([*read.pages], read.sound, read.name) == ([1, 2, 3, 4], [1, 3, 4], "a")
    assert [[*document("a", pages).pages] for pages in (None, 0, 1)] == [[], [], [1]]


def test_the_state_of_a_file_is_its_size_and_time(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"xyz")
    read = DocumentState(RawFile(document="a", sha256="ab" * 32, bytes=3), path, FileFacts("f", 1, None))
    assert read.state == read.state_of_file() == (3, path.stat().st_mtime_ns)
    path.unlink()
    assert read.state_of_file() == (0, 0)


def test_rows_are_numbered_from_one() -> None:
    assert rows_of(document("a", None, ROWS)).rows() == [("a", 1, '{"a": 1}', "s"), ("a", 2, '{"a": 2}', None)]
    assert rows_of(document("a", 3)).is_empty()


def test_a_document_has_pages_or_rows() -> None:
    exam = Exam("x", "y", "z")
    found = [document_of(document("a", *facts), exam) for facts in ((3, None), (None, ROWS), (None, ()))]
    assert [(one.pages, one.rows) for one in found] == [(3, None), (None, 2), (None, 0)]
    assert (found[0].exam_type, found[0].exam_class, found[0].exam_subject) == exam


def test_documents_are_put_together_to_tables() -> None:
    lines = [PageLine("甲乙", Rect(1, 2, 3, 4), confidence=0.5), PageLine("", None, LineKind.FIGURE, 1)]
    read = [(document("a", 2), [page(*lines), page()], Exam("x")), (document("b", None, ROWS), [], Exam())]
    found = build_tables(read)
    assert found["documents"].select("document", "pages", "rows", "exam_type").rows() == [
        ("a", 2, None, "x"),
        ("b", None, 2, None),
    ]
    assert found["pages"].select("document", "page", "lines", "confidence", "height").rows() == [
        ("a", 1, 2, 0.5, 842.0),
        ("a", 2, 0, None, 842.0),
    ]
    assert found["lines"].select("page", "order", "text", "kind", "column", "confidence").rows() == [
        (1, 0, "甲乙", "text", 0, 0.5),
        (1, 1, "", "figure", 1, None),
    ]
    assert found["rows"].select("document", "row", "sheet").rows() == [("b", 1, "s"), ("b", 2, None)]


@pytest.mark.parametrize(("height", "kind"), [(0.0, "text"), (0.5, "header"), (1.0, "header"), (-1.0, "text")])
def test_a_page_without_a_height_has_no_edges(height: float, kind: str) -> None:
    pages = [page(PageLine("模拟卷", Rect(0, 0, 9, 0)), height=height) for _ in range(2)]
    mark_running_lines(pages)
    assert [read.lines[0].kind.value for read in pages] == [kind] * 2


def test_lines_without_text_or_without_a_place_are_no_running_lines() -> None:
    pages = [
        page(
            PageLine("", Rect(0, 0, 9 + 50 * at, 9), LineKind.FIGURE),
            PageLine("模拟卷", None),
            PageLine("甲", Rect(0, 0, 9, 9)),
        )
        for at in range(2)
    ]
    mark_running_lines(pages)
    assert [line.kind.value for line in pages[0].lines] == ["figure", "text", "header"]


def test_pages_without_lines_do_not_count() -> None:
    pages = [page(PageLine("模拟卷", Rect(0, 0, 9, 9))) for _ in range(2)] + [page() for _ in range(9)]
    mark_running_lines(pages)
    assert [read.lines[0].kind.value for read in pages[:2]] == ["header"] * 2


def test_a_number_alone_is_outermost_among_lines_of_text() -> None:
    def kind(*others: PageLine) -> str:
        own = PageLine("12", Rect(280, 20, 300, 30))
        read = page(own, *others)
        mark_running_lines([read])
        return own.kind.value

    def other(y: float, text: str = "甲") -> PageLine:
        return PageLine(text, Rect(60, y, 200, y + 10))

    assert kind(other(60), other(400)) == "header"
    assert kind(other(17), other(400)) == "text"
    assert kind(other(5, ""), other(60), other(400)) == "header"
    assert kind(other(60), PageLine("乙", None)) == "text"


@pytest.mark.parametrize(
    ("text", "found"), [("", "none"), ("a,b\n", "a, b"), ("document,x\n", "document, x"), ("exam_type\n", "exam_type")]
)
def test_a_manifest_has_documents_and_exams_alone(tmp_path: Path, text: str, found: str) -> None:
    (tmp_path / "manifest.csv").write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as caught:
        read_manifest(tmp_path)
    columns = "document, exam_type, exam_class, exam_subject"
    assert str(caught.value) == f"raw/manifest.csv: columns must be {columns}; found {found}"


def test_rows_of_a_manifest_may_be_short_empty_or_there_twice(tmp_path: Path) -> None:
    text = "document,exam_type,exam_class\n a ,x, \nb\n,y,z\na,x,\n"
    (tmp_path / "manifest.csv").write_text(text, encoding="utf-8")
    assert read_manifest(tmp_path) == {"a": Exam("x"), "b": Exam()}


def test_a_manifest_that_is_no_text_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "manifest.csv").write_bytes(b"document\n\xff\n")
    with pytest.raises(UserError, match=r"raw/manifest\.csv: cannot be read as a UTF-8 CSV file"):
        read_manifest(tmp_path)
