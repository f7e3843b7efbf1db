"""Lines as the parser sees them: centred ones, those in tables, their places, their script."""

import pytest

from build_dataset.pipeline.parse.lines import (
    in_one_script,
    is_traditional,
    line_part,
    line_spans,
    parsed_lines,
    place_of,
)
from build_dataset.schemas.documents import Box, Line, LineKind


def line(text, x0=0.0, x1=100.0, y0=0.0, y1=10.0, order=0, page=1, kind=LineKind.TEXT, confidence=None):
    box = Box(x0=x0, y0=y0, x1=x1, y1=y1)
    return Line(document="x", page=page, order=order, text=text, box=box, confidence=confidence, column=0, kind=kind)


def centred(x0, x1, text="甲"):
    return parsed_lines([line("甲乙丙"), line(text, x0, x1, order=1)])[1].centred


def in_table(x0, x1, y0, y1):
    table = line("", 20.0, 80.0, 20.0, 80.0, kind=LineKind.TABLE)
    return parsed_lines([table, line("甲", x0, x1, y0, y1, order=1)])[1].in_table


@pytest.mark.parametrize(
    ("x0", "x1", "expected"),
    [
        (20.0, 80.0, (False, False)),
        (20.5, 79.5, (True, False)),
        (21.0, 79.0, (True, False)),
        (25.0, 75.0, (True, False)),
        (25.0, 66.0, (True, False)),
        (25.0, 65.0, (False, False)),
        (25.0, 65.5, (True, False)),
        (35.0, 74.5, (True, False)),
        (35.0, 75.0, (False, False)),
        (24.0, 80.0, (False, False)),
        (19.0, 70.0, (False, False)),
    ],
)
def test_a_line_in_the_middle_of_its_column(x0, x1, expected):
    assert (centred(x0, x1), centred(x0, x1, "甲\t乙")) == expected


@pytest.mark.parametrize(
    ("x0", "x1", "y0", "y1", "expected"),
    [
        (10.0, 30.0, 30.0, 40.0, True),
        (9.0, 30.0, 30.0, 40.0, False),
        (70.0, 90.0, 30.0, 40.0, True),
        (70.0, 91.0, 30.0, 40.0, False),
        (30.0, 40.0, 15.0, 25.0, True),
        (30.0, 40.0, 14.0, 25.0, False),
        (30.0, 40.0, 75.0, 85.0, True),
        (30.0, 40.0, 75.0, 86.0, False),
    ],
)
def test_a_line_whose_middle_is_in_a_table(x0, x1, y0, y1, expected):
    assert in_table(x0, x1, y0, y1) == expected


def test_places_of_lines_are_runs_page_by_page():
    places = [(1, 0), (1, 1), (1, 3), (2, 4), (2, 5), (1, 1)]
    found = parsed_lines([line("甲", order=order, page=page) for page, order in places])
    assert [(span.page, span.first, span.last) for span in line_spans(found)] == [(1, 0, 1), (1, 3, 3), (2, 4, 5)]
    assert place_of(found[2]) == (1, 3)


@pytest.mark.parametrize(("read", "printed"), [("僞", "偽"), ("爲", "為"), ("衆", "眾"), ("裏", "裏"), ("卽", "卽")])
def test_old_forms_that_traditional_papers_do_not_print_are_mended_where_they_were_recognised(read, printed):
    """Of 卽 no other form is known, 裏 is printed."""
    told = [line("醫學診療與藥物", confidence=0.9), line(f"{read}膜性大腸炎", order=1, confidence=0.9)]
    assert [piece.text for piece in in_one_script(parsed_lines(told))][1] == f"{printed}膜性大腸炎"


def test_recognised_characters_of_another_script_are_mended_in_a_traditional_paper():
    told = [line("醫學診療藥", confidence=0.9), line("药", order=1, confidence=0.9), line("药", order=2)]
    assert [piece.text for piece in in_one_script(parsed_lines(told))] == ["醫學診療藥", "藥", "药"]
    told = [line("醫學診療", confidence=0.9), line("药", order=1, confidence=0.9)]
    assert [piece.text for piece in in_one_script(parsed_lines(told))] == ["醫學診療", "药"]


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (30.5, 89.5, True),
        (30.0, 90.0, False),
        (35.0, 75.5, True),
        (35.0, 75.0, False),
        (45.0, 84.5, True),
        (45.0, 85.0, False),
    ],
)
def test_a_centred_line_in_a_column_that_begins_further_right(left: float, right: float, expected: bool) -> None:
    column = [line("甲乙丙", 10.0, 100.0), line("甲乙", 10.0, 110.0, order=1)]
    assert parsed_lines([*column, line("丁", left, right, order=2)])[2].centred is expected


def test_only_lines_of_text_make_a_column_and_stand_in_tables() -> None:
    wide = line("", 0.0, 300.0, kind=LineKind.FIGURE)
    found = parsed_lines([wide, line("甲", order=1), line("乙", 30.0, 70.0, order=2)])
    assert [one.centred for one in found] == [False, False, True]
    table = line("", 0.0, 100.0, 0.0, 50.0, kind=LineKind.TABLE)
    other = line("", 0.0, 100.0, 0.0, 50.0, kind=LineKind.TABLE, page=2)
    inside = line("丙", 10.0, 90.0, 10.0, 20.0, order=3)
    assert [one.in_table for one in parsed_lines([table, inside])] == [False, True]
    assert [one.in_table for one in parsed_lines([inside, other])] == [False, False]
    formula = line("", 10.0, 90.0, 10.0, 20.0, order=4, kind=LineKind.FORMULA)
    assert [one.in_table for one in parsed_lines([table, formula])] == [False, False]


def test_a_line_without_a_box_is_neither_centred_nor_in_a_table() -> None:
    bare = line("甲", order=1).model_copy(update={"box": None})
    table = line("", 0.0, 100.0, 0.0, 50.0, kind=LineKind.TABLE)
    flat = table.model_copy(update={"box": None})
    assert [(one.centred, one.in_table) for one in parsed_lines([table, bare])] == [(False, False)] * 2
    assert [one.in_table for one in parsed_lines([flat, line("甲", order=2)])] == [False, False]
    assert [one.centred for one in parsed_lines([line("甲", 50.0, 50.0)])] == [False]


def test_headers_footers_and_empty_parts_are_left_out_and_parts_keep_their_place() -> None:
    header = line("页眉", kind=LineKind.HEADER)
    footer = line("页脚", kind=LineKind.FOOTER, order=9)
    text = line("甲手术二、X型题\n \n乙", order=1, confidence=0.9).model_copy(update={"other": "丙"})
    found = parsed_lines([header, text, line("", kind=LineKind.FIGURE, order=2), footer])
    assert [(one.text, one.order, one.confidence, one.other) for one in found] == [
        ("甲手术", 1, 0.9, "丙"),
        ("二、X型题", 1, 0.9, "丙"),
        ("乙", 1, 0.9, "丙"),
        ("", 2, None, None),
    ]
    part = line_part(text, "部分")
    assert (part.text, part.centred, part.in_table, part.page, part.order) == ("部分", False, False, 1, 1)
    assert (line_part(text, "", centred=True).centred, line_part(text, "", in_table=True).in_table) == (True, True)


def test_a_traditional_paper_has_more_than_four_traditional_characters_to_a_simplified_one() -> None:
    assert [is_traditional(["醫學診療藥"[:count] + "药"]) for count in range(6)] == [*[False] * 5, True]
    assert [is_traditional(["醫學診療藥劑體驗"[:count], "药诊"]) for count in (7, 8)] == [False, False]
    assert is_traditional(["醫學診療藥劑體驗檢", "药诊"])
    assert is_traditional(["醫"])
    assert not is_traditional([])
