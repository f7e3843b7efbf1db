"""Rectangles, lines and pages: their measures, and what is written of them and read again."""

import pytest

from build_dataset.pipeline.ocr.model import PageLine, PageRead, PageRegion, Rect, TextRun, bounding_box, group_while
from build_dataset.schemas.documents import LineKind, ReadMethod

BOX = Rect(10, 20, 40, 80)


def test_a_rectangle_has_a_width_a_height_a_middle_and_an_area() -> None:
    assert (BOX.width, BOX.height, BOX.middle, BOX.area) == (30, 60, 50.0, 1800)
    inverted = [Rect(40, 20, 10, 80), Rect(10, 80, 40, 20), Rect(40, 80, 10, 20), Rect(10, 20, 10, 80)]
    assert [box.area for box in inverted] == [0.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("other", "within", "area"),
    [
        (Rect(0, 0, 100, 100), (10, 20, 40, 80), 1800),
        (Rect(20, 30, 30, 50), (20, 30, 30, 50), 200),
        (Rect(0, 0, 15, 25), (10, 20, 15, 25), 25),
        (Rect(35, 70, 90, 90), (35, 70, 40, 80), 50),
        (Rect(50, 20, 60, 80), (50, 20, 40, 80), 0.0),
        (Rect(0, 0, 5, 5), (10, 20, 5, 5), 0.0),
        (Rect(10, 90, 40, 95), (10, 90, 40, 80), 0.0),
        (Rect(40, 20, 60, 80), (40, 20, 40, 80), 0.0),
    ],
)
def test_rectangles_share_an_area(other: Rect, within: tuple[float, ...], area: float) -> None:
    assert BOX.within(other) == within
    assert BOX.overlap(other) == other.overlap(BOX) == area


@pytest.mark.parametrize(
    ("other", "reach"),
    [
        (Rect(50, 20, 60, 80), 10),
        (Rect(-20, 20, 0, 80), 10),
        (Rect(10, 86, 40, 90), 6),
        (Rect(10, 0, 40, 14), 6),
        (Rect(45, 84, 60, 90), 5),
    ],
)
def test_rectangles_touch_within_a_reach(other: Rect, reach: float) -> None:
    assert BOX.touches(other, reach)
    assert other.touches(BOX, reach)
    assert not BOX.touches(other, reach - 0.5)
    assert not other.touches(BOX, reach - 0.5)


def test_rectangles_that_share_an_edge_touch_without_a_reach() -> None:
    edges = [Rect(40, 20, 60, 80), Rect(0, 20, 10, 80), Rect(10, 80, 40, 90), Rect(10, 0, 40, 20)]
    assert [BOX.touches(other, 0) for other in edges] == [True] * 4


def test_the_box_around_rectangles_holds_all_of_them_and_no_more() -> None:
    assert bounding_box([BOX, Rect(5, 30, 20, 90), Rect(15, 10, 50, 20)]) == Rect(5, 10, 50, 90)
    assert bounding_box([BOX]) is BOX
    assert bounding_box([BOX, Rect(1, 1, 2, 2)]) == Rect(1, 1, 40, 80)


def test_items_join_the_group_of_the_one_before_or_begin_their_own() -> None:
    groups = group_while([1, 2, 4, 5, 5, 9], lambda group, item: item - group[-1] <= 1)
    assert groups == [[1, 2], [4, 5, 5], [9]]
    assert group_while([1, 2], lambda group, item: len(group) > 1) == [[1], [2]]
    assert group_while([], lambda group, item: True) == []


def test_a_run_stands_in_no_cell_and_before_no_space_unless_it_is_told() -> None:
    run = TextRun("甲", BOX, 78, 10)
    assert (run.confidence, run.space_after, run.new_cell) == (None, False, False)
    assert run != TextRun("甲", BOX, 78, 10), "each is itself alone"
    assert PageRegion(LineKind.TABLE, BOX) == PageRegion(LineKind.TABLE, BOX)


def test_a_line_is_written_to_hundredths_of_a_point_and_read_again() -> None:
    line = PageLine("甲\ud800", Rect(1.004, 2.006, 3.126, 4), LineKind.TABLE, 2, 0.98766)
    assert line.text == "甲\ufffd"
    assert line.to_json() == [line.text, [1.0, 2.01, 3.13, 4], "table", 2, 0.9877]
    assert PageLine.from_json(line.to_json()) == PageLine(
        line.text, Rect(1.0, 2.01, 3.13, 4), LineKind.TABLE, 2, 0.9877
    )
    plain = PageLine("乙", None)
    assert plain.to_json() == ["乙", None, "text", 0, None]
    assert PageLine.from_json(plain.to_json()) == plain
    assert PageLine("乙", BOX, confidence=0.0).to_json()[4] == 0.0


def page(*lines: PageLine) -> PageRead:
    return PageRead(595.276, 841.889, ReadMethod.OCR, "some", "1.0", "scan", list(lines))


def test_the_confidence_of_a_page_is_the_mean_of_its_characters() -> None:
    assert page().confidence is None
    assert page(PageLine("甲乙", BOX)).confidence is None
    assert page(PageLine("", BOX, confidence=0.5)).confidence is None
    lines = [PageLine("甲乙", BOX, confidence=0.9), PageLine("丙", BOX, confidence=0.3), PageLine("丁" * 9, BOX)]
    assert page(*lines).confidence == 0.7
    assert page(*lines[:2], PageLine("戊" * 4, BOX, confidence=0.5)).confidence == 0.5857
    assert page(PageLine("甲", BOX, confidence=0.0)).confidence == 0.0


def test_a_page_is_written_with_its_size_to_hundredths_and_read_again() -> None:
    read = page(PageLine("甲", Rect(1, 2, 3, 4), confidence=0.5))
    facts = {"width": 595.28, "height": 841.89, "engine": "some", "engine_version": "1.0", "reason": "scan"}
    assert read.facts() == {**facts, "turned": 0, "method": "ocr"}
    assert read.to_json() == {**read.facts(), "lines": [["甲", [1, 2, 3, 4], "text", 0, 0.5]]}
    again = PageRead.from_json(read.to_json())
    assert (again.width, again.height, again.method) == (595.28, 841.89, ReadMethod.OCR)
    assert again.lines == read.lines
