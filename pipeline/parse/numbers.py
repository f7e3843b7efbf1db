"""Numbers at the starts of lines that may number questions, in every style of printing them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from pipeline.parse.text import CJK, true_digits


class NumberStyle(StrEnum):
    """A style of printing question numbers."""

    DOT = "dot"
    PAREN = "paren"
    TITLE = "title"
    BRACKET = "bracket"
    CIRCLED = "circled"
    BARE = "bare"


@dataclass(frozen=True, slots=True)
class NumberCandidate:
    """A place that may be the start of a question."""

    line: int
    """Index of its piece."""
    value: int
    style: NumberStyle
    end: int
    """The place at which the rest of the line begins."""
    weight: float
    """The likelihood of a question number by the place alone, about 0 to 1.2."""
    last: int
    """The last number where it covers several (2.3. or 18~21.); otherwise its value."""
    supported: bool = False
    """True if options or an answer follow it before the next number."""
    options: bool = False
    """True if options do."""
    given: str | None = None
    """The letters in the bracket before the number, as in （C）1."""
    worded: bool = False
    """True if it numbers an item that is to be answered in words."""


_CIRCLED = {
    **{chr(0x2460 + i): i + 1 for i in range(20)},
    **{chr(0x3251 + i): i + 21 for i in range(15)},
    **{chr(0x32B1 + i): i + 36 for i in range(15)},
}
CIRCLED_DIGITS = "".join(_CIRCLED)

_PAIR = re.compile(r"\s*(\d{1,4})\s?[.．、]\s?(\d{1,4})\s?[.．、]\s*(?!\d)")
_SPAN = re.compile(r"\s*[(（]?(\d{1,4})\s*[~～\-－—–至]\s*(\d{1,4})[)）]?\s?[.．、]\s*(?!\d)")
_TITLE_SPAN = re.compile(
    r"\s*[【\[]?第\s?(\d{1,4})\s?(?:[题題]\s?)?[~～\-－—–至、]\s?(?:第\s?)?(\d{1,4})\s?[题題][】\]]?\s*$"
)
"""第4-5题 alone on its line: an item of two questions, unless the number 4 follows."""
_SPAN_OF_ITEM = re.compile(
    rf"\s*(\d{{1,3}})[~～\-－—–](\d{{1,3}})\s?(?=[{CJK}])(?!岁|歲|个|個|年|月|日|天|周|小时|分|次|倍|例|名|位|级|題|题|道|型|种|层|条)"
)
"""15-16在…时，（15）…（16）: an item of several questions, without a dot; 3-5岁 is none."""
SPANNED = 0.7
"""The weight of such a span: less than a number with a dot, as ranges begin lines of text too."""
QUANTITY = -0.2
"""The weight of a quantity at the start of a line (15.2×10⁹/L, 30 mg): it numbers a question where one is missing."""
_UNIT = r"(?:×|mg|ml|mL|kg|g|cm|mm|μ|u|%|％|mmol|L|m²|m2|℃|°|[~～-]\s*\d)"
_COUNTED = r"(?:岁|歲|个|個|名|例|位|年|月|天|日)"
_PERIOD = r"\d*\s*(?:年|月|日|岁|歲|个|個|天|小时|分|次|周|例|名|位|种|型)"
_FORMS: tuple[tuple[NumberStyle, float, str], ...] = (
    # 【第1题】
    (NumberStyle.TITLE, 1.2, r"[【\[]\s*第\s*(\d{1,4})\s*[题題]\s*[】\]]\s*[.．、:：]?\s*"),
    # 第1题, but not the note 第1题一律给分
    (NumberStyle.TITLE, 1.2, r"第\s*(\d{1,4})\s*[题題]\s*[.．、:：]?\s*(?!.{0,12}(?:给分|給分|更正|送分))"),
    # 第1问
    (NumberStyle.TITLE, 0.9, r"第\s*(\d{1,2})\s*[问問]\s*[.．、:：]\s*"),
    # Question 1, Q1, No. 1, 单选题1, 判断题1
    (
        NumberStyle.TITLE,
        1.2,
        r"(?i:Question|[单單多][选選项項]*题|判断题|Q|No\.?)\s*(\d{1,4})\s*[.．、:：]?\s*(?![~～\-—、，,])",
    ),
    # 试题1, 题目1, 题1, but not 试题1分析
    (
        NumberStyle.TITLE,
        1.2,
        r"(?:[试試][题題]|[题題]目|问题|問題|[题題])\s*+[(（]?\s*+(\d{1,4})\s*[)）]?\s*[.．、:：]?\s*(?![~～\-—、，,]|.?分析)",
    ),
    # 【1】 [1]
    (NumberStyle.BRACKET, 1.1, r"[【\[〔]\s*(\d{1,4})\s*[】\]〕]\s*[.．、]?\s*"),
    # 1. 1、 1．; before a number only 1.25岁 and, less likely, 1.25; then 1.5 mg
    (NumberStyle.DOT, 1.0, r"(\d{1,4})\s?[.．、]\s*(?!\d)"),
    (NumberStyle.DOT, 0.9, rf"(\d{{1,4}})[.．、]\s*(?=\d+\s*{_COUNTED})"),
    (NumberStyle.DOT, 0.6, rf"(\d{{1,4}})[.．、](?=\d)(?!\d+(?:\.\d+)?\s*{_UNIT})"),
    (NumberStyle.DOT, QUANTITY, r"(\d{1,4})[.．](?=\d)"),
    # 1, 1) 1：
    (NumberStyle.DOT, 0.6, r"(\d{1,4})\s?[,，](?!\d{3})\s*"),
    (NumberStyle.DOT, 0.7, r"(\d{1,4})\s?[)）](?![-−–])\s*"),
    (NumberStyle.DOT, 0.6, r"(\d{1,4})\s?[:：]\s*(?!\d)"),
    # （1）A. and, less likely, （1）
    (NumberStyle.PAREN, 1.1, r"[(（]\s*(\d{1,4})\s*[)）]\s*(?:[·•‧∙.．,，、'`]\s*)?(?=[A-K][.．、])"),
    (NumberStyle.PAREN, 0.6, r"[(（]\s*(\d{1,4})\s*[)）]\s*[.．、]?\s*"),
    # 1 alone, in a cell, before a unit, before digits, before words, touching a word
    (NumberStyle.BARE, 0.45, r"(\d{1,3})\s*$"),
    (NumberStyle.BARE, 0.7, r"(\d{1,3})\t\s*(?=\S)"),
    (NumberStyle.BARE, QUANTITY, rf"(\d{{1,3}}) +(?={_UNIT}|mm|次|h\b|min)"),
    (NumberStyle.BARE, 0.3, r"(\d{1,3}) +(?=\d)"),
    (NumberStyle.BARE, 0.6, r"(\d{1,3}) +(?=[^\W\d_]|[(（「【“\"])"),
    (NumberStyle.BARE, 0.3, rf"(\d{{1,3}})(?=[{CJK}「『“])(?!{_PERIOD})"),
)
"""Styles of numbers with their weights, likeliest reading first; the first that fits counts."""
_COMPILED = tuple((habit, weight, re.compile(rf"\s*{form}")) for habit, weight, form in _FORMS)

_GIVEN = re.compile(
    r"\s*(?:[(（【\[]\s*([A-K](?:\s*+[、,，]?\s*+[A-K])*)?\s*[)）】\]]|([A-K])(?=\t|\s{2}))\s*"
    r"(?=\d{1,3}\s?[.．、)）]|[(（【\[]\d{1,3}[)）】\]]|第\d{1,3}[题題]|题\d{1,3}\s)"
)
"""An answer, or the room for it, before the number: （C）1. (  )2."""
_STARRED = re.compile(r"\s*[*※★☆▲△]\s*(?=\d)")


def number_candidate(line: int, text: str) -> NumberCandidate | None:
    """The likeliest question number at the start of ``text``, if it could be one."""
    given = _GIVEN.match(text)
    before = given or _STARRED.match(text)
    start = before.end() if before else 0
    mark = _mark(line, true_digits(text[start:]))
    if mark is None or not before:
        return mark
    letters = re.sub(r"[^A-K]", "", (given[1] or given[2] or "") if given else "")
    return replace(mark, end=mark.end + start, given=letters or None)


def _mark(line: int, text: str) -> NumberCandidate | None:
    first = text.lstrip()[:1]
    if first in _CIRCLED:
        end = text.index(first) + 1
        return NumberCandidate(line, _CIRCLED[first], NumberStyle.CIRCLED, end, 0.3, _CIRCLED[first])
    if not first.isdigit() and first not in "第试試问問题題【[〔(（QqNn单單多判":
        return None
    several = _PAIR.match(text) or _SPAN.match(text)
    if several and int(several[1]) < int(several[2]) <= int(several[1]) + (1 if _PAIR.match(text) else 9):
        return NumberCandidate(line, int(several[1]), NumberStyle.DOT, several.end(), 1.1, int(several[2]))
    titled = _TITLE_SPAN.match(text)
    if titled and int(titled[1]) < int(titled[2]) <= int(titled[1]) + 9:
        return NumberCandidate(line, int(titled[1]), NumberStyle.TITLE, titled.end(), 2.5, int(titled[2]))
    several = _SPAN_OF_ITEM.match(text)
    if several and int(several[1]) < int(several[2]) <= int(several[1]) + 4:
        return NumberCandidate(
            line, int(several[1]), NumberStyle.DOT, several.end(), SPANNED, int(several[2])
        )
    for habit, weight, form in _COMPILED:
        found = form.match(text)
        if found and 0 < int(found[1]) < 5000:
            value = int(found[1])
            return NumberCandidate(
                line, value, habit, found.end(), weight if value < 1000 else weight / 2, value
            )
    return None
