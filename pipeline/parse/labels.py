"""Labels of options: their alphabet, what folds to it, and the places in a text that may be labels."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from build_dataset.pipeline.parse.folding import READ
from build_dataset.pipeline.patterns import Patterns

_P = Patterns(__name__)
LABELS = "ABCDEFGHIJK"
LABEL = _P.whole("[@label@]")  # a pattern
OPEN, CLOSE, AFTER = (_P.whole(f"@{name}@") for name in ("open", "close", "after"))
"""Brackets around a label in a cell, and the end of one: A. A、 A: A) A - ."""


class Form(StrEnum):
    """A style of printing labels."""

    DOTTED = "dotted"
    PAREN = "paren"
    CIRCLED = "circled"
    COMMA = "comma"
    LOWER = "lower"
    BARE = "bare"


class OptionLabel(NamedTuple):
    """A place that may be an option's label."""

    letter: str
    start: int
    end: int
    form: Form
    strength: float  # 0..3: how much place and form look like a label


_WEAKER = {Form.COMMA: 0.6, Form.LOWER: 0.7, Form.BARE: 1.0}
"""Strength that labels of a form lack: A, a. and A alone are less often labels than A. (A) and Ⓐ."""
_CIRCLED_STARTS = (0x24B6, 0x24D0, 0x249C, 0x1F110, 0x1F150)  # Ⓐ ⓐ ⒜ 🄐 🅐
_APART = " \t\n。；;，,、/|$"  # signs after which a label stands apart from the option before it
_BEFORE = 64  # characters looked at before a label: no gap is longer than 40; the whole text is quadratic


def label_at(place: int) -> str:
    """Return the label of the option at a place from 0: A, B, C …."""
    return chr(65 + place)


def label_after(label: str) -> str:
    """Return the next label; of a number the next number."""
    return chr(ord(label) + 1)


def run_from_a(labels: Sequence[str]) -> bool:
    """Return whether labels are A, B, C … without a gap."""
    return all(label == label_at(place) for place, label in enumerate(labels))


def labels_in(text: str) -> list[str]:
    """Return the capital letters of a text that can be labels, in its order: A和C gives A, C."""
    return [char for char in text if char in LABELS]


def are_labels(text: str) -> bool:
    """Return whether a text is nothing but such letters: ACD; not for the empty text."""
    return bool(text) and len(labels_in(text)) == len(text) <= len(LABELS)


def ascend(labels: Iterable[str]) -> bool:
    """Return whether labels stand in the order of the alphabet, each once, as those of one answer do: A C D."""
    labels = [*labels]
    return labels == sorted(set(labels))


def folded(sign: str) -> str:
    """Return the letter or number of a sign: that of ⓐ, ⒜ and 🅐 is A, that of ① is 1; ``a`` stays as it is."""
    if sign.isascii():
        return sign
    place = next((ord(sign) - start for start in _CIRCLED_STARTS if 0 <= ord(sign) - start < len(LABELS)), None)
    return unicodedata.normalize("NFKC", sign) if place is None else label_at(place)


def opens_option(text: str) -> bool:
    """Return whether a line begins with what may be the label of an option."""
    return _P.opens_option.match(text) is not None


def has_label(text: str) -> bool:
    """Return whether a clear label of an option stands in a line."""
    return any(label.strength > 2 for label in find_labels(text))


@lru_cache(READ)
def find_labels(text: str, start: int = 0) -> tuple[OptionLabel, ...]:
    """All places that may be labels, in order."""
    labels: dict[int, OptionLabel] = {}
    for match in _P.bare.finditer(text, start):
        _add(labels, text, match.end() - 1, match.end(), match[1] or match[2], Form.BARE)
    named = [match.span() for match in _P.named.finditer(text, start)]
    for match in _P.letter_delimited.finditer(text, start):
        letter = match[1] or match[4] or match[6] or match[8]
        mark = match[3] or match[5] or match[7] or match[9]
        form = Form.LOWER if letter.islower() else Form.COMMA if mark in ",，:：" else Form.DOTTED
        if mark in "、,，" and _inside(named, match.start()):  # 维生素A、维生素D
            continue
        _add(labels, text, match.start(), match.end(), letter.upper(), form)
    for match in _P.paren.finditer(text, start):
        if match[1].islower() and match[0][0] in "[【":  # [a] is a footnote
            continue
        form = Form.LOWER if match[1].islower() else Form.PAREN
        _add(labels, text, match.start(), match.end(), match[1].upper(), form)
        labels.pop(match.start(1), None)
    for match in _P.circled.finditer(text, start):
        _add(labels, text, match.start(), match.end(), folded(match[0]), Form.CIRCLED)
    return tuple(labels[position] for position in sorted(labels))


def _inside(spans: Sequence[tuple[int, int]], place: int) -> bool:
    """Return whether a place lies within one of the spans, which stand in order and apart."""
    before = bisect_left(spans, (place, 0))
    return before > 0 and place < spans[before - 1][1]


def _add(labels: dict[int, OptionLabel], text: str, start: int, end: int, letter: str, form: Form) -> None:
    strength = _place(text, start) - _WEAKER.get(form, 0.0)
    if form is Form.LOWER and strength < 1:  # e.g. b. in running text
        return
    if form is Form.BARE and _P.terms.search(text[max(0, start - _BEFORE) : start].rstrip()[-4:]):
        return
    labels[start] = OptionLabel(letter, start, end, form, strength)


def _place(text: str, position: int) -> float:
    """Return the strength of a place as the start of an option: of a line or column 3, after a space 2, inline 1.5."""
    before = text[max(0, position - _BEFORE) : position]
    bare = before.rstrip(" ")
    if not bare or bare[-1] in "\n\t":
        return 3.0
    if _P.terms.search(bare[-4:]):  # 维生素 A
        return 0.8
    if bare == before and bare[-1].isascii() and bare[-1].isalpha():  # CA. is a word
        return 1.0
    spaces = len(before) - len(bare)
    if spaces:
        return 2.6 if spaces > 1 else 2.0  # 甲  B. 乙; 甲 B. 乙
    return 1.5


def sign_in(mark: re.Match[str]) -> str:
    """Return the letter or number of a label that a pattern matched: the group that is filled, ① as 1."""
    return folded(mark[mark.lastindex or 0])


def label_in(mark: re.Match[str]) -> str:
    """Return the letter or number of a label that a pattern matched, in upper case."""
    return sign_in(mark).upper()


def form_in(mark: re.Match[str]) -> str:
    """Return the style of a label in a cell: A. and B． are of one, A、 a. and ① of others."""
    return _form_of(mark[0], mark[mark.lastindex or 0], circled=mark[4] is not None)


@lru_cache
def _form_of(whole: str, sign: str, *, circled: bool) -> str:
    kind = "①" if circled else "a" if sign.islower() else "1" if sign.isdigit() else "A"
    return kind + unicodedata.normalize("NFKC", whole).replace(unicodedata.normalize("NFKC", sign), "").strip()


def is_apart(text: str, mark: re.Match[str]) -> bool:
    """Return whether a space or a mark between options stands before a label."""
    return not mark.start() or text[mark.start() - 1] in _APART


def ends_term(text: str, mark: re.Match[str]) -> bool:
    """Return whether a letter belongs to the word that it touches: 维生素C、."""
    before = text[max(0, mark.start() - 4) : mark.start()]  # 维生素 is the longest term
    return not is_apart(text, mark) and _P.terms.search(before) is not None
