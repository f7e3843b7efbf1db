"""Traditional papers that were read as if they were simplified: recognition takes 狀 for 状, 檢 for 检."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from pipeline.parse.lines import Piece
from pipeline.parse.text import CJK

if TYPE_CHECKING:
    from opencc import OpenCC

MANY = 4
"""How many times more traditional characters than simplified ones a traditional paper has. A poor scan of one had
2 simplified characters in 100; a simplified paper has no traditional ones but in names."""
_HAN = re.compile(f"[{CJK}]")


def in_one_script(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces, recognised characters that traditional Chinese does not have replaced by those it has.

    Only lines that were recognised, in papers that are traditional, and only characters outside Big5: 台, 后 or 里
    are in both scripts and stay as they were read.
    """
    recognised = [piece for piece in pieces if piece.confidence is not None]
    if not recognised or not is_traditional(piece.text for piece in recognised):
        return list(pieces)
    return [
        replace(piece, text=_traditional(piece.text)) if piece.confidence is not None else piece
        for piece in pieces
    ]


def is_traditional(texts: Iterable[str]) -> bool:
    """Whether texts are in traditional characters, few misread ones aside."""
    seen = Counter(kind for text in texts for found in _HAN.findall(text) if (kind := _script(found)))
    return seen["big5"] > MANY * seen["gb2312"]


@cache
def _script(character: str) -> str | None:
    """The one of the two character sets a character is in; None for both or neither."""
    kinds = [kind for kind in ("big5", "gb2312") if _encodes(character, kind)]
    return kinds[0] if len(kinds) == 1 else None


def _encodes(character: str, encoding: str) -> bool:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _traditional(text: str) -> str:
    if not any(_script(character) == "gb2312" for character in _HAN.findall(text)):
        return text
    converted = _converter().convert(text)
    if len(converted) != len(text):
        return text
    pairs = zip(text, converted, strict=True)
    return "".join(new if _script(old) == "gb2312" else old for old, new in pairs)


@cache
def _converter() -> OpenCC:
    from opencc import OpenCC

    return OpenCC("s2tw")
