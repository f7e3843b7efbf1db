"""Encodings of text files, and lines of text."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from build_dataset.pipeline.ocr.emphasis import CHOSEN
from build_dataset.pipeline.ocr.model import PageLine
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers.encoding import (
    TextReader,
    begins_as_html,
    decode,
    looks_like_text,
    plausibility,
)
from build_dataset.schemas.errors import UnreadableDocument

Flips = Callable[[Callable[[int], object], Sequence[int]], list[object]]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("题干".encode(), "题干"),
        ("题干".encode("utf-8-sig"), "题干"),
        ("题干".encode("utf-16"), "题干"),
        (b"\xfe\xff" + "题干".encode("utf-16-be"), "题干"),
        ("下列正确的是".encode("gb18030"), "下列正确的是"),
        ("下列敘述何者正確".encode("big5"), "下列敘述何者正確"),
        ("Opción correcta: sí".encode("cp1252"), "Opción correcta: sí"),
        ("次のうち正しいものはどれか".encode("cp932"), "次のうち正しいものはどれか"),
        ("다음 중 옳은 것은".encode("cp949"), "다음 중 옳은 것은"),
        (b"", ""),
        (b"plain", "plain"),
    ],
)
def test_text_is_read_in_its_own_encoding(data: bytes, text: str) -> None:
    assert decode(data) == text


@pytest.mark.parametrize(
    "data", [b"\xff\xff\x81,A", b"a\0b", b"\xff\xfea", "鱻麤龘".encode("gb18030"), b"\xef\xbb\xbf\xff"]
)
def test_text_in_no_encoding_is_refused(data: bytes) -> None:
    with pytest.raises(UnreadableDocument, match="in no encoding that is known"):
        decode(data)


def test_an_encoding_is_judged_by_the_first_twenty_thousand_characters() -> None:
    assert plausibility("的" * 20_000 + "鱻" * 9) == 1.0
    assert plausibility("的" * 19_999 + "鱻" * 9) == 19_999 / 20_000
    assert plausibility("a" * 20_000 + "鱻") == 1.0
    assert plausibility("a" * 19_999 + "鱻") == 0.0


def test_signs_of_an_encoding_are_counted_among_the_first_characters_alone() -> None:
    """Kana behind the sample tell nothing: a fifth of it must be kana."""

    def japanese(kana: int, other: int, behind: str) -> bool:
        text = "の" * kana + "亜" * other + behind
        try:
            return decode(text.encode("cp932")) == text
        except UnreadableDocument:
            return False

    assert [japanese(kana, 20_000 - kana, "の") for kana in (3_999, 4_000)] == [False, True]


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("", 1.0),
        ("的鱻", 0.5),
        ("的鱻鱻鱻", 0.25),
        ("\u3000\u303f\uff00\uffef", 1.0),
        ("\u2fff\u3040\ufeff\ufff0", 0.0),
    ],
)
def test_a_share_of_characters_beyond_ascii_is_common(text: str, share: float) -> None:
    assert plausibility(text) == share


def test_control_bytes_are_counted_among_the_first_four_thousand(flips: Flips) -> None:
    def few(length: int) -> Callable[[int], bool]:
        return lambda count: looks_like_text(b"\1" * count + b"a" * (length - count))

    assert [flips(few(length), range(30)) for length in (100, 999, 1000, 2000, 4096, 8192)] == [
        *([5], [5], [6], [11], [21], [21])
    ]
    body = b"\1" * 20 + b"a" * 4075
    assert [looks_like_text(body + behind) for behind in (b"a\1\1", b"\1a", b"\1")] == [True, False, False]
    assert [looks_like_text(bytes([byte]) * 9) for byte in (8, 9, 13, 14, 31, 32)] == [
        *(False, True, True, False, False, True)
    ]
    assert [looks_like_text(head) for head in (b"", b"a\0", b"\xff\xfea\0", b"\xef\xbb\xbf\1\1\1\1\1")] == [
        *(True, False, True, True)
    ]


@pytest.mark.parametrize(
    ("head", "page"),
    [
        (b"<!DOCTYPE html>", True),
        (b"<!doctype HTML", True),
        (b"<html>", True),
        (b"\xef\xbb\xbf \n<HTML lang=zh>", True),
        (b"<!doctype htm", False),
        (b"<!doctype svg>", False),
        (b"<htm", False),
        (b"x<html>", False),
    ],
)
def test_a_web_page_is_told_by_its_beginning(head: bytes, page: bool) -> None:
    assert begins_as_html(head) == page
    assert TextReader().recognises(head, ".txt") == (not page)
    assert not TextReader().recognises(head, ".csv")


def test_lines_of_a_text_file_are_those_with_something_on_them(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(" 1. 题干 \n\n\u3000\nA.甲    B.乙\r\n", encoding="utf-8")
    assert TextReader().lines(path) == [PageLine("1. 题干", None), PageLine("A.甲\tB.乙", None)]
    assert TextReader().count_pages(path, OcrParams()) == 1
    assert not TextReader().recognises(b"a\0", ".txt")


def test_options_of_a_text_that_tags_underline_are_set_apart(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text(
        "1. 脾的功能是\nA. 藏血\n<u>B. 统血</u>\nC. 藏精\n2. <b>肝</b>的功能是\nA. 藏血\nB. x<u>y", encoding="utf-8"
    )
    shown = ["1. 脾的功能是", "A. 藏血", f"B. 统血{CHOSEN}", "C. 藏精", "2. 肝的功能是", "A. 藏血", "B. x<u>y"]
    assert [line.text for line in TextReader().lines(path)] == shown
