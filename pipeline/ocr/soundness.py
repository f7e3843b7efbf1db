"""Can a page's text layer be trusted? Pure."""

from __future__ import annotations

import re
from functools import cache

MAX_UNKNOWN = 0.1
"""Share of characters without a meaning; formulas in private fonts stay below 0.05 on real papers."""

MIN_COMMON = 0.6
"""Share of ideographs among the commonest 3,755 of GB 2312 or 5,401 of Big5: real papers have 0.95 and more,
glyph numbers taken for code points about 0.3."""

SPARSE_GLYPHS = 100
"""A page with fewer characters over images that cover ``IMAGE_COVER`` of it is a scan with a stamped head."""

IMAGE_COVER = 0.35

MIN_TURNED = 100
"""Characters that run another way than left to right before a page counts as laid on its side; fewer are a
watermark or a note on the margin."""

_LATIN1 = re.compile(r"[\u00a1-\u00ff]")
_IDEOGRAPH = re.compile(r"[\u3400-\u9fff]")


def why_ocr(
    text: str, turned: int, unknown: int, image_cover: float, pieces: int, hidden: int = 0
) -> str | None:
    """Why a page should be read by OCR; None when its text layer is sound.

    Args:
        text: the visible, level characters of the text layer, folded, without watermarks.
        turned: visible characters of another direction.
        unknown: characters of ``text`` without a meaning.
        image_cover: share of the page that images cover, 0..1.
        pieces: vector drawings on the page.
        hidden: characters that are not shown: a former OCR run, of a quality nobody knows.

    Returns:
        ``turned_text``, ``no_text_layer``, ``hidden_text_layer``, ``sparse_text_over_image``,
        ``outlined_text``, ``garbled`` or None.
    """
    if turned > max(MIN_TURNED, len(text)):
        return "turned_text"
    if hidden > max(SPARSE_GLYPHS, len(text)):
        return "hidden_text_layer"
    if not text:
        return "no_text_layer"
    if len(text) < SPARSE_GLYPHS and image_cover >= IMAGE_COVER:
        return "sparse_text_over_image"
    if len(text) < SPARSE_GLYPHS and pieces > 20 * SPARSE_GLYPHS:
        return "outlined_text"
    if unknown > MAX_UNKNOWN * len(text):
        return "garbled"
    return "garbled" if is_mojibake(text) else None


def is_mojibake(text: str) -> bool:
    """Whether characters are valid but cannot be what is printed: a wrong encoding, shifted glyph numbers."""
    if len(_LATIN1.findall(text)) > 0.3 * max(20, len(text)):
        return True
    ideographs = _IDEOGRAPH.findall(text)
    if len(ideographs) < 30:
        return False
    return sum(map(is_common, ideographs)) < MIN_COMMON * len(ideographs)


@cache
def is_common(char: str) -> bool:
    """Whether a character is one of the commonest ideographs of GB 2312 or Big5."""
    return _between(char, "gb2312", 0xB0, 0xD7) or _between(char, "big5", 0xA4, 0xC6)


def _between(char: str, encoding: str, low: int, high: int) -> bool:
    try:
        return low <= char.encode(encoding)[0] <= high
    except UnicodeEncodeError:
        return False
