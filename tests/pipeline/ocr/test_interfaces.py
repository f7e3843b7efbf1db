"""Readers of one page, and words of engines."""

from pathlib import Path

import pytest

from build_dataset.pipeline.ocr.interfaces import EngineSetup, OnePageReader, Word
from build_dataset.pipeline.ocr.model import PageLine, PageRead
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.schemas.documents import LineKind, ReadMethod
from build_dataset.schemas.errors import UnreadableDocument


class Reader(OnePageReader):
    engine, version = "e", "7"

    def __init__(self, *lines: PageLine) -> None:
        self.found = [*lines]

    def lines(self, path: Path) -> list[PageLine]:
        return self.found


def test_a_document_without_layout_is_one_page_without_size() -> None:
    line = PageLine("甲", None)
    reader = Reader(PageLine("", None, LineKind.FIGURE), line)
    assert reader.count_pages(Path(), OcrParams()) == 1
    page = PageRead(0.0, 0.0, ReadMethod.TEXT_LAYER, "e", "7", None, reader.found)
    assert reader.read(Path(), [1], OcrParams()) == [page]
    assert reader.read(Path(), [1, 1], OcrParams()) == [page] * 2


@pytest.mark.parametrize("lines", [[], [PageLine("", None, LineKind.FIGURE)]])
def test_a_document_without_text_is_refused(lines: list[PageLine]) -> None:
    with pytest.raises(UnreadableDocument, match="there is nothing but white space in the file"):
        Reader(*lines).count_pages(Path(), OcrParams())


def test_the_box_of_a_word_is_around_all_its_corners() -> None:
    assert Word("x", ((3, 1), (9, 4), (8, 7), (2, 5)), 0.5).box == (2, 1, 9, 7)


def test_an_engine_needs_no_package_unless_it_says_so() -> None:
    class Engine(EngineSetup):
        pass

    assert (Engine.packages, Engine.requirement) == ((), "")
