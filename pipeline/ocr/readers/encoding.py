"""Text files of unknown encoding: UTF-8, UTF-16 with a mark, GB 18030, Big5."""

from __future__ import annotations

import codecs

from pipeline.ocr.soundness import is_mojibake
from schemas.errors import UnreadableDocument

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def decode(data: bytes) -> str:
    """The text of a file.

    Strict UTF-8 first, because text in another encoding is almost never valid UTF-8; then GB 18030 and Big5,
    whichever gives common ideographs.

    Raises:
        UnreadableDocument: ``wrong_encoding``.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return _strictly(data, (name,))
    return _strictly(data, ("utf-8", "gb18030", "big5"))


def _strictly(data: bytes, names: tuple[str, ...]) -> str:
    for name in names:
        try:
            text = data.decode(name)
        except UnicodeDecodeError:
            continue
        if "\x00" not in text and (name == "utf-8" or not is_mojibake(text[:20000])):
            return text
    raise UnreadableDocument("wrong_encoding", "not readable as UTF-8, UTF-16, GB 18030 or Big5")


def looks_like_text(head: bytes) -> bool:
    """Whether the first bytes of a file could be text: no NUL without a UTF-16 mark, few control bytes."""
    if any(head.startswith(mark) for mark, _ in _MARKS):
        return True
    control = sum(byte < 9 or 13 < byte < 32 for byte in head[:4096])
    return b"\x00" not in head and control <= len(head[:4096]) // 200
