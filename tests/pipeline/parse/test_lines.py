"""Lines as the parser sees them: centred ones, those in tables, their places, their script."""

from __future__ import annotations

import pytest

from pipeline.parse.lines import in_one_script, line_spans, parsed_lines, place_of
from schemas.documents import Box, Line, LineKind


def line(text, x0=0.0, x1=100.0, y0=0.0, y1=10.0, order=0, page=1, kind=LineKind.TEXT, confidence=None):
    box = Box(x0=x0, y0=y0, x1=x1, y1=y1)
    return Line(
        document="x", page=page, order=order, text=text, box=box, confidence=confidence, column=0, kind=kind
    )


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
    assert [(span.page, span.first, span.last) for span in line_spans(found)] == [
        (1, 0, 1),
        (1, 3, 3),
        (2, 4, 5),
    ]
    assert place_of(found[2]) == (1, 3)


def test_recognised_characters_of_another_script_are_mended_in_a_traditional_paper():
    told = [line("醫學診療藥", confidence=0.9), line("药", order=1, confidence=0.9), line("药", order=2)]
    assert [piece.text for piece in in_one_script(parsed_lines(told))] == ["醫學診療藥", "藥", "药"]
    told = [line("醫學診療", confidence=0.9), line("药", order=1, confidence=0.9)]
    assert [piece.text for piece in in_one_script(parsed_lines(told))] == ["醫學診療", "药"]
