"""Parts of a row that banks print with its stem and that are none of it: number, kind, options, a range of others."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise

from pipeline.parse.cells import Pairs

_DECORATION = re.compile(r"[\s\u2500-\u259f]+")
"""Box-drawing signs that a layout left before a stem: ┆下列……."""
_NUMBER = re.compile(r"(?:第\s*)?(\d{1,5})\s*[、.．)）題题](?!\d)\s*")
_KIND = re.compile(r"[(（【\[]\s*((?:单|單|多|不定|判断|判斷)[^)）】\]\d]{1,6})[^)）】\]]{0,12}[)）】\]]\s*")
"""The kind of an item and its marks at the head of a stem: (单选题, 1分)."""
_RANGE = re.compile(
    r"([【\[（(]?)\s*(\d{1,4})\s*[-~～—–至到]\s*(\d{1,4})\s*([题題]?)\s*((?:共用|共享)[^】\]）)]{0,12})?[】\]）)]?\s*$"
)
"""A range of questions at the end of a stem: … 的饮片是【45-47】, …（45～47题）, … 45～47题共用备选答案."""
_WIDEST = 20
"""Questions that such a range names at most; a wider one is a quantity."""
_NUMBERED = 0.9
"""Share of stems that begin with a number, each above the one before, from which these are numbers of questions."""
_COPIED = 0.8
"""Share of the end of a stem that its options make up, from which it repeats them."""


def numbers_lead(stems: Sequence[str]) -> bool:
    """Return whether the stems of a table begin with their numbers: 1、…, 2、…."""
    found = [int(mark[1]) for stem in stems if (mark := _NUMBER.match(_DECORATION.sub("", stem, count=1)))]
    rising = sum(one < other for one, other in pairwise(found))
    return len(found) > 2 and len(found) >= _NUMBERED * len(stems) and rising >= _NUMBERED * (len(found) - 1)


def without_head(stem: str, *, numbered: bool) -> tuple[str, str | None]:
    """Return a stem without decoration, number and kind, and the kind that it names."""
    if found := _DECORATION.match(stem):
        stem = stem[found.end() :]
    number = _NUMBER.match(stem)
    kind = _KIND.match(stem, number.end() if number else 0)
    if kind:
        return stem[kind.end() :], kind[1]
    return (stem[number.end() :] if numbered and number else stem), None


def without_range(stem: str, number: int) -> tuple[str, str | None]:
    """Return a stem without the range of other questions at its end, and that range: the options may be theirs.

    Args:
        stem: of a row.
        number: of the row; a range in round brackets or none counts where it begins after it (疗程为（3-5）is none).
    """
    found = _RANGE.search(stem, max(0, len(stem) - 60))
    if not found or not found.start():
        return stem, None
    first, last = int(found[2]), int(found[3])
    named = found[1] in ("【", "[") or found[4] or found[5] or (found[1] and first == number + 1)
    if not named or not 0 < last - first < _WIDEST:
        return stem, None
    return stem[: found.start()].rstrip(), f"{first}–{last}"


def without_options(stem: str, options: Pairs) -> tuple[str, bool]:
    """Return a stem without the options that it ends with, and whether it may still repeat them in another form."""
    places = [(at, char) for at, one in enumerate(stem) for char in _bare(one)]
    text, texts = "".join(char for _, char in places), [_bare(one) for _, one in options]
    labels = [_bare(label) for label, _ in options]
    for end in (
        "".join(label + one for label, one in zip(labels, texts, strict=True)),
        "".join(texts),
    ):
        for tail in (
            end,
            *(end + "".join(chr(97 + at) for at in range(len(texts), more)) for more in (4, 5)),
        ):
            if len(texts) > 1 and text.endswith(tail) and len(text) > len(tail):
                before = places[len(text) - len(tail) - 1][0] + 1
                return stem[:before] + _closing(stem[before:]), False
    places_of = [text.find(one) for one in texts if len(one) > 1]
    start = min(places_of, default=-1)
    repeated = start > 0 and len(texts) > 2 and sum(map(len, texts)) >= _COPIED * (len(text) - start)
    return stem, repeated


def _bare(text: str) -> str:
    """A text without space and punctuation, widths and case folded."""
    return "".join(char for char in unicodedata.normalize("NFKC", text).lower() if char.isalnum())


def _closing(rest: str) -> str:
    """The marks between a stem and its options: of （ ）》A、甲 the marks up to the label."""
    end = next((at for at, char in enumerate(rest) if char.isalnum()), 0)
    return rest[:end].rstrip(" \t\n(（【[《")
