"""Characters: widths folded where they carry no meaning, private-use labels read, lines joined to paragraphs."""

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from itertools import groupby, pairwise

from build_dataset.pipeline.characters import COMPATIBILITY, INVISIBLE, WIDE, any_of
from build_dataset.pipeline.patterns import Patterns

_P = Patterns(__name__)
CJK = _P.whole("@cjk@")
READ = 1 << 10  # size of the cache of parsed texts: passes and gates ask the same of a line and of its item

_FOLDED = {
    **COMPATIBILITY,
    **WIDE,
    0xFF03: "#",
    0xFF0A: "*",
    **dict.fromkeys((0x00A0, 0x2002, 0x2003, 0x3000), " "),
    **dict.fromkeys((*INVISIBLE, *range(0x09), *range(0x0B, 0x20)), ""),
}
"""Letters, digits and spaces lose their width; punctuation keeps it: it is what the paper prints."""

_TO_FOLD = any_of(_FOLDED)
_DIGITS = str.maketrans("lI|O", "1110")


@lru_cache(READ)
def fold(text: str) -> str:
    """Fold widths of letters, digits and spaces, drop control characters, undo compatibility ideographs.

    Punctuation, circled digits, superscripts and units stay as they are printed.
    """
    narrow = _P.long_gap.sub(r"\1", text.translate(_FOLDED) if _TO_FOLD.search(text) else text)
    return _P.wide_gap.sub("\t", narrow).strip(" \r\n")


def true_digits(text: str) -> str:
    """Letters that stand for digits in numbers read from an image (``l0.``, ``1O.``), as digits; same length."""
    return _P.confused.sub(lambda found: found[0].translate(_DIGITS), text)


def private_labels(texts: Iterable[str]) -> dict[int, str]:
    """Return the private-use characters that are option labels, as a table for ``str.translate``.

    Labels are glyphs of consecutive code points that stand at the start of segments about equally often.
    """
    seen = Counter(ord(found[1]) for text in texts for found in _P.private_label.finditer(text))
    table: dict[int, str] = {}
    for _, group in groupby(enumerate(sorted(seen)), key=lambda place: place[1] - place[0]):
        run = [code for _, code in group]
        counts = [seen[code] for code in run]
        labels = next((k for k in range(len(run), 2, -1) if min(counts[:k]) * 2 >= max(counts[:k])), 0)
        table.update({code: f"{chr(65 + i)}." for i, code in enumerate(run[:labels])})
    return table


def width(text: str) -> int:
    """Return the width of a text in half characters."""
    return len(text) + sum(char > "\u2e7f" for char in text)


def without_digits(text: str) -> str:
    """A line without its digits and spaces: running heads differ in them."""
    return re.sub(r"[\d\s]+", "", text)


def join_lines(text: str) -> str:
    """One paragraph from lines: no space between Chinese characters, one between words, lists keep their lines."""
    lines = [bare for line in text.split("\n") if (bare := line.strip())]
    whole = "".join([*lines[:1], *(_joint(one, other) + other for one, other in pairwise(lines))])
    return "\n".join(_P.spaces.sub(" ", line).strip() for line in whole.split("\n"))


def _joint(before: str, after: str) -> str:
    if ("\t" in before and "\t" in after) or _P.enumerator.match(after) or _P.code.match(after):
        return "\n"
    if before.endswith("-") and len(before) > 1 and before[-2].isascii() and before[-2].isalpha():  # al-
        return ""
    return " " if _P.latin_end.search(before) and _P.latin_start.match(after) else ""
