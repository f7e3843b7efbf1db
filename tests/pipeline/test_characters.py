"""Which characters are folded, dropped and kept, at both ends of every range."""

import string

import pytest
from hypothesis import given, strategies as st

from build_dataset.pipeline.characters import COMPATIBILITY, INVISIBLE, WIDE, Folding, valid_unicode
from build_dataset.pipeline.text import tidy


def dropped(first: int, last: int) -> list[int]:
    """The characters of a range that a tidy text does not have."""
    return [code for code in range(first, last) if tidy(f"a{chr(code)}b") == "ab"]


def test_marks_of_direction_and_joiners_are_dropped_and_their_neighbours_are_not() -> None:
    assert dropped(0x2000, 0x2070) == [*range(0x200B, 0x2010), *range(0x202A, 0x202F), 0x2060]
    assert dropped(0xFDF0, 0xFE20) == [*range(0xFE00, 0xFE0F)]  # but that of pictures: ⚠️
    assert dropped(0x0600, 0x0630) == [0x061C]
    assert dropped(0xFEF0, 0xFF01) == [0xFEFF]
    assert set(INVISIBLE) == {0xAD, 0x61C, *range(0x200B, 0x2010), *range(0x202A, 0x202F), 0x2060, 0xFEFF} | {
        *range(0xFE00, 0xFE0F)
    }


def test_controls_are_dropped_and_breaks_are_lines() -> None:
    assert dropped(0x00, 0xB0) == [*range(0x09), *range(0x0E, 0x20), *range(0x7F, 0x85), *range(0x86, 0xA0), 0xAD]
    breaks = [code for code in (*range(0xB0), *range(0x2020, 0x2030)) if tidy(f"a{chr(code)}b") == "a\nb"]
    assert breaks == [0x0A, 0x0B, 0x0C, 0x0D, 0x85, 0x2028, 0x2029]


def test_letters_digits_and_five_signs_of_full_width_are_plain() -> None:
    changed = {
        chr(code): found for code in range(0xFF01, 0xFF5F) if (found := tidy(f"a{chr(code)}a")[1:-1]) != chr(code)
    }
    assert "".join(sorted(changed.values())) == "".join(sorted(string.ascii_letters + string.digits + "%+<=>"))
    assert all(ord(wide) - ord(plain) == 0xFEE0 for wide, plain in changed.items())
    assert "".join(sorted(WIDE.values())) == string.digits + string.ascii_uppercase + string.ascii_lowercase


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("\uf900", "豈"),
        ("\ufad9", "龎"),
        ("\ufb00", "\ufb00"),
        ("\uf967", "不"),
        ("延⻑", "延長"),
        ("\u2e9f", "母"),
        ("\u2ef3", "龟"),
        ("\u2f00", "一"),
        ("\u2fd5", "龠"),
        ("①²℃", "①²℃"),
    ],
)
def test_ideographs_of_compatibility_and_radicals_are_plain_ideographs_and_nothing_else(text, folded) -> None:
    assert text.translate(COMPATIBILITY) == folded


@pytest.mark.parametrize(
    ("text", "valid"),
    [("甲", "甲"), ("甲\ud83e", "甲\ufffd"), ("\ud83e\udd70乙", "🥰乙"), ("\udd70\ud83e", "\ufffd" * 2)],
)
def test_half_a_character_is_replaced_and_two_halves_are_one(text, valid) -> None:
    assert valid_unicode(text) == valid


@pytest.mark.parametrize(("depth", "shown"), [(1, True), (3, True), (4, True), (5, False)])
def test_markup_is_taken_out_where_it_is_not_nested_too_deeply(depth, shown) -> None:
    text = "<b>" * depth + "x" + "</b>" * depth
    assert tidy(text) == ("x" if shown else text)
    escaped = "&" + "amp;" * (depth - 1) + "lt;"
    assert tidy(f"a{escaped}9") == ("a<9" if shown else f"a{escaped}9")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("H<sub>" + "2" * 40 + "</sub>O", "H" + "₂" * 40 + "O"),
        ("H<sub>" + "2" * 41 + "</sub>O", None),
        ("<b>" + "x" * 5000 + "</b>", "x" * 5000),
        ("<b>" + "x" * 5001 + "</b>", None),
        ("<b " + "y" * 200 + ">x</b>", "x"),
        ("<b " + "y" * 201 + ">x</b>", None),
        ("a&#38;b", "a&b"),
        ("a&#9;b", None),
        ("a<br>b<br/>c<br />d", "a\nb\nc\nd"),
        ("<p>甲</p><p>乙</p>丙", "甲\n乙\n丙"),
        ("3．5和３．５和a．b", "3.5和3.5和a．b"),
    ],
)
def test_markup_of_web_pages_is_shown_as_the_page_shows_it(text, found) -> None:
    assert tidy(text) == (text if found is None else found)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("人参 白术 茯苓", "人参 白术 茯苓"),
        ("人参 白术", "人参白术"),
        ("人参黄芪当 白术 茯苓", "人参黄芪当 白术 茯苓"),
        ("人参黄芪当归 白术 茯苓", "人参黄芪当归白术茯苓"),
        ("人 参 白", "人参白"),
        ("药：人参 白术 茯苓。", "药：人参 白术 茯苓。"),
        ("（ ）甲", "（ ）甲"),
        ("甲 ，乙。 丙", "甲，乙。丙"),
    ],
)
def test_a_list_of_three_short_words_keeps_its_spaces(text, found) -> None:
    assert tidy(text) == found


@given(st.text(st.sampled_from("*＊`｀’–AaＡ，、x ")))
def test_a_folding_gives_what_a_table_for_translate_gives(text: str) -> None:
    table = {ord("＊"): "*", ord("*"): 0x20, ord("｀"): "`", ord("`"): " ", ord("’"): "'", ord("–"): None, 0xFF21: "A"}
    assert Folding(table)(text) == text.translate(table)
