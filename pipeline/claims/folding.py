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
        map(
            ord,
            "選擇應該為項錯誤確對綜結論題釋終與後實際這個無當從"
            "還說認較顯屬於則會僅餘敘適診斷並標準獨雖條傾誰諸際處圍總貌竟讓麼皆稱",
        ),
        map(
            ord,
            "选择应该为项错误确对综结论题释终与后实际这个无当从"
            "还说认较显属于则会仅余叙适诊断并标准独虽条倾谁诸际处围总貌竟让么均称",
        ),
        strict=True,
    )
)
_MARKUP = dict.fromkeys(map(ord, "*`"), 0x20) | {ord("’"): ord("'")}
_TABLE = _STYLED | _WIDTHS | _CIRCLED | _LOOKALIKES | _TRADITIONAL | _MARKUP

_THOUGHTS = (
    (
        r"<(?:think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis|seed:think)>",
        r"</(?:think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis|seed:think)>",
    ),
    (r"\[think\]", r"\[/think\]"),
    (r"◁think▷", r"◁/think▷"),
    (r"<\|(?:begin_of_thought|START_THINKING)\|>", r"<\|(?:end_of_thought|END_THINKING)\|>"),
    (r"<\|channel\|>(?:analysis|commentary)", r"<\|channel\|>final<\|message\|>"),
    (r"\A(?:assistant)?analysis(?=[A-Z])", r"assistantfinal"),
)
"""How models open and close their thinking; a text may begin within it, or break off in it."""
_MARKS = re.compile(
    "|".join(
        f"(?P<open{at}>{opens})|(?P<close{at}>{closes})" for at, (opens, closes) in enumerate(_THOUGHTS)
    ),
    re.IGNORECASE,
)
_SPECIAL = re.compile(r"<\|(?:im_end|im_start|endoftext|eot_id|end|user|return)\|>|</s>|<end_of_turn>")
_NEXT_TURN = re.compile(r"\n\s{0,9}(?:以下是中国|Human:|User:|用户:|题目:|问题:|Question:|Q:)")


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
    following = _SPECIAL.search(folded, start + 1) or (
        None if turns else _NEXT_TURN.search(folded, start + 1)
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
    """What a reader is meant to see of an output, as it was written: no thinking, no turns after the first."""
    kept = zip(text, fold(text), spoken(text), strict=False)
    return "".join(written for written, folded, said in kept if folded == said).strip()
