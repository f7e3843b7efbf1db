"""Text files: their encoding (UTF-8, UTF-16 with a mark, the code pages of spreadsheets), and the reader of .txt."""

import codecs
from pathlib import Path

from build_dataset.pipeline.ocr.emphasis import set_apart, shown_options
from build_dataset.pipeline.ocr.glyphs import is_common, tabs_for_gaps
from build_dataset.pipeline.ocr.interfaces import OnePageReader
from build_dataset.pipeline.ocr.model import PageLine
from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.errors import UnreadableDocument

_P = Patterns(__name__)
_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_SAMPLE = 20_000  # Characters that an encoding is judged by
MIN_PLAUSIBLE = 0.6
"""Least share of common characters beyond ASCII in Chinese text: real papers have 0.9, wrong encodings 0.4 at most."""
_BY_SIGNS = {"cp1252": 0.6, "cp932": 0.2, "cp949": 0.3}
"""Encodings that some characters give away, and the share of these among all beyond ASCII: letters with an accent
stand alone (Opción), Japanese has kana, Korean a few syllables. The two bytes of a Chinese character never look so."""


def decode(data: bytes) -> str:
    """Return the text of a file.

    Strict UTF-8 first, as other text is almost never valid UTF-8; then a Western, Japanese or Korean code page by its
    signs; then GB 18030 or Big5, whichever gives more common characters. ``UnreadableDocument``: ``wrong_encoding``.
    """
    marked = next((name for mark, name in _MARKS.items() if data.startswith(mark)), "utf-8")
    if (text := _decoded(data, marked)) is not None:
        return text
    for name, sign in _P.table("signs").items():
        text = _decoded(data, name)
        if text and len(sign.findall(text[:_SAMPLE])) >= _BY_SIGNS[name] * len(_P.ascii.sub("", text[:_SAMPLE])):
            return text
    found = [(plausibility(text), text) for name in ("gb18030", "big5") if (text := _decoded(data, name))]
    share, text = max(found, key=lambda pair: pair[0], default=(0.0, None))
    if text is None or share < MIN_PLAUSIBLE:
        raise UnreadableDocument("wrong_encoding", "in no encoding that is known: save it as UTF-8")
    return text


def _decoded(data: bytes, name: str) -> str | None:
    try:  # a file may have been cut within its last character
        text = codecs.getincrementaldecoder(name)().decode(data, final=not name.startswith("utf-8"))
    except UnicodeDecodeError:
        return None
    return None if "\x00" in text else text


def plausibility(text: str) -> float:
    """Share of common ideographs, CJK punctuation and full-width forms among characters beyond ASCII, 0..1."""
    beyond = _P.ascii.sub("", text[:_SAMPLE])
    good = sum("\u3000" <= one <= "\u303f" or "\uff00" <= one <= "\uffef" or is_common(one) for one in beyond)
    return good / len(beyond) if beyond else 1.0


def looks_like_text(head: bytes) -> bool:
    """Return whether the first bytes of a file could be text: no NUL without a UTF-16 mark, few control bytes."""
    if head.startswith(tuple(_MARKS)):
        return True
    control = sum(byte < 9 or 13 < byte < 32 for byte in head[:4096])  # but tab, line and page feeds
    return b"\x00" not in head and control <= max(4, len(head[:4096]) // 200)


def begins_as_html(head: bytes) -> bool:
    """Return whether a file is a web page by its first bytes: sites' exports are often called .txt or .doc."""
    return head.removeprefix(codecs.BOM_UTF8).lstrip()[:14].lower().startswith((b"<!doctype html", b"<html"))


class TextReader(OnePageReader):
    """Reads .txt, a line each."""

    format = engine = "text"
    version = "3"

    def recognises(self, head: bytes, suffix: str) -> bool:
        """Return whether it is called .txt and is text; a web page that is called so is none."""
        return suffix == ".txt" and looks_like_text(head) and not begins_as_html(head)

    def lines(self, path: Path) -> list[PageLine]:
        """Return its lines, without empty ones; what tags underline or make bold is set apart: <u>B. 乙</u>."""
        text = _P.tagged.sub(lambda found: set_apart(found[2]), decode(path.read_bytes()))
        lines = [line.strip() for line in text.splitlines()]
        return [PageLine(tabs_for_gaps(line), None) for line in shown_options([*filter(None, lines)]) if line.strip()]
