"""The gutter of a page is found where two columns of text stand, and nowhere else."""

from __future__ import annotations

import pytest

from pipeline.ocr import columns
from pipeline.ocr.columns import find_gutter
from pipeline.ocr.model import Rect

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
        return (
            find_gutter([*column(50, 8), *column(320, count), *column(320, 8, text="甲")[count:]], 600)
            is None
        )

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


@pytest.mark.parametrize(
    ("labels", "runs"), [("AB", False), ("ABC", True), ("BDBD", False), ("ABD", True), ("ABDF", False)]
)
def test_labels_below_each_other_run_on(labels, runs):
    assert columns._runs_on(labels) == runs


def test_texts_of_one_row_are_read_from_left_to_right(flips):
    side = [segment(50, 100, "甲"), segment(200, 103, "乙"), segment(10, 102, "丙"), segment(10, 107.6, "丁")]
    assert columns._in_rows(side) == ["丙", "甲", "乙", "丁"]
    below = [
        columns._in_rows([segment(50, 100, "甲"), segment(10, 100 + step / 4, "乙")]) for step in range(60)
    ]
    assert flips(lambda at: below[at], range(60)) == [10]
