"""Characters of text layers, as a reader understands their glyphs."""

import re
from functools import cache

from build_dataset.pipeline.characters import COMPATIBILITY
from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.data import shipped_toml

_P = Patterns(__name__)
_OPTION_LABELS = {0xE18C + index: f"({letter})" for index, letter in enumerate("ABCDE")}
"""Option labels of Taiwan's Ministry of Examination, printed as (A) … (E) by a glyph of its own font."""
_FOLD_SCRIPT = str.maketrans("（）＋－−﹣＝＊，", "()+---=*,")
_SUPER = dict(zip("0123456789+-=()abcdefghijklmnoprstuvwxyz", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ", strict=True))
_SUB = dict(zip("0123456789+-=()aeoxhklmnpstijruv", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₒₓₕₖₗₘₙₚₛₜᵢⱼᵣᵤᵥ", strict=True))
_PLAIN_SUPER = frozenset(("st", "nd", "rd", "th", "TM", "SM", "R"))
"""Ordinals and marks of trade, which say the same on the line: 1st."""
_COMMON = {"gb2312": (b"\xb0", b"\xd7"), "big5": (b"\xa4", b"\xc6")}  # First bytes of their commonest ideographs
_LONGEST_SCRIPT = 12  # Characters of a raised or lowered text; what is longer is small print


@cache
def private_glyphs(fonts: str) -> dict[int, str]:
    """Return what glyphs of a kind of font print, by code point."""
    known = shipped_toml("build_dataset.pipeline.ocr", "glyphs.toml")[fonts]
    return {int(start, 16) + index: char for start, row in known.items() for index, char in enumerate(row)}


def fold(text: str, font: str = "") -> str:
    """Give characters of a text layer the code points a reader would type.

    Compatibility ideographs and radicals become plain ones (``pipeline.characters``); private-use glyphs of known
    meaning become text: option labels, and U+F0xx in fonts that are called Symbol, Wingdings or MT Extra.
    """
    if not _P.folded.search(text):
        return text
    return "".join(_fold_char(char, font) if _P.folded.match(char) else char for char in text)


def _fold_char(char: str, font: str) -> str:
    code = ord(char)
    if known := COMPATIBILITY.get(code) or _OPTION_LABELS.get(code):
        return known
    math = _P.math_font.search(font)
    kind = "math" if math else next((one for one in ("Wingdings", "Symbol") if one in font), "")
    return private_glyphs(kind.lower()).get(code, char) if kind else char


def superscript(text: str) -> str:
    """``text`` in superscript characters where every one has one, else behind a caret: 2^N, 2^(N/2)."""
    shifted = in_script(text, "^")
    return _marked("^", text) if shifted is None else text if text.strip() in _PLAIN_SUPER else shifted


def subscript(text: str) -> str:
    """``text`` in subscript characters where all have one, else behind a low line, m_(i,j), or on the line: HbA1c."""
    return in_script(text, "_") or (text if text.strip().isalnum() else _marked("_", text))


def in_script(text: str, mark: str) -> str | None:
    """The text in superscript (mark ^) or subscript (_) characters; None where one has none."""
    table, folded = _SUPER if mark == "^" else _SUB, text.translate(_FOLD_SCRIPT)
    raised = all(char in table or char == " " for char in folded)
    return "".join(table.get(char, char) for char in folded) if raised else None


def _marked(mark: str, text: str) -> str:
    """Text that has no raised characters behind a mark; signs without letters or digits (*, ′) stay as they are."""
    bare = text.translate(_FOLD_SCRIPT).strip()
    if bare in _PLAIN_SUPER or len(bare) > _LONGEST_SCRIPT or not _P.script.search(bare):
        return text
    return f"{mark}{bare}" if len(bare) == 1 else f"{mark}({bare})"


def is_cjk(char: str) -> bool:
    """Return whether a character is an ideograph or belongs to CJK punctuation, kana or full-width forms."""
    return "\u2e80" <= char <= "\u9fff" or "\uf900" <= char <= "\uffef" or "\U00020000" <= char <= "\U0003ffff"


def tabs_for_gaps(text: str) -> str:
    """Spaces (.5 em, ideographic 1) wider than 1.5 em become a tab, as on printed pages; blanks in brackets stay."""
    return _P.gap.sub(lambda match: _joint(text, match), text)


def _joint(text: str, match: re.Match[str]) -> str:
    gap = match.group()
    before, after = text[: match.start()][-1:], text[match.end() :][:1]
    if before in tuple("（([【_") or after in tuple("）)]】_"):
        return gap.replace("\t", "  ")
    width = sum(1.0 if char == "\u3000" else 2.0 if char == "\t" else 0.5 for char in gap)
    return "\t" if width >= 1.5 else gap


@cache
def is_common(char: str, *scripts: str) -> bool:
    """Return whether a character is one of the commonest ideographs of GB 2312 or Big5, or of the one named."""
    codes = ((char.encode(name, "ignore")[:1], *_COMMON[name]) for name in scripts or _COMMON)
    return any(first <= lead <= last for lead, first, last in codes)
