"""Automatic numbers of Word lists, as a reader sees them: they are not part of a paragraph's text."""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MOST = 0x10FFFF  # Numbers above it are damage: Word counts to 32,767, and characters end there
_DIGITS = "〇一二三四五六七八九"
_SIGNS = {"ideographTraditional": "甲乙丙丁戊己庚辛壬癸", "decimalEnclosedCircle": "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"}
"""Formats whose first numbers are one sign each."""
_ROMAN = {"M": 1000, "CM": 900, "D": 500, "CD": 400, "C": 100, "XC": 90, "L": 50, "XL": 40}
_ROMAN |= {"X": 10, "IX": 9, "V": 5, "IV": 4, "I": 1}


def integer(element: Any | None, name: str, base: int = 10) -> int | None:
    """Return an attribute as a whole number; None where it is absent or damaged, which costs that attribute alone."""
    text = None if element is None else element.get(f"{W}{name}")
    try:
        value = int(text or "", base)
    except ValueError:
        return None
    return value if 0 <= value <= _MOST else None


def value_of(element: Any, *path: str) -> str | None:
    """Return the value that an element below states; None without one."""
    found = element.find("/".join(f"{W}{name}" for name in path))
    return None if found is None else found.get(f"{W}val")


def format_number(value: int, style: str) -> str:
    """A number in one of Word's number formats; decimal for those that exam papers do not use."""
    if style in ("bullet", "none"):
        return ""
    if style.startswith("lower"):
        return format_number(value, style.replace("lower", "upper")).lower()
    if style == "upperLetter":
        return chr(ord("A") + (value - 1) % 26) * ((value - 1) // 26 + 1)
    if style == "upperRoman":
        return roman(value)
    if style.startswith(("chinese", "japaneseCounting", "taiwaneseCounting", "ideographDigital")):
        return chinese(value)
    signs = next((signs for name, signs in _SIGNS.items() if style.startswith(name)), "")
    if 1 <= value <= len(signs):
        return signs[value - 1]
    if style == "decimalFullWidth":
        return "".join(chr(ord(digit) + 0xFEE0) for digit in str(value))
    return f"{value:02d}" if style == "decimalZero" else str(value)


def roman(value: int) -> str:
    """Roman numerals; decimal outside 1..3999."""
    if not 1 <= value < 4000:
        return str(value)
    text = ""
    for letters, size in _ROMAN.items():
        count, value = divmod(value, size)
        text += letters * count
    return text


def chinese(value: int) -> str:
    """Chinese numerals as they are counted (十一, 二十, 一百零五); decimal outside 0..999."""
    if not 0 <= value < 1000:
        return str(value)
    hundreds, rest = divmod(value, 100)
    tens, ones = divmod(rest, 10)
    text = f"{_DIGITS[hundreds]}百" if hundreds else ""
    if tens:
        text += ("" if tens == 1 and not hundreds else _DIGITS[tens]) + "十"
    elif hundreds and ones:
        text += "零"
    if ones or not text:
        text += _DIGITS[ones]
    return text


@dataclass(slots=True)
class _Level:
    style: str = "decimal"
    pattern: str = "%1."
    start: int = 1
    suffix: str = "tab"


@dataclass(slots=True)
class Numbering:
    """Counts the numbered paragraphs of a document, in their order."""

    levels: dict[str, dict[int, _Level]] = field(default_factory=dict)  # By abstract list
    lists: dict[str, str] = field(default_factory=dict)  # numId → abstract list
    starts: dict[tuple[str, int], int] = field(default_factory=dict)
    """(numId, level) → the number at which this list starts anew."""
    _counts: dict[str, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))

    @classmethod
    def read(cls, root: Any | None) -> "Numbering":
        """The lists that a document's numbering part defines; None where it has none."""
        found = cls()
        if root is None:
            return found
        for abstract in root.iter(f"{W}abstractNum"):
            name = abstract.get(f"{W}abstractNumId")
            levels = ((integer(level, "ilvl"), level) for level in abstract.findall(f"{W}lvl"))
            found.levels[name] = {depth: _read_level(level) for depth, level in levels if depth is not None}
        for number in root.findall(f"{W}num"):
            name = number.get(f"{W}numId")
            for abstract in number.findall(f"{W}abstractNumId"):
                found.lists[name] = abstract.get(f"{W}val")
            for override in number.findall(f"{W}lvlOverride"):
                depth, start = integer(override, "ilvl"), integer(override.find(f"{W}startOverride"), "val")
                if depth is not None and start is not None:
                    found.starts[name, depth] = start
        return found

    def label(self, list_id: str, depth: int) -> str:
        """The label of the next paragraph of a list (numId) at a level from 0, with the space after it; "" for none."""
        abstract = self.lists.get(list_id)
        levels = self.levels.get(abstract or "", {})
        if abstract is None or depth not in levels:
            return ""
        level, counts = levels[depth], self._counts[abstract]
        start = self.starts.pop((list_id, depth), None)  # it counts once
        if start is None:
            start = counts[depth] + 1 if depth in counts else level.start
        counts[depth] = start
        for deeper in [other for other in counts if other > depth]:
            del counts[deeper]

        def number(match: re.Match[str]) -> str:
            at = int(match.group(1)) - 1
            other = levels.get(at, level)
            return format_number(counts.get(at, other.start), other.style if at <= depth else "decimal")

        shown = {"none": "", "bullet": "•"}.get(level.style)
        text = re.sub(r"%([1-9])", number, level.pattern) if shown is None else shown
        return text + ("" if level.suffix == "nothing" or not text else " ")


def _read_level(level: Any) -> _Level:
    style, pattern, suffix = (value_of(level, name) for name in ("numFmt", "lvlText", "suff"))
    start = integer(level.find(f"{W}start"), "val")
    return _Level(style or "decimal", pattern or "", 1 if start is None else start, suffix or "tab")
