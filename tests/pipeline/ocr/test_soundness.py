"""Text layers that must not be trusted."""

from __future__ import annotations

import pytest

from pipeline.ocr.model import Rect, TextRun
from pipeline.ocr.routing import is_mojibake, why_unsound
from pipeline.ocr.textlayer import TextLayer

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
