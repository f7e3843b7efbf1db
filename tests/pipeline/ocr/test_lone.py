"""Numbers that detection overlooks are found by their ink, and parted from what they are glued to."""

from dataclasses import replace

import cv2
import numpy as np

from build_dataset.pipeline.ocr.interfaces import Doubt, Word
from build_dataset.pipeline.ocr.lone import with_overlooked


class Reads:
    """An engine that reads one text on any picture."""

    def __init__(self, text: str) -> None:
        self.text, self.asked = text, 0

    def recognise(self, pixels):
        self.asked += 1
        return [Word(self.text, ((0, 0), (100, 0), (100, 20), (0, 20)), 0.97)] if self.text else []


def line(text: str = "下列何者正确", left: int = 160, top: int = 100) -> Word:
    return Word(text, ((left, top), (600, top), (600, top + 32), (left, top + 32)), 0.99)


def page(*marks: tuple[int, int, int, int]) -> np.ndarray:
    pixels = np.full((400, 700, 3), 255, np.uint8)
    for left, top, right, bottom in marks:
        cv2.rectangle(pixels, (left, top), (right, bottom), (0, 0, 0), -1)
    return pixels


def texts(words: list[Word]) -> list[str]:
    return [word.text for word in words]


def test_a_number_before_its_line_is_found_in_the_row_of_the_line():
    *_, number = with_overlooked(Reads("7下列何"), page((120, 108, 124, 124)), [line()])
    assert number.text == "7"
    assert number.box[0] == 120
    assert number.box[1] == 100
    assert number.box[3] == 132


def test_what_is_read_otherwise_than_its_line_is_no_number():
    for said in ("", "7上列", "※下列何", "下列何"):
        assert texts(with_overlooked(Reads(said), page((120, 108, 124, 124)), [line()])) == ["下列何者正确"]


def test_a_number_is_found_though_its_line_is_read_a_little_otherwise_beside_it():
    assert texts(with_overlooked(Reads("7下例何"), page((120, 108, 124, 124)), [line()])) == ["下列何者正确", "7"]
    assert texts(with_overlooked(Reads("715岁"), page((120, 108, 124, 124)), [line("16岁女孩")])) == ["16岁女孩"]


def test_only_ink_of_the_size_of_a_number_close_before_a_line_is_looked_at():
    for mark in (
        (120, 108, 124, 112),
        (120, 60, 124, 124),
        (10, 108, 14, 124),
        (120, 300, 124, 316),
        (20, 108, 110, 124),
    ):
        engine = Reads("7下列何")
        assert len(with_overlooked(engine, page(mark), [line()])) == 1
        assert engine.asked == 0


def test_ink_between_two_words_of_a_row_is_no_number():
    engine = Reads("7下列何")
    left = Word("甲", ((80, 100), (112, 100), (112, 132), (80, 132)), 0.9)
    assert len(with_overlooked(engine, page((130, 108, 134, 124)), [left, line()])) == 2
    assert engine.asked == 0


def test_a_number_glued_to_its_stem_is_parted_where_white_space_parts_them():
    apart, close = page((102, 106, 124, 126), (160, 106, 400, 126)), page((102, 106, 124, 126), (128, 106, 400, 126))
    glued = line("11A向甲借款", left=100)
    assert texts(with_overlooked(Reads(""), apart, [glued])) == ["11 A向甲借款"]
    assert texts(with_overlooked(Reads(""), close, [glued])) == ["11A向甲借款"]


def test_a_number_is_found_whatever_form_of_its_line_is_read_and_a_label_likewise():
    mark = page((120, 108, 124, 124))
    assert texts(with_overlooked(Reads("3黄體"), mark, [line("黃體主要")])) == ["黃體主要", "3"]
    assert texts(with_overlooked(Reads("C.《关"), mark, [line("《关于历史》")])) == ["《关于历史》", "C."]


def test_a_number_with_more_digits_than_its_ink_has_room_for_is_none():
    mark = page((112, 108, 130, 124))
    assert texts(with_overlooked(Reads("144下列何"), mark, [line()])) == ["下列何者正确"]
    assert texts(with_overlooked(Reads("14下列何"), mark, [line()])) == ["下列何者正确", "14"]


def test_a_number_into_which_the_box_of_its_line_reaches_is_read_once():
    class Ones:
        """An engine that reads a 1 for every upright stroke, before the line."""

        def recognise(self, pixels):
            ink = (pixels[:, :, 0] < 128).any(axis=0).astype(int)
            ones = "1" * int((np.diff(ink) == 1).sum())
            return [Word(f"{ones}下列何", ((0, 0), (100, 0), (100, 20), (0, 20)), 0.97)]

    for left in (123, 126, 160):
        found = with_overlooked(Ones(), page((120, 108, 124, 124)), [line(left=left)])
        assert texts(found) == ["下列何者正确", "1"]


def test_the_end_of_a_line_that_detection_overlooked_is_read():
    class Doubts(Reads):
        def recognise(self, picture):
            return [replace(word, doubts=(Doubt(1, 0.5), Doubt(4, 0.6))) for word in super().recognise(picture)]

    [_, tail] = with_overlooked(Doubts("化的（）行。"), page((640, 106, 690, 126)), [line("是中国化的（")])
    assert tail.text == "）行。"
    assert tail.doubts == (Doubt(1, 0.6),)
    assert abs(tail.box[0] - 640) < 2
    assert tail.box[1] == 100


def test_a_tick_a_speck_and_another_line_end_no_line():
    for said in ("化的（V", "化的（", "因此）行。", ""):
        assert len(with_overlooked(Reads(said), page((640, 106, 690, 126)), [line("是中国化的（")])) == 1


def test_a_letter_that_two_boxes_share_is_read_once():
    first = Word("(B)medullary carcinoma", ((100, 100), (330, 100), (330, 132), (100, 132)), 0.9)
    second = Word("a (C)ductal", ((310, 100), (600, 100), (600, 132), (310, 132)), 0.9, (Doubt(0, 0.5), Doubt(4, 0.6)))
    shared = with_overlooked(Reads(""), page(), [first, second])
    assert texts(shared) == ["(B)medullary carcinoma", "(C)ductal"]
    assert shared[1].doubts == (Doubt(2, 0.6),)
    apart = replace(second, corners=((340, 100), (600, 100), (600, 132), (340, 132)))
    assert texts(with_overlooked(Reads(""), page(), [first, apart])) == ["(B)medullary carcinoma", "a (C)ductal"]


def test_a_digit_of_a_number_that_the_box_of_its_line_cuts_is_no_text():
    number, digit = Word("13", ((100, 102), (132, 102), (132, 130), (100, 130)), 0.9), (114, 106, 124, 126)
    whole = "36、7歲小朋友"  # Where the second box only touches the first, or none of its ink is cut
    for left, mark, text in ((118, digit, whole[1:]), (128, digit, whole), (118, (126, 106, 134, 126), whole)):
        assert texts(with_overlooked(Reads(""), page(mark), [number, line(whole, left=left)])) == ["13", text]


def test_a_ruled_blank_beside_a_line_is_read_as_one_and_other_rules_are_none():
    [_, blank] = with_overlooked(Reads(""), page((602, 124, 660, 125)), [line("最終的預算在項目")])
    assert (blank.text, round(blank.box[0], -1), blank.box[1]) == ("____", 600, 100)
    dash, short, apart, below = (602, 116, 660, 117), (602, 124, 615, 125), (640, 124, 690, 125), (500, 124, 660, 125)
    for marks in ([dash], [short], [apart], [below], [(602, 124, 660, 125), (620, 106, 640, 118)]):  # it bears text
        assert "____" not in texts(with_overlooked(Reads(""), page(*marks), [line("最終的預算在項目")]))


def test_a_page_without_words_has_no_numbers():
    assert with_overlooked(Reads("7下列何"), page((120, 108, 124, 124)), []) == []


def test_doubts_stay_with_their_characters_where_a_space_is_put_in_and_with_a_number_that_is_found():
    glued = replace(line("11A向甲借款"), doubts=(Doubt(1, 0.5), Doubt(4, 0.6)))
    pixels = page((160, 106, 166, 126), (172, 106, 178, 126), (214, 106, 234, 126), (240, 106, 262, 126))
    [apart] = with_overlooked(Reads(""), pixels, [glued])
    assert apart.text == "11 A向甲借款"
    assert [(apart.text[doubt.at], doubt.sure) for doubt in apart.doubts] == [("1", 0.5), ("甲", 0.6)]

    class Doubts(Reads):
        def recognise(self, picture):
            return [replace(word, doubts=(Doubt(0, 0.7), Doubt(2, 0.4))) for word in super().recognise(picture)]

    *_, number = with_overlooked(Doubts("7下列何"), page((120, 108, 124, 124)), [line()])
    assert number.doubts == (Doubt(0, 0.7),)
