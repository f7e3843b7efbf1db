"""Numbers of Word lists in every format that exam papers use."""

import pytest
from lxml import etree

from build_dataset.pipeline.ocr.readers import docx_numbering
from build_dataset.pipeline.ocr.readers.docx_numbering import W, chinese, format_number, integer, roman


def test_roman_numerals():
    values = (0, 1, 4, 9, 14, 40, 49, 90, 99, 400, 444, 494, 900, 1949, 3999, 4000)
    written = "0 I IV IX XIV XL XLIX XC XCIX CD CDXLIV CDXCIV CM MCMXLIX MMMCMXCIX 4000"
    assert [roman(value) for value in values] == written.split()
    assert roman(888) == "DCCCLXXXVIII"


def test_chinese_numerals():
    values = (0, 1, 9, 10, 11, 19, 20, 21, 99, 100, 101, 110, 115, 120, 999, 1000)
    written = "〇 一 九 十 十一 十九 二十 二十一 九十九 一百 一百零一 一百一十 一百一十五 一百二十 九百九十九 1000"
    assert [chinese(value) for value in values] == written.split()


@pytest.mark.parametrize(
    ("style", "values", "written"),
    [
        ("bullet", (1,), [""]),
        ("upperLetter", (1, 26, 27, 52, 53), ["A", "Z", "AA", "ZZ", "AAA"]),
        ("lowerLetter", (2,), ["b"]),
        ("lowerRoman", (4,), ["iv"]),
        ("chineseCounting", (12,), ["十二"]),
        ("ideographTraditional", (1, 10, 11), ["甲", "癸", "11"]),
        ("decimalEnclosedCircle", (1, 20, 21), ["①", "⑳", "21"]),
        ("decimalFullWidth", (10,), ["１０"]),
        ("decimalZero", (9, 10), ["09", "10"]),
        ("decimal", (7,), ["7"]),
    ],
)
def test_the_formats_of_word(style, values, written):
    assert [format_number(value, style) for value in values] == written


def test_a_damaged_number_is_none():
    def stated(text: str, base: int = 10) -> int | None:
        return integer(etree.fromstring(f'<a xmlns:w="{W[1:-1]}" w:val="{text}"/>'), "val", base)

    texts = ("0", "12", "-1", "1114111", "1114112", "x", "")
    assert [stated(text) for text in texts] == [0, 12, None, 1114111, None, None, None]
    assert (stated("1F", 16), docx_numbering.integer(None, "val")) == (31, None)
