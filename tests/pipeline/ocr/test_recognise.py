"""From pixels to lines, with engines made for the test, and once with the embedded one."""

from __future__ import annotations

from math import cos, radians, sin

import numpy as np
import pymupdf
import pytest

from pipeline.ocr import engines, scanpage
from pipeline.ocr.interfaces import Word
from pipeline.ocr.params import OcrParams, PaddleOcrParams, RapidOcrParams
from pipeline.ocr.recognise import read_upright
from pipeline.ocr.scanpage import to_page
from pipeline.ocr.tasks import PageTask, recognise_page


def word(
    text: str, x: float, y: float, width: float, height: float = 12, angle: float = 0, sure=0.99
) -> Word:
    c, s = cos(radians(angle)), sin(radians(angle))
    corners = [(0, 0), (width, 0), (width, height), (0, height)]
    return Word(text, tuple((x + c * dx - s * dy, y + s * dx + c * dy) for dx, dy in corners), sure)


def value(words, turned=0, legibility=1.0):
    rows = [[w.text, *(v for corner in w.corners for v in corner), w.confidence] for w in words]
    return {
        "width": 595,
        "height": 842,
        "turned": turned,
        "legibility": legibility,
        "words": rows,
        "marks": {},
    }


class Scripted:
    """An engine that gives what it was told, call by call."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.shapes = []

    def recognise(self, pixels):
        self.shapes.append(pixels.shape[:2])
        return self.answers.pop(0)


def test_the_angle_of_a_page_is_found_and_straightened_for_layout():
    def tilted(text, x, y):
        px, py = scanpage.rotate_point((x, y), 2.0, (297.5, 421.0))
        return word(text, px, py, 180, angle=2.0)

    words = [tilted(f"左第{row}行文字内容", 40, 100 + 14 * row) for row in range(5)]
    words += [tilted(f"右第{row}行文字内容", 340, 100 + 14 * row) for row in range(5)]
    assert scanpage.page_angle(words) == pytest.approx(2.0, abs=0.05)
    page = to_page(value(words), "no_text_layer", "e", "v")
    assert [line.text.count("第") for line in page.lines] == [2] * 5, "each row has both halves"
    assert page.lines[0].text.startswith("左第0行")


def test_slanted_words_are_watermarks():
    words = [word(f"第{row}行是普通文字", 40, 100 + 20 * row, 200) for row in range(5)]
    words.append(word("盗版必究", 100, 300, 150, angle=-35))
    page = to_page(value(words), "no_text_layer", "e", "v")
    assert len(page.lines) == 5


def test_a_page_on_its_side_is_turned_and_says_so():
    sideways = [word("题干文字", 100, 100 + 10 * row, 80, angle=90) for row in range(5)]
    upright = [word("题干文字", 100, 100 + 20 * row, 80) for row in range(5)]
    upside_down = [word("X", 100, 100, 80, sure=0.4)]
    engine = Scripted(sideways, upright, upside_down)
    turned, words = read_upright(engine, np.zeros((300, 200, 3), np.uint8))
    assert (turned, words) == (90, upright)
    assert engine.shapes == [(300, 200), (200, 300), (200, 300)]
    assert to_page(value(words, turned=90), "image", "e", "v").reason == "image: turned by 90 degrees"


def test_a_page_on_its_head_is_turned_when_it_reads_better_that_way():
    bad = [word("囗囗囗", 100, 100 + 20 * row, 80, sure=0.5) for row in range(5)]
    good = [word("题干文字", 100, 100 + 20 * row, 80) for row in range(5)]
    assert read_upright(Scripted(bad, good), np.zeros((30, 20, 3), np.uint8)) == (180, good)


def test_an_upright_page_is_read_once():
    good = [word("题干文字", 100, 100 + 20 * row, 80) for row in range(5)]
    engine = Scripted(good)
    assert read_upright(engine, np.zeros((30, 20, 3), np.uint8)) == (0, good)
    assert len(engine.shapes) == 1


def test_confidence_is_weighted_by_characters_and_lowered_on_dark_paper():
    words = [word("一二三四五六七八九", 40, 100, 100, sure=1.0), word("一", 40, 130, 12, sure=0.5)]
    assert to_page(value(words), "image", "e", "v").confidence == pytest.approx(0.95)
    assert to_page(value(words, legibility=0.8), "image", "e", "v").confidence == pytest.approx(0.76)


def test_only_options_of_the_chosen_engine_count_for_its_results():
    plain = engines.ChosenEngine(OcrParams()).semantic
    assert engines.ChosenEngine(OcrParams(paddleocr=PaddleOcrParams(device="gpu"))).semantic == plain
    assert engines.ChosenEngine(OcrParams(rapidocr=RapidOcrParams(detection_side=960))).semantic != plain
    assert engines.ChosenEngine(OcrParams(page_timeout=5.0)).semantic == plain


def test_the_embedded_engine_reads_a_page_of_chinese(make_pdf, tmp_path):
    path = make_pdf(
        [[(60, 100, "下列哪项是急性胃炎的病因"), (60, 130, "A.饮酒"), (260, 130, "B.运动")]], size=14
    )
    document = pymupdf.open(path)
    picture = tmp_path / "page.png"
    document[0].get_pixmap(dpi=110, clip=pymupdf.Rect(0, 60, 595, 160)).save(picture)
    found = recognise_page(PageTask("p", picture, "image", (1,), OcrParams()))
    page = to_page(found, "image", "rapidocr", "v")
    assert [line.text.replace(" ", "") for line in page.lines] == [
        "下列哪项是急性胃炎的病因",
        "A.饮酒\tB.运动",
    ]
    assert page.confidence > 0.9
