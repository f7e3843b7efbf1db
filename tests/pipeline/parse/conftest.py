"""Papers written as plain text: a line a line, columns apart by tabs, pages apart by form feeds.

They do not pass a reader: test_through_pdf and tests/pipeline/ocr show what becomes of gaps before.
"""

from collections.abc import Callable

import pytest

from build_dataset.pipeline.parse.paper import ParsedPaper, ParseOutcome, finish
from build_dataset.pipeline.parse.stage import check_gates, read_paper
from build_dataset.schemas.documents import Document, Line, LineKind

REGION = {f"[{kind.value}]": kind for kind in (LineKind.FIGURE, LineKind.TABLE, LineKind.FORMULA)}


def lines_of(text: str, document: str = "paper.pdf") -> list[Line]:
    lines = []
    for number, page in enumerate(text.split("\f"), 1):
        for order, raw in enumerate(line for line in page.split("\n") if line.strip()):
            kind = REGION.get(raw.strip(), LineKind.TEXT)
            lines.append(
                Line(
                    document=document,
                    page=number,
                    order=order,
                    text=raw if kind is LineKind.TEXT else "",
                    box=None,
                    confidence=None,
                    column=0,
                    kind=kind,
                )
            )
    return lines


def document_of(name: str = "paper.pdf") -> Document:
    return Document(document=name, sha256="ab" * 32, format="pdf", pages=1, rows=None)


@pytest.fixture
def read() -> Callable[..., ParsedPaper]:
    def read(text: str, document: str = "paper.pdf") -> ParsedPaper:
        return read_paper(document, lines_of(text, document))

    return read


@pytest.fixture
def parse(read: Callable[..., ParsedPaper]) -> Callable[[str], ParseOutcome]:
    """Text of a paper → what became of its items."""

    def parse(text: str) -> ParseOutcome:
        paper = read(text)
        check_gates(paper)
        return finish(paper, document_of())

    return parse
