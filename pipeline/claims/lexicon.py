"""The words of the grammar in a text. At each place only those are tried that can begin with its two characters."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from re import _parser  # type: ignore[attr-defined]  # what a pattern can begin with stands in no public place
from typing import Any

_CLASSES = {
    "CATEGORY_SPACE": " \t\n\r\f\v",
    "CATEGORY_DIGIT": "0123456789",
    "CATEGORY_WORD": "_0123456789" + "".join(chr(code) + chr(code + 32) for code in range(65, 91)),
}
_ANY = "\x00"  # stands for every character
_WIDE = 200  # characters of a range from which on it stands for every one: [가-힣]


class Lexicon:
    """Patterns that are tried in their order, by what they can begin with.

    None is tried within an English word. Trying all of them everywhere gives the same and takes ten times as long.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self._match = [re.compile(pattern, re.ASCII).match for pattern in patterns]
        rows: dict[str, set[int]] = defaultdict(set)  # by the first character, and by the first two
        for at, pattern in enumerate(patterns):
            for begins in _beginnings(_parser.parse(pattern, re.ASCII)):
                assert begins[:1] not in ("", _ANY), "a word that may be empty, or begin with anything"
                rows[begins.rstrip(_ANY)].add(at)
        self._rows = {begins: sorted(found | rows.get(begins[0], set())) for begins, found in rows.items()}
        self._find = re.compile(_finds(self._rows)).search

    def words(self, text: str) -> Iterator[tuple[int, int, int]]:
        """Yield the words of a text, in order: the place of its pattern, start, end."""
        end = 0
        while found := self._find(text, end):
            start, end = found.start(), found.end()
            for at in self._rows.get(text[start : start + 2]) or self._rows.get(found[0], []):
                if match := self._match[at](text, start):
                    yield at, start, (end := match.end())
                    break


def _finds(rows: Iterable[str]) -> str:
    """Return the pattern of a character with which one of the ``rows`` may begin."""
    after: dict[str, set[str]] = defaultdict(set)
    for begins in rows:
        after[begins[0]].add(begins[1:])
    alike: dict[str, str] = defaultdict(str)  # first characters, by those that may follow
    for first, then in after.items():
        plain = "" in then or first > "\x7f"  # one look at the table is as fast for other scripts
        alike["" if plain else f"(?=[{re.escape(''.join(sorted(then)))}])"] += first
    forms = [f"[{re.escape(firsts)}]{following}" for following, firsts in alike.items()]
    return f"(?:(?<![A-Za-z])|(?![A-Za-z]))(?:{'|'.join(forms)})"


def _beginnings(parts: Any, folded: bool = False) -> set[str]:
    """Return the first two characters of what a parsed pattern may match; fewer where anything may follow."""
    found = {""}
    for operator, value in parts:
        if any(len(one) < 2 for one in found):
            found = _joined(found, _of_part(operator.name, value, folded))
    return found


def _joined(first: Iterable[str], after: Iterable[str]) -> set[str]:
    return {(one + other)[:2] for one in first for other in after}


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
    one = _characters(value) if operator == "IN" else {chr(value)} if operator == "LITERAL" else {_ANY}
    return one | {char.swapcase() for char in one if char.isascii()} if folded else one


def _characters(members: Iterable[Any]) -> set[str]:
    """Return the characters of a class."""
    found: set[str] = set()
    for operator, value in members:
        if operator.name == "LITERAL":
            found.add(chr(value))
        elif operator.name == "RANGE" and value[1] - value[0] < _WIDE:
            found |= {chr(code) for code in range(value[0], value[1] + 1)}
        elif value in _CLASSES or getattr(value, "name", "") in _CLASSES:
            found |= {*_CLASSES[value.name]}
        else:
            return {_ANY}
    return found
