"""Probability of Chinese characters beside their neighbours, by counts that ship with the package and the folder's."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from build_dataset.pipeline.characters import script_of, simple_forms

TABLE = "counts.npz"
ALIKE, BEYOND = "alike.txt", "beyond.txt"
STEPS_A_DOUBLING = 8  # Values of a stored count by which it doubles
BREAK, DIGIT, LETTER, CIRCLED = ord("|"), ord("0"), ord("a"), ord("①")
"""Codes of all marks, digits, letters and ① to ⑳, which the shipped counts lack: ideographs alone have their own."""
_SMOOTH = 4.0  # Weight of what fewer neighbours say, in occurrences of the neighbours
_LEFT_OUT = (0.0, 0.4, 1.4)
"""Occurrences that the table lacks for each that it has, of characters, pairs and three in turn: 列敘 is not in it.
With these a character of exams of four kinds has 5.0 nats, without them 7.2."""
_OWN = 5.0  # Weight of an occurrence in the folder's own text beside one in all text
_LEAST = 2e-7  # Probability of a character that no text has
_RAREST = 2e-8  # The least probability: one of 50 million characters
Codes = NDArray[np.int64]
Keys = NDArray[np.uint32]
Values = NDArray[np.float32]
Places = Iterator[tuple[int, int]]  # Text and place in it
_MIX = np.uint64(0x9E3779B97F4A7C15)


_folding = cache(lambda: str.maketrans(simple_forms()))


@cache
def look_alikes(table: str = ALIKE) -> dict[str, str]:
    """Return what may be printed where a character is read, by a table that ``benchmarks/ocr/alike.py`` made."""
    rows = files("build_dataset.pipeline.ocr.language").joinpath(table).read_text(encoding="utf-8").split()
    return {row[0]: row[1:] for row in rows}


def codes_of(text: str) -> Codes:
    """Return a code for each character: of both forms the simplified one's; what is no ideograph has one a kind."""
    found = np.fromiter(map(ord, text.translate(_folding())), np.int64, len(text))
    han = (found >= 0x3400) & (found < 0xA000) | (found >= 0x20000)
    digit = (found >= 0x30) & (found < 0x3A)
    letter = (found | 0x20 >= 0x61) & (found | 0x20 < 0x7B) | (found >= 0x370) & (found < 0x400)
    circled = (found >= CIRCLED) & (found < CIRCLED + 20)
    return np.select([han, digit, letter, circled], [found, DIGIT, LETTER, CIRCLED], BREAK)


def padded(text: str) -> Codes:
    """Return the codes of a text between two of what stands on each side of it, 0 for none."""
    return np.pad(codes_of(text), 2)


def keys_of(first: Codes, second: Codes, third: Codes) -> Keys:
    """Return the key of each three characters in turn; 0 stands for none, so pairs are (0, a, b)."""
    joined: NDArray[np.uint64] = (first << 42 | second << 21 | third).astype(np.uint64)
    for shift in (31, 29):
        joined = (joined ^ joined >> np.uint64(shift)) * _MIX
    return np.asarray(joined >> np.uint64(32), np.uint32)


class NgramCounts:
    """Occurrences of characters, of pairs and of three in turn, by their keys."""

    def __init__(self, keys: Keys, values: Values) -> None:
        """Args: keys: sorted; values: how often each occurs."""
        self._keys, self._values = keys, values

    @classmethod
    def shipped(cls) -> "NgramCounts":
        """Return the counts of ``TABLE``, which ``benchmarks/ocr/language.py`` made."""
        with files("build_dataset.pipeline.ocr.language").joinpath(TABLE).open("rb") as file:
            stored = np.load(file)
            steps = stored["high"].astype(np.uint32) << np.uint32(8) | stored["low"]
            values = np.exp2(stored["counts"].astype(np.float32) / STEPS_A_DOUBLING)
        return cls(np.cumsum(steps, dtype=np.uint32), values)

    @classmethod
    def of(cls, texts: Iterable[str]) -> "NgramCounts":
        """Return the counts of texts, each of which ends with a break."""
        codes = codes_of("\n".join(texts))
        none = np.zeros(len(codes), np.int64)
        keys = [keys_of(none, none, none)]
        for length in (1, 2, 3):
            if len(codes) >= length:
                parts = [codes[at : len(codes) - length + 1 + at] for at in range(length)]
                keys.append(keys_of(*([none[: len(parts[0])]] * (3 - length)), *parts))
        found, values = np.unique(np.concatenate(keys), return_counts=True)
        return cls(found, values.astype(np.float32))

    def look(self, first: Codes, second: Codes, third: Codes) -> Values:
        """Return how often each three characters occur in turn."""
        keys = keys_of(first, second, third)
        if not len(self._keys):
            return np.zeros(keys.shape, np.float32)
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[at] == keys, self._values[at], np.float32(0))


class Language:
    """Probability of a character after two others: what the folder says, smoothed by what all text says."""

    def __init__(
        self, own: Iterable[str] = (), shipped: "NgramCounts | None" = None, recognised: Iterable[str] = ()
    ) -> None:
        """Args: own: sound text of the folder; recognised: what recognition was sure of, which may yet be wrong."""
        self._shipped, self._own = shipped or NgramCounts.shipped(), NgramCounts.of(own)
        self._recognised = NgramCounts.of(recognised)

    def _count(self, first: Codes, second: Codes, third: Codes, besides: int) -> Values:
        codes = first, second, third
        own = self._own.look(*codes) + np.maximum(self._recognised.look(*codes) - besides, 0)
        return np.asarray(self._shipped.look(*codes) + np.float32(_OWN) * own, np.float32)

    def use(self, codes: Codes) -> Values:
        """Return the natural logarithm of the probability of each character, whatever stands beside it."""
        none = np.zeros_like(codes)
        return self.logs(none, none, codes)

    def logs(self, first: Codes, second: Codes, third: Codes, besides: int = 0) -> Values:
        """Return the natural logarithm of each third character's probability after the other two; code 0 is none.

        ``besides`` 1 leaves an occurrence in recognised text out: a place is no evidence of itself.
        """
        none = np.zeros_like(third)
        part = np.full(third.shape, np.inf, np.float32)
        found: NDArray[Any] = np.full(third.shape, _LEAST, np.float32)
        known = (third >= 0, second > 0, first > 0)  # Nothing stands before the beginning of a text
        before = ((none, none), (none, second), (first, second))
        for there, (a, b), left_out in zip(known, before, _LEFT_OUT, strict=True):
            whole = self._count(none, a, b, besides)
            # Of another part that has the same key there may be more: 痰自清 is in no text in which 痰自 is not
            part = np.minimum(np.minimum(self._count(a, b, third, besides), part), whole)
            fewer = _SMOOTH + left_out * whole
            found = np.where(there, (part + fewer * found) / (whole + fewer), found)
        return np.asarray(np.log(np.maximum(found, _RAREST)), np.float32)

    def of_rows(self, rows: Codes, besides: int) -> Values:
        """Return the same of the characters of rows from the third on, 0 where there is none."""
        return np.asarray(self.logs(rows[:, :-2], rows[:, 1:-1], rows[:, 2:], besides) * (rows[:, 2:] > 0))

    def lacks(self, first: Codes, second: Codes) -> NDArray[np.bool_]:
        """Return of each two characters in turn whether no text has them, one recognised place aside."""
        return np.asarray(self._count(np.zeros_like(first), first, second, besides=1) == 0)


_IMPOSSIBLE, _UNLIKELY, _AGREED = 5.0, 4.0, 0.5
"""Natural logarithm of how much likelier its neighbours make a look-alike, from which a character that was read with
certainty is doubtful: 水睡 for 水腫, or a misprint. Of 2,253 lines read right none has such a place; of look-alikes
put into them 96 % are found. Then the least for the character itself, and for the look-alike without its best place."""
_POSSIBLE = -4.0
"""The same, from which a character may be one that the quick model does not know: 92 of 100 such characters of exams in
simplified and 99 in traditional Chinese, and of all the others .1 and .4 %."""


def out_of_place(texts: Sequence[str], language: Language) -> list[dict[int, str]]:
    """Return of each text the places that have an ideograph which does not fit, and a likely look-alike of each."""
    found: list[dict[int, str]] = [{} for _ in texts]
    seen = [(row, at) for row, text in enumerate(texts) for at, char in enumerate(text) if char in look_alikes()]
    windows = _windows(texts, seen)
    rare = language.lacks(windows[:, 1], windows[:, 2]) | language.lacks(windows[:, 2], windows[:, 3])
    windows = windows[rare]
    told = language.of_rows(windows, besides=1)
    gain = (told - language.use(windows[:, 2:]) * (windows[:, 2:] > 0))[:, :2].sum(axis=1)  # 衰 alone makes 竭 likely
    for index in np.flatnonzero(gain < _UNLIKELY).tolist():
        row, at = seen[np.flatnonzero(rare)[index]]
        chars = look_alikes()[texts[row][at]]
        others = windows[[index] * len(chars)]
        others[:, 2] = codes_of(chars)
        more = language.of_rows(others, besides=1) - told[index]  # Of 袍高 beside 白 or 自 the place says nothing
        # Two parts may have one key, and one count: 慢愷臀. So what one of the three says is not enough.
        agreed = (more.sum(axis=1) > _IMPOSSIBLE) & (more.sum(axis=1) - more.max(axis=1) > _AGREED)
        if agreed.any():
            found[row][at] = chars[np.flatnonzero(agreed)[-1]]
    return found


def maybe_unknown(texts: Sequence[str], script: str, language: Language) -> Places:
    """Yield text and place of ideographs for which one of the script that the quick model does not know may stand."""
    known = {key: [one for one in row if script_of(one) in (None, script)] for key, row in look_alikes(BEYOND).items()}
    seen = ((row, at, known.get(char, ())) for row, text in enumerate(texts) for at, char in enumerate(text))
    yield from as_likely(texts, [(row, at, one) for row, at, own in seen for one in own], language)


def as_likely(texts: Sequence[str], asked: Iterable[tuple[int, int, str]], language: Language) -> Places:
    """Yield text and place of which the neighbours make the character beside them not much less likely than its own."""
    places = list(asked)
    windows = _windows(texts, [place[:2] for place in places])
    others = windows.copy()
    others[:, 2] = codes_of("".join(one for *_, one in places))
    told, those = (language.of_rows(some, besides=1).sum(axis=1) for some in (windows, others))
    yield from (places[index][:2] for index in np.flatnonzero(those - told > _POSSIBLE).tolist())


def _windows(texts: Sequence[str], places: Sequence[tuple[int, int]]) -> Codes:
    """Return the codes of each place of a text with two on either side."""
    starts = np.cumsum([2, *(len(text) + 4 for text in texts)])
    codes = codes_of("".join(f"  {text}  " for text in texts))
    for start, text in zip(starts.tolist(), texts, strict=False):
        codes[start - 2 : start] = codes[start + len(text) : start + len(text) + 2] = 0
    middle = np.array([starts[row] + at for row, at in places], np.intp)
    return np.asarray(codes[middle[:, None] + np.arange(-2, 3)])


shipped_language = cache(Language)  # Of what ships with the package alone
