"""Characters: widths folded where they carry no meaning, private-use labels read, lines joined to paragraphs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from pipeline.characters import COMPATIBILITY, INVISIBLE, WIDE

CJK = r"\u3400-\u4dbf\u4e00-\u9fff"

_FOLDED = {
    **COMPATIBILITY,
    **WIDE,
    0xFF03: "#",
    0xFF0A: "*",
    0x00A0: " ",
    0x2002: " ",
    0x2003: " ",
    0x3000: " ",
    **dict.fromkeys(INVISIBLE, ""),
    **{code: "" for code in range(0x20) if code not in (0x09, 0x0A)},
}
"""Letters, digits and spaces lose their width; punctuation keeps it: it is what the paper prints."""

_CONFUSED = re.compile(
    r"(?<![A-Za-z0-9])(?:(?=[lIO|]?\d|[lI|]O)[lIO|\d]{2,3}|^\s*[l|])"
    r"(?=\s?[.．、,，~～\-—]|\s+[A-K]{2})"
)
_DIGITS = str.maketrans("lI|O", "1110")
_WIDE_GAP = re.compile(r"(?<! ) {3,}(?=[(（]?[A-K][.．、)）])")
_LONG_GAP = re.compile(r"([ \t]{40})[ \t]+")
"""A gap wider than a blank to write in: expressions with several gaps take minutes over thousands of spaces."""
_PRIVATE_LABEL = re.compile(r"(?:^|(?<=\s))([\ue000-\uf8ff])")
_LATIN_END = re.compile(r"[A-Za-z0-9,;:.?!)%\"'”]$")
_LATIN_START = re.compile(r"[A-Za-z0-9(\"'“]")
_ENUMERATOR = re.compile(
    r"(?:[\u2460-\u2473\u2160-\u2169]|[(（]\d{1,2}[)）]|[IVX]{1,4}[.．、]|\d{1,2}[.．、](?![\d.])|(?:甲|乙|丙|丁)[.．、:：])"
)
_LATIN = r"[^\u3400-\u9fff]{0,200}"
_NAME = r"[A-Za-z_][A-Za-z0-9_.]{0,60}"
_CODE = re.compile(
    rf"(?:def|class|for|while|if|elif|except|with)\b(?=.*(?:[=<>(\[]| in )){_LATIN}[:;{{)]$|(?:else|try)\s?:$"
    rf"|#include\b|[{{}}]\s?;?$"
    rf"|{_NAME}(?:[\[,' ]{_LATIN})?\s?[-+*/%]?=(?!=)\s?[-\w'\"\[({{]{_LATIN}$|{_NAME}\({_LATIN}\);?$"
)
"""A line of a program, whose end is part of what it says: lst = [4, 6], print(lst), for i in range(3):."""
_SPACES = re.compile(r"(?<![（( ])[ \t]+|(?<=[（(])[ \t]+(?![ \t）)])|(?<=[（(])\t+")
"""White space that becomes one space; a blank （　　） keeps its width."""


def fold(text: str) -> str:
    """Fold widths of letters, digits and spaces, drop control characters, undo compatibility ideographs.

    Punctuation, circled digits, superscripts and units stay as they are printed.
    """
    narrow = _LONG_GAP.sub(r"\1", text.translate(_FOLDED))
    return _WIDE_GAP.sub("\t", narrow).strip(" \r\n")


def true_digits(text: str) -> str:
    """Letters that stand for digits in numbers read from an image (``l0.``, ``1O.``), as digits; same length."""
    return _CONFUSED.sub(lambda found: found[0].translate(_DIGITS), text)


def private_labels(texts: Iterable[str]) -> dict[int, str]:
    """Which private-use characters are option labels, as a table for ``str.translate``.

    Labels are glyphs of consecutive code points that stand at the start of segments about equally often.
    """
    seen: Counter[int] = Counter()
    for text in texts:
        seen.update(ord(found[1]) for found in _PRIVATE_LABEL.finditer(text))
    table: dict[int, str] = {}
    for run in _runs(sorted(seen)):
        counts = [seen[code] for code in run]
        labels = next((k for k in range(len(run), 2, -1) if min(counts[:k]) * 2 >= max(counts[:k])), 0)
        table.update({code: f"{chr(65 + i)}." for i, code in enumerate(run[:labels])})
    return table


def _runs(codes: list[int]) -> Iterable[list[int]]:
    run: list[int] = []
    for code in codes:
        if run and code != run[-1] + 1:
            yield run
            run = []
        run.append(code)
    if run:
        yield run


def join_lines(text: str) -> str:
    """One paragraph from lines: no space between Chinese characters, one between words, lists keep their lines."""
    lines = [line.strip() for line in text.split("\n")]
    out = ""
    previous = ""
    for line in lines:
        if not line:
            continue
        out += _joint(previous, line) if out else ""
        out += line
        previous = line
    return _clean(out)


def _joint(before: str, after: str) -> str:
    if ("\t" in before and "\t" in after) or _ENUMERATOR.match(after) or _CODE.match(after):
        return "\n"
    if before.endswith("-") and len(before) > 1 and before[-2].isascii() and before[-2].isalpha():
        return ""
    if _LATIN_END.search(before) and _LATIN_START.match(after):
        return " "
    return ""


def _clean(text: str) -> str:
    return "\n".join(_SPACES.sub(" ", line).strip() for line in text.split("\n"))
