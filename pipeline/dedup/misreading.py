"""Whether the difference of two texts looks like a misreading, or like another word or number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from rapidfuzz.distance import Levenshtein

from pipeline.dedup.grams import Vocabulary
from pipeline.dedup.phrases import OPPOSITES

_CLASSES = {
    "digit": "0123456789·−",
    "chinese digit": "一二三四五六七八九十百千万两兩半",
    "negation": "不無无未非沒没否勿莫有可能已须必需正确確错錯误誤对對宜忌除外包括",
    "sex": "男女",
    "letter": "abcdefghijklmnopqrstuvwxyzαβγδεζηθικλμνξοπρσςτυφχψω%°",
    "unit": "岁歲周天月年日时時分秒次片度克升级級期型",
}
"""Characters that questions turn on. Within a class one is exchanged for another on purpose; recognition rather
exchanges them for something foreign (不良 read as 态良)."""
_DROPPED = frozenset(
    "0123456789·−不無无未非沒没否勿莫除男女abcdefghijklmnopqrstuvwxyzαβγδεζηθικλμνξοπρσςτυφχψω%°"
)
"""Characters that are added or dropped on purpose too: 属于 / 不属于, 2.5 / 25."""
_CLASS_OF = {char: name for name, chars in _CLASSES.items() for char in chars}
_OPPOSITE = frozenset(pair for two in OPPOSITES for pair in (two, two[::-1]))


@dataclass(frozen=True, slots=True)
class Edit:
    """A place where two texts differ.

    Attributes:
        old: what the first says there; empty for an insertion.
        new: what the second says there; empty for a deletion.
        unknown: one of both leaves a bigram that is met nowhere else. Never without enough of a vocabulary.
    """

    old: str
    new: str
    unknown: bool

    @property
    def is_deliberate(self) -> bool:
        """Whether it exchanges, adds or drops what questions turn on, as somebody does who asks something else."""
        if opposite_pair(self.old, self.new):
            return True
        if not self.old or not self.new:
            return not _DROPPED.isdisjoint(self.old + self.new)
        return bool(_classes(self.old) & _classes(self.new))

    @property
    def is_foreign(self) -> bool:
        """Whether only a misreading explains it: characters are misread, not words."""
        return self.unknown and max(len(self.old), len(self.new)) <= 2 and not self.is_deliberate

    @property
    def is_telling(self) -> bool:
        """Whether characters that questions turn on are concerned."""
        return bool(_classes(self.old) or _classes(self.new))


def edits(first: str, second: str, vocabulary: Vocabulary) -> Iterator[Edit]:
    """The places where two texts differ."""
    for code in Levenshtein.opcodes(first, second):
        if code.tag == "equal":
            continue
        unknown = vocabulary.is_evidence and (
            _unknown(first[max(0, code.src_start - 1) : code.src_end + 1], vocabulary)
            or _unknown(second[max(0, code.dest_start - 1) : code.dest_end + 1], vocabulary)
        )
        old, new = first[code.src_start : code.src_end], second[code.dest_start : code.dest_end]
        yield Edit(old, new, unknown)


def looks_misread(first: str, second: str, vocabulary: Vocabulary) -> bool:
    """Whether every difference is foreign to the collection. Without enough of it nothing looks misread."""
    return vocabulary.is_evidence and all(edit.is_foreign for edit in edits(first, second, vocabulary))


def turns_misread(first: str, second: str, vocabulary: Vocabulary) -> bool:
    """Whether the differences in what questions turn on, and these alone, look misread."""
    if not vocabulary.is_evidence:
        return False
    return all(edit.is_foreign for edit in edits(first, second, vocabulary) if edit.is_telling)


def may_be_misread(first: str, second: str, vocabulary: Vocabulary) -> bool:
    """Whether no difference is one that would have been made on purpose."""
    return not any(edit.is_deliberate for edit in edits(first, second, vocabulary))


def leftovers(first: str, second: str) -> tuple[str, str]:
    """The characters that only one of the texts has, each sorted."""
    old, new = Counter[str](), Counter[str]()
    for code in Levenshtein.opcodes(first, second):
        if code.tag != "equal":
            old.update(first[code.src_start : code.src_end])
            new.update(second[code.dest_start : code.dest_end])
    return "".join(sorted((old - new).elements())), "".join(sorted((new - old).elements()))


def described(first: str, second: str, most: int = 3) -> str:
    """The first few differences for people: ``右→左, –→大``."""
    found = [code for code in Levenshtein.opcodes(first, second) if code.tag != "equal"]
    said = [
        f"{first[code.src_start : code.src_end] or '–'}→{second[code.dest_start : code.dest_end] or '–'}"
        for code in found[:most]
    ]
    return ", ".join(said) + (" …" if len(found) > most else "")


def only_characters_differ(first: str, second: str) -> bool:
    """Whether single characters differ, apart from each other, and no word: what recognition does."""
    found = [code for code in Levenshtein.opcodes(first, second) if code.tag != "equal"]
    return all(max(code.src_end - code.src_start, code.dest_end - code.dest_start) == 1 for code in found)


def opposite_pair(first: str, second: str) -> str | None:
    """``左/右`` when ``first`` has a character whose opposite ``second`` has."""
    for one in first:
        for other in second:
            if one + other in _OPPOSITE:
                return f"{one}/{other}"
    return None


def _classes(text: str) -> set[str]:
    return {_CLASS_OF[char] for char in text if char in _CLASS_OF}


def _unknown(text: str, vocabulary: Vocabulary) -> bool:
    """Whether a bigram of ``text`` is met once at most: where it was read."""
    return any(vocabulary.count(a, b) <= 1 for a, b in pairwise(text))
