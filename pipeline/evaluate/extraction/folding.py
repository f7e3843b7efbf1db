"""Texts made comparable character by character, so that a span in the folded text is a span in the original."""

from __future__ import annotations

import re
from unicodedata import normalize

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
_LOOKALIKES = dict(
    zip(map(ord, "АВСЕНΑΒΕΗ"), map(ord, "ABCEHABEH"), strict=True)  # Cyrillic and Greek capitals
)
_TRADITIONAL = dict(
    zip(
        map(ord, "選擇應該為項錯誤確對綜結論題釋終與後"),
        map(ord, "选择应该为项错误确对综结论题释终与后"),
        strict=True,
    )
)
_MARKUP = dict.fromkeys(map(ord, "*`"), 0x20)
_TABLE = _STYLED | _WIDTHS | _CIRCLED | _LOOKALIKES | _TRADITIONAL | _MARKUP

_THINKING = re.compile(
    r"<(think|thinking|thought|reasoning)>.*?(?:</\1>|\Z)|◁think▷.*?(?:◁/think▷|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_CLOSED_ONLY = re.compile(
    r"\A.*</(?:think|thinking|thought|reasoning)>|\A.*◁/think▷", re.DOTALL | re.IGNORECASE
)
_NEXT_TURN = re.compile(
    r"<\|(?:im_end|im_start|endoftext|eot_id|end|user)\|>|</s>"
    r"|\n\s*(?:以下是中国|Human:|User:|用户:|题目:|问题:|Question:|Q:)"
)


def fold(text: str) -> str:
    """Fold widths, circled and look-alike letters, traditional cue characters and Markdown marks.

    Every character becomes exactly one character, so offsets stay valid.
    """
    return text.translate(_TABLE)


def spoken(text: str) -> str:
    """The folded text with what is not the answer blanked out: thinking, and the turns after the first.

    Base models go on with a next question of their own; its answer is not the answer asked for.
    """
    folded = fold(text)
    folded = _THINKING.sub(_blank, folded)
    folded = _CLOSED_ONLY.sub(_blank, folded)
    start = len(folded) - len(folded.lstrip())
    following = _NEXT_TURN.search(folded, start + 1)
    return folded[: following.start()] if following else folded


def shown(text: str) -> str:
    """What a reader is meant to see of an output, as it was written: no thinking, no turns after the first."""
    kept = zip(text, fold(text), spoken(text), strict=False)
    return "".join(written for written, folded, said in kept if folded == said).strip()


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())
