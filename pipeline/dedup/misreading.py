"""Whether the difference of two texts looks like a misreading, or like another word or number."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import NamedTuple, cast

from rapidfuzz.distance import Levenshtein

from pipeline.dedup.grams import Vocabulary
from pipeline.dedup.phrases import OPPOSITES

_CLASSES = {
    "digit": "0123456789·−",
    "chinese digit": "一二三四五六七八九十百千万两半",
    "negation": "不无未非没否勿莫有可能已须必需正确错误对宜忌除外包括",
    "sex": "男女",
    "letter": "abcdefghijklmnopqrstuvwxyzαβγδεζηθικλμνξοπρσςτυφχψω%°",
    "unit": "岁周天月年日时分秒次片度克升级期型",
}
"""Characters that questions turn on. Within a class one is exchanged for another on purpose; recognition rather
exchanges them for something foreign (不良 read as 态良)."""
_DROPPED = frozenset(
    "0123456789·−不无未非没否勿莫除男女abcdefghijklmnopqrstuvwxyzαβγδεζηθικλμνξοπρσςτυφχψω%°"
)
"""Characters that are added or dropped on purpose too: 属于 / 不属于, 2.5 / 25."""
_CLASS_OF = {char: name for name, chars in _CLASSES.items() for char in chars}
_TELLING = frozenset(_CLASS_OF)
_LETTERS = frozenset(_CLASSES["letter"])
_OPPOSITE = frozenset(pair for two in OPPOSITES for pair in (two, two[::-1]))
_MODIFIERS = frozenset("亚次超拟抗类伪假副单双再初原继新老重轻全部易难特真复非似旁共总主异同自他微巨泛遗")
"""Characters that make another term of a term: 亚急性, 抗心律失常."""
_MEANT = _TELLING | _DROPPED | _MODIFIERS | frozenset("".join(OPPOSITES))


class Edit(NamedTuple):
    """A place where two texts differ.

    Attributes:
        old: what the first says there; empty for an insertion.
        new: what the second says there; empty for a deletion.
        old_place: the same with the characters beside it.
        new_place: the same with the characters beside it.
    """

    old: str
    new: str
    old_place: str
    new_place: str

    @property
    def is_deliberate(self) -> bool:
        """Whether it exchanges, adds or drops what questions turn on, as somebody does who asks something else."""
        if opposite_pair(self.old, self.new):
            return True
        if not self.old or not self.new:
            return not _DROPPED.isdisjoint(self.old + self.new)
        return bool(_classes(self.old) & _classes(self.new))

    @property
    def is_telling(self) -> bool:
        """Whether characters that questions turn on are concerned."""
        return not (_TELLING.isdisjoint(self.old) and _TELLING.isdisjoint(self.new))

    @property
    def is_slip(self) -> bool:
        """Whether one character too many or too few is all it is, and not one that makes another term (亚, 新)."""
        return len(self.old) + len(self.new) == 1 and _MEANT.isdisjoint(self.old + self.new)

    def is_foreign(self, vocabulary: Vocabulary) -> bool:
        """Whether only a misreading explains it: characters are misread, not words."""
        return (
            len(self.old) <= 2
            and len(self.new) <= 2
            and not self.is_deliberate
            and (
                _unknown(self.old_place, vocabulary, changed=bool(self.old))
                or _unknown(self.new_place, vocabulary, changed=bool(self.new))
            )
        )


def edits(first: str, second: str) -> list[Edit]:
    """The places where two texts differ."""
    spans = cast("list[tuple[str, int, int, int, int]]", Levenshtein.opcodes(first, second).as_list())
    return [
        Edit(first[i:j], second[k:m], first[max(0, i - 1) : j + 1], second[max(0, k - 1) : m + 1])
        for tag, i, j, k, m in spans
        if tag != "equal"
    ]


def looks_misread(first: str, second: str, vocabulary: Vocabulary, *, slips: bool = False) -> bool:
    """Whether every difference is foreign to the collection. Without enough of it nothing looks misread.

    Args:
        first: a text.
        second: the other.
        vocabulary: of the collection.
        slips: everything else says that the texts are one, so that a character more or less is believed too.
    """
    return vocabulary.is_evidence and all(
        edit.is_foreign(vocabulary) or (slips and edit.is_slip) for edit in edits(first, second)
    )


def turns_misread(first: str, second: str, vocabulary: Vocabulary) -> bool:
    """Whether the differences in what questions turn on, and these alone, look misread."""
    if not vocabulary.is_evidence:
        return False
    return all(edit.is_foreign(vocabulary) for edit in edits(first, second) if edit.is_telling)


def may_be_misread(first: str, second: str) -> bool:
    """Whether no difference is one that would have been made on purpose."""
    return not any(edit.is_deliberate for edit in edits(first, second))


def leftovers(first: str, second: str) -> tuple[str, str]:
    """The characters that only one of the texts has, each sorted; what stands in both in another order is in none."""
    old, new = Counter(first), Counter(second)
    return "".join(sorted((old - new).elements())), "".join(sorted((new - old).elements()))


def described(first: str, second: str, most: int = 3) -> str:
    """The first few differences for people: ``右→左, –→大``."""
    found = edits(first, second)
    said = [f"{edit.old or '–'}→{edit.new or '–'}" for edit in found[:most]]
    return ", ".join(said) + (" …" if len(found) > most else "")


def only_characters_differ(first: str, second: str) -> bool:
    """Whether single characters differ, apart from each other, and no word: what recognition does."""
    return all(len(edit.old) <= 1 and len(edit.new) <= 1 for edit in edits(first, second))


def opposite_pair(first: str, second: str) -> str | None:
    """``左/右`` when ``first`` has a character whose opposite ``second`` has."""
    for one in first:
        for other in second:
            if one + other in _OPPOSITE:
                return f"{one}/{other}"
    return None


def letters_exchanged(first: str, second: str) -> str | None:
    """``d/b`` when Latin or Greek letters stand where others stood: HLA-B and HLA-D are two things."""
    for edit in edits(first, second):
        if edit.old and edit.new and _LETTERS.issuperset(edit.old + edit.new):
            return f"{edit.old}/{edit.new}"
    return None


def _classes(text: str) -> set[str]:
    return {_CLASS_OF[char] for char in text if char in _CLASS_OF}


def _unknown(place: str, vocabulary: Vocabulary, *, changed: bool) -> bool:
    """Whether a bigram is met where it was read alone, or all that were ``changed`` no more often than by chance."""
    around = list(pairwise(place))
    if any(vocabulary.count(a, b) <= 1 for a, b in around):
        return True
    return changed and all(vocabulary.by_chance(a, b) for a, b in around)
