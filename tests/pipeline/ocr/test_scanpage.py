"""Recognised words become straight lines; thresholds are met in fine steps."""

from math import atan2, cos, degrees, radians, sin, tan

import pytest

from build_dataset.pipeline.ocr import scanpage
from build_dataset.pipeline.ocr.interfaces import Word
from build_dataset.pipeline.ocr.language.counts import Language
from build_dataset.pipeline.ocr.model import Rect
from build_dataset.pipeline.ocr.scanpage import is_slanted, page_angle, rotate_box, to_page


def word(text: str, x: float, y: float, width: float, height: float, angle: float = 0.0, sure=0.9) -> Word:
    c, s = cos(radians(angle)), sin(radians(angle))
    corners = [(0, 0), (width, 0), (width, height), (0, height)]
    return Word(text, tuple((x + c * dx - s * dy, y + s * dx + c * dy) for dx, dy in corners), sure)


def value(words, **more):
    rows = [[w.text, *(v for corner in w.corners for v in corner), w.confidence] for w in words]
    made = {"width": 600.0, "height": 800.0, "turned": 0, "legibility": 0.5, "words": rows, "marks": {}}
    return made | more


def test_a_tilted_page_is_laid_out_level_and_its_boxes_stand_where_they_are_printed():
    words = [
        word("下列哪项正确", 100, 100, 120, 24, 3.0),
        word("A.胃炎", 98, 140, 60, 24, 3.0),
        word("B.肝炎", 298, 150.5, 60, 24, 3.0),
        word("盗版", 100, 300, 90, 20, 40.0),
        word("|", 400, 300, 10, 40, 40.0),
    ]
    marks = {"across": [[100, 500, 300, 501], [100, 540, 300, 541], [100, 580, 300, 581]]}
    marks |= {"down": [[100, 500, 101, 581], [300, 500, 301, 581]], "figures": [[400, 600, 500, 700]]}
    page = to_page(value(words, marks=marks), "image", "engine", "v1")
    found = [
        (line.kind.value, line.text, line.confidence, [round(edge, 1) for edge in line.box]) for line in page.lines
    ]
    assert found == GOLDEN
    assert (page.width, page.height, page.engine, page.engine_version) == (600.0, 800.0, "engine", "v1")


GOLDEN = [
    ("text", "下列哪项正确", 0.45, [99.3, 103.1, 219.3, 127.1]),
    ("text", "A.胃炎\tB.肝炎", 0.45, [97.2, 146.8, 357.5, 170.8]),
    ("text", "|", 0.45, [374.9, 299.6, 407.0, 337.5]),
    ("table", "", None, [97.9, 494.7, 302.1, 586.2]),
    ("figure", "", None, [400.0, 600.0, 500.0, 700.0]),
]


def test_the_reason_tells_of_turning_and_of_dark_paper():
    told = [to_page(value([], turned=turned, legibility=light), "image", "e", "v") for turned, light in CASES]
    assert [(page.turned, page.reason) for page in told] == [
        (0, "image"),
        (0, "image: dark or uneven paper"),
        (90, "image: turned by 90 degrees"),
    ]


CASES = [(0, 1.0), (0, 0.99), (90, 0.9)]


def test_confidence_of_an_engine_that_tells_no_doubts_is_lowered_on_dark_paper():
    assert to_page(value([word("题", 9, 9, 20, 20)]), "image", "e", "v").confidence == 0.45
    rows = value([word("题", 9, 9, 20, 20)])
    rows["words"][0].append([])
    assert to_page(rows, "image", "e", "v").confidence == 0.9


def test_the_angle_is_the_median_by_length():
    words = [word("a", 0, 0, 30, 9, 1.0), word("b", 0, 0, 40, 9, 2.0), word("c", 0, 0, 25, 9, 3.0)]
    assert page_angle(words) == pytest.approx(2.0)
    assert page_angle([*words, word("d", 0, 0, 50, 9, 4.0)]) == pytest.approx(3.0)
    assert page_angle([]) == 0.0


def test_a_box_turns_about_its_middle_and_stays_level():
    turned = rotate_box(Rect(110, 100, 130, 110), 90.0, (100.0, 100.0))
    assert turned == pytest.approx((85.0, 115.0, 105.0, 125.0))


@pytest.mark.parametrize(
    ("text", "width", "size"),
    [
        ("一二三四", 60, 15.0),  # the width of an ideograph
        ("一二三四", 40, 11.0),  # at least .55 of the height
        ("一二三四", 99, 20.0),  # at most the height
        ("一二三", 60, 14.4),  # too few
        ("一二三四a", 60, 12.0),  # four of five are enough
        ("一二三四ab", 60, 14.4),
    ],
)
def test_the_size_of_type_is_the_width_of_an_ideograph_else_a_share_of_the_height(text, width, size):
    found = word(text, 0, 0, width, 20)
    assert scanpage._size(found, Rect(*found.box)) == pytest.approx(size)


def test_a_tilted_page_turns_about_its_middle(flips):
    """Lines of the level page are told to stand at its edge, as a head that spans columns does."""
    columns = [
        word(f"栏{x}第{row}行是一段普通的文字", x, 250 + 24 * row, 200, 16) for x in (60, 340) for row in range(8)
    ]

    def head(y: float) -> bool:
        words = [*columns, word("样卷", 60, y, 40, 16), word("第1页", 480, y, 60, 16)]
        tilted = []
        for one in words:
            corners = (scanpage.rotate_point(corner, 3.0, (300.0, 400.0)) for corner in one.corners)
            tilted.append(Word(one.text, tuple(corners), 0.9))
        return to_page(value(tilted), "image", "e", "v").lines[0].text == "样卷\t第1页"

    assert flips(head, range(30, 120)) == [64]


def leaning(dx: float, dy: float, text: str = "题干") -> Word:
    """A word along a line, as thin as that line."""
    return Word(text, ((0.0, 0.0), (dx, dy), (dx, dy), (0.0, 0.0)), 0.9)


def test_the_steepest_page_that_is_straightened_leans_by_eight_degrees():
    steepest, least = 64 * tan(radians(8.0)), 64 * tan(radians(0.15))
    assert page_angle([leaning(64.0, steepest)]) == 8.0
    assert page_angle([leaning(64.0, -steepest)]) == -8.0
    assert page_angle([leaning(64.0, least)]) == 0.15
    assert page_angle([leaning(64.0, 1.001 * steepest)]) == page_angle([leaning(64.0, 0.999 * least)]) == 0.0


def test_of_two_words_of_one_length_the_first_angle_counts():
    assert page_angle([leaning(30.0, 1.0), leaning(30.0, -1.0)]) == pytest.approx(-degrees(atan2(1, 30)))
    assert page_angle([leaning(30.0, -1.0), leaning(31.5, 1.0)]) == pytest.approx(degrees(atan2(1, 31.5)))


def test_a_watermark_leans_by_more_than_twelve_degrees_and_is_longer_than_high():
    level = word("盗版", 0, 0, 40, 10)
    assert [is_slanted(level, angle) for angle in (12.0, 12.01, 77.99, 78.0)] == [False, True, True, False]
    assert [is_slanted(level, -angle) for angle in (12.0, 12.01, 77.99, 78.0)] == [False, True, True, False]
    short = Word("盗版", ((0.0, 0.0), (12.0, 9.0), (6.0, 17.0), (-6.0, 8.0)), 0.9)
    long = Word("盗版", ((0.0, 0.0), (12.8, 9.6), (6.8, 17.6), (-6.0, 8.0)), 0.9)
    assert [is_slanted(short, 0.0), is_slanted(long, 0.0)] == [False, True], "15 and 16 by 10"
    assert not is_slanted(word("盗", 0, 0, 40, 10, 40), 0.0)


def test_a_word_may_have_more_corners_than_four():
    corners = ((0.0, 0.0), (30.0, 0.0), (30.0, 10.0), (0.0, 10.0), (0.0, 5.0))
    more = Word("盗版", corners, 0.9)
    assert (page_angle([more]), more.height, is_slanted(more, 40.0)) == (0.0, 10.0, True)


def test_runs_stand_a_fifth_of_their_height_above_the_ends_of_their_boxes(monkeypatch):
    taken = []
    monkeypatch.setattr(scanpage.layout, "arrange", lambda *given: taken.extend(given) or [])
    to_page(value([word("甲", 100, 100, 20, 25), word("乙", 200, 300, 20, 20, sure=0.5)]), "image", "e", "v")
    runs, regions, frame, rules = taken
    assert [(run.text, run.box, run.baseline, round(run.size, 6), run.confidence) for run in runs] == [
        ("甲", (100, 100, 120, 125), 120.0, 18.0, 0.45),
        ("乙", (200, 300, 220, 320), 316.0, 14.4, 0.25),
    ]
    assert (regions, frame, rules) == ([], (0.0, 0.0, 600.0, 800.0), [])


@pytest.mark.parametrize(
    ("lines", "read"),
    [
        (["A.水痘", "8.麻疹", "C.风疹"], "B.麻疹"),
        (["A.水痘", "8麻疹", "C.风疹"], "B麻疹"),
        (["A.水痘", "续行", "8.麻疹", "C.风疹"], "B.麻疹"),
        (["A.水痘", "8.麻疹", "D.风疹"], "8.麻疹"),
        (["D.水痘", "8.下列正确的是", "A.甲", "B.乙"], "8.下列正确的是"),
        (["A.7周", "8.5周", "C.9周"], "8.5周"),
    ],
)
def test_an_8_where_only_the_label_b_can_stand_is_a_b_and_told(lines, read):
    page = to_page(value([word(one, 100, 100 + 40 * at, 120, 24) for at, one in enumerate(lines)]), "image", "e", "v1")
    assert read in [line.text for line in page.lines]
    told = [(one.other, one.text) for line in page.lines for one in line.unsure]
    assert told == [("8", "B")] * read.startswith("B")


@pytest.mark.parametrize(
    ("last", "read"), [("(D丁戊己", "(D)丁戊己"), ("(E丁戊己", "(E丁戊己"), ("(D)丁戊己", "(D)丁戊己")]
)
def test_the_bracket_of_a_label_that_follows_another_is_closed_and_told(last, read):
    lines = ["(A)甲乙丙", "(B)乙丙丁", "(C)丙丁戊", last]
    page = to_page(value([word(one, 100, 100 + 40 * at, 120, 24) for at, one in enumerate(lines)]), "image", "e", "v1")
    assert [line.text for line in page.lines] == [*lines[:3], read]
    assert [one.text for line in page.lines for one in line.unsure] == [")"] * (last != read)


def test_an_unsure_character_has_its_place_on_the_page():
    words = [word("皮肤瘪痒伴黄疸", 100, 100, 140, 24, sure=0.9)]
    rows = value(words)
    rows["words"][0].append([[2, 0.6, 0.0, [["痹", 0.01]]]])
    (line,) = to_page(rows, "image", "engine", "v1", Language()).lines
    (one,) = [one for one in line.unsure if one.text == "瘪"]
    assert [round(edge) for edge in one.box] == [140, 100, 160, 124]


def test_a_large_word_across_several_rows_is_a_watermark_and_a_title_is_none():
    rows = [word(f"{label}.甲乙丙丁", 80, 100 + 20 * at, 90, 14) for at, label in enumerate("ABCD")]
    mark, title = word("网", 300, 112, 40, 40), word("试题", 250, 20, 90, 40)
    page = to_page(value([title, *rows, mark]), "image", "engine", "v1")
    assert [line.text for line in page.lines] == ["试题", "A.甲乙丙丁", "B.甲乙丙丁", "C.甲乙丙丁", "D.甲乙丙丁"]


def test_a_word_on_end_beside_rows_is_no_watermark():
    rows = [word(f"{label}.甲乙丙丁", 80, 100 + 20 * at, 90, 14) for at, label in enumerate("ABCD")]
    assert not scanpage.is_across_rows(word("密封线", 60, 100, 14, 60), rows)
