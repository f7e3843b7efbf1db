"""Score the text that an engine read on a page against the printed text, in any order of reading."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from math import cos, radians, sin

from rapidfuzz.distance import Levenshtein

from benchmarks.ocr.pages import HEIGHT, WIDTH, TruthPage, folded

Read = tuple[str, Sequence[tuple[float, float]]]
"""Text, and the corners of its box in pixels."""

_SIMILAR = str.maketrans("－–—―~∼／：，；！？", "----～～/:,;!?")


def score(page: TruthPage, words: Sequence[Read]) -> Counter[str]:
    """Counts of characters and errors.

    ``chars``, ``errors``; by class ``option``, ``digit``, ``punctuation``, each beside ``..._wrong``.

    A word belongs to the printed line in whose column its middle lies and whose middle is nearest; words of one line
    are read from left to right. Letters of options count as right in either case; all else as it is printed.
    """
    found: list[list[tuple[float, str]]] = [[] for _ in page.lines]
    counts: Counter[str] = Counter()
    for text, corners in words:
        x, y = _in_points(page, corners)
        index = _line_at(page, x, y)
        if index is None:
            counts["errors"] += len(folded(text))
        else:
            found[index].append((x, folded(text)))
    for row in _rows(page):
        pieces = sorted(piece for index in row for piece in found[index])
        segments = [segment for index in row for segment in page.lines[index].segments]
        counts += _compare(segments, "".join(text for _, text in pieces))
    return counts


def _in_points(page: TruthPage, corners: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Middle of a word on the page before it was turned."""
    x = sum(point[0] for point in corners) / len(corners) / page.scale - WIDTH / 2
    y = sum(point[1] for point in corners) / len(corners) / page.scale - HEIGHT / 2
    c, s = cos(radians(page.angle)), sin(radians(page.angle))
    return c * x - s * y + WIDTH / 2, s * x + c * y + HEIGHT / 2


def _line_at(page: TruthPage, x: float, y: float) -> int | None:
    best: tuple[float, int] | None = None
    for index, line in enumerate(page.lines):
        x0, y0, x1, y1 = line.box
        away = max(0.0, x0 - x, x - x1) + 4 * max(0.0, abs((y0 + y1) / 2 - y) - (y1 - y0) / 2)
        if away < 60 and (best is None or away < best[0]):
            best = (away, index)
    return best[1] if best else None


def _rows(page: TruthPage) -> list[list[int]]:
    """Lines by printed row, each from left to right."""
    rows = dict.fromkeys(line.row for line in page.lines)
    return [[index for index, line in enumerate(page.lines) if line.row == row] for row in rows]


def _compare(segments: Sequence[tuple[str, str]], read: str) -> Counter[str]:
    truth = "".join(text for text, _ in segments).translate(_SIMILAR)
    kinds = [kind for text, kind in segments for _ in text]
    read = read.translate(_SIMILAR)
    counts: Counter[str] = Counter({"chars": len(truth)})
    for char, kind in zip(truth, kinds, strict=True):
        counts[_class(char, kind)] += 1
    for edit in Levenshtein.editops(truth, read):
        counts["errors"] += 1
        if edit.tag == "insert":
            continue
        char, kind = truth[edit.src_pos], kinds[edit.src_pos]
        same_letter = edit.tag == "replace" and kind == "option" and read[edit.dest_pos].upper() == char
        if not same_letter:
            counts[f"{_class(char, kind)}_wrong"] += 1
    return counts


def _class(char: str, kind: str) -> str:
    if kind == "option":
        return "option"
    if char.isdigit():
        return "digit"
    if unicodedata.category(char)[0] == "P":
        return "punctuation"
    return "other"
