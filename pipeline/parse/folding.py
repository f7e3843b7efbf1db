"""Forms of texts that read alike: what questions keep, what structure is read from, what texts are compared by.

Texts keep hyphens, dashes, minus signs and quotes as printed (CK‑MB); ``structural`` has one of every kind.
"""

import re
from functools import lru_cache
from itertools import pairwise

from build_dataset.pipeline.characters import COMPATIBILITY, INVISIBLE, WIDE, Folding
from build_dataset.pipeline.patterns import Patterns

_P = Patterns(__name__)
CJK = _P.whole("@cjk@")
READ = 1 << 10  # size of the cache of parsed texts: passes and gates ask the same of a line and of its item

_FOLD = Folding(
    {
        **COMPATIBILITY,
        **WIDE,
        0xFF03: "#",
        0xFF0A: "*",
        **dict.fromkeys((0x00A0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000), " "),
        **dict.fromkeys((*INVISIBLE, *range(0x09), *range(0x0B, 0x20)), ""),
    }
)
"""Letters, digits and spaces lose their width; punctuation keeps it: it is what the paper prints."""

_DIGITS = str.maketrans("lI|O", "1110")
_ALIKE = (("‐‑‒–―−﹘﹣－⁃", "-"), ("∼〜˜", "~"), ("‘’ʼ′", "'"))
_SIGNS = str.maketrans({sign: plain for signs, plain in _ALIKE for sign in signs})
"""Hyphens, dashes and minus signs, waves, and quotes, each as one; — stays: two of them are a dash of a sentence."""


@lru_cache(READ)
def fold(text: str) -> str:
    """Fold widths of letters, digits and spaces, drop control characters, undo compatibility ideographs.

    Punctuation, circled digits, superscripts and units stay as they are printed.
    """
    return _P.wide_gap.sub("\t", _P.long_gap.sub(r"\1", _FOLD(text))).strip(" \r\n")


def structural(text: str) -> str:
    """Return a text as numbers, ranges and keys are read from it, of the same length: l0. is 10., 1‑5 is 1-5."""
    return _P.confused.sub(lambda match: match[0].translate(_DIGITS), text.translate(_SIGNS))


def spaceless(text: str) -> str:
    """A text without white space."""
    return re.sub(r"\s+", "", text)


def unpunctuated(text: str) -> str:
    """A text without white space, stops, commas and colons, as answers repeat those of options: B 青霉素。."""
    return re.sub(r"[\s。．.，,；;：:]+", "", text)


def letters_alone(text: str) -> str:
    """The letters of a text: （C3 类）第6批 and （C类）第 6 批 are the same."""
    return re.sub(r"[\W\d_]+", "", fold(text))


def width(text: str) -> int:
    """Return the width of a text in half characters."""
    return len(text) + sum(char > "\u2e7f" for char in text)


def without_digits(text: str) -> str:
    """A line without its digits and spaces: running heads differ in them."""
    return re.sub(r"[\d\s]+", "", text)


def join_lines(text: str) -> str:
    """One paragraph from lines: no space between Chinese characters, one between words, lists keep their lines."""
    lines = [bare for line in text.split("\n") if (bare := line.strip())]
    whole = "".join([*lines[:1], *(_joint(before, after) + after for before, after in pairwise(lines))])
    return "\n".join(_P.spaces.sub(" ", line).strip() for line in whole.split("\n"))


def _joint(before: str, after: str) -> str:
    of_code = _P.code.match(after) or (_P.code.match(before) and not re.match(f"[{CJK}]", after))
    if ("\t" in before and "\t" in after) or _P.enumerator.match(after) or of_code:
        return "\n"
    if before.endswith("-") and len(before) > 1 and before[-2].isascii() and before[-2].isalpha():  # al-
        return ""
    return " " if _P.latin_end.search(before) and _P.latin_start.match(after) else ""
