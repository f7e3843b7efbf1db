"""Lines that hold answers of several questions: lists, ranges, grids."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from pipeline.parse.text import true_digits
from pipeline.patterns import Patterns

_P = Patterns("keylines")

FAR = 200
"""Numbers further apart than this on one line number no questions: 1000 H 2000 H is a table of addresses."""


@dataclass(frozen=True, slots=True)
class KeyPair:
    """An answer as a key prints it."""

    number: int
    letters: str
    """Letters in the key's order; ``#`` where a note says more; a verdict (√, 错 …) of a true/false item."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Two rows of a grid: numbers above answers."""

    pairs: tuple[KeyPair, ...]
    numbers: tuple[int, ...]
    lines: int
    """The number of lines it takes."""


def line_pairs(text: str) -> list[KeyPair]:
    """The answers a line consists of, e.g. ``1.A 2.B`` or ``1-5 ABCDE``; empty if anything else stands in it.

    Letters apart (``A B C E``) are one answer only where they stand in order and no number is missing from the
    line; small letters are read where at least three numbers run on.
    """
    bare = true_digits(text.strip().lstrip("、，,；;"))
    pairs = _pairs(bare)
    if any(abs(after.number - before.number) >= FAR for before, after in pairwise(pairs)):
        return []
    if not pairs and re.search(r"\d\W{0,3}[a-k]", bare) and not re.search(r"[A-K]", bare):
        pairs = _pairs(bare.upper())
        if len(pairs) < 3 or not _contiguous(pairs):
            return []
    if any(re.search(r"\W", pair.letters) for pair in pairs if pair.letters[0].isalpha()):
        if not _contiguous(pairs):
            return []
        pairs = [KeyPair(pair.number, re.sub(r"[^\w#√×✓✗✘]", "", pair.letters)) for pair in pairs]
    return pairs


def _pairs(bare: str) -> list[KeyPair]:
    pairs: list[KeyPair] = []
    position = 0
    while position < len(bare):
        found = _P.range.match(bare, position)
        if found:
            spread = _spread(int(found[1]), int(found[2]), found[3])
            if spread is None:
                return []
            pairs.extend(spread)
        else:
            found = _P.pair.match(bare, position)
            if not found or not (_unsure(found[2]) or _one_answer(found[2])):
                return []
            pairs.append(KeyPair(int(found[1]), "#" if _unsure(found[2]) else found[2]))
        position = found.end()
        while position < len(bare) and bare[position].isspace():
            position += 1
    return pairs


def _unsure(letters: str) -> bool:
    return _P.open_answer.fullmatch(letters) is not None


def _one_answer(letters: str) -> bool:
    """Return whether letters apart are one answer: ``A C D`` is, ``C B D`` answers several questions."""
    found = re.findall(r"[A-K]", letters)
    return len(found) == len(letters) or found == sorted(set(found))


def _contiguous(pairs: Sequence[KeyPair]) -> bool:
    return [pair.number for pair in pairs] == list(range(pairs[0].number, pairs[0].number + len(pairs)))


def _spread(first: int, last: int, letters: str) -> list[KeyPair] | None:
    """Letters of a range, one question each: ``ABCDE`` or ``AB C BD``; None if their number differs."""
    count = last - first + 1
    groups = re.findall(r"[A-K]+", letters)
    if len(groups) != count:
        groups = list("".join(groups))
    if len(groups) != count or count < 1:
        return None
    return [KeyPair(first + i, group) for i, group in enumerate(groups)]


def letter_rows(upper: str, lower: str) -> list[KeyPair]:
    """The answers of a row ``6 A C B D A`` when the row under it begins five numbers later; otherwise none."""
    above, below = _P.row.match(upper), _P.row.match(lower)
    if not above or not below:
        return []
    letters = above[2].split()
    last = int(above[1]) + len(letters) - 1
    return (_spread(int(above[1]), last, above[2]) or []) if int(below[1]) == last + 1 else []


def last_letter_row(text: str) -> list[KeyPair]:
    """The answers of a row that stands under such a row."""
    found = _P.row.match(text)
    return (
        (_spread(int(found[1]), int(found[1]) + len(found[2].split()) - 1, found[2]) or []) if found else []
    )


def grid(texts: Sequence[str], start: int = 0) -> Grid | None:
    """The grid whose row of numbers begins at a line, with the row of answers under it; None if there is none.

    A row is a line, or lines of cells under a label that stands alone. Rows need a label (題號 / 答案) or at
    least three cells. Where answers are fewer than numbers the answers fill the row from the left, as official
    grids do for papers shorter than the form.
    """
    upper = _row(texts, start, _P.number_label, _P.numbers)
    lower = _row(texts, upper[2], _P.answer_label, _P.answers) if upper else None
    if upper is None or lower is None:
        return None
    numbers = _numbers(upper[0]) if upper[1] else [int(number) for number in re.findall(r"\d+", upper[0])]
    cells = re.findall(r"[A-K]+|[#*]", lower[0].replace("井", "#"))
    if len(cells) == 1 and len(numbers) > 1 and len(cells[0]) == len(numbers):
        cells = list(cells[0])
    if not (upper[1] and lower[1]) and (len(numbers) < 3 or len(cells) != len(numbers)):
        return None
    if (
        not numbers
        or len(cells) > len(numbers)
        or numbers != list(range(numbers[0], numbers[0] + len(numbers)))
    ):
        return None
    pairs = tuple(KeyPair(number, cell) for number, cell in zip(numbers, cells, strict=False))
    return Grid(pairs, tuple(numbers), lower[2] - start)


def _numbers(row: str) -> list[int]:
    """The numbers of a labelled row; where recognition joined some (23 2425 26), those its digits spell in order."""
    numbers = [int(number) for number in re.findall(r"\d+", row)]
    digits = "".join(re.findall(r"\d", row))
    for width in (1, 2, 3):
        spelled = ""
        run: list[int] = []
        while len(spelled) < len(digits):
            run.append(int(digits[:width] or 0) + len(run))
            spelled += f"{run[-1]:0{width}d}"
        if spelled == digits and len(run) > len(numbers):
            return run
    return numbers


def _row(
    texts: Sequence[str], start: int, label: re.Pattern[str], cells: re.Pattern[str]
) -> tuple[str, bool, int] | None:
    """A row of cells: its text without the label, whether there was one, and the line after it."""
    if start >= len(texts):
        return None
    named = label.match(texts[start])
    found = cells.match(texts[start], named.end() if named else 0)
    if not found or not (named or found[1].strip()):
        return None
    end = start + 1
    if not named or found[1].strip():
        return found[1], named is not None, end
    parts: list[str] = []
    while end < len(texts) and texts[end].strip() and cells.match(texts[end]):
        parts.append(texts[end])
        end += 1
    return " ".join(parts), True, end
