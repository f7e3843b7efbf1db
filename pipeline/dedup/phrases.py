"""The words of exam stems and what each says: ``phrases.toml`` as patterns and sets."""

from __future__ import annotations

import tomllib
from importlib.resources import files

_WORDS = tomllib.loads(files("pipeline.dedup").joinpath("phrases.toml").read_text(encoding="utf-8"))

EXCEPT = r"除(?:了|去)?(.{1,24}?)(?:以|之)?外"
"""``除 X 外``, which asks for the exception."""
NEGATIVE_ASK, POSITIVE_ASK = ("|".join(_WORDS[name].split()) for name in ("negative_ask", "positive_ask"))
FILLER = "|".join(
    word for name in ("filler", "negative_ask", "positive_ask", "copulas") for word in _WORDS[name].split()
)
"""Everything that is taken out of a key to get its core."""
SYNONYMS = {other: words[0] for line in _WORDS["synonyms"] for words in [line.split()] for other in words[1:]}
LIGHT, ASKED, OPPOSITES = (frozenset(_WORDS[name].split()) for name in ("light", "asked", "opposites"))
FUNCTION, MODIFIERS = frozenset(_WORDS["function"]), frozenset(_WORDS["modifiers"])
SUFFIXES = tuple(map(frozenset, _WORDS["suffixes"].split()))
VARIANTS = {pair[0]: pair[1] for pair in _WORDS["variants"].split()}
CLASSES: dict[str, str] = _WORDS["classes"]
TYPED: list[tuple[str, str]] = _WORDS["typed"]
SIGNS: list[tuple[str, str]] = _WORDS["signs"]
