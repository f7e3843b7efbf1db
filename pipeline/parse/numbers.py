"""Numbers at the starts of lines that may number questions, in every style of printing them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from pipeline.parse.text import true_digits
from pipeline.patterns import Patterns

_P = Patterns("numbers")


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


CIRCLED_DIGITS = _P.whole("@circled_digits@")
_CIRCLED = {digit: value for value, digit in enumerate(CIRCLED_DIGITS, 1)}

SPANNED = 0.7
"""The weight of such a span: less than a number with a dot, as ranges begin lines of text too."""
_FORMS = [(NumberStyle(row["style"]), row["weight"], re.compile(row["pattern"])) for row in _P.rows("forms")]


def number_candidate(line: int, text: str) -> NumberCandidate | None:
    """The likeliest question number at the start of ``text``, if it could be one."""
    given = _P.given.match(text)
    before = given or _P.starred.match(text)
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
    several = _P.pair.match(text) or _P.span.match(text)
    if several and int(several[1]) < int(several[2]) <= int(several[1]) + (1 if _P.pair.match(text) else 9):
        return NumberCandidate(line, int(several[1]), NumberStyle.DOT, several.end(), 1.1, int(several[2]))
    titled = _P.title_span.match(text)
    if titled and int(titled[1]) < int(titled[2]) <= int(titled[1]) + 9:
        return NumberCandidate(line, int(titled[1]), NumberStyle.TITLE, titled.end(), 2.5, int(titled[2]))
    several = _P.span_of_item.match(text)
    if several and int(several[1]) < int(several[2]) <= int(several[1]) + 4:
        return NumberCandidate(
            line, int(several[1]), NumberStyle.DOT, several.end(), SPANNED, int(several[2])
        )
    for habit, weight, form in _FORMS:
        found = form.match(text)
        if found and 0 < int(found[1]) < 5000:
            value = int(found[1])
            return NumberCandidate(
                line, value, habit, found.end(), weight if value < 1000 else weight / 2, value
            )
    return None
