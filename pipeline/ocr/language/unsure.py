"""The characters of a word that may be wrong, told one by one: 瘪 (or 痹) of 皮肤瘪痒."""

from collections.abc import Iterator, Mapping
from math import prod

from build_dataset.pipeline.ocr.interfaces import Doubt
from build_dataset.pipeline.ocr.language.letters import plain
from build_dataset.pipeline.ocr.model import Unsure

AROUND = 6  # Characters beside one that are told
_MOST, _REST = 8, 0.99
"""Unsure characters of a word that are told at most, and how sure the rest together is once all are."""
_LEAST_OTHER = 0.005  # Probability of another character from which it is told


def unsure_characters(
    text: str, sure: Mapping[int, float], doubts: Mapping[int, Doubt], seen: Mapping[int, str]
) -> Iterator[Unsure]:
    """Yield the characters that the language decided, and the least sure ones until those left are sure together.

    Args:
        text: The word as it is decoded.
        sure: Probability that a character is right, by place.
        doubts: What the recogniser noted, by place.
        seen: What it saw where the language decided for another character, by place.
    """
    left, chosen = prod(sure.values()), set(seen)
    for at in sorted(sure, key=lambda at: (sure[at], at))[:_MOST]:
        if left >= _REST:
            break
        chosen.add(at)
        left = prod(value for place, value in sure.items() if place not in chosen)
    for at in sorted(chosen):
        before, after = text[max(0, at - AROUND) : at], text[at + 1 : at + AROUND + 1]
        likely = (char for char, share in doubts[at].others if share >= _LEAST_OTHER) if at in doubts else ()
        others = (char for char in likely if not char.isspace() and plain(char) != plain(text[at]))
        other = seen[at] if at in seen else next(others, None)
        yield Unsure(before, text[at], after, other, round(sure.get(at, 1.0), 3), at)
