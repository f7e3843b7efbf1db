"""The words of exam stems and what each says (``phrases.toml``): numbers, units, sex, age, negation.

Two stems that differ in these are twins. Similarity cannot tell: a 正确/不正确 twin has a Jaccard similarity of
.75–.98, two wordings of one question .55–.71.
"""

import re
import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files

WORDS = tomllib.loads(files("pipeline.dedup").joinpath("phrases.toml").read_text(encoding="utf-8"))

EXCEPT = r"除(?:了|去)?(.{1,24}?)(?:以|之)?外"
"""``除 X 外``, which asks for the exception."""
NEGATIVE_ASK, POSITIVE_ASK = ("|".join(WORDS[name].split()) for name in ("negative_ask", "positive_ask"))
FILLER = "|".join(
    word for name in ("filler", "negative_ask", "positive_ask", "copulas") for word in WORDS[name].split()
)
"""Everything that is taken out of a key to get its core."""
SYNONYMS = {other: words[0] for line in WORDS["synonyms"] for words in [line.split()] for other in words[1:]}
LIGHT, ASKED, OPPOSITES = (frozenset(WORDS[name].split()) for name in ("light", "asked", "opposites"))
FUNCTION, MODIFIERS = frozenset(WORDS["function"]), frozenset(WORDS["modifiers"])
SUFFIXES = tuple(map(frozenset, WORDS["suffixes"].split()))
VARIANTS = {pair[0]: pair[1] for pair in WORDS["variants"].split()}
CLASSES: dict[str, str] = WORDS["classes"]
TYPED: list[tuple[str, str]] = WORDS["typed"]
UNITS: dict[str, str] = WORDS["units"]
SIGNS: list[tuple[str, str]] = WORDS["signs"]

_NEGATIVE = re.compile(NEGATIVE_ASK)
_POSITIVE = re.compile(POSITIVE_ASK)
_EXCEPT = re.compile(EXCEPT)
_NEGATION = re.compile("[不无未非没否勿莫]")  # 不, 无, 未 outside of the set phrases
_NO_NEGATION, _QUANTITY, _CHINESE_NUMBER = (
    re.compile(WORDS[name]) for name in ("no_negation", "quantity", "chinese_number")
)
_AGE_UNITS = ("岁", "月", "天")
_LETTERS = re.compile("[a-zα-ω]+")  # hla, il, α
_SEX = re.compile("[男女]")


@dataclass(frozen=True)
class Meaning:
    """The content of a key that a similarity does not see."""

    key: str

    @cached_property
    def _rest(self) -> str:
        return _POSITIVE.sub("", _NEGATIVE.sub("", _EXCEPT.sub(r"\1", _NO_NEGATION.sub("", self.key))))

    @cached_property
    def asks_for_wrong(self) -> int:
        """Count the phrases that ask for the wrong option or the exception: 不合理用药 ... 错误的是 has two."""
        return len(_EXCEPT.findall(self.key)) + len(_NEGATIVE.findall(_EXCEPT.sub(r"\1", self.key)))

    @cached_property
    def negations(self) -> int:
        """Negating characters outside the set phrases."""
        return len(_NEGATION.findall(self._rest))

    @cached_property
    def quantities(self) -> list[tuple[str, str]]:
        """Numbers with their units, sorted."""
        found = _QUANTITY.findall(self.key)
        return sorted((number, WORDS["same_unit"].get(unit, unit)) for number, unit in found)

    @cached_property
    def chinese_numbers(self) -> list[str]:
        """Chinese numerals where they count, sorted."""
        return sorted(_CHINESE_NUMBER.findall(self._rest))

    @cached_property
    def sexes(self) -> str:
        """男 and 女 in the order they are named."""
        return "".join(_SEX.findall(self.key))

    @cached_property
    def symbols(self) -> list[str]:
        """Latin and Greek words of up to three letters, sorted: vitamins, types, factors. Longer ones get misread."""
        return sorted(word for word in _LETTERS.findall(self.key) if len(word) <= 3)


@lru_cache(maxsize=1 << 16)
def meaning(key: str) -> Meaning:
    """The meaning of a key, kept for the next comparison."""
    return Meaning(key)


def difference(first: Meaning, second: Meaning) -> tuple[str, str] | None:
    """The kind of twin and the reason, when two keys differ in what they turn on.

    Returns:
        ``("negation", ...)``, ``sex``, ``age``, ``number``, ``unit``, ``term``, or None.
    """
    if first.key == second.key:
        return None
    if first.asks_for_wrong != second.asks_for_wrong or first.negations != second.negations:
        return "negation", "one asserts what the other negates"
    if first.sexes and second.sexes and first.sexes != second.sexes:
        return "sex", f"{first.sexes} / {second.sexes}"
    if first.quantities != second.quantities:
        return _quantity_difference(first, second)
    if first.chinese_numbers != second.chinese_numbers:
        return "number", _both(first.chinese_numbers, second.chinese_numbers)
    if first.symbols != second.symbols:
        return "term", _both(first.symbols, second.symbols)
    return None


def _quantity_difference(first: Meaning, second: Meaning) -> tuple[str, str]:
    one, other = Counter(first.quantities), Counter(second.quantities)
    changed = [*(one - other), *(other - one)]
    said = _both(_written(first), _written(second))
    if sorted(number for number, _ in first.quantities) == sorted(number for number, _ in second.quantities):
        return "unit", said
    is_age = all(unit in _AGE_UNITS for _, unit in changed) and any(unit == "岁" for _, unit in changed)
    return ("age" if is_age else "number"), said


def _written(of: Meaning) -> list[str]:
    return [number + unit for number, unit in of.quantities]


def _both(first: list[str], second: list[str]) -> str:
    one, other = Counter(first), Counter(second)
    return f"{_plain(one - other)} / {_plain(other - one)}"


def _plain(counts: Counter[str]) -> str:
    return " ".join(sorted(counts.elements())).replace("·", ".") or "–"
