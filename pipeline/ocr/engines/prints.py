"""Printed characters as the reader sees them: evidence at places of which it is unsure.

A recogniser learns rare characters from few examples, and takes 痙 for 痤 again and again. What it sees, the
values that its last layer weighs, tells them apart better than that layer: they are compared with those of the same
characters in print. ``benchmarks/ocr/prints.py`` makes the table from the font that MuPDF carries.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from build_dataset.pipeline.ocr.interfaces import Doubt
from build_dataset.pipeline.ocr.language.letters import FLOOR, plain

TABLE = "prints.npz"
LEAST = 1e-30  # Probability of a watched character that is told apart from none
_OF_PRINT, _OF_READER = 3.9, 0.6
"""Weights of the logarithms of a character's distance from its print, taken off, and of what the reader says of it.
Fitted to 2,700 places; of 2,260 others 4 are wrong with these, where the neighbours count too, and 9 without."""
Values = NDArray[np.float32]


class Prints:
    """The views of printed characters."""

    def __init__(self, stored: dict[str, NDArray[Any]]) -> None:
        """Args: stored: watched characters by index, their turn into a view, printed characters and their views."""
        self.watched: NDArray[np.intp] = stored["watched"].astype(np.intp)
        self._turn: Values = stored["turn"].astype(np.float32)
        self._prints, self._scale = stored["prints"], float(stored["scale"])
        self._place = {char: at for at, char in enumerate(str(stored["chars"]))}

    @classmethod
    @cache
    def shipped(cls) -> Prints:
        """Return the views of ``TABLE``."""
        with files("build_dataset.pipeline.ocr.engines.models").joinpath(TABLE).open("rb") as file:
            return cls(dict(np.load(file)))

    def distances(self, view: Values, chars: Sequence[str]) -> Values:
        """Return how far a view is from that of each printed character, 1 for one read right; they must be known."""
        own = np.log(np.maximum(view, LEAST)) @ self._turn
        prints = self._prints[[self._place[char] for char in chars]] * np.float32(self._scale)
        return np.asarray(np.square(prints - own).mean(axis=1), np.float32)

    def weigh(self, char: str, doubt: Doubt, views: Sequence[Values]) -> tuple[str, Doubt]:
        """Return the likeliest character of a place and its doubt, when ``views`` of the place count."""
        chars = {char: doubt.sure, **dict(doubt.others)}
        known = [one for one in chars if one in self._place]
        if not views or char not in self._place or len(known) < 2:
            return char, doubt
        far = np.exp(np.mean([np.log(self.distances(view, known)) for view in views], axis=0))
        told = np.array([max(chars[one], FLOOR) for one in known])
        share = told**_OF_READER * far**-_OF_PRINT
        share *= told.sum() / share.sum()
        chars |= {one: round(float(value), 4) for one, value in zip(known, share, strict=True)}
        likely = max(known, key=chars.__getitem__)
        best = char if plain(likely) == plain(char) else likely  # Which form it is the reader tells: 黃 or 黄
        others = sorted((one for one in chars.items() if one[0] != best and one[1]), key=lambda one: -one[1])
        return best, Doubt(doubt.at, chars[best], doubt.gap, tuple(others))
