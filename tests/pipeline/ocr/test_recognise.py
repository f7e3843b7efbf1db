"""From pixels to lines, with engines made for the test, and once with the embedded one."""

from math import cos, radians, sin

import numpy as np
import pymupdf
import pytest

from build_dataset.pipeline.ocr import engines, scanpage
from build_dataset.pipeline.ocr.interfaces import PageImage, Word
from build_dataset.pipeline.ocr.model import Rect
from build_dataset.pipeline.ocr.params import OcrParams, PaddleOcrParams, RapidOcrParams
from build_dataset.pipeline.ocr.recognise import mean_confidence, read_upright, recognise, reread_box
from build_dataset.pipeline.ocr.scanpage import to_page
from build_dataset.pipeline.ocr.tasks import PageTask, recognise_page
from tests.conftest import ROOT


def word(text: str, x: float, y: float, width: float, height: float = 12, angle: float = 0, sure=0.99) -> Word:
    c, s = cos(radians(angle)), sin(radians(angle))
    corners = [(0, 0), (width, 0), (width, height), (0, height)]
    return Word(text, tuple((x + c * dx - s * dy, y + s * dx + c * dy) for dx, dy in corners), sure)


def value(words, turned=0, legibility=1.0):
    rows = [[w.text, *(v for corner in w.corners for v in corner), w.confidence] for w in words]
    return {"width": 595, "height": 842, "turned": turned, "legibility": legibility, "words": rows, "marks": {}}


class Scripted:
    """An engine that gives what it was told, call by call."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.shapes, self.seen = [], []

    def recognise(self, pixels):
        self.shapes.append(pixels.shape[:2])
        self.seen.append(pixels)
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
    turned, _, words = read_upright(engine, np.zeros((300, 200, 3), np.uint8))
    assert (turned, words) == (90, upright)
    assert engine.shapes == [(300, 200), (200, 300), (200, 300)]
    assert to_page(value(words, turned=90), "image", "e", "v").reason == "image: turned by 90 degrees"


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
    path = make_pdf([[(60, 100, "下列哪项是急性胃炎的病因"), (60, 130, "A.饮酒"), (260, 130, "B.运动")]], size=14)
    document = pymupdf.open(path)
    picture = tmp_path / "page.png"
    document[0].get_pixmap(dpi=110, clip=pymupdf.Rect(0, 60, 595, 160)).save(picture)
    found = recognise_page(PageTask("p", picture, "image", (1,), OcrParams()))
    page = to_page(found, "image", "rapidocr", "v")
    assert [line.text.replace(" ", "") for line in page.lines] == ["下列哪项是急性胃炎的病因", "A.饮酒\tB.运动"]
    assert page.confidence > 0.9


BLACK = np.zeros((30, 20, 3), np.uint8)


def test_a_page_that_was_turned_has_its_marks_in_points_and_dark_paper_a_lower_legibility():
    page = np.full((120, 100, 3), 255, np.uint8)
    page[30:32, 10:90] = 0
    side = [word("题干", 10, 10, 5, 30)] * 3
    turned = recognise(Scripted(side, [word("题" * 9, 0, 0, 30, 10)], []), PageImage(page, 50.0, 60.0), OcrParams())
    assert (turned["width"], turned["height"], turned["turned"]) == (60.0, 50.0, 90)
    assert turned["marks"]["down"] == [[15.0, 5.5, 16.5, 45.5]]
    dark = recognise(Scripted([]), PageImage((page * 0.7).astype(np.uint8), 50.0, 60.0), OcrParams())
    assert (dark["legibility"], dark["marks"]) == (0.9128, {})


def test_the_pages_of_a_screenshot_are_read_below_each_other():
    page = np.full((1500, 500, 3), 255, np.uint8)
    page[900:902, 10:490] = 0
    engine = Scripted([word("上", 10, 20, 30, 10)], [word("下", 10, 20, 30, 10)])
    found = recognise(engine, PageImage(page, 500.0, 1500.0), OcrParams())
    first = engine.shapes[0][0]
    assert sum(rows for rows, _ in engine.shapes) == 1500
    assert [row[2] for row in found["words"]] == [20.0, 20.0 + first]
    assert found["marks"]["across"] == [[10.0, 900.0, 490.0, 903.0]]
    assert (found["height"], found["turned"]) == (1500.0, 0)


def test_a_line_is_read_again_with_some_of_the_page_around_it():
    pixels = np.repeat(np.arange(400 * 200).reshape(400, 200, 1), 3, axis=2)
    seen = [word("乙", 40, 30, 10, 10, sure=0.8), word("甲", 5, 29, 10, 10, sure=0.95)]
    seen += [word("上", 5, 9, 10, 25), word("下", 5, 47, 10, 9)]
    engine = Scripted(seen, [], [])
    page = PageImage(pixels, 100.0, 100.0)
    assert reread_box(engine, page, Rect(20, 30, 60, 40)) == ["甲乙", 0.8]
    assert reread_box(engine, page, Rect(0, 0, 50, 10)) == ["", 0.0]
    assert reread_box(engine, page, Rect(90, 95, 100, 100)) == ["", 0.0]
    assert engine.shapes == [(68, 94), (54, 107), (27, 24)]
    assert [int(cut[0, 0, 0]) for cut in engine.seen] == [21233, 0, 74776]
    assert reread_box(engine, page, Rect(120, 130, 160, 140)) == ["", 0.0]
    assert reread_box(Scripted([word("甲", 5, 29, 10, 10, sure=0.912345)]), page, Rect(20, 30, 60, 40))[1] == 0.9123


def test_when_a_page_is_tried_another_way_up(flips):
    good = [word("题" * 30, 0, 0, 80, 10)] * 3

    def turned(count: int, sure: float) -> int:
        return read_upright(Scripted([word("囗囗", 0, 0, 20, 10, sure=sure)] * count, good), BLACK)[0]

    assert flips(lambda sure: turned(3, sure), [step / 100 for step in range(30, 100)]) == [0.8]
    assert flips(lambda count: turned(count, 0.1), range(8)) == [3]

    def looks(words: list[Word]) -> int:
        engine = Scripted(words, [], [])
        read_upright(engine, BLACK)
        return len(engine.shapes)

    upright, on_end = word("题题", 0, 0, 80, 10), word("题题", 0, 0, 10, 80)
    assert flips(lambda count: looks([on_end] * count + [upright] * (10 - count)), range(11)) == [7]
    assert flips(lambda height: looks([word("题题", 0, 0, 10, height)] * 5), range(5, 30)) == [16]
    assert flips(lambda length: looks([word("题" * length, 0, 0, 10, 80)] * 5), range(1, 4)) == [2]


def test_a_few_sure_words_do_not_outweigh_a_page(flips):
    first = [word("题" * 9, 0, 0, 80, 10, sure=0.5)] * 3

    def turned(length: int, sure: float) -> int:
        return read_upright(Scripted(first, [word("题" * length, 0, 0, 80, 10, sure=sure)]), BLACK)[0]

    found = [flips(lambda length, sure=sure: turned(length, sure), range(1, 30)) for sure in (1.0, 0.8)]
    assert found == [[11], [13]], "of 20 characters on, confidence counts in full"
    assert mean_confidence([]) == 0.0
    words = [word("题", 0, 0, 9, 9, sure=0.5), word("题题题", 0, 0, 9, 9, sure=0.9)]
    assert mean_confidence(words) == pytest.approx(0.8)


def test_a_page_that_was_read_upside_down_keeps_its_size():
    page = np.full((120, 100, 3), 255, np.uint8)
    bad, good = [word("囗囗", 0, 0, 20, 10, sure=0.1)] * 3, [word("题" * 30, 10, 20, 80, 10)] * 3
    found = recognise(Scripted(bad, good), PageImage(page, 50.0, 60.0), OcrParams())
    assert (found["width"], found["height"], found["turned"]) == (50.0, 60.0, 180)


def test_what_an_engine_finds_is_rounded():
    page = np.full((120, 100, 3), 255, np.uint8)
    page[30:32, 10:90] = 0
    seen = [word("甲", 10, 20, 31, 11, sure=0.123456)]
    found = recognise(Scripted(seen), PageImage(page, 33.3333, 44.4444), OcrParams())
    assert found == {
        "width": 33.33,
        "height": 44.44,
        "turned": 0,
        "legibility": 1.0,
        "words": [["甲", 3.33, 7.41, 13.67, 7.41, 13.67, 11.48, 3.33, 11.48, 0.1235]],
        "marks": {"across": [[3.7, 11.1, 30.3, 12.2]], "down": [], "figures": []},
    }


def test_pages_of_a_screenshot_are_not_turned_and_as_legible_as_the_least():
    page = np.full((1500, 500, 3), 255, np.uint8)
    page[1000:] = 170
    on_end = [word("题题", 10, 20, 10, 80)] * 3
    engine = Scripted(on_end, on_end)
    found = recognise(engine, PageImage(page, 500.0, 1500.0), OcrParams())
    assert (len(engine.shapes), found["turned"], len(found["words"])) == (2, 0, 6)
    assert found["legibility"] < 1
    assert recognise(Scripted(on_end, on_end), PageImage(page[::-1], 500.0, 1500.0), OcrParams())["legibility"] < 1


def test_a_page_is_read_as_it_is_where_nothing_is_cleaned():
    page = np.full((120, 100, 3), 200, np.uint8)
    seen = []
    for clean in (False, True):
        engine = Scripted([])
        recognise(engine, PageImage(page, 50.0, 60.0), OcrParams(clean_images=clean))
        seen.append(bool((engine.seen[0] == page).all()))
    assert seen == [True, False]


def test_words_in_the_middle_of_a_box_are_its_text():
    """The box is 68 pixels high when it is cut out, so that its middle is at 34."""
    pixels = np.zeros((400, 200, 3), np.uint8)

    def texts(top: float, height: float) -> str:
        seen = [word("甲", 5, top, 10, height)]
        return str(reread_box(Scripted(seen), PageImage(pixels, 100.0, 100.0), Rect(20, 30, 60, 40))[0])

    assert [texts(top, 20) for top in (13, 14, 15, 33, 34)] == ["", "", "甲", "甲", ""]


def test_a_box_at_the_edge_is_cut_where_the_page_ends():
    pixels = np.zeros((100, 100, 3), np.uint8)
    page = PageImage(pixels, 100.0, 100.0)

    def shape(*edges: float) -> tuple[int, int]:
        engine = Scripted([])
        reread_box(engine, page, Rect(*edges))
        return tuple(engine.shapes[0])

    assert shape(0, 0, 20, 10) == (14, 24)
    assert shape(80, 90, 100, 100) == (14, 24)
    assert shape(10, 10, 50, 30) == (34, 54)


def test_three_words_or_more_tell_how_a_page_lies(flips):
    def turned(on_end: int, others: int) -> int:
        words = [word("题题", 0, 0, 10, 80)] * on_end + [word("题题", 0, 0, 80, 10)] * others
        return read_upright(Scripted(words, [word("题", 0, 0, 9, 9)], []), BLACK)[0]

    assert [turned(count, 0) for count in range(5)] == [0, 0, 0, 90, 90]
    assert [turned(3, others) for others in (1, 2, 3)] == [90, 0, 0], "more than three of five"


@pytest.mark.parametrize("singles", [0, 5, 50])
def test_characters_alone_do_not_hide_that_a_page_lies_on_its_side(singles):
    """Lines that run upwards are read as scattered characters beside a few words on end."""
    on_its_side = [word("囗囗", 0, 0, 10, 80, sure=0.5)] * 4 + [word("囗", 0, 0, 9, 9, sure=0.5)] * singles
    left, right = ([word("题" * 30, 0, 0, 80, 10, sure=sure)] * 3 for sure in (0.5, 0.99))
    assert read_upright(Scripted(on_its_side, left, right), BLACK)[0] == 270


@pytest.mark.slow
@pytest.mark.parametrize("turned", [90, 180, 270])
def test_a_scanned_page_of_the_sample_is_read_alike_from_every_side(turned):
    engine, pixels = engines.load(OcrParams()), scanned_sample()
    upright = [found.text for found in read_upright(engine, pixels)[2]]
    angle, _, words = read_upright(engine, np.ascontiguousarray(np.rot90(pixels, turned // 90)))
    assert (angle, [found.text for found in words]) == (360 - turned, upright)


def scanned_sample():
    with pymupdf.open(ROOT / "raw/sample/papers/scan-2024-03.pdf") as paper:
        image = paper[0].get_pixmap(dpi=200)
    return np.frombuffer(image.samples, np.uint8).reshape(image.height, image.width, 3)


def test_the_better_of_both_ways_up_is_taken():
    def turned(first: float, second: float, length: int = 30) -> int:
        one, other = ([word("题" * length, 0, 100, 80, 10, sure=sure)] * 3 for sure in (first, second))
        return read_upright(Scripted(one, other), BLACK)[0]

    assert [turned(0.5, sure) for sure in (0.4, 0.5, 0.6)] == [0, 0, 180]
    assert turned(0.8, 0.9) == 0
    on_end = [word("题题", 0, 0, 10, 80)] * 3
    left, right = ([word("题" * 9, 0, 0, 80, 10, sure=sure)] * 3 for sure in (0.5, 0.7))
    assert read_upright(Scripted(on_end, left, right), BLACK)[0] == 270
    engine = Scripted(on_end, left, right)
    marked = np.zeros((30, 20, 3), np.uint8)
    marked[0, 0] = 9
    read_upright(engine, marked)
    places = [[int(at) for at in np.argwhere(seen[..., 0] == 9)[0]] for seen in engine.seen]
    assert places == [[0, 0], [19, 0], [0, 29]]


def test_words_that_lean_are_read_from_left_to_right():
    page = PageImage(np.zeros((400, 200, 3), np.uint8), 100.0, 100.0)
    first = Word("甲", ((5, 20), (50, 35), (50, 45), (5, 30)), 0.9)
    second = Word("乙", ((10, 19), (30, 19), (30, 45), (10, 45)), 0.9)
    assert reread_box(Scripted([second, first]), page, Rect(20, 30, 60, 40)) == ["甲乙", 0.9]


def test_the_confidence_of_a_long_line_is_that_of_its_characters_and_not_their_product():
    line, speck = (Word(text, (), sure, ()) for text, sure in (("下列何者正确" * 5, 0.3), ("8.n", 0.4)))
    assert mean_confidence([line]) > 0.9 > mean_confidence([speck])
