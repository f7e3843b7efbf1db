"""Texts made comparable, character by character, and what of an output is meant to be read."""

import re
from functools import lru_cache
from unicodedata import normalize

from build_dataset.pipeline import characters, patterns

_P = patterns.Patterns(__name__)
_READ = 1 << 8  # size of the cache of folded texts: those of one question are folded again by each of its readers
_LOOKS = ((0xA0, 0xA1), (0x24B6, 0x24D0), (0x3000, 0x3001), (0xFF01, 0xFF5F), (0x1D400, 0x1D6A4), (0x1F130, 0x1F14A))
"""Blanks and signs of full width; letters in circles, bold, or in boxes: NFKC makes plain ones of them."""
_STYLED = {
    code: plain
    for start, end in _LOOKS
    for code in range(start, end)
    if len(plain := normalize("NFKC", chr(code))) == 1 and plain.isascii()
} | {block + index: chr(0x41 + index) for block in (0x1F150, 0x1F170) for index in range(26)}
"""And white letters on black, which have no plain form."""
_LIKE = str.maketrans(
    "｡､АВСЕНΑΒΕΗ選擇應該為項錯誤確對綜結論題釋終與後實際這個無當從還說認較顯屬於則會僅餘敘適診斷並標準獨雖條傾誰諸處圍總貌竟讓麼皆稱慮",
    "。、ABCEHABEH选择应该为项错误确对综结论题释终与后实际这个无当从还说认较显属于则会仅余叙适诊断并标准独虽条倾谁诸处围总貌竟让么均称虑",
)
"""Cyrillic and Greek capitals as Latin ones, traditional cue characters as simplified ones."""
_MARKUP = dict.fromkeys(map(ord, "*`"), 0x20) | {ord("’"): ord("'"), ord("–"): ord("-")}
_FOLD = characters.Folding({**_STYLED, **_LIKE, **_MARKUP})

_THOUGHTS = enumerate(_P.rows("thoughts"))
_PAIRS = (f"(?P<open{at}>{row['pattern']})|(?P<close{at}>{row['closes']})" for at, row in _THOUGHTS)
_MARKS = re.compile("|".join(_PAIRS), re.IGNORECASE)


@lru_cache(_READ)
def fold(text: str) -> str:
    """Fold widths, circled and look-alike letters, cue characters and Markdown marks; offsets stay valid."""
    return _FOLD(text)


def blank_thinking(text: str, *, turns: bool = False) -> str:
    """Return the folded text with all but the answer blanked out: thinking, and turns after the first.

    Base models go on with a next question of their own; its answer is not the answer asked for. ``turns`` keeps what
    reads like a further turn: it may be the question itself, repeated before its answer.
    """
    folded = _blanked(_P.printed, _blanked(_P.struck, _without_thoughts(fold(text))))
    if answered := _P.answered.match(folded):
        return _blanked(_P.end_tag, answered.group())
    start = len(folded) - len(folded.lstrip())
    ends = (_P.special,) if turns else (_P.special, _P.next_turn)
    following = next(filter(None, (end.search(folded, start + 1) for end in ends)), None)
    return _blanked(_P.end_tag, folded[: following.start()] if following else folded)


def _blanked(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub(lambda match: " " * len(match.group()), text)


def _without_thoughts(text: str) -> str:
    spans: list[tuple[int, int]] = []
    end, opened = 0, False
    for mark in _MARKS.finditer(text):
        closes = (mark.lastgroup or "").startswith("close")  # </think>
        if closes and not opened:  # the text began within a thought
            spans.clear()
        elif not opened:
            spans.append((end, mark.start()))
        end, opened = mark.end(), not closes
    if not opened:
        spans.append((end, len(text)))
    parts, at = [], 0
    for start, stop in spans:
        parts += [" " * (start - at), text[start:stop]]
        at = stop
    return "".join([*parts, " " * (len(text) - at)])


def visible_output(text: str) -> str:
    """Return the part of an output that a reader is meant to see: no thinking, no turns after the first."""
    # turns after the first are cut off, not blanked
    kept = zip(text, fold(text), blank_thinking(text), strict=False)
    return "".join(written for written, folded, kept_char in kept if folded == kept_char).strip()
