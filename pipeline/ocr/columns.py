"""Finds the gutter of a page in two columns. Pure."""

import unicodedata
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter

from build_dataset.pipeline.ocr.model import Rect, group_while
from build_dataset.pipeline.patterns import Patterns

_P = Patterns(__name__)
MIN_ROWS = 6  # Fewer rows on one side make no column, unless numbers and labels say so
MIN_STEPS = 2
"""Least difference in well-ordered steps (1, 2 or A, B) that decides between reading down columns and along rows."""
MAX_CROSSING = 0.25  # Share of rows that may span both columns: titles, instructions, wide figures
_BEFORE_A = ord("A") - 1  # a label A after it is a step by one


def find_gutter(segments: Sequence[tuple[Rect, str]], page_width: float) -> float | None:
    """The x of the gutter between two columns in points, or None for one column.

    The gutter is the strip in the middle third of the page that fewest ``segments`` cross: boxes of text without wide
    gaps inside, and their text. Options printed side by side and answer grids leave such strips too; they are told
    apart by what stands right of it: mostly option labels, or cells of a few characters.
    """
    start, end = int(0.35 * page_width), int(0.65 * page_width)  # a gutter stands near the middle
    spans = [(int(box.x0), int(box.x1)) for box, _ in segments]
    counts = [sum(left <= x <= right for left, right in spans) for x in range(start, end + 1)]
    strips = [[x for x, _ in strip] for _, strip in groupby(enumerate(counts, start), key=itemgetter(1))]
    wide = [strip for strip in strips if len(strip) >= 5]  # points; narrower strips are gaps between words
    if not wide:
        return None
    # Lines begin at the same place and end where they may, so the edge of the right column is the one to go by.
    candidate = float(min(wide, key=lambda strip: (counts[strip[0] - start], -len(strip)))[-1])
    left = [(box, text) for box, text in segments if box.x1 <= candidate]
    right = [(box, text) for box, text in segments if box.x0 >= candidate]
    return candidate if _is_gutter(left, right, len(segments) - len(left) - len(right)) else None


def _is_gutter(left: list[tuple[Rect, str]], right: list[tuple[Rect, str]], crossing: int) -> bool:
    rows_left, rows_right = _rows(left), _rows(right)
    if crossing > MAX_CROSSING * (max(len(rows_left), len(rows_right)) + crossing):
        return False
    better = _steps([*_in_rows(left), *_in_rows(right)]) - _steps(_in_rows([*left, *right]))
    if abs(better) >= MIN_STEPS:
        return better > 0
    if min(len(rows_left), len(rows_right)) < MIN_ROWS:
        return False
    first = [min(row, key=lambda found: found[0].x0)[1] for row in rows_right]
    labels = [found[1] for text in first if (found := _P.option.match(text))]
    # Lines of prose, no cells of a grid: half of the rows of each side hold words. No options: A. … B. … / C. … D. …
    sides = [[any(_P.prose.search(text) for _, text in row) for row in side] for side in (rows_left, rows_right)]
    return len(labels) <= 0.7 * len(rows_right) and all(2 * sum(worded) >= len(worded) for worded in sides)


def _in_rows(side: list[tuple[Rect, str]]) -> list[str]:
    """Texts from top to bottom, those of one row from left to right."""
    return [text for row in _rows(side) for _, text in sorted(row, key=lambda found: found[0].x0)]


def _steps(texts: Sequence[str]) -> float:
    """Return how well numbers and labels run in this order: steps by one, less half a step for every other."""
    good = 0.0
    number: int | None = None
    label: int | None = None
    for text in texts:
        if found := _P.number.match(text):
            value = int(found[1])
            good += 0.0 if number is None else _step(value - number)
            number, label = value, _BEFORE_A
        elif found := _P.option.match(text):
            letter = ord(unicodedata.normalize("NFKC", found[1]).upper())
            good += 0.0 if label is None else _step(letter - label, 1)
            label = letter
        elif _P.answer.match(text):
            label = _BEFORE_A
    return good


def _step(step: int, far: int = 9) -> float:
    """Return the score of a step: 1 for a step by one, 0 up to ``far``, else -0.5."""
    return 1.0 if step == 1 else 0.0 if 0 < step <= far else -0.5


def _rows(side: list[tuple[Rect, str]]) -> list[list[tuple[Rect, str]]]:
    """The segments of every row, top to bottom: the middle of each lies in the box of the first."""
    ordered = sorted(side, key=lambda found: found[0].middle)
    return group_while(ordered, lambda row, one: one[0].middle < row[0][0].y1 - 0.25 * row[0][0].height)
