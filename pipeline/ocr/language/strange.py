"""Characters that may be others that look alike: 水睡 for 水腫, and 青箱 for 青葙, which the quick model lacks."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from build_dataset.pipeline.characters import script_of
from build_dataset.pipeline.ocr.language.counts import BEYOND, Codes, Language, codes_of, look_alikes, padded

_IMPOSSIBLE, _UNLIKELY, _AGREED = 5.0, 4.0, 0.5
"""Natural logarithm of how much likelier its neighbours make a look-alike, from which a character that was read with
certainty is doubtful: 水睡 for 水腫, or a misprint. Of 2,253 lines read right none has such a place; of look-alikes
put into them 96 % are found. And how much likelier they make the character itself, at least, that needs no
comparison; and how much likelier the look-alike is without the place that speaks most for it."""
_POSSIBLE = -4.0
"""The same, from which a character may be one that the quick model does not know: 92 of 100 such characters of exams in
simplified and 99 in traditional Chinese, and of all the others .1 and .4 %."""


def out_of_place(texts: Sequence[str], language: Language) -> list[dict[int, str]]:
    """Return of each text the places of such ideographs, each with a likely look-alike."""
    found: list[dict[int, str]] = [{} for _ in texts]
    seen, windows = _windows(texts, look_alikes())
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


def maybe_unknown(texts: Sequence[str], script: str, language: Language) -> Iterator[tuple[int, int]]:
    """Yield text and place of ideographs for which one of the script that the quick model does not know may stand."""
    known = {key: [one for one in row if script_of(one) in (None, script)] for key, row in look_alikes(BEYOND).items()}
    seen, windows = _windows(texts, known)
    rows = [index for index, (row, at) in enumerate(seen) for _ in known[texts[row][at]]]
    others = windows[rows]
    others[:, 2] = codes_of("".join(one for row, at in seen for one in known[texts[row][at]]))
    told, those = (language.of_rows(some, besides=1).sum(axis=1) for some in (windows, others))
    yield from (seen[rows[index]] for index in np.flatnonzero(those - told[rows] > _POSSIBLE).tolist())


def _windows(texts: Sequence[str], known: Mapping[str, Any]) -> tuple[list[tuple[int, int]], Codes]:
    """Return text and place of known characters, and the codes of each with two on either side."""
    seen = [(row, at) for row, text in enumerate(texts) for at, char in enumerate(text) if char in known]
    starts = np.cumsum([0, *(len(text) + 4 for text in texts)])
    codes = np.concatenate([*map(padded, texts), np.zeros(0, np.int64)])
    middle = np.array([starts[row] + at + 2 for row, at in seen], np.intp)
    return seen, codes[middle[:, None] + np.arange(-2, 3)]
