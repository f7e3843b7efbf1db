"""Text files of unknown encoding: UTF-8, UTF-16 with a mark, GB 18030, Big5."""

from __future__ import annotations

import codecs

from pipeline.ocr.soundness import is_common
from schemas.errors import UnreadableDocument

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


MIN_PLAUSIBLE = 0.6
"""Share of common characters that text in the right encoding has at least; real papers have 0.95 and more."""


def decode(data: bytes) -> str:
    """The text of a file.

    Strict UTF-8 first, because text in another encoding is almost never valid UTF-8; then GB 18030 or Big5,
    whichever gives more common characters.

    Raises:
        UnreadableDocument: ``wrong_encoding``.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return _best(data, (name,), 0.0)
    try:
        return _best(data, ("utf-8",), 0.0)
    except UnreadableDocument:
        return _best(data, ("gb18030", "big5"), MIN_PLAUSIBLE)


def _best(data: bytes, names: tuple[str, ...], least: float) -> str:
    found: list[tuple[float, str]] = []
    for name in names:
        try:
            text = data.decode(name)
        except UnicodeDecodeError:
            continue
        share = plausibility(text[:20000])
        if "\x00" not in text and share >= least:
            found.append((share, text))
    if not found:
        raise UnreadableDocument("wrong_encoding", "not readable as UTF-8, UTF-16, GB 18030 or Big5")
    return max(found, key=lambda pair: pair[0])[1]


def plausibility(text: str) -> float:
    """Share of characters that are ASCII, common ideographs, CJK punctuation or full-width forms, 0..1."""
    good = sum(map(_is_plausible, text))
    return good / len(text) if text else 1.0


def _is_plausible(char: str) -> bool:
    return char < "\x7f" or "\u3000" <= char <= "\u303f" or "\uff00" <= char <= "\uffef" or is_common(char)


def looks_like_text(head: bytes) -> bool:
    """Whether the first bytes of a file could be text: no NUL without a UTF-16 mark, few control bytes."""
    if any(head.startswith(mark) for mark, _ in _MARKS):
        return True
    control = sum(byte < 9 or 13 < byte < 32 for byte in head[:4096])
    return b"\x00" not in head and control <= len(head[:4096]) // 200
