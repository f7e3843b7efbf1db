"""Probability of Chinese characters in their place, by a small network that sees sixteen characters on either side."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from build_dataset.pipeline.ocr.language.counts import BREAK, Codes, Values, codes_of
from build_dataset.pipeline.ocr.language.letters import is_ideograph

TABLE = "context.npz"
_SEEN = 32  # Characters that the network sees, the asked one among them
_MASK, _UNKNOWN = 1, 2  # Numbers that stand for no character of the table
_LEARNED = 20  # Least times that a character stood in the text it learned from
_AT_ONCE = 64  # Places that are looked at together: some 30 MB


class LayerWeights(NamedTuple):
    """The weights of one layer: attention, its output, and the two of what follows."""

    attention: Values
    joined: Values
    wide: Values
    narrow: Values


class Network:
    """A transformer of few layers; ``benchmarks/ocr/context.py`` teaches it to fill in characters that are left out."""

    def __init__(self, stored: dict[str, NDArray[Any]]) -> None:
        """Args: stored: weights as whole numbers of a byte, a scale for each row of them, and the codes they know."""
        names = [key.removesuffix("_scale") for key in stored if key.endswith("_scale")]
        weights = {name: stored[name] * stored[f"{name}_scale"].astype(np.float32) for name in names}
        self._characters: Values = weights["characters"]
        self._blocks = [
            LayerWeights(*(weights[f"{name}{at}"].T.copy() for name in LayerWeights._fields))
            for at in range(int(stored["layers"]))
        ]
        self._last, self._bias = weights["last"].T.copy(), stored["bias"].astype(np.float32)
        self._heads, self._known = int(stored["heads"]), stored["learned"] >= _LEARNED
        self._numbers = np.full(0x40000, _UNKNOWN)
        self._numbers[stored["codes"]] = np.arange(len(stored["codes"]))
        half = self._characters.shape[1] // self._heads // 2
        turns = np.arange(_SEEN)[:, None, None] * 1000.0 ** (-np.arange(half) / half)
        self._cos, self._sin = np.cos(turns).astype(np.float32), np.sin(turns).astype(np.float32)

    @classmethod
    @cache
    def shipped(cls) -> Network:
        """Return the network of ``TABLE``."""
        with files("build_dataset.pipeline.ocr.language").joinpath(TABLE).open("rb") as file:
            return cls(dict(np.load(file)))

    def logs(self, texts: Sequence[str], asked: Sequence[tuple[int, int, Sequence[str]]]) -> list[Values]:
        """Return the natural logarithm of the probability of each character that is asked about in its place.

        Args:
            texts: Those of a page, in their order.
            asked: Index of a text, of the place in it, and the characters that may stand there.

        NaN stands for a character that the network did not learn.
        """
        if not asked:
            return []
        mark = self._numbers[BREAK]
        wrapped = [is_ideograph(one[-1:]) and is_ideograph(after[:1]) for one, after in pairwise([*texts, ""])]
        lines = (one if wraps else f"{one}\n" for one, wraps in zip(texts, wrapped, strict=True))
        numbers = self._numbers[codes_of("".join(lines))]
        other = np.append(True, (numbers[1:] != numbers[:-1]) | (numbers[1:] > mark + 3))  # Marks in a row are one
        starts = np.cumsum([0, *(len(text) + (not wraps) for text, wraps in zip(texts, wrapped, strict=True))])
        joined = np.pad(numbers[other], _SEEN, constant_values=mark)
        middles = (np.cumsum(other) - 1)[np.array([starts[row] + at for row, at, _ in asked], np.intp)] + _SEEN
        windows = joined[middles[:, None] + np.arange(_SEEN) - _SEEN // 2]
        found: list[Values] = []
        with threadpool_limits(1):  # As processes read side by side; and sums in one order, on any machine
            for start in range(0, len(asked), _AT_ONCE):
                told = self._told(windows[start : start + _AT_ONCE])
                for (*_, chars), logs in zip(asked[start:], told, strict=False):
                    at = self._numbers[codes_of("".join(chars))]
                    found.append(np.where(self._known[at], logs[at], np.float32(np.nan)))
        return found

    def _told(self, windows: Codes) -> Values:
        """Return the natural logarithm of each character's probability in the middle, now hidden, of each window."""
        windows[:, _SEEN // 2] = _MASK
        state = _even(self._characters[windows])
        for at, block in enumerate(self._blocks):
            middle = slice(_SEEN // 2, _SEEN // 2 + 1) if at == len(self._blocks) - 1 else slice(None)
            state = self._attended(state, block, middle)
            state = state + np.square(np.maximum(_even(state) @ block.wide, 0)) @ block.narrow
        told = _even(state[:, 0]) @ self._last @ self._characters.T + self._bias
        told -= told.max(axis=1, keepdims=True)
        return np.asarray(told - np.log(np.exp(told).sum(axis=1, keepdims=True)))

    def _attended(self, state: Values, block: LayerWeights, middle: slice) -> Values:
        """Return the state of the places of ``middle`` with what they take from all places."""
        rows, seen, width = state.shape
        parts = (_even(state) @ block.attention).reshape(rows, seen, 3, self._heads, -1)
        asked = self._turned(parts[:, middle, 0], middle).transpose(0, 2, 1, 3)
        given = self._turned(parts[:, :, 1], slice(None)).transpose(0, 2, 3, 1)
        weight = asked @ given / np.float32(np.sqrt(width // self._heads))
        weight = np.exp(weight - weight.max(axis=-1, keepdims=True))
        weight /= weight.sum(axis=-1, keepdims=True)
        taken = (weight @ parts[:, :, 2].transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3)
        return np.asarray(state[:, middle] + taken.reshape(rows, -1, width) @ block.joined)

    def _turned(self, values: Values, places: slice) -> Values:
        """Return vectors turned by their place: their products tell how far apart they stand (Su et al., RoFormer)."""
        cos, sin = self._cos[places], self._sin[places]
        first, second = np.split(values, 2, axis=-1)
        return np.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)


def _even(values: Values) -> Values:
    """Return vectors of one length."""
    return np.asarray(values / np.sqrt(np.square(values).mean(axis=-1, keepdims=True) + 1e-5))
