"""Single characters and their replacements."""

import pytest
from hypothesis import given, strategies as st

from build_dataset.pipeline.ocr import glyphs


@pytest.mark.parametrize(
    ("stored", "read"),
    [
        ("\uf967", "不"),  # compatibility ideograph of Noto CJK
        ("⼀", "一"),  # Kangxi radical
        ("\ue18c子宮外孕\ue18f", "(A)子宮外孕(D)"),
        ("①②　ＡＢ．％²", "①②　ＡＢ．％²"),  # meaning would be lost by full NFKC
    ],
)
def test_folding_touches_only_what_a_reader_cannot_tell_apart(stored, read):
    assert glyphs.fold(stored) == read


def test_symbol_glyphs_are_read_in_symbol_fonts_alone():
    assert glyphs.fold("m\uf0b4n\uf03d\uf0a3", "ABCDEF+Symbol") == "m×n=≤"
    assert glyphs.fold("\uf0b4", "Other") == "\uf0b4"


def test_dots_and_letters_of_mathtypes_extra_font_are_not_taken_for_symbols_greek() -> None:
    assert glyphs.fold("1,\uf04c,n", "ABCDEF+MT-Extra") == "1,⋯,n"
    assert glyphs.fold("\uf06c", "MT Extra") == "ℓ"
    assert glyphs.fold("\uf06c", "Symbol") == "λ"
    assert glyphs.fold("\uf041", "MT Extra") == "\uf041"


def test_scripts_change_only_when_every_character_can():
    assert glyphs.superscript("-12") == "⁻¹²"
    assert glyphs.subscript("2+") == "₂₊"
    assert glyphs.superscript("注1") == "注1"


@given(st.text())
def test_folding_twice_is_folding_once(text):
    once = glyphs.fold(text, "Symbol")
    assert glyphs.fold(once, "Symbol") == once


def test_the_blocks_of_chinese_japanese_and_full_width_characters():
    inside = (0x2E80, 0x9FFF, 0xF900, 0xFFEF, 0x20000, 0x3FFFF)
    outside = (0x2E7F, 0xA000, 0xF8FF, 0xFFF0, 0x1FFFF, 0x40000)
    assert [glyphs.is_cjk(chr(code)) for code in (*inside, *outside)] == [True] * 6 + [False] * 6


@pytest.mark.parametrize(
    ("printed", "text"),
    [
        ("a  b", "a  b"),
        ("a   b", "a\tb"),
        ("a\u3000b", "a\u3000b"),
        ("a\u3000 b", "a\tb"),
        ("a\tb", "a\tb"),
        ("（   ）", "（   ）"),
        ("a （\t）", "a （  ）"),
        ("__\t__", "__  __"),
    ],
)
def test_white_space_of_one_and_a_half_em_is_a_tab(printed, text):
    assert glyphs.tabs_for_gaps(printed) == text


def test_what_is_too_long_for_a_script_is_small_print():
    assert [glyphs.subscript("i," * count) for count in (6, 7)] == ["_(i,i,i,i,i,i,)", "i,i,i,i,i,i,i,"]
    assert [glyphs.superscript(text) for text in ("N/2", "st", "TM", "*", "中")] == ["^(N/2)", "st", "TM", "*", "中"]


def test_private_glyphs_are_read_in_fonts_of_their_kind_alone():
    assert [glyphs.fold(char) for char in "\ue18c\ue190\ue191\uf06c"] == ["(A)", "(E)", "\ue191", "\uf06c"]
    assert [glyphs.fold("\uf06c", font) for font in ("Symbol", "Wingdings", "MT Extra")] == ["λ", "●", "ℓ"]


@pytest.mark.parametrize(
    ("printed", "text"),
    [
        ("a (   b", "a (   b"),
        ("a   )b", "a   )b"),
        ("a   (b", "a\t(b"),
        ("a)   b", "a)\tb"),
        ("_\tb", "_  b"),
        ("a\t_b", "a  _b"),
        ("a\u3000 \u3000b", "a\tb"),
        ("a \u00a0b", "a \u00a0b"),
        ("a \t\t b", "a\tb"),
    ],
)
def test_blanks_beside_one_bracket_stay_as_wide_as_they_are(printed: str, text: str) -> None:
    assert glyphs.tabs_for_gaps(printed) == text


def test_a_script_without_raised_characters_has_twelve_at_most() -> None:
    assert [glyphs.superscript(text) for text in ("N", "NK", "i,N" * 4, "i,N" * 4 + "i")] == [
        *("^N", "^(NK)", f"^({'i,N' * 4})", "i,N" * 4 + "i")
    ]
    assert [glyphs.subscript(text) for text in ("N", "i,", "i," * 6, "i," * 6 + "i")] == [
        *("N", "_(i,)", f"_({'i,' * 6})", "i," * 6 + "i")
    ]


def test_common_characters_are_those_of_the_first_level_of_either_standard() -> None:
    first_and_last = [
        *(bytes([0xB0, 0xA1]).decode("gb2312"), bytes([0xD7, 0xF9]).decode("gb2312")),
        *(bytes([0xA4, 0x40]).decode("big5"), bytes([0xC6, 0x7E]).decode("big5")),
    ]
    assert first_and_last == [*"啊座一籲"]
    assert [glyphs.is_common(char) for char in "啊座一籲专的"] == [True] * 6
    assert [glyphs.is_common(char) for char in "亍鱻。Aα"] == [False] * 5
