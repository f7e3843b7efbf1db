"""From a recogniser's probabilities to characters."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.ocr.engines import ctc
from pipeline.ocr.engines.ctc import Alphabet, Glyph, label_end

KNOWN = list("A病人.．,，10L")
ALPHABET = Alphabet(KNOWN)


def values(*steps: dict[str, float]) -> np.ndarray:
    """Probabilities step by step; what is left is CTC's blank."""
    rows = np.zeros((len(steps), len(KNOWN) + 2), dtype=np.float32)
    for row, step in zip(rows, steps, strict=True):
        for char, value in step.items():
            row[ALPHABET.characters.index(char)] = value
        row[0] = 1 - row.sum()
    return rows


def text(*steps: dict[str, float], starts_line: bool = True) -> str:
    return "".join(glyph.char for glyph in ALPHABET.decode(values(*steps), starts_line))


def test_steps_of_one_character_are_one_and_a_blank_parts_two():
    assert text({"病": 0.9}, {"病": 0.8}, {}, {"病": 0.9}, {"人": 0.9}) == "病病人"


def test_nothing_is_read_where_all_is_blank():
    assert ALPHABET.decode(values({}, {})) == []


def test_half_and_full_width_are_one_character_and_sure_together():
    (glyph,) = ALPHABET.decode(values({".": 0.3, "．": 0.28, "病": 0.4}), starts_line=False)
    assert (glyph.char, pytest.approx(glyph.confidence)) == (".", 0.58)


@pytest.mark.parametrize("stop", [".", "．"])
def test_a_comma_after_an_option_letter_is_a_stop_where_one_was_likely(stop):
    steps = [{"A": 0.9}, {"，": 0.8, stop: 0.1}, {"病": 0.9}]
    assert text(*steps) == "A.病"
    assert text(*steps, starts_line=False) == "A，病"


def test_a_comma_that_can_be_no_stop_stays_and_is_doubted():
    glyphs = ALPHABET.decode(values({"A": 0.9}, {"，": 0.99}, {"病": 0.9}))
    assert glyphs[1].char == "，"
    assert glyphs[1].confidence <= 0.5


def test_the_comma_of_a_number_stays():
    assert text({"1": 0.9}, {"0": 0.9}, {",": 0.8, ".": 0.15}, {"1": 0.9}) == "10,1"


def test_an_option_letter_without_a_mark_may_have_lost_it():
    assert ALPHABET.decode(values({"A": 0.9}, {"病": 0.9}))[0].overlooked


def test_a_wide_gap_may_hold_a_character_that_was_overlooked():
    near = [{"病": 0.9}, {}, {}, {"人": 0.9}, {}, {}]
    glyphs = ALPHABET.decode(values(*near, *near, {"1": 0.9}, {}, {}, {}, {"L": 0.9}))
    assert [glyph.char for glyph in glyphs if glyph.overlooked] == ["1"]


def test_a_space_before_a_mark_is_none():
    assert text({"A": 0.9}, {" ": 0.7}, {".": 0.9}, {"病": 0.9}) == "A.病"


@pytest.mark.parametrize(
    ("chars", "mark"),
    [
        ("A.甲", 1),
        ("12．甲", 2),
        ("甲.", None),
        ("1234.", None),
        ("3.5", None),
        ("A", None),
        ("", None),
        ("12", None),
    ],
)
def test_labels_are_letters_and_short_numbers(chars, mark):
    assert label_end(chars) == mark


def gaps(chars: str, *places: float) -> list[float]:
    glyphs = [Glyph(char, 0.9, at) for char, at in zip(chars, places, strict=True)]
    ctc._mark_wide_gaps(glyphs)
    return [glyph.gap for glyph in glyphs]


def test_the_places_of_characters_show_what_was_overlooked(flips):
    twentieths = [step / 20 for step in range(300)]
    assert flips(lambda gap: Glyph("a", 0.9, 0, gap).overlooked, [step / 100 for step in range(101)]) == [
        0.16
    ]
    assert flips(lambda far: gaps("甲乙", 0, far), twentieths) == [5.1]
    assert flips(lambda far: gaps("ab", 0, far), twentieths) == [3.7]
    assert flips(lambda far: gaps("甲b", 0, far), twentieths) == [4.4]
    assert flips(lambda far: gaps("甲乙丙丁", 0, 5, 10, 10 + far), twentieths) == [7.3], (
        "by the line's own em"
    )
    assert flips(lambda far: gaps("甲乙丙", 0, 5, 5 + far), twentieths) == [5.1], "two are too few to measure"
    assert gaps("，乙", 0, 50) == gaps("甲 ", 0, 50) == [0.0, 0.0]
