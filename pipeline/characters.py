"""Characters that look the same to a reader, and the characters they are folded to; shared by all folding of text."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache

_PLAIN = {code: unicodedata.normalize("NFKC", chr(code)) for code in (*range(0x2E80, 0x2FE0), *range(0xF900, 0xFB00))}
_RADICALS = (
    "⺎兀⺒巳⺠民⻁虎⻄西⻅见⻆角⻉贝⻋车⻑長⻒镸⻓长⻔门⻘青⻙韦⻚页"
    "⻛风⻜飞⻝食⻢马⻣骨⻤鬼⻥鱼⻦鸟⻧卤⻨麦⻩黄⻪黾⻫斉⻬齐⻭歯⻮齿⻯竜⻰龙⻱龜⻲亀"
)
_PLAIN |= dict(zip(map(ord, _RADICALS[::2]), _RADICALS[1::2], strict=True))
COMPATIBILITY = {code: plain for code, plain in _PLAIN.items() if plain != chr(code)}
"""Compatibility ideographs and radicals → plain ideographs, and nothing else: fonts such as Noto CJK map 不 to U+F967
(character error rate 1.3 % without folding, .15 % with it), whereas full NFKC would turn ① into 1 and ² into 2."""

WIDE: dict[int, str] = {
    code: chr(code - 0xFEE0) for code in (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))
}
"""Full-width digits and letters → ASCII."""

INVISIBLE = (0x00AD, 0x061C, *range(0x200B, 0x2010), *range(0x202A, 0x202F), 0x2060, 0xFEFF, *range(0xFE00, 0xFE0F))
"""Soft hyphens, joiners, marks of direction, variation selectors but that of pictures (⚠️): nothing is printed for
them."""

UNREADABLE = "[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\ue000-\uf8ff\ufff0-\uffff\U000e0000-\U0010ffff]"
"""Matches characters without a visible meaning: controls, private use, U+FFFD; for Python's and for Rust's regular
expressions."""


def valid_unicode(text: str) -> str:
    """Return text that can be written as UTF-8: half a surrogate pair, as JSON can escape, becomes U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


@cache
def conversion(name: str) -> Callable[[str], str]:
    """Return a conversion of OpenCC; that into Taiwan's characters takes .1 s to load."""
    from opencc import OpenCC

    return OpenCC(name).convert


@cache
def simple_forms() -> dict[str, str]:
    """Return each traditional character's simplified one, by OpenCC's first choice, whatever the word."""
    characters = [chr(code) for code in (*range(0x3400, 0x4DC0), *range(0x4E00, 0xA000))]
    converted = conversion("t2s")("\n".join(characters)).split("\n")
    return {old: new for old, new in zip(characters, converted, strict=True) if old != new and len(new) == 1}


@cache
def in_taiwan(text: str) -> str:
    """Return a text in the traditional characters that Taiwan prints; 腭 as 顎, which are one there."""
    return conversion("s2tw")(text)


MANY = 4
"""Least ratio of traditional to simplified characters in a traditional paper. A poor scan of one had
2 simplified characters in 100; a simplified paper has no traditional ones but in names."""


def is_traditional(texts: Iterable[str]) -> bool:
    """Return whether texts are in traditional characters, few misread ones aside."""
    seen = Counter(kind for text in texts for char in text if (kind := script_of(char)))
    return seen["big5"] > MANY * seen["gb2312"]


@cache
def script_of(character: str) -> str | None:
    """Return the one of the two character sets that has an ideograph; None for both, neither and all else."""
    kinds = [kind for kind in ("big5", "gb2312") if character >= "\u3400" and character.encode(kind, "ignore")]
    return kinds[0] if len(kinds) == 1 else None


class Folding:
    """A table for ``str.translate``, twice as fast: texts have few characters of it, and most have none."""

    def __init__(self, table: Mapping[int, str | int | None]) -> None:
        self._plain = {chr(code): chr(to) if isinstance(to, int) else to or "" for code, to in table.items()}
        # ＊ becomes *, which is a blank itself: * goes first
        made = set("".join(self._plain.values()))
        self._order = {sign: sign not in made for sign in self._plain}
        self._within = frozenset(self._plain).intersection
        near = re.escape("".join(sign for sign in self._plain if sign < "\U00010000"))  # a search among those is fast
        self._likely = re.compile(f"[{near}\U00010000-\U0010ffff]").findall
        self._ascii = [sign for sign in self._plain if sign.isascii()]

    def __call__(self, text: str) -> str:
        """Return the text with each character as the table has it."""
        signs = filter(text.__contains__, self._ascii) if text.isascii() else self._within(self._likely(text))
        for sign in sorted(signs, key=self._order.__getitem__):
            text = text.replace(sign, self._plain[sign])
        return text
