"""Characters that their neighbours make all but impossible, where one that looks alike fits: 水睡 for 水腫."""

from collections.abc import Sequence

import numpy as np

from build_dataset.pipeline.ocr.language.counts import Language, codes_of, look_alikes, padded

_IMPOSSIBLE, _UNLIKELY, _AGREED = 5.0, 4.0, 0.5
"""Natural logarithm of how much likelier its neighbours make a look-alike, from which a character that was read with
certainty is doubtful: 水睡 for 水腫, or a misprint. Of 2,253 lines read right none has such a place; of look-alikes
put into them 96 % are found. And how much likelier they make the character itself, at least, that needs no
comparison; and how much likelier the look-alike is without the place that speaks most for it."""


def out_of_place(texts: Sequence[str], language: Language) -> list[dict[int, str]]:
    """Return of each text the places of such ideographs, each with a likely look-alike."""
    found: list[dict[int, str]] = [{} for _ in texts]
    known = look_alikes()
    seen = [(row, at) for row, text in enumerate(texts) for at, char in enumerate(text) if char in known]
    starts = np.cumsum([0, *(len(text) + 4 for text in texts)])
    codes = np.concatenate([*map(padded, texts), np.zeros(0, np.int64)])
    middle = np.array([starts[row] + at + 2 for row, at in seen], np.intp)
    rare = language.lacks(codes[middle - 1], codes[middle]) | language.lacks(codes[middle], codes[middle + 1])
    windows = codes[middle[rare, None] + np.arange(-2, 3)]
    told = language.of_rows(windows, besides=1)
    gain = (told - language.use(windows[:, 2:]) * (windows[:, 2:] > 0))[:, :2].sum(axis=1)  # 衰 alone makes 竭 likely
    for index in np.flatnonzero(gain < _UNLIKELY).tolist():
        row, at = seen[np.flatnonzero(rare)[index]]
        chars = known[texts[row][at]]
        others = windows[[index] * len(chars)]
        others[:, 2] = codes_of(chars)
        more = language.of_rows(others, besides=1) - told[index]  # Of 袍高 beside 白 or 自 the place says nothing
        # Two parts may have one key, and one count: 慢愷臀. So what one of the three says is not enough.
        agreed = (more.sum(axis=1) > _IMPOSSIBLE) & (more.sum(axis=1) - more.max(axis=1) > _AGREED)
        if agreed.any():
            found[row][at] = chars[np.flatnonzero(agreed)[-1]]
    return found
