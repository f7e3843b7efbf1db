"""From a recogniser's probabilities to characters."""

import numpy as np
import pytest

from build_dataset.pipeline.ocr.engines.ctc import Alphabet, Glyph, label_end

PAIRED = list("aA病人.．,，10L")


def glyphs_of(*steps: dict[str, float], characters: list[str] = PAIRED, starts_line: bool = False) -> list[Glyph]:
    """The characters of steps of an alphabet that is made anew; what is left of a step is blank."""
    alphabet = Alphabet(characters)
    rows = np.zeros((len(steps), len(characters) + 2), dtype=np.float32)
    for row, step in zip(rows, steps, strict=True):
        for char, value in step.items():
            row[alphabet.characters.index(char)] = value
        row[0] = 1 - row.sum()
    return alphabet.decode(rows, starts_line)


def text(*steps: dict[str, float], starts_line: bool = True) -> str:
    return "".join(glyph.char for glyph in glyphs_of(*steps, starts_line=starts_line))


def test_steps_of_one_character_are_one_and_a_blank_parts_two():
    assert text({"病": 0.9}, {"病": 0.8}, {}, {"病": 0.9}, {"人": 0.9}) == "病病人"


def test_nothing_is_read_where_all_is_blank():
    assert glyphs_of({}, {}) == []


def test_half_and_full_width_are_one_character_and_sure_together():
    (glyph,) = glyphs_of({".": 0.3, "．": 0.28, "病": 0.4})
    assert (glyph.char, pytest.approx(glyph.confidence)) == (".", 0.58)


@pytest.mark.parametrize("stop", [".", "．"])
def test_a_comma_after_an_option_letter_is_a_stop_where_one_was_likely(stop):
    steps = [{"A": 0.9}, {"，": 0.8, stop: 0.1}, {"病": 0.9}]
    assert text(*steps) == "A.病"
    assert text(*steps, starts_line=False) == "A，病"


def test_a_comma_that_can_be_no_stop_stays_and_is_doubted():
    glyphs = glyphs_of({"A": 0.9}, {"，": 0.99}, {"病": 0.9}, starts_line=True)
    assert glyphs[1].char == "，"
    assert glyphs[1].confidence <= 0.5


def test_the_comma_of_a_number_stays():
    assert text({"1": 0.9}, {"0": 0.9}, {",": 0.8, ".": 0.15}, {"1": 0.9}) == "10,1"


def test_an_option_letter_without_a_mark_may_have_lost_it():
    assert glyphs_of({"A": 0.9}, {"病": 0.9}, starts_line=True)[0].overlooked


@pytest.mark.parametrize(
    ("box", "like", "read"), [("□", 0.4, "口"), ("☐", 0.4, "口"), ("□", 0.05, "□"), ("回", 0.4, "回")]
)
def test_a_box_that_may_be_a_mouth_is_read_as_one(box, like, read):
    alphabet = Alphabet([box, "口", ".", "．"])
    (glyph,) = alphabet.decode(np.array([[0.1, 0.5, like, 0.0, 0.0, 0.0]], np.float32))
    assert glyph.char == read
    assert dict(glyph.others)["口" if read == box else box] > 0


def test_a_space_before_a_mark_is_none():
    assert text({"A": 0.9}, {" ": 0.7}, {".": 0.9}, {"病": 0.9}) == "A.病"


@pytest.mark.parametrize(
    ("chars", "mark"),
    [
        *[("A.甲", 1), ("12．甲", 2), ("甲.", None), ("1234.", None), ("3.5", None), ("A", None), ("", None)],
        *[("12", None), ("1.", 1), ("1.甲", 1), ("123.甲", 3), ("123.4", None), ("A.", 1), ("K.", 1), ("L.", None)],
        *[("1A", 1), ("１.", None), ("AB1", 1)],
    ],
)
def test_labels_are_letters_and_short_numbers(chars, mark):
    assert label_end(chars) == mark


def test_a_gap_from_which_a_character_may_have_been_overlooked(flips):
    assert flips(lambda gap: Glyph("a", 0.9, 0, gap).overlooked, [step / 100 for step in range(101)]) == [0.16]


@pytest.mark.parametrize(("half", "full"), ["!！", "~～", "9９", "ZＺ"])
def test_every_printed_ascii_character_is_one_with_its_full_width(half: str, full: str) -> None:
    (glyph,) = glyphs_of({half: 0.5, full: 0.25}, characters=[".", "．", half, full])
    assert (glyph.char, glyph.confidence) == (half, 0.75)
    (glyph,) = glyphs_of({half: 0.25, full: 0.5}, characters=[".", "．", half, full])
    assert (glyph.char, glyph.confidence) == (full, 0.75)


@pytest.mark.parametrize("pair", ["\x7f\uff5f", " \uff00", "a病"])
def test_characters_that_are_no_widths_of_each_other_are_two(pair: str) -> None:
    characters = [".", "．", *(char for char in pair if char != " ")]
    (glyph,) = glyphs_of({pair[0]: 0.375, pair[1]: 0.25, ".": 0.0625}, characters=characters)
    assert (glyph.char, glyph.confidence) == (pair[0], 0.375)


def test_an_alphabet_may_know_one_width_alone() -> None:
    characters = [".", "，", "A", "Ａ", "b", "病"]
    read = glyphs_of({"A": 0.9}, {"，": 0.5, ".": 0.375}, {"病": 0.9}, characters=characters, starts_line=True)
    assert "".join(glyph.char for glyph in read) == "A.病"


def test_equal_widths_are_written_half_and_a_pair_must_be_likelier_than_another_character() -> None:
    (glyph,) = glyphs_of({".": 0.375, "．": 0.375})
    assert (glyph.char, glyph.confidence) == (".", 0.75)
    (glyph,) = glyphs_of({"病": 0.5, ".": 0.25, "．": 0.25})
    assert (glyph.char, glyph.confidence) == ("病", 0.5)
    (glyph,) = glyphs_of({"病": 0.375, ".": 0.3125, "．": 0.25})
    assert (glyph.char, glyph.confidence) == (".", 0.5625)


def test_a_character_is_as_sure_as_its_surest_step_and_stands_in_the_middle_of_all() -> None:
    one, other = glyphs_of({}, {"病": 0.5625}, {"病": 0.625}, {"病": 0.875}, {}, {"人": 0.75}, {"人": 0.625})
    assert (one.char, one.confidence, one.at) == ("病", 0.875, 2.5)
    assert (other.char, other.confidence, other.at) == ("人", 0.75, 6.0)


def test_a_gap_is_as_likely_to_hide_something_as_its_worst_step_says() -> None:
    def found(*steps: dict[str, float]) -> list[float]:
        return [round(glyph.gap, 6) for glyph in glyphs_of(*steps)]

    assert found({"病": 0.75}, {"人": 0.75}) == [0.0, 0.0]
    assert found({"病": 0.75}, {"L": 0.25, "1": 0.125}, {"0": 0.25}, {"人": 0.75}, {}) == [0.375, 0.0]
    assert found({"病": 0.75}, {"病": 0.25}, {"人": 0.25}, {"人": 0.75}, {"人": 0.25}, {}) == [0.0, 0.0]
    assert found({"病": 0.75}, {}, {"L": 0.25, "病": 0.125}) == [0.25]


def test_what_stands_around_a_label_is_no_gap_and_what_stands_behind_it_may_be_one() -> None:
    other = {"L": 0.25}
    read = glyphs_of({"A": 0.9}, other, {".": 0.9}, other, {"病": 0.9}, other, {"人": 0.9}, starts_line=True)
    assert [glyph.gap for glyph in read] == [0.0, 0.0, 0.25, 0.0]
    read = glyphs_of({"A": 0.9}, {"病": 0.9}, {"人": 0.9}, starts_line=True)
    assert [glyph.gap for glyph in read] == [0.5, 0.0, 0.0]
    read = glyphs_of({"A": 0.9}, {"1": 0.9}, {"病": 0.9}, starts_line=True)
    assert [glyph.gap for glyph in read] == [0.0, 0.0, 0.0]


def test_a_comma_after_a_label_is_a_twentieth_as_likely_as_a_stop(flips) -> None:
    def mark(comma: float, stop: float) -> Glyph:
        return glyphs_of({"A": 0.9}, {"，": comma, ".": stop}, {"病": 0.9}, starts_line=True)[1]

    assert flips(lambda stop: mark(0.8, stop / 1000).char, range(60)) == [41]
    assert (mark(0.625, 0.03125).char, mark(0.625, 0.03125).confidence) == ("，", 0.5)
    doubtful = glyphs_of({"A": 0.9}, {"，": 0.4375, "人": 0.25}, {"病": 0.9}, starts_line=True)[1]
    assert (doubtful.char, doubtful.confidence) == ("，", 0.4375)
    assert mark(0.5, 0.375).confidence == pytest.approx(0.9375)
    assert mark(0.8, 0.1).confidence == pytest.approx(0.8)
    assert (mark(0.0, 0.625).char, mark(0.0, 0.625).confidence) == (".", 1.0)


def test_a_space_before_a_closing_mark_is_dropped_and_one_at_the_end_stays() -> None:
    def read(text: str) -> str:
        characters = [*"病人.．,，)A"]
        return "".join(glyph.char for glyph in glyphs_of(*({char: 0.9} for char in text), characters=characters))

    assert [read(text) for text in ("病 .", "病 )人", "病 ", "病 人", " .病")] == [
        "病.",
        "病)人",
        "病 ",
        "病 人",
        ".病",
    ]
