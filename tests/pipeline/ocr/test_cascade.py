"""A quick model first, the good one where that is unsure; with models made for the test."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from build_dataset.pipeline.ocr.engines import cascade, network
from build_dataset.pipeline.ocr.engines.cascade import Cascade, LinePart, Recogniser, is_sure, splice_line, unsure_parts
from build_dataset.pipeline.ocr.engines.ctc import Glyph
from build_dataset.pipeline.ocr.engines.network import STEP, padded_width, values_of

EM = 4
"""Steps of a character in these tests."""


def line(text: str, unsure: str = "") -> list[Glyph]:
    return [Glyph(char, 0.6 if char in unsure else 0.99, EM * index + EM / 2) for index, char in enumerate(text)]


def image(text: str) -> np.ndarray:
    """A line whose pixels say which character stands where."""
    columns = [(*divmod(ord(char), 256), 0) for char in text for _ in range(EM * STEP)]
    return np.array([columns] * 48, dtype=np.uint8)


class Printed:
    """Reads what such an image holds; notes the widths it was given."""

    def __init__(self, wrong: dict[str, str] | None = None, sure: float = 0.99) -> None:
        self.wrong, self.sure, self.widths = wrong or {}, sure, []

    def read(self, images, starts=None):
        self.widths += [pixels.shape[1] for pixels in images]
        return [self._line(pixels) for pixels in images]

    def _line(self, pixels) -> list[Glyph]:
        codes = [256 * high + low for high, low, _ in pixels[0].tolist()]
        found = []
        for start in range(0, len(codes) - EM * STEP // 2, EM * STEP):
            char = chr(codes[start])
            written = self.wrong.get(char, char)
            found.append(Glyph(written, self.sure if char == written else 0.6, start / STEP + EM / 2))
        return found


TEXT = "患者女性二十一岁因发热就医最可能的是什么病"


def test_a_line_that_is_sure_is_read_once():
    good = Printed()
    found = Cascade(Printed(), good, 1.0).read([image(TEXT)])
    assert "".join(glyph.char for glyph in found[0]) == TEXT
    assert good.widths == []


@pytest.mark.parametrize(("around", "read"), [("醫學診療藥劑檢查", "膽"), ("医学诊疗药剂检查", "瞻")])
def test_what_may_be_a_traditional_character_is_read_again_on_a_page_of_them(around, read):
    printed = f"{around}可能摸到膽囊而且不痛"
    found = Cascade(Misreads(), Printed(), 1.0).read([image(printed)])
    assert "".join(glyph.char for glyph in found[0]) == printed.replace("膽", read)


@pytest.mark.parametrize(
    "printed", ["可用的药物有青葙子和决明子", "久病则颈部出现瘰疬而不痛", "常合併低血壓的疾病為何者"]
)
def test_what_may_be_a_character_that_the_quick_model_does_not_know_is_read_again(printed):
    found = Cascade(Misreads(), Printed(), 1.0).read([image(printed)])
    assert "".join(glyph.char for glyph in found[0]) == printed


@pytest.mark.parametrize("printed", ["把药物装入纸箱", "这种疾病的病因", "正常供血的血管"])
def test_its_look_alike_in_a_place_of_its_own_is_read_once(printed):
    good = Printed()
    Cascade(Misreads(), good, 1.0).read([image(printed)])
    assert good.widths == []


class Misreads(Printed):
    """Takes 膽 for 瞻 and 葙 for 箱, and is sure."""

    def _line(self, pixels) -> list[Glyph]:
        taken = dict(zip("膽葙疬併", "瞻箱病供", strict=True))
        return [Glyph(taken.get(glyph.char, glyph.char), 0.995, glyph.at) for glyph in super()._line(pixels)]


def test_only_the_part_that_is_unsure_is_read_again_and_takes_its_place():
    good = Printed()
    (found,) = Cascade(Printed({"热": "熟"}), good, 1.0).read([image(TEXT)])
    assert "".join(glyph.char for glyph in found) == TEXT
    assert good.widths == [7 * EM * STEP]


def test_where_the_models_do_not_agree_beside_the_part_all_of_the_line_is_read_again():
    good = Printed({"发": "友"})
    (found,) = Cascade(Printed({"热": "熟"}), good, 1.0).read([image(TEXT)])
    assert "".join(glyph.char for glyph in found) == TEXT.replace("发", "友")
    assert good.widths == [7 * EM * STEP, len(TEXT) * EM * STEP]


def test_lines_that_are_mostly_unsure_are_read_again_as_a_whole():
    assert unsure_parts(0, line("病人发热", "病人发热"), 4 * EM * STEP) is None
    assert unsure_parts(0, [], 100) is None


@pytest.mark.parametrize("text", ["白细胞4×10/L", "血小板为每升10⁹", "体温升到39°"])
def test_lines_with_something_raised_are_read_again_as_a_whole(text):
    assert unsure_parts(0, line(text), len(text) * EM * STEP) is None


@pytest.mark.parametrize("text", ["下列哪项是最有价值的检查（", "下列哪项是最有价值的检查( "])
def test_the_end_of_a_line_is_read_again_where_a_blank_is_left_open(text):
    width = (len(text) + 3) * EM * STEP
    (part,) = unsure_parts(0, line(text), width)
    assert (part.last, part.right) == (len(text) - 1, width)


def test_the_letter_of_an_option_needs_less_confidence_than_letters_elsewhere():
    text = "E.甲状腺功能亢进症CT"
    glyphs = line(text)
    glyphs[0].confidence = glyphs[-1].confidence = 0.8
    (part,) = unsure_parts(0, glyphs, len(text) * EM * STEP)
    assert (part.first, part.last) == (len(text) - 1, len(text) - 1)


class Told:
    """Reads the same characters in whatever it is given; notes the widths."""

    def __init__(self, glyphs: list[Glyph]) -> None:
        self.glyphs, self.widths = glyphs, []

    def read(self, images, starts=None):
        self.widths += [pixels.shape[1] for pixels in images]
        return [list(self.glyphs) for _ in images]


def test_the_quick_model_reads_narrower_images_and_its_places_are_found_in_the_wide_ones():
    wide = np.zeros((48, len(TEXT) * EM * STEP, 3), dtype=np.uint8)
    narrow = [Glyph(glyph.char, glyph.confidence, glyph.at / 2) for glyph in line(TEXT, "热")]
    quick, good = Told(narrow), Told([])
    Cascade(quick, good, 0.5).read([wide])
    assert quick.widths == [wide.shape[1] // 2]
    assert good.widths == [7 * EM * STEP, wide.shape[1]]


@given(st.sets(st.integers(0, len(TEXT) - 1)))
def test_whatever_is_unsure_is_read_as_the_good_model_reads_it(places):
    wrong = {TEXT[place]: "囗" for place in places}
    (found,) = Cascade(Printed(wrong), Printed(), 1.0).read([image(TEXT)])
    assert "".join(glyph.char for glyph in found) == TEXT


def test_spaces_show_no_place():
    (part,) = unsure_parts(0, line("甲乙丙丁 戊己庚辛壬癸子丑寅卯", "戊"), 15 * EM * STEP)
    assert (part.first, part.last) == (4, 5)


def test_a_part_at_the_ends_of_a_line_needs_no_neighbour():
    glyphs = line("病人")
    again = line("患人")
    assert [glyph.char for glyph in splice_line(glyphs, LinePart(0, 0, 0, 0, 64), again) or []] == ["患", "人"]


@given(st.integers(8, 6000))
def test_a_line_is_padded_to_one_of_few_widths(width):
    values = values_of(np.full((48, width, 3), 255, dtype=np.uint8))
    assert values.shape[-1] == padded_width(width) <= max(48, 1.1 * width + 32)
    assert (values[0, :, :, :width] == 1).all()
    assert (values[0, :, :, width:] == 0).all()


THOUSANDTHS = [step / 1000 for step in range(1001)]


@pytest.mark.parametrize(
    ("char", "sure", "in_label"),
    [
        ("A", [0.9], [0.75]),
        ("0", [0.99], [0.75]),
        ("甲", [0.95], [0.95]),
        ("，", [0.95], [0.95]),
        ("邋", [0.99], [0.99]),
        *((char, [], []) for char in "髻熱峭釷~é°α"),
    ],
)
def test_the_confidence_from_which_the_quick_model_is_believed(char, sure, in_label, flips):
    assert flips(lambda value: is_sure(Glyph(char, value, 0)), THOUSANDTHS) == sure
    assert is_sure(Glyph(char, 1.0, 0)) == bool(sure)
    assert flips(lambda value: is_sure(Glyph(char, value, 0), in_label=True), THOUSANDTHS) == in_label


def parts(*unsure: int) -> list[tuple[int, int, int, int]] | None:
    glyphs = [Glyph("病", 0.6 if at in unsure else 0.99, EM * at + 2) for at in range(40)]
    found = unsure_parts(0, glyphs, 40 * EM * STEP)
    return found and [tuple(part)[1:] for part in found]


def test_parts_that_nearly_meet_are_one_and_have_three_characters_around_them(flips):
    assert parts(10) == [(10, 10, 224, 448)]
    assert parts(10, 16) == [(10, 16, 224, 640)]
    assert parts(10, 17) == [(10, 10, 224, 448), (17, 17, 448, 672)]
    assert (parts(0), parts(39)) == ([(0, 0, 0, 128)], [(39, 39, 1152, 1280)])
    assert flips(lambda count: parts(*range(5, 5 + count)) is None, range(35)) == [19]
    spaces = flips(lambda sure: unsure_parts(0, [Glyph(" ", sure, 2)] * 9, 99) is None, THOUSANDTHS)
    assert spaces == [0.6], "of a hopeless line nothing is used"


def test_two_models_see_a_character_in_nearly_the_same_place(flips):
    def near(far: float) -> int | None:
        return cascade._find([Glyph("甲", 0.9, 10 + far)], Glyph("甲", 0.9, 10.0))

    assert flips(near, [step / 10 for step in range(60)]) == [3.1]
    seen = [Glyph(char, 0.9, at) for char, at in (("甲", 8.0), ("甲", 11.0), ("乙", 10.0))]
    assert cascade._find(seen, Glyph("甲", 0.9, 10.0)) == 1


def test_a_line_is_padded_with_grey_and_white_is_one():
    values = values_of(np.full((48, 50, 3), 255, np.uint8))
    assert (values.shape, values[0, 0, 0, 49], values[0, 0, 0, 50]) == ((1, 3, 48, 64), 1.0, 0.0)
    assert values_of(np.zeros((48, 50, 3), np.uint8)).min() == -1.0
    assert [padded_width(width) for width in (500, 1000)] == [528, 1008]
    shapes = [network.narrow_line(np.zeros((48, width, 3), np.uint8), 0.5).shape for width in (101, 9)]
    assert shapes == [(48, 51, 3), (48, 8, 3)]


def raised(top: int, end: int) -> str:
    """Return how 19L reads when the ink of the 9 begins and ends at these rows, that of its neighbours at 8 and 40."""
    image = np.full((48, 96, 3), 255, np.uint8)
    image[8:40, 10:18] = image[8:40, 58:66] = image[top:end, 34:42] = 0
    glyphs = [Glyph(char, 0.9, at / STEP) for char, at in (("1", 14), ("9", 38), ("L", 62))]
    network.raise_digits(image, glyphs)
    return "".join(glyph.char for glyph in glyphs)


def test_a_digit_is_raised_that_is_smaller_and_stands_higher_than_its_neighbours(flips):
    assert raised(8, 24) == "1⁹L"
    assert flips(lambda end: raised(8, end), range(12, 44)) == [34]
    assert flips(lambda top: raised(top, 30), range(1, 28)) == [5]
    assert flips(lambda top: raised(top, top + 16), range(1, 30)) == [18]


def test_ink_belongs_to_a_character_near_its_middle_and_specks_to_none(flips):
    def rows(left: int) -> object:
        return network._rows(np.array([[left, 5, left + 4, 20]], np.int32), Glyph("1", 0.9, 5.0))

    assert flips(rows, range(20, 60)) == [31, 46]

    def strokes(pixels: int) -> int:
        image = np.full((48, 96, 3), 255, np.uint8)
        image[10:40, 60:80] = image[5, 5 : 5 + pixels] = 0
        return len(network._strokes(network._ink(image)))

    assert flips(strokes, range(1, 20)) == [8]


@pytest.mark.parametrize(("listed", "known"), [(None, "甲"), ("乙\n丙\n.\n．\n", "乙")])
def test_characters_stand_in_the_model_or_in_a_file_of_their_own(
    tmp_path, monkeypatch, listed: str | None, known: str
) -> None:
    monkeypatch.setattr(cascade, "load_network", lambda path, backend: (None, ["甲", ".", "．"]))
    file = None
    if listed:
        file = tmp_path / "characters.txt"
        file.write_text(listed, encoding="utf-8")
    characters = Recogniser.load(tmp_path / "model.onnx", "openvino", file).alphabet.characters
    assert (characters[1], len(characters)) == (known, 6 if listed else 5)


@pytest.mark.parametrize(("char", "sure"), [("座", True), ("亍", False)])
def test_ideographs_are_common_up_to_the_last_row_of_the_first_level(char: str, sure: bool) -> None:
    assert is_sure(Glyph(char, 0.96, 0)) == sure
    assert is_sure(Glyph(char, 0.99, 0))


def unsure_places(text: str, **confidence: float) -> list[tuple[int, int]]:
    """First and last character of each part that is read again, where these characters are less sure."""
    glyphs = line(text)
    for name, value in confidence.items():
        glyphs[int(name[1:])].confidence = value
    return [(part.first, part.last) for part in unsure_parts(0, glyphs, len(text) * EM * STEP) or []]


LONG = "病人女性二十一岁因发热就医"


def test_letters_of_a_label_alone_need_less_confidence() -> None:
    assert unsure_places("A." + LONG, _0=0.8) == []
    assert unsure_places("A." + LONG, _1=0.8) == [(1, 1)]
    assert unsure_places("X" + LONG, _0=0.8) == [(0, 0)]
    assert unsure_places("12." + LONG, _0=0.8, _1=0.8) == []
    assert unsure_places("12." + LONG, _2=0.8) == [(2, 2)]


def test_a_line_of_a_space_alone_has_nothing_to_read_again() -> None:
    assert unsure_parts(0, line(" "), 32) == []


def test_an_overlooked_character_is_read_again_with_those_on_both_sides() -> None:
    glyphs = line(TEXT)
    glyphs[4].gap = 1.0
    assert unsure_parts(0, glyphs, len(TEXT) * EM * STEP) == [LinePart(0, 4, 5, 32, 288)]
    glyphs[4].gap, glyphs[-1].gap = 0.0, 1.0
    assert unsure_parts(0, glyphs, len(TEXT) * EM * STEP) == [LinePart(0, 20, 20, 544, 672)]


def test_spaces_beside_what_is_unsure_are_read_again_up_to_the_ends_of_a_line() -> None:
    assert unsure_places(LONG + " ", _0=0.5) == [(0, 0)]
    assert unsure_places(" " + LONG, _1=0.5) == [(0, 1)]
    assert unsure_places("  " + LONG, _2=0.5) == [(0, 2)]
    assert unsure_places(LONG + "  ", _12=0.5) == [(12, 14)]
    assert unsure_places(LONG + " ", _12=0.5) == [(12, 13)]


def test_the_second_character_of_a_line_is_spliced_only_beside_the_first() -> None:
    glyphs, part = line("甲乙丙"), LinePart(0, 1, 1, 0, 96)
    assert splice_line(glyphs, part, line("乙戊丙")) is None
    assert [glyph.char for glyph in splice_line(glyphs, part, line("甲戊丙")) or []] == ["甲", "戊", "丙"]


def test_one_character_cannot_be_the_neighbour_on_both_sides() -> None:
    glyphs = line("甲乙甲")
    again = [Glyph("甲", 0.99, 6.0)]
    assert splice_line(glyphs, LinePart(0, 1, 1, 0, 96), again) is None


def test_only_a_part_at_the_start_of_a_line_starts_where_a_printed_line_does() -> None:
    class Starting(Printed):
        starts: list[list[bool] | None] = []  # noqa: RUF012 - of this test alone

        def read(self, images, starts=None):
            self.starts.append(starts)
            return super().read(images, starts)

    good = Starting()
    Cascade(Printed({"患": "囗", "就": "囗"}), good, 1.0).read([image(TEXT)])
    assert good.starts == [[True, False]]
