"""Tables and figures on scanned pages."""

import numpy as np
import pytest
from PIL import Image, ImageDraw

from build_dataset.pipeline.ocr.images import find_marks
from build_dataset.pipeline.ocr.interfaces import Word
from build_dataset.pipeline.ocr.model import Rect
from build_dataset.pipeline.ocr.scanpage import to_page
from build_dataset.schemas.documents import LineKind


@pytest.fixture
def sheet():
    picture = Image.new("RGB", (1190, 1684), "white")
    return picture, ImageDraw.Draw(picture)


def word(text: str, x: float, y: float, width: float = 200, height: float = 24) -> Word:
    return Word(text, ((x, y), (x + width, y), (x + width, y + height), (x, y + height)), 0.99)


def lines(picture: Image.Image, words: list[Word], **more):
    marks = find_marks(np.asarray(picture), words)
    half = {kind: [[value / 2 for value in box] for box in boxes] for kind, boxes in marks.items()}
    rows = [[w.text, *(v / 2 for corner in w.corners for v in corner), 0.99] for w in words]
    value = {"width": 595, "height": 842, "turned": 0, "legibility": 1.0, "words": rows, "marks": half, **more}
    return to_page(value, "image", "e", "v").lines


def test_a_ruled_grid_is_a_table_and_its_rules_part_cells(sheet):
    picture, draw = sheet
    for x in range(100, 501, 100):
        draw.line((x, 200, x, 320), fill="black", width=2)
    for y in (200, 260, 320):
        draw.line((100, y, 500, y), fill="black", width=2)
    words = [word(str(number), 112 + 100 * number, 216, 80) for number in range(4)]
    found = lines(picture, words)
    assert [(line.kind, line.text) for line in found] == [(LineKind.TABLE, ""), (LineKind.TEXT, "0\t1\t2\t3")]
    assert all(abs(a - b) < 4 for a, b in zip(found[0].box, Rect(50, 100, 250, 160), strict=True))


def test_a_drawing_is_a_figure_and_text_is_not(sheet):
    picture, draw = sheet
    for radius in range(40, 120, 20):
        draw.ellipse((400 - radius, 600 - radius, 400 + radius, 600 + radius), outline="black", width=3)
    draw.rectangle((100, 1000, 900, 1024), fill="black")
    found = lines(picture, [word("一行很长的文字在这里一共有二十多个字", 95, 995, 810, 34)])
    assert [line.kind for line in found] == [LineKind.FIGURE, LineKind.TEXT]


def test_boxes_joined_by_arrows_are_a_figure_not_a_table(sheet):
    picture, draw = sheet
    for x, y in ((100, 200), (400, 200), (100, 400), (400, 400)):
        draw.rectangle((x, y, x + 160, y + 80), outline="black", width=3)
    draw.line((260, 240, 400, 240), fill="black", width=3)
    draw.line((180, 280, 180, 400), fill="black", width=3)
    draw.line((480, 280, 480, 400), fill="black", width=3)
    assert [line.kind for line in lines(picture, [])] == [LineKind.FIGURE]


def test_an_underline_is_nothing(sheet):
    picture, draw = sheet
    draw.line((100, 300, 400, 300), fill="black", width=2)
    assert lines(picture, []) == []
