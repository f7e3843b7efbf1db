"""Text in its stored form: the same to a reader, without traces of typesetting and OCR.

Unified are full-width letters and digits, compatibility ideographs, glyphs of the Symbol font in the
private-use area, invisible characters, spaces inside running Chinese. Kept, because a reader would miss them, are
units (㎍, ℃), superscripts and subscripts (10⁹/L, SO₂), Roman numerals (Ⅱ), comparison signs, blanks (（ ） and ____),
line breaks, Chinese punctuation.
"""

import html
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from build_dataset.pipeline.characters import COMPATIBILITY, INVISIBLE, WIDE, Folding
from build_dataset.pipeline.ocr import glyphs
from build_dataset.pipeline.patterns import Patterns

CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # ideographs, as the inside of a character class

_CONTROLS = [code for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n\r\v\f\x85"]
_WIDE_SIGNS = (0xFF05, 0xFF0B, 0xFF1C, 0xFF1D, 0xFF1E)  # ％ ＋ ＜ ＝ ＞
_TABLE: dict[int, str | None] = {  # for engines of regular expressions; ``_TYPESET`` carries it out
    **COMPATIBILITY,
    **WIDE,
    **dict.fromkeys([*({*INVISIBLE} - {0x200C, 0x200D}), *_CONTROLS]),
    **{code: chr(code - 0xFEE0) for code in _WIDE_SIGNS},
    **glyphs.private_glyphs("typed"),
    **dict.fromkeys((11, 12, 13, 133, 8232, 8233), "\n"),
}

_TYPESET = Folding(_TABLE)
_PUNCTUATION = "，。、；：？！“”‘’《》【】（）〈〉「」『』"
_P = Patterns(__name__, names={"CJK": CJK, "PUNCTUATION": _PUNCTUATION})
_SHIFTS = {"sup": glyphs.superscript, "sub": glyphs.subscript}
MARKED = r"<|&(?:lt|amp|#)"
"""Matches every text with markup, escaped or not; for engines of regular expressions that read many texts."""
_MARKUP_ROUNDS = 5  # largest depth of nested tags, and of entities that are escaped twice (&amp;lt;)

_KNOWN = "".join(rf"\x{{{code:X}}}" for code in _TABLE)
TIDIABLE = rf"[^\S \n]|[ \n][ \n]|^\s|\s$|[{_PUNCTUATION}] | [{_PUNCTUATION}{CJK}]|[．&<\x{{200C}}\x{{200D}}{_KNOWN}]"
"""Matches every text that ``tidy`` may change, NFC apart; for engines of regular expressions that read many texts."""


@lru_cache(maxsize=1 << 16)
def tidy(text: str) -> str:
    """Take the traces of typesetting out of a text. Tidying a tidy text changes nothing.

    Widths are unified, private-use glyphs that are known are written out, invisible characters and spaces that only the
    typesetting put there are gone. Empty when nothing visible is left.
    """
    return _unspaced(_without_markup((_TYPESET(text),))[0])


def tidy_together(texts: Sequence[str]) -> list[str]:
    """Return the options of one question, tidied as ``tidy`` does it, with the markup that they are about.

    Tags stay where without them an option says nothing or as much as another: ``<b>甲</b>`` beside ``<i>甲</i>``,
    ``<br>`` beside ``<hr>``. One step of escaping still goes: &lt;b&gt; is <b>.
    """
    return [*map(_unspaced, _without_markup([*map(_TYPESET, texts)]))]


def _unspaced(text: str) -> str:
    """A text without markup, its characters composed, without spaces that say nothing."""
    text = unicodedata.normalize("NFC", _P.joiner.sub("", text) if "\u200c" in text or "\u200d" in text else text)
    text = _P.decimal.sub(".", text) if "．" in text else text
    text = _P.run.sub(" ", text) if "  " in text or _P.other_space.search(text) else text
    text = "\n".join(filter(None, map(str.strip, text.split("\n"))))  # without spaces at line ends, empty lines
    text = text if text.isascii() else _P.beside_punctuation.sub("", text)
    return _P.list_or_space.sub(r"\1", text) if _P.spaced.search(text) else text  # a list stays as it is


def _without_markup(texts: Sequence[str]) -> Sequence[str]:
    """Texts of a web page as the page shows them; as they were where too much markup is in them."""
    # Of several, which are the options of a question, those before the first step that would make one say nothing.
    steps = [texts]
    for _ in range(_MARKUP_ROUNDS if any("<" in text or "&" in text for text in texts) else 0):
        steps.append([*map(_with_less_markup, steps[-1])])
        if steps[-1] == steps[-2]:
            lost = (before for before, after in pairwise(steps) if _is_lost(before, after, steps[-1]))
            return next(lost, steps[-1]) if len(texts) > 1 else steps[-1]
    return texts


def _with_less_markup(text: str) -> str:
    """A text without its innermost tags and one step of escaping."""
    shown = _P.shifted.sub(lambda match: _SHIFTS[match[1]](match[2]), _P.reading.sub("", _P.line_break.sub("\n", text)))
    # a paragraph is a line of its own: <p>甲</p><p>乙</p>
    shown = _P.tagged.sub(lambda match: f"\n{match[2]}\n" if match[1] in ("p", "div") else match[2], shown)
    return _TYPESET(_P.entity.sub(lambda match: html.unescape(match[0]), shown))


def _is_lost(before: Sequence[str], after: Sequence[str], last: Sequence[str]) -> bool:
    """Return whether tags that one step took out are all that an option says, or what parts it from another."""
    tags = [_tags(text) for text in before]
    gone = [had - _tags(text) for had, text in zip(tags, after, strict=True)]
    # <b>甲</b> beside <bold>乙</bold>, which stays: they are about tags
    if any(had & _tags(text) for had, text in zip(tags, last, strict=True)) and any(one != gone[0] for one in gone):
        return True
    silent = [not text.strip(" \n<>/") for text in after]  # <<br>>
    around = [{tag for tag in had if not _P.line_break.fullmatch(tag)} for had in tags]
    usual = set[str]().union(*(had for had, empty in zip(around, silent, strict=True) if not empty))
    # <p></p> beside <p>甲</p> is an empty place, <br> is none
    triples = zip(tags, around, silent, strict=True)
    said = (empty and had and not (wide and wide <= usual) for had, wide, empty in triples)
    told: dict[str, set[str]] = {}
    bare = [_P.tag.sub("", text).strip() for text in after]
    parted = (told.setdefault(text, had) != had for text, had in zip(bare, tags, strict=True))
    return any(gone) and (any(said) or any(parted))


def _tags(text: str) -> set[str]:
    """Return the tags of a text as they stand in it: ``<b>``, ``</b>``, ``<p class="x">``."""
    return {found[0] for found in _P.tag.finditer(text)}
