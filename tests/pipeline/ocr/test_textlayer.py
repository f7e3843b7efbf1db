"""Glyphs become runs; what is faint, turned or printed twice is told by measures that are met in fine steps."""

from __future__ import annotations

from math import cos, radians, sin

import pymupdf
import pytest

from pipeline.ocr import textlayer
from pipeline.ocr.model import Rect

TENTHS = [step / 10 for step in range(200)]
TURN = pymupdf.Matrix(0, 1, -1, 0, 600, 0)


def test_text_is_level_up_to_a_few_degrees(flips):
    def level(angle: float) -> bool:
        return textlayer._is_level((cos(radians(angle)), sin(radians(angle))), None)

    assert flips(level, TENTHS) == [5.8]
    assert flips(lambda down: textlayer._is_level((1.0, down), None), [step / 100 for step in range(30)]) == [
        0.1
    ]
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
    assert flips(lambda size: faint(grey(200), size=size), range(30, 70)) == [51], (
        "a 14th of the page's width"
    )
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
