"""The words of the grammar, one character each (``<ANSWER>`` in a pattern), and their places in a text."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from re import _parser  # type: ignore[attr-defined]  # what a pattern can begin with stands in no public place
from typing import Any

from build_dataset.schemas.grouping import group_values

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
    """Patterns that are tried in their order: at each place those that can begin with its first characters.

    None is tried within an English word. Trying all of them everywhere gives the same and takes five times as long.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self._match = [re.compile(pattern, re.ASCII).match for pattern in patterns]
        rows: dict[str, set[int]] = defaultdict(set)  # by the first characters: at most three, of Chinese two
        for at, pattern in enumerate(patterns):
            for begins in beginnings_of(pattern, 3):
                assert begins[:1] not in ("", _ANY), "a word that may be empty, or begin with anything"
                rows[begins].add(at)
        self._rows = {it: sorted(at.union(rows.get(it[:1], ()), rows.get(it[:2], ()))) for it, at in rows.items()}
        alike: dict[str, str] = defaultdict(str)  # first characters, by what must follow them
        for first, then in group_values(sorted({(begins[0], begins[1:2]) for begins in rows})).items():
            # one look at the table is as fast for other scripts
            alike[f"(?=[{re.escape(''.join(then))}])" if then[0] and first.isascii() else ""] += first
        forms = "|".join(f"[{re.escape(firsts)}]{then}" for then, firsts in alike.items())
        self._find = re.compile(f"(?<![A-Za-z](?=[A-Za-z]))(?:{forms})").search

    def words(self, text: str) -> Iterator[tuple[int, int, int]]:
        """Yield the words of a text, in order: the place of its pattern, start, end."""
        end, rows = 0, self._rows.get
        while begins_at := self._find(text, end):
            start, end = begins_at.start(), begins_at.end()
            for at in rows(text[start : start + 3]) or rows(text[start : start + 2]) or rows(text[start], []):
                if match := self._match[at](text, start):
                    yield at, start, (end := match.end())
                    break


def beginnings_of(pattern: str, size: int = 2) -> set[str]:
    """Return the first characters of what a pattern may match: fewer where any may follow, none where any begins."""
    return {begins.partition(_ANY)[0] for begins in _beginnings(_parser.parse(pattern, re.ASCII), size)}


def _beginnings(parts: Any, size: int, folded: bool = False) -> set[str]:
    """Return the first characters of what a parsed pattern may match; fewer where anything may follow."""
    beginnings = {""}
    for operator, value in parts:
        if any(_open(beginning, size) for beginning in beginnings):
            beginnings = _joined(beginnings, _of_part(operator.name, value, size, folded), size)
    return beginnings


def _joined(first: Iterable[str], after: Iterable[str], size: int) -> set[str]:
    return {(begins + then)[:size] for begins in first for then in (after if _open(begins, size) else ("",))}


def _open(begins: str, size: int) -> bool:
    """Return whether a beginning may be longer; of Chinese two characters are enough."""
    return len(begins) < (size if begins.isascii() else 2) and _ANY not in begins


def _of_part(operator: str, value: Any, size: int, folded: bool) -> set[str]:
    if operator in ("AT", "ASSERT", "ASSERT_NOT"):
        return {""}
    if operator == "SUBPATTERN":
        _, on, off, inner = value
        return _beginnings(inner, size, (folded or bool(on & re.IGNORECASE)) and not off & re.IGNORECASE)
    if operator == "ATOMIC_GROUP":
        return _beginnings(value, size, folded)
    if operator == "BRANCH":
        return {begins for inner in value[1] for begins in _beginnings(inner, size, folded)}
    if operator in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        once = twice = _beginnings(value[2], size, folded)
        for _ in range(min(size, value[1]) - 1):
            twice = twice | _joined(once, twice, size)
        return twice | ({""} if value[0] == 0 else set())
    members = value if operator == "IN" else [(operator, value)]
    chars = {char for kind, member in members for char in _characters(str(kind), member)}
    return {_ANY} if _ANY in chars else chars | {char.swapcase() for char in chars if folded and char.isascii()}


def _characters(kind: str, value: Any) -> str:
    """Return the characters of a member of a class."""
    if kind == "RANGE" and value[1] - value[0] < _WIDE:
        return "".join(map(chr, range(value[0], value[1] + 1)))
    return chr(value) if kind == "LITERAL" else _CLASSES.get(str(value), _ANY)
