"""Glyphs become runs; what is faint, turned or printed twice is told by measures that are met in fine steps."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, radians, sin
from typing import Any

import pymupdf
import pytest

from build_dataset.pipeline.ocr import textlayer
from build_dataset.pipeline.ocr.model import Rect

TENTHS = [step / 10 for step in range(200)]
TURN = pymupdf.Matrix(0, 1, -1, 0, 600, 0)


def test_text_is_level_up_to_a_few_degrees(flips):
    def level(angle: float) -> bool:
        return textlayer._is_level((cos(radians(angle)), sin(radians(angle))), None)

    assert flips(level, TENTHS) == [5.8]
    assert flips(lambda down: textlayer._is_level((1.0, down), None), [step / 100 for step in range(30)]) == [0.1]
    assert not textlayer._is_level((0.98, 0.0), None)
    shown = [textlayer._is_level(way, TURN) for way in ((0.0, -1.0), (0.0, 1.0), (1.0, 0.0))]
    assert shown == [True, False, False]


def test_lines_in_the_place_of_another_may_be_fake_bold(flips):
    def overlap(*other: float) -> set[int]:
        return textlayer._overlapping([(10, 10, 50, 20), other])

    assert flips(lambda x: overlap(x, 10, x + 40, 20), range(60)) == [48], "a fifth of their height wide"
    assert flips(lambda y: overlap(10, y, 50, y + 10), [step / 2 for step in range(60)]) == [5.5, 15.0]
    assert flips(lambda height: overlap(10, 5, 50, 5 + height), range(1, 30)) == [11]
    assert overlap(10, 10, 50, 20) == {0, 1}


def test_a_copy_lies_over_the_first(flips):
    def kept(right=0.0, down=0.0, size=10.0, wide=10.0, char="甲") -> int:
        chars = [(char, 10.0, 10 + wide, 100.0), (char, 10 + right, 10 + wide + right, 100 + down)]
        return len(textlayer._without_copies(chars, size, set()))

    assert flips(kept, TENTHS) == [3.8]
    assert flips(lambda right: kept(right, wide=0.8), [step / 20 for step in range(60)]) == [0.4]
    assert flips(lambda down: kept(0.0, down), TENTHS) == [1.4]
    assert flips(lambda down: kept(0.0, down, 20.0), TENTHS) == [4.4]
    assert kept(char=" ") == 2


def test_faint_text_is_a_watermark_and_so_are_huge_pale_letters(flips):
    def faint(colour=0, alpha=255, size=10.0) -> bool:
        return textlayer._is_watermark({"color": colour, "alpha": alpha, "size": size}, 700.0)

    def grey(value: int) -> int:
        return value << 16 | value << 8 | value

    assert flips(lambda alpha: faint(1, alpha), range(256)) == [100]
    assert faint(0, 99)
    assert flips(lambda value: faint(grey(value)), range(256)) == [236]
    assert flips(lambda value: faint(grey(value), size=60.0), range(256)) == [151]
    assert flips(lambda size: faint(grey(200), size=size), range(30, 70)) == [51], "a 14th of the page's width"
    assert flips(lambda green: faint(0xFF0000 | green << 8, size=60.0), range(256)) == [126]
    assert [faint(colour, size=60.0) for colour in (0xFF0000, 0x00FF00, 0x00FFFF)] == [False, False, True]


def runs(*chars: tuple[str, float, float, float]):
    found = textlayer._runs(chars, 10.0, "")
    return [(run.text, *(round(edge, 2) for edge in run.box), run.baseline, run.space_after) for run in found]


def test_a_run_ends_at_a_wide_gap_a_step_back_or_another_baseline(flips):
    def count(gap=0.0, down=0.0) -> int:
        return len(runs(("甲", 10.0, 20.0, 100.0), ("乙", 20 + gap, 30 + gap, 100 + down)))

    assert flips(count, [step / 4 - 10 for step in range(80)]) == [-4.75, 3.0]
    shifts = [step / 20 - 2 for step in range(80)]
    assert flips(lambda down: count(0.0, down), shifts) == [-0.5, pytest.approx(0.55)]


def test_the_box_of_a_run_is_drawn_around_its_baseline():
    space = (" ", 20.0, 22.0, 100.0)
    first = ("甲", 10.0, 20.0, 100.0)
    assert runs(first, ("乙", 20.0, 30.0, 100.0)) == [("甲乙", 10.0, 91.2, 30.0, 101.8, 100.0, False)]
    assert runs(first, space, ("乙", 21.0, 31.0, 100.0)) == [("甲 乙", 10.0, 91.2, 31.0, 101.8, 100.0, False)]
    assert runs(first, space, ("乙", 25.0, 35.0, 100.0)) == [
        ("甲", 10.0, 91.2, 20.0, 101.8, 100.0, True),
        ("乙", 25.0, 91.2, 35.0, 101.8, 100.0, False),
    ]
    overhanging = [("a", 10.0, 20.0, 100.0), ("b", 16.0, 18.0, 100.2), ("c", 8.0, 30.0, 99.9)]
    assert runs(*overhanging) == [
        ("ab", 10.0, 91.2, 20.0, 101.8, 100.0, False),
        ("c", 8.0, 91.1, 30.0, 101.7, 99.9, False),
    ]
    assert runs(space) == []


def test_two_digits_of_each_value_are_noted():
    noted: dict[tuple[str, str], list[Rect]] = {}
    chars = [{"c": char, "bbox": (at, 0, at + 1, 2)} for at, char in enumerate("0a19991:/")]
    textlayer._note_digits({"font": "F", "chars": chars}, noted)
    places = {digit: [int(box.x0) for box in boxes] for (_, digit), boxes in noted.items()}
    assert places == {"0": [0], "1": [2, 6], "9": [3, 4]}


def test_text_is_level_on_pages_turned_by_any_angle():
    assert not textlayer._is_level((0.99, 0.0), None)
    upside_down = pymupdf.Matrix(-1, 0, 0, -1, 595, 842)
    assert [textlayer._is_level(way, upside_down) for way in ((-1.0, 0.0), (1.0, 0.0))] == [True, False]
    half = 0.5**0.5
    askew = pymupdf.Matrix(half, half, -half, half, 0, 0)
    assert [textlayer._is_level(way, askew) for way in ((half, -half), (half, half))] == [True, False]


def test_the_lower_of_two_lines_says_how_far_they_lie_over_each_other(flips):
    assert textlayer._overlapping([(10, 10, 50, 20), (10, 8, 50, 13)]) == {0, 1}
    assert textlayer._overlapping([(10, 10, 50, 20), (10, 8, 50, 12)]) == set(), "half of its height"
    assert textlayer._overlapping([(10, 10, 50, 20), (49, 10, 90, 15)]) == set(), "a fifth of it wide"
    assert textlayer._overlapping([(10, 10, 50, 20), (47.8, 10, 90, 20)]) == {0, 1}
    three = [(10, 10, 50, 20), (10, 12, 60, 22), (200, 12, 250, 22), (10, 40, 55, 50)]
    assert textlayer._overlapping(three) == {0, 1}


def test_only_copies_are_left_out():
    first, copy, other = ("甲", 10.0, 20.0, 100.0), ("甲", 10.5, 20.5, 100.0), ("乙", 10.5, 20.5, 100.0)
    seen: set[tuple[str, int, int]] = set()
    assert textlayer._without_copies([first, copy, other, (" ", 12.0, 14.0, 100.0)], 10.0, seen) == [
        first,
        other,
        (" ", 12.0, 14.0, 100.0),
    ]
    assert seen == {("甲", 4, 83), ("乙", 4, 83), (" ", 24, 83)}
    assert textlayer._without_copies([first], 10.0, seen) == []


def test_a_copy_may_lie_on_any_side_of_the_first():
    def kept(x: float, y: float) -> int:
        chars = [("甲", 10.0, 20.0, 150.0), ("甲", x, x + 10, y)]
        return len(textlayer._without_copies(chars, 12.5, set()))

    assert [kept(x, 150.0) for x in (5.0, 7.5, 10.0, 12.5, 15.0)] == [2, 1, 1, 1, 2]
    assert [kept(10.0, y) for y in (147.0, 148.5, 150.0, 151.5, 153.0)] == [2, 1, 1, 1, 2]


def test_copies_of_small_print_stand_up_to_a_point_below_each_other(flips):
    def kept(down: float) -> int:
        chars = [("甲", 10.0, 15.0, 100.0), ("甲", 10.0, 15.0, 100 + down)]
        return len(textlayer._without_copies(chars, 5.0, set()))

    assert flips(kept, [step / 20 for step in range(60)]) == [1.5]
    assert kept(0.0) == 1


def test_lightness_is_weighed_as_the_eye_sees_colours():
    def faint(colour: int) -> bool:
        return textlayer._is_watermark({"color": colour, "size": 10.0}, 595.0)

    assert [faint(colour) for colour in (0xEBEBEB, 0xEBEBEC)] == [False, True]


CHAR = {"c": "甲", "bbox": (10.0, 20.0, 30.0, 44.0), "origin": (10.0, 40.0)}


def test_characters_are_told_in_displayed_coordinates():
    assert textlayer._chars({"chars": [CHAR]}, None) == [("甲", 10.0, 30.0, 40.0)]
    assert textlayer._chars({"chars": [CHAR]}, pymupdf.Matrix(0, 1, -1, 0, 600, 0)) == [("甲", 556.0, 580.0, 10.0)]
    assert textlayer._chars({"chars": [CHAR]}, pymupdf.Matrix(0, -1, 1, 0, 0, 800)) == [("甲", 20.0, 44.0, 790.0)]


def span(*chars: tuple[str, float, float], y: float = 100.0, **more: object) -> dict[str, Any]:
    """Characters with their left and right edges."""
    made = [{"c": c, "bbox": (x0, y - 9, x1, y + 2), "origin": (x0, y)} for c, x0, x1 in chars]
    return {"chars": made, "size": 10.0, "font": "F", "color": 0} | more


def line(*spans: dict[str, Any], box=(0, 0, 1, 1), way=(1.0, 0.0)) -> dict[str, Any]:
    return {"spans": spans, "bbox": box, "dir": way}


class Page:
    """A page that says what it was told."""

    rect = pymupdf.Rect(0, 0, 595, 842)
    rotation_matrix = TURN

    def __init__(self, *lines: dict[str, Any], images: Sequence[object] = (), rotation: int = 0):
        self.lines, self.images, self.rotation = lines, list(images), rotation
        self.flags: list[int] = []

    def get_textpage(self, flags: int) -> Page:
        self.flags.append(flags)
        return self

    def extractIMGINFO(self) -> list[object]:  # noqa: N802
        return self.images

    def extractRAWDICT(self) -> dict[str, Any]:  # noqa: N802
        return {"blocks": [{"lines": self.lines[:1]}, {"type": 1}, {"lines": self.lines[1:]}]}


def apart(*spans: dict[str, Any]) -> list[dict[str, Any]]:
    return [line(one, box=(0, 20 * at, 90, 20 * at + 10)) for at, one in enumerate(spans)]


def counted(*lines: dict[str, Any], **more: Any) -> tuple[list[str], int, int, int]:
    """The texts of runs; visible, turned and hidden characters."""
    _, layer = textlayer.read_text_layer(Page(*lines, **more))
    return [run.text for run in layer.runs], layer.glyphs, layer.turned, layer.hidden


def test_characters_that_nobody_sees_are_hidden_and_faint_ones_left_out():
    shown = ("甲", 10.0, 20.0), (" ", 20.0, 22.0), ("乙", 22.0, 32.0)
    assert counted() == ([], 0, 0, 0)
    spans = [span(*shown), span(*shown, size=2.0), span(*shown, size=1.99), span(*shown, alpha=0)]
    spans += [span(*shown, alpha=1), span(*shown, size=1.0, alpha=0)]
    assert [counted(*apart(one))[1:] for one in spans] == [
        (2, 0, 0),
        (2, 0, 0),
        (2, 0, 2),
        (2, 0, 2),
        (2, 0, 0),
        (2, 0, 2),
    ]
    assert [counted(*apart(one))[0] for one in spans[::4]] == [["甲 乙"], []]
    assert counted(*apart(*spans)) == (["甲 乙", "甲", "乙"], 12, 0, 6)


def test_characters_that_run_another_way_are_turned():
    upward = line(span(("甲", 10.0, 20.0)), way=(0.0, -1.0))
    level = line(span(("乙", 10.0, 20.0)), box=(0, 30, 9, 40))
    hidden = line(span(("丙", 10.0, 20.0), alpha=0), box=(0, 60, 9, 70), way=(0.0, -1.0))
    assert counted(upward, level, hidden) == (["乙"], 3, 1, 1)
    assert counted(upward, level, hidden, rotation=90) == (["甲"], 3, 1, 1)


def test_so_many_characters_of_a_page_are_read_and_no_more():
    most, one = span(("甲" * 60_000, 10.0, 20.0)), span(("乙", 40.0, 50.0))
    assert [text[:1] for text in counted(*apart(most))[0]] == ["甲"]
    assert [text[:1] for text in counted(*apart(most, one))[0]] == ["甲"]
    assert [text[:1] for text in counted(*apart(span(("甲" * 60_001, 10.0, 20.0))))[0]] == []


def test_copies_are_looked_for_in_lines_that_may_hold_some():
    first, second = span(("甲", 10.0, 20.0)), span(("甲", 10.5, 20.5))
    assert counted(*apart(first, second))[0] == ["甲", "甲"], "lines apart are not looked at"
    assert counted(line(first, box=(0, 0, 90, 10)), line(second, box=(0, 1, 90, 11)))[0] == ["甲"]
    assert counted(line(span(("甲", 10.0, 20.0), ("甲", 10.5, 20.5))))[0] == ["甲"]
    narrow = [line(span(("l", 10.0, 10.5), ("l", 10.0 + step / 16, 10.5 + step / 16))) for step in range(8)]
    assert [counted(one)[0] for one in narrow] == [["l"]] * 4 + [["ll"]] * 4, "from the middle on"
    assert counted(line(span(("甲", 10.0, 20.0)), span(("甲", 10.5, 20.5))))[0] == ["甲"]


def test_places_of_digits_are_noted_on_pages_that_are_not_turned():
    number = span(("7", 10.0, 15.0))
    _, layer = textlayer.read_text_layer(Page(line(number)))
    assert layer.digits == {("F", "7"): [Rect(10.0, 91.0, 15.0, 102.0)]}
    _, layer = textlayer.read_text_layer(Page(line(number, way=(0.0, -1.0)), rotation=90))
    assert ([run.text for run in layer.runs], layer.digits) == (["7"], {})


def test_a_page_with_images_is_read_again_without_their_pixels():
    plain, pictured = Page(line(span(("甲", 10.0, 20.0)))), Page(images=[{"width": 9}])
    assert textlayer.read_text_layer(plain)[0] == []
    assert textlayer.read_text_layer(pictured)[0] == [{"width": 9}]
    with_images = textlayer.FLAGS | pymupdf.TEXT_PRESERVE_IMAGES
    assert (plain.flags, pictured.flags) == ([with_images], [with_images, textlayer.FLAGS])
