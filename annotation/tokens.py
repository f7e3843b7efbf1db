"""Counts of tokens before anything is asked: exact with the package ``bpe-openai``, otherwise within some percent."""

import re
from collections.abc import Callable
from functools import cache

from build_dataset.schemas.data import shipped_toml

Counter = Callable[[str], int]
BOUND = "± 5 % of o200k_base"  # on questions in Chinese and English: benchmarks/annotation/tokens.py
_PIECE = re.compile(
    r"(?P<chinese>[㐀-鿿]+)| ?(?P<capitals>[A-Z]+(?![a-z]))| ?(?P<word>[A-Za-zÀ-ỿ]+)|(?P<digits>\d{1,3})"
    r"| ?(?P<signs>[^\w\s]+)[\r\n]*|(?P<space>\s*[\r\n]+|\s+(?!\S)|\s)|(?P<letter>.)",
    re.DOTALL,
)
"""Pieces of which no token holds two, after the encoding's own rules: `。`, ` tokens`, `300`."""


@cache
def token_counter() -> tuple[Counter, str]:
    """Return a function that counts tokens as OpenAI's latest encoding does, and how it does.

    Tokenizers of Qwen and Llama are near it. ``bpe-openai`` ships the encoding; tiktoken would download it, and an
    estimate asks nobody.
    """
    try:
        import bpe_openai  # type: ignore[import-untyped]
    except ImportError:
        return approximate_tokens, BOUND
    encoding = bpe_openai.get_encoding("o200k_base")
    return (lambda text: len(encoding.encode_ordinary(text))), "o200k_base"


def approximate_tokens(text: str) -> int:
    """Return about how many tokens a text has."""
    return round(sum(_cost(str(found.lastgroup), found[found.lastgroup or 0]) for found in _PIECE.finditer(text)))


def _cost(kind: str, piece: str) -> float:
    length = len(piece)
    if kind == "chinese":
        return _chinese(piece)
    if kind == "word":
        return 1 + 0.04 * max(0, length - 4) + 0.25 * max(0, length - 9)  # pyelonephritis is three
    if kind == "capitals":
        return max(1.0, 0.5 * length)  # EGFR is two
    if kind == "signs":
        return max(1.0, length / 3)
    return 0.75 if kind == "letter" else 1.0  # あ, é


def _chinese(run: str) -> int:
    """Count the longest known words from the left, then characters: one token if common, else two."""
    characters, words = _known()
    count = at = 0
    while at < len(run):
        length = next((size for size in (3, 2) if run[at : at + size] in words), 1)
        count += 1 if length > 1 or run[at] in characters else 2
        at += length
    return count


@cache
def _known() -> tuple[frozenset[str], frozenset[str]]:
    found = shipped_toml("build_dataset.annotation", "tokens.toml")
    return frozenset(found["characters"]), frozenset(found["words"].split())
