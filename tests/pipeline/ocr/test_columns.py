"""The gutter of a page is found where two columns of text stand, and nowhere else."""

import pytest

from build_dataset.pipeline.ocr import columns
from build_dataset.pipeline.ocr.columns import find_gutter
from build_dataset.pipeline.ocr.model import Rect

PROSE = "这是一段普通的文字"


def segment(x: float, y: float, text: str, width: float = 200) -> tuple[Rect, str]:
    return Rect(x, y, x + width, y + 10), text


def column(x: float, rows: int, width: float = 200, text: str = PROSE) -> list[tuple[Rect, str]]:
    return [segment(x, 100 + 12 * row, text, width) for row in range(rows)]


def gutter(rows=8, width=200.0, right=320.0, extra=()) -> float | None:
    return find_gutter([*column(50, rows, width), *column(right, rows), *extra], 600)


def test_columns_have_rows_enough_and_a_strip_between_them(flips):
    assert gutter() == 319.0
    assert flips(lambda rows: gutter(rows), range(1, 12)) == [6]
    assert flips(lambda width: gutter(width=width), range(100, 290, 3)) == [265, 268, 271]
    assert flips(lambda right: gutter(right=right) is None, range(245, 420)) == [256]


def test_a_quarter_of_the_rows_may_cross_the_gutter(flips):
    def parted(count: int) -> bool:
        titles = [segment(100, 400 + 12 * row, "横跨左右两栏的标题", 400) for row in range(count)]
        return gutter(extra=titles) is not None

    assert flips(parted, range(12)) == [3]


def test_options_and_cells_right_of_a_strip_are_no_column(flips):
    def with_options(count: int) -> bool:
        right = [*column(320, count, text="B. 某某选项内容"), *column(320, 10)[count:]]
        return find_gutter([*column(50, 10), *right], 600) is not None

    def with_cells(count: int) -> bool:
        return find_gutter([*column(50, 8), *column(320, count), *column(320, 8, text="甲")[count:]], 600) is None

    assert flips(with_options, range(11)) == [8]
    assert flips(with_cells, range(9)) == [4]


@pytest.mark.parametrize(
    ("texts", "score"),
    [
        (["1.", "2.", "3."], 2.0),
        (["1.", "3.", "2."], -0.5),
        (["1.", "10."], 0.0),
        (["1.", "11."], -0.5),
        (["1.", "A. x", "B. x", "2."], 3.0),
        (["A. x", "C. x"], -0.5),
        (["答案：", "A. x"], 1.0),
        (["12.", "A. x", "D. x"], 0.5),
        ([], 0.0),
    ],
)
def test_how_well_numbers_and_labels_run(texts, score):
    assert columns._steps(texts) == score


def test_texts_of_one_row_are_read_from_left_to_right(flips):
    side = [segment(50, 100, "甲"), segment(200, 103, "乙"), segment(10, 102, "丙"), segment(10, 107.6, "丁")]
    assert columns._in_rows(side) == ["丙", "甲", "乙", "丁"]
    below = [columns._in_rows([segment(50, 100, "甲"), segment(10, 100 + step / 4, "乙")]) for step in range(60)]
    assert flips(lambda at: below[at], range(60)) == [10]


def test_two_steps_that_run_better_decide_which_way_a_page_is_read():
    """A 9 after a 2, and after it a number up to 9 more, are no steps; everything else that is none costs half."""

    def down(last: int) -> float | None:
        left, right = ["1.", "2."], ["9.", f"{last}."]
        return find_gutter(_side(50, left) + _side(320, right), 600)

    def along(last: int) -> float | None:
        left, right = ["1.", "9.", *[PROSE] * 6], ["2.", f"{last}.", *[PROSE] * 6]
        return find_gutter(_side(50, left) + _side(320, right), 600)

    assert [last for last in range(10, 25) if down(last)] == [10, 12, 13, 14, 15, 16, 17, 18]
    assert [last for last in range(10, 25) if along(last)] == [11, 19, 20, 21, 22, 23, 24]


def _side(x: float, texts: list[str]) -> list[tuple[Rect, str]]:
    return [segment(x, 100 + 12 * row, text) for row, text in enumerate(texts)]


def test_exactly_a_quarter_of_the_rows_may_cross_the_gutter(flips):
    def parted(count: int) -> bool:
        titles = [segment(100, 400 + 12 * row, "横跨左右两栏的标题", 400) for row in range(count)]
        return gutter(rows=9, extra=titles) is not None

    assert flips(parted, range(12)) == [4], "three of twelve rows may"


def test_a_gutter_ends_within_the_middle_third_of_the_page():
    assert gutter(width=300, right=400) == 390.0
    assert gutter(width=140, right=225) == 224.0
    assert find_gutter([*column(50, 8, 140), *column(210, 8)], 600) is None


def test_a_part_that_begins_in_the_gutter_is_right_of_it():
    left = [segment(50, 100 + 12 * row, PROSE, 268 if row < 3 else 249) for row in range(8)]
    bars = [segment(319, 100 + 12 * row, "|", 0.9) for row in range(3)]
    assert find_gutter([*left, *bars, *column(320, 8)], 600) == 319.0
