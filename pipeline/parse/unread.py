"""Text outside the items that looks like questions: a person must see it, for it may be some that were not read."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pipeline.parse.gates import Mismatch
from pipeline.parse.kinds import announcement
from pipeline.parse.lines import REGIONS, Piece
from pipeline.parse.numbers import number_mark
from pipeline.parse.options import find_run
from pipeline.parse.outline import Outline
from pipeline.parse.setaside import INSTRUCTION

_ASKS = re.compile(r"[？?]\s*$|_{3,}|[（(][\s\u3000]+[)）]")
"""What asks: a question mark at the end, a blank to fill in."""
_EXAMPLE = re.compile(r"例[题題]|例如|示例|[样樣][题題]|作答方式")
_LABELLED = 2.0
"""The mean strength of labels at the starts of lines."""
_SHARE_OPTIONS = ("B1", "C", "K")


def unread_questions(outline: Outline) -> list[Mismatch]:
    """Where numbered questions or runs of options stand outside of all items.

    Looked at: what stands before the first item, under heads, after a key. Options in the head of a section that
    shares them are none, nor are those of an example on the cover or in explanations after a key.
    """
    cover = _texts(outline.preamble)
    example = any(map(_EXAMPLE.search, cover))
    found = list(_look(cover, "before the first question", options=not example))
    for block in outline.blocks:
        if not block.is_key and announcement(block.text).kind not in _SHARE_OPTIONS:
            found += _look(block.heads[1:], f"under {block.name[:20]}", options=True)
    found += _look(_texts(outline.after_keys), "after the key", options=False)
    return found


def _texts(pieces: Iterable[Piece]) -> list[str]:
    return [piece.text for piece in pieces if piece.kind not in REGIONS]


def _look(texts: list[str], where: str, *, options: bool) -> Iterable[Mismatch]:
    asked = [text for text in texts if _asks(text)]
    run = find_run("\n".join(texts)) if options else None
    labels = run is not None and len(run.options) > 2 and run.strength >= _LABELLED
    if asked or labels:
        line = asked[0] if asked else next((text for text in texts if text.strip()), "")
        yield (
            "text_left_over",
            line.strip()[:40],
            f"what looks like a question stands {where} and was not read",
        )


def _asks(text: str) -> bool:
    """Whether a line has a number and asks."""
    return bool(number_mark(0, text) and _ASKS.search(text)) and not INSTRUCTION.search(text)
