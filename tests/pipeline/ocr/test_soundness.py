"""Text layers that must not be trusted."""

import numpy as np
import pytest

from build_dataset.pipeline.ocr import routing
from build_dataset.pipeline.ocr.model import Rect, TextRun
from build_dataset.pipeline.ocr.routing import is_mojibake, why_unsound
from build_dataset.pipeline.ocr.textlayer import TextLayer

CHINESE = "下列关于急性胃炎的叙述中哪一项是正确的请选择一个最佳答案并说明理由与依据所在" * 3
TRADITIONAL = "下列有關肺部聽診的敘述何者正確請選出一個最適當的答案並說明其臨床意義與治療" * 3


def layer(text: str, turned: int = 0) -> TextLayer:
    return TextLayer([TextRun(text, Rect(0, 0, 9, 9), 9, 9)] if text else [], turned=turned)


@pytest.mark.parametrize("text", [CHINESE, TRADITIONAL, "Which of the following is true?" * 9])
def test_real_text_is_sound(text):
    assert why_unsound(layer(text), 0.0, 0) is None


def test_no_characters_means_ocr():
    assert why_unsound(layer(""), 1.0, 0) == "no_text_layer"


def test_a_stamped_head_over_a_scan_means_ocr():
    assert why_unsound(layer("www.example.org"), 0.8, 0) == "sparse_text_over_image"


def test_a_page_with_text_and_large_figures_keeps_its_text_layer():
    assert why_unsound(layer(CHINESE), 0.6, 0) is None


def test_unknown_glyphs_mean_ocr():
    assert why_unsound(layer("\ufffd" * 30 + CHINESE), 0.0, 0) == "garbled"


def test_shifted_glyph_numbers_are_garbled_although_they_are_ideographs():
    assert is_mojibake("".join(chr(ord(char) + 3571) for char in CHINESE if char < "\u8200"))


def test_gbk_read_as_latin_1_is_garbled():
    assert is_mojibake(CHINESE.encode("gbk").decode("latin-1"))


def test_a_page_laid_on_its_side_means_ocr_but_a_slanted_watermark_does_not():
    assert why_unsound(layer("页眉", 600), 0.0, 0) == "turned_text"
    assert why_unsound(layer(CHINESE, 40), 0.0, 0) is None
    assert why_unsound(layer("短短一页", 40), 0.0, 0) is None


def test_text_turned_into_outlines_means_ocr():
    assert why_unsound(layer("1"), 0.0, 5000) == "outlined_text"


def lengths(count=8, height=10, width=6, gap=4) -> list[float]:
    """Lengths of the lines in a row of so many black boxes."""
    ink = np.zeros((100, 600), np.uint8)
    for left in range(20, 20 + count * (width + gap), width + gap):
        ink[40 : 40 + height, left : left + width] = 1
    return routing._line_lengths(ink)


def test_a_line_is_several_letters_of_some_size_close_together(flips):
    assert lengths() == [92.0]
    assert flips(lambda count: len(lengths(count)), range(1, 12)) == [4]
    assert flips(lambda count: len(lengths(count, 10, 20)), range(1, 8)) == [4]
    assert flips(lambda count: len(lengths(count, 30, 10)), range(1, 20)) == [5]
    assert flips(lambda height: len(lengths(20, height)), range(1, 50)) == [4, 35]
    assert flips(lambda gap: len(lengths(12, 10, 6, gap)), range(1, 40)) == [17]
    assert flips(lambda width: len(lengths(5, 10, width)), range(1, 90)) == [4, 69]


@pytest.mark.parametrize(
    ("box", "margin", "edges"),
    [
        ((10, 20, 30, 40), 0.0, (13, 27, 41, 55)),
        ((10, 20, 30, 40), 1.5, (11, 25, 43, 57)),
        ((-5, -5, 3, 3), 0.0, (0, 0, 4, 4)),
    ],
)
def test_boxes_in_points_are_filled_in_pixels(box, margin, edges):
    mask = np.zeros((100, 100), np.uint8)
    routing._fill(mask, [Rect(*box)], 1, margin)
    rows, columns = np.nonzero(mask)
    assert (columns.min(), rows.min(), columns.max(), rows.max()) == edges
