"""Tasks of workers: limits of a file, a second attempt at what looks damaged, pages as JSON."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from build_dataset.pipeline.ocr import tasks
from build_dataset.pipeline.ocr.interfaces import NeedsOcr, PageImage, TableRow
from build_dataset.pipeline.ocr.model import PageRead, Rect
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.tasks import FileFacts, FileTask, PageTask, inspect_file, read_pages, recognise_page
from build_dataset.schemas.documents import ReadMethod
from build_dataset.schemas.errors import UnreadableDocument

PARAMS = OcrParams(max_pages=3, max_rows=3)


class Paged:
    format = "pages"

    def __init__(self, *answers: int | list[PageRead | NeedsOcr] | Exception) -> None:
        self.answers = [*answers]

    def _answer(self) -> int | list[PageRead | NeedsOcr]:
        found = self.answers.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    def recognises(self, head: bytes, suffix: str) -> bool:
        return True

    def count_pages(self, path: Path, params: OcrParams) -> int:
        found = self._answer()
        assert isinstance(found, int)
        return found

    def read(self, path: Path, pages: Sequence[int], params: OcrParams) -> list[PageRead | NeedsOcr]:
        found = self._answer()
        assert isinstance(found, list)
        return found


class Rows:
    format = "rows"

    def __init__(self, *rows: dict[str, object]) -> None:
        self.found = rows

    def recognises(self, head: bytes, suffix: str) -> bool:
        return True

    def rows(self, path: Path, params: OcrParams, told: list[str]) -> Iterator[TableRow]:
        told.append("a note")
        yield from (TableRow(json.dumps(row)) for row in self.found)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "a").write_bytes(b"x")
    return tmp_path / "a"


@pytest.fixture
def look(monkeypatch: pytest.MonkeyPatch, path: Path) -> Callable[[object], FileFacts | str]:
    def looked(reader: object) -> FileFacts | str:
        monkeypatch.setattr(tasks, "find_reader", lambda *_: reader)
        try:
            return inspect_file(FileTask("a", path, PARAMS))
        except UnreadableDocument as error:
            return f"{error.reason}: {error.detail}"

    return looked


Look = Callable[[object], FileFacts | str]


def test_a_document_has_as_many_pages_as_are_allowed(look: Look) -> None:
    assert look(Paged(3)) == FileFacts("pages", 3, None, ())
    assert look(Paged(4)) == "too_large: 4 pages, more than max_pages = 3"


def test_a_table_has_a_row_and_as_many_as_are_allowed(look: Look) -> None:
    rows = [TableRow(json.dumps({"a": at})) for at in range(3)]
    assert look(Rows(*({"a": at} for at in range(3)))) == FileFacts("rows", None, (*rows,), ("a note",))
    assert look(Rows(*({"a": at} for at in range(4)))) == "too_large: more rows than max_rows = 3"
    assert look(Rows()) == "no_rows: there is no row of data in the file"


@pytest.mark.parametrize(("reason", "attempts"), [("broken", 2), ("truncated", 2), ("encrypted", 1), ("no_pages", 1)])
def test_what_looks_damaged_is_looked_at_twice(look: Look, reason: str, attempts: int) -> None:
    reader = Paged(UnreadableDocument(reason, "x"), 2)
    assert look(reader) == (FileFacts("pages", 2, None, ()) if attempts == 2 else f"{reason}: x")
    assert len(reader.answers) == 2 - attempts
    assert look(Paged(UnreadableDocument(reason, "x"), UnreadableDocument(reason, "y"))) == (
        f"{reason}: {'y' if attempts == 2 else 'x'}"
    )


def page(reason: str | None) -> PageRead:
    return PageRead(1.0, 2.0, ReadMethod.TEXT_LAYER, "e", "v", reason)


@pytest.mark.parametrize(
    ("reason", "attempts"), [(None, 1), ("no_content", 1), ("broken_page: x", 2), ("broken_page", 2)]
)
def test_a_broken_page_is_read_twice(
    monkeypatch: pytest.MonkeyPatch, path: Path, reason: str | None, attempts: int
) -> None:
    first: list[PageRead | NeedsOcr] = [page(None), page(reason), NeedsOcr("x")]
    second: list[PageRead | NeedsOcr] = [page("second"), NeedsOcr("y")]
    reader = Paged(first, second)
    monkeypatch.setattr(tasks, "reader", {"pages": reader}.__getitem__)
    found = read_pages(PageTask("a", path, "pages", (1, 2, 3), PARAMS))
    assert len(reader.answers) == 2 - attempts
    assert found == [
        {"needs_ocr": one.reason} if isinstance(one, NeedsOcr) else one.to_json()
        for one in (second if attempts == 2 else first)
    ]


class Seen(Paged):
    """A reader of pages that can be looked at; a page's picture is its number."""

    def image(self, path: Path, page: int, params: OcrParams) -> PageImage:
        return PageImage(np.full((1, 1, 3), page, np.uint8), 10.0, 20.0)


def test_the_one_page_of_a_task_is_recognised_or_its_lines_are(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    monkeypatch.setattr(tasks, "reader", {"pages": Seen()}.__getitem__)
    monkeypatch.setattr(tasks.engines, "load", lambda params: "engine")
    monkeypatch.setattr(
        "build_dataset.pipeline.ocr.recognise.recognise",
        lambda engine, image, params: {"page": int(image.pixels[0, 0, 0])},
    )
    monkeypatch.setattr(
        "build_dataset.pipeline.ocr.recognise.reread_box",
        lambda engine, image, box: [f"{engine} {box.x0}", int(image.pixels.max())],
    )
    assert recognise_page(PageTask("a", path, "pages", (7,), PARAMS)) == {"page": 7}
    boxes = (Rect(1, 2, 3, 4), Rect(5, 6, 7, 8))
    found = recognise_page(PageTask("a", path, "pages", (7,), PARAMS, boxes))
    assert found == {"readings": [["engine 1", 7], ["engine 5", 7]]}
