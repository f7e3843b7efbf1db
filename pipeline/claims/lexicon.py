"""The words of the grammar, one character each, and their places in a text.

``<ANSWER>`` in a pattern stands for the character of that word.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from re import _parser  # type: ignore[attr-defined]  # what a pattern can begin with stands in no public place
from typing import Any

_CLASSES = {"CATEGORY_SPACE": " \t\n\r\f\v", "CATEGORY_DIGIT": "0123456789"}
_ANY = "\x00"  # stands for every character
_WIDE = 200  # characters of a range from which on it stands for every one: [가-힣]


class Token(StrEnum):
    """A kind of word, sign or mention; the words of each are rows of ``patterns.toml``."""

    ANSWER = "K"  # 答案, the correct answer
    NO_ANSWER = "Z"  # 干扰项, the wrong answer
    CHOOSE = "C"  # 故选, I would go with
    ASKED = "S"  # 正确的是, 只有
    BEST = "M"  # the most likely diagnosis
    ALL = "A"  # 以上都是
    EXCEPT = "E"  # 除…外
    OTHERS = "O"  # 其余
    RIGHT = "R"
    WRONG = "W"
    UNASKED = "U"  # 错误的是
    STATEMENT = "D"  # 的说法, before a verdict
    EXCLUDE = "X"  # 排除
    NOT = "n"
    IF = "q"
    SOMEBODY = "o"  # 有人, many students
    AT_FIRST = "p"
    PERHAPS = "h"
    RETRACT = "V"  # 不对, wait
    RATHER = "B"  # 更正为, but rather
    BUT = "b"
    BETTER = "G"
    FIRST_CHOICE = "F"  # 为首选
    BEATS = ">"  # 优于
    LOSES = "<"  # 不如
    HENCE = "c"
    IS = "i"
    SUGGESTS = "s"  # 提示, is classic for
    COMMA = ","
    STOP = "."
    LINE = "/"
    COLON = ":"
    LETTERS = "L"  # a mention by letter
    TEXT = "T"  # a mention by an option's text
    SMALL = "l"  # the same where it may be an ordinary word
    ORDINARY = "t"
    SHORT = "x"  # a few other characters
    LONG = "y"  # more


NAMES = {token.name: re.escape(token.value) for token in Token}


class WordFinder:
    """Patterns that are tried in their order: at each place those that can begin with its two characters.

    None is tried within an English word. Trying all of them everywhere gives the same and takes five times as long.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self._match = [re.compile(pattern, re.ASCII).match for pattern in patterns]
        rows: dict[str, set[int]] = defaultdict(set)  # by the first character, and by the first two
        for at, pattern in enumerate(patterns):
            for begins in beginnings_of(pattern):
                assert begins[:1] not in ("", _ANY), "a word that may be empty, or begin with anything"
                rows[begins].add(at)
        self._rows = {begins: sorted(places | rows.get(begins[0], set())) for begins, places in rows.items()}
        alike: dict[str, str] = defaultdict(str)  # first characters, by what must follow them
        for first in {begins[0] for begins in rows}:
            then = sorted(begins[1:] for begins in rows if begins[0] == first)
            # one look at the table is as fast for other scripts
            alike[f"(?=[{re.escape(''.join(then))}])" if then[0] and first.isascii() else ""] += first
        forms = "|".join(f"[{re.escape(firsts)}]{then}" for then, firsts in alike.items())
        self._find = re.compile(f"(?:(?<![A-Za-z])|(?![A-Za-z]))(?:{forms})").search

    def words(self, text: str) -> Iterator[tuple[int, int, int]]:
        """Yield the words of a text, in order: the place of its pattern, start, end."""
        end = 0
        while begins_at := self._find(text, end):
            start, end = begins_at.start(), begins_at.end()
            for at in self._rows.get(text[start : start + 2]) or self._rows.get(begins_at[0], []):
                if match := self._match[at](text, start):
                    yield at, start, (end := match.end())
                    break


def beginnings_of(pattern: str) -> set[str]:
    """Return the first two characters of what a pattern may match, one where any may follow, none where any begins."""
    return {begins.rstrip(_ANY) for begins in _beginnings(_parser.parse(pattern, re.ASCII))}


def _beginnings(parts: Any, folded: bool = False) -> set[str]:
    """Return the first two characters of what a parsed pattern may match; fewer where anything may follow."""
    beginnings = {""}
    for operator, value in parts:
        if any(len(beginning) < 2 for beginning in beginnings):
            beginnings = _joined(beginnings, _of_part(operator.name, value, folded))
    return beginnings


def _joined(first: Iterable[str], after: Iterable[str]) -> set[str]:
    return {(before + following)[:2] for before in first for following in after}


def _of_part(operator: str, value: Any, folded: bool) -> set[str]:
    if operator in ("AT", "ASSERT", "ASSERT_NOT"):
        return {""}
    if operator == "SUBPATTERN":
        _, on, off, inner = value
        return _beginnings(inner, (folded or bool(on & re.IGNORECASE)) and not off & re.IGNORECASE)
    if operator == "ATOMIC_GROUP":
        return _beginnings(value, folded)
    if operator == "BRANCH":
        return {begins for inner in value[1] for begins in _beginnings(inner, folded)}
    if operator in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        once = _beginnings(value[2], folded)
        return once | _joined(once, once) | ({""} if value[0] == 0 else set())
    members = value if operator == "IN" else [(operator, value)]
    chars = {char for kind, member in members for char in _characters(str(kind), member)}
    return {_ANY} if _ANY in chars else chars | {char.swapcase() for char in chars if folded and char.isascii()}


def _characters(kind: str, value: Any) -> str:
    """Return the characters of a member of a class."""
    if kind == "RANGE" and value[1] - value[0] < _WIDE:
        return "".join(map(chr, range(value[0], value[1] + 1)))
    return chr(value) if kind == "LITERAL" else _CLASSES.get(str(value), _ANY)
