"""Texts made comparable character by character, so that a span in the folded text is a span in the original."""

from __future__ import annotations

import re
from unicodedata import normalize

from pipeline.claims.mentions import GRAMMAR, patterns

_P = patterns("folding")

_WIDTHS = {0xFEE0 + code: code for code in range(0x21, 0x7F)} | {0x3000: 0x20, 0xA0: 0x20}
_CIRCLED = {0x24B6 + index: ord("A") + index for index in range(26)}
_STYLED = (
    {
        code: plain
        for code in (*range(0x1D400, 0x1D6A4), *range(0x1F130, 0x1F14A))
        if len(plain := normalize("NFKC", chr(code))) == 1 and plain.isascii()
    }
    | {0x1F150 + index: chr(0x41 + index) for index in range(26)}
    | {0x1F170 + index: chr(0x41 + index) for index in range(26)}
)
"""Letters that are bold, in boxes, or white on black, in blocks of their own."""
_LIKE = {
    ord(one): ord(other)
    for rows in GRAMMAR["folding"]["characters"]
    for one, other in zip(*rows, strict=True)
}
"""Cyrillic and Greek capitals as Latin ones, traditional cue characters as simplified ones."""
_MARKUP = dict.fromkeys(map(ord, "*`"), 0x20) | {ord("’"): ord("'"), ord("–"): ord("-")}
_TABLE = _STYLED | _WIDTHS | _CIRCLED | _LIKE | _MARKUP

_MARKS = re.compile(
    "|".join(
        f"(?P<open{at}>{opens})|(?P<close{at}>{closes})"
        for at, (opens, closes) in enumerate(GRAMMAR["folding"]["thoughts"])
    ),
    re.IGNORECASE,
)


def fold(text: str) -> str:
    """Fold widths, circled and look-alike letters, traditional cue characters and Markdown marks.

    Every character becomes exactly one character, so offsets stay valid.
    """
    return text.translate(_TABLE)


def spoken(text: str, *, turns: bool = False) -> str:
    """The folded text with what is not the answer blanked out: thinking, and the turns after the first.

    Base models go on with a next question of their own; its answer is not the answer asked for.

    Args:
        text: as it came.
        turns: keep what reads like a further turn; it may be the question itself, repeated before its answer.
    """
    folded = _without_thoughts(fold(text))
    start = len(folded) - len(folded.lstrip())
    following = _P["special"].search(folded, start + 1) or (
        None if turns else _P["next_turn"].search(folded, start + 1)
    )
    return folded[: following.start()] if following else folded


def _without_thoughts(text: str) -> str:
    said: list[tuple[int, int]] = []
    end, opened = 0, False
    for mark in _MARKS.finditer(text):
        closes = (mark.lastgroup or "").startswith("close")
        if closes and not opened:  # the text began within a thought
            said.clear()
        elif not opened:
            said.append((end, mark.start()))
        end, opened = mark.end(), not closes
    if not opened:
        said.append((end, len(text)))
    parts, at = [], 0
    for start, stop in said:
        parts += [" " * (start - at), text[start:stop]]
        at = stop
    return "".join([*parts, " " * (len(text) - at)])


def shown(text: str) -> str:
    """Return the part of an output that a reader is meant to see: no thinking, no turns after the first."""
    kept = zip(text, fold(text), spoken(text), strict=False)
    return "".join(written for written, folded, said in kept if folded == said).strip()
