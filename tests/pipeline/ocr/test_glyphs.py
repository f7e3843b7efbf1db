"""Single characters and their replacements."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.ocr import glyphs


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
