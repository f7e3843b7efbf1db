"""Furniture stands in one place of every page; an open booklet is two pages."""

import cv2
import numpy as np
import pytest
from PIL import Image

from build_dataset.pipeline.ocr.assemble import mark_running_lines
from build_dataset.pipeline.ocr.model import PageLine, PageRead, Rect
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers.image import ImageReader
from build_dataset.schemas.documents import LineKind, ReadMethod


def page(*boxes: Rect, label: str = "") -> PageRead:
    lines = [PageLine("1. 下列哪项正确", Rect(60, 300, 400, 315))]
    lines += [PageLine("", box, LineKind.FIGURE) for box in boxes]
    lines += [
        PageLine(label, Rect(box.x0 + 5, box.y0 + 5, box.x0 + 30, box.y0 + 15), LineKind.FIGURE)
        for box in boxes
        if label
    ]
    return PageRead(595, 842, ReadMethod.OCR, "test", "1", None, lines)


def kinds(pages: list[PageRead]) -> list[list[str]]:
    mark_running_lines(pages)
    return [[line.kind.value for line in one.lines[1:]] for one in pages]


def test_a_code_on_every_page_of_a_scan_belongs_to_no_question():
    moved = [Rect(480 + by, 700 - by, 540 + by, 760 - by) for by in (0, 4, 8)]
    assert kinds([page(box, label="扫码") for box in moved]) == [["header", "header"]] * 3


def test_figures_of_questions_stay_figures():
    figures = [Rect(100, 320 + 90 * at, 300, 400 + 90 * at) for at in range(4)]
    assert kinds([page(box) for box in figures]) == [["figure"]] * 4


def test_on_two_pages_only_what_stands_at_the_edge_is_furniture():
    inside, edge = Rect(200, 320, 300, 400), Rect(520, 20, 580, 80)
    assert kinds([page(inside, edge)] * 1 + [page(inside, edge)]) == [["figure", "header"]] * 2


def booklet(fold: float, width: int = 2400, height: int = 1700) -> Image.Image:
    """Return two grey pages, darker at the fold by a share, with a bar of ink on the right one."""
    x = np.abs(np.linspace(-1, 1, width))
    light = np.tile(230 * (1 - fold * np.clip(1 - 8 * x, 0, 1)), (height, 1))
    pixels = np.dstack([light] * 3).astype(np.uint8)
    cv2.rectangle(pixels, (int(0.7 * width), 400), (int(0.8 * width), 440), (0, 0, 0), -1)
    return Image.fromarray(pixels)


@pytest.mark.parametrize(
    ("fold", "size", "count"), [(0.4, (2400, 1700), 2), (0.0, (2400, 1700), 1), (0.4, (1700, 2400), 1)]
)
def test_a_picture_with_a_dark_fold_is_two_pages(tmp_path, fold, size, count):
    path = tmp_path / "IMG_1.png"
    booklet(fold, *size).save(path)
    reader, params = ImageReader(), OcrParams()
    assert reader.count_pages(path, params) == count
    inked = [(reader.image(path, at, params).pixels.min(axis=2) < 50).any() for at in range(1, count + 1)]
    assert inked == ([False, True] if count == 2 else [True])


def test_the_two_pages_of_a_booklet_are_all_of_the_picture(tmp_path):
    path = tmp_path / "IMG_1.png"
    booklet(0.4).save(path)
    left, right = (ImageReader().image(path, at, OcrParams()) for at in (1, 2))
    assert left.pixels.shape[1] + right.pixels.shape[1] == 2400
    assert left.pixels.shape[1] == pytest.approx(1200, abs=60)
    assert left.width == pytest.approx(842 * left.pixels.shape[1] / 1700, rel=0.01)


def test_a_head_of_photographs_is_one_wherever_the_page_begins_and_whether_its_number_is_raised():
    def photograph(top: float, head: str) -> PageRead:
        heads = PageLine(head, Rect(60, top, 140, top + 14))
        texts = [PageLine(f"{top}. 下列哪项正确", Rect(60, top + 100 + by, 400, top + 115 + by)) for by in (0, 40)]
        return PageRead(595, 842, ReadMethod.OCR, "test", "1", None, [texts[0], heads, texts[1]])

    pages = [photograph(72, "代號：2¹⁰¹"), photograph(102, "代號：2101"), photograph(130, "代號：2101")]
    assert kinds(pages) == [["header", "text"]] * 3
