"""Lines that hold answers of several questions: lists, ranges, grids, notes on corrections."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_LETTERS = r"[A-K]{1,11}"
_VERDICT = r"[√×✓✗✘]|正确|錯誤|错误|对|错"
_PAIR = re.compile(
    rf"\s*(?:第\s*)?[(（【]?\s*(\d{{1,4}})\s*[)）】]?\s*[题題]?\s*[.．、:：,，\-—]?\s*"
    rf"({_LETTERS}|{_VERDICT}|#)(?![A-Za-z\u4e00-\u9fff])\s*[,，;；、.．。]?"
)
_RANGE = re.compile(
    r"\s*(?:第\s*)?[(（]?(\d{1,4})\s*[-~～—–－至到]+\s*(?:第\s*)?(\d{1,4})[)）]?\s*[题題]?\s*[.．、:：]?\s*"
    r"([A-K](?:[\s,，、;；]*[A-K])*)(?![A-Za-z])\s*[;；。]?"
)
_NUMBERS = re.compile(
    r"\s*(?:题号|題號|题序|題序|题目|題目|序号|序號|No\.?)?[\s:：]*((?:\d{1,4}[\s.．]*)+)$", re.IGNORECASE
)
_ANSWERS = re.compile(r"\s*(?:答案|標準答案|标准答案|Answer|Key)?[\s:：]*((?:(?:[A-K]{1,11}|#|\*)[\s]*)*)$")
_ANSWER_HEAD = re.compile(r"\s*(?:答案|標準答案|标准答案)[\s:：]*\S*")
_NUMBER_HEAD = re.compile(r"\s*(?:题号|題號|题序|題序)")


@dataclass(frozen=True, slots=True)
class Pair:
    """An answer as a key prints it."""

    number: int
    letters: str
    """Letters in the key's order; ``#`` where a note says more; a verdict (√, 错 …) of a true/false item."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Two rows of a grid: numbers above answers."""

    pairs: tuple[Pair, ...]
    numbers: tuple[int, ...]
    answers: int
    """How many cells of the answer row hold something."""


def line_pairs(text: str) -> list[Pair]:
    """The answers a line consists of, e.g. ``1.A 2.B`` or ``1-5 ABCDE``; empty if anything else stands in it."""
    pairs: list[Pair] = []
    position = 0
    bare = text.strip()
    while position < len(bare):
        found = _RANGE.match(bare, position)
        if found:
            spread = _spread(int(found[1]), int(found[2]), found[3])
            if spread is None:
                return []
            pairs.extend(spread)
        else:
            found = _PAIR.match(bare, position)
            if not found:
                return []
            pairs.append(Pair(int(found[1]), found[2]))
        position = found.end()
        while position < len(bare) and bare[position].isspace():
            position += 1
    return pairs


def _spread(first: int, last: int, letters: str) -> list[Pair] | None:
    """Letters of a range, one question each: ``ABCDE`` or ``AB C BD``; None if their number differs."""
    count = last - first + 1
    groups = re.findall(r"[A-K]+", letters)
    if len(groups) != count:
        groups = list("".join(groups))
    if len(groups) != count or count < 1:
        return None
    return [Pair(first + i, group) for i, group in enumerate(groups)]


def grid(upper: str, lower: str) -> Grid | None:
    """The pairs of a row of numbers and the row of answers under it; None if the lines are no such rows.

    Rows need a head (題號 / 答案) or at least three cells. Where answers are fewer than numbers the answers fill
    the row from the left, as official grids do for papers shorter than the form.
    """
    numbers_row, answers_row = _NUMBERS.match(upper), _ANSWERS.match(lower)
    if not numbers_row or not answers_row:
        return None
    numbers = [int(number) for number in re.findall(r"\d+", numbers_row[1])]
    cells = answers_row[1].split()
    if len(cells) == 1 and len(numbers) > 1 and len(cells[0]) == len(numbers):
        cells = list(cells[0])
    headed = bool(_NUMBER_HEAD.match(upper) and _ANSWER_HEAD.match(lower))
    if not headed and (len(numbers) < 3 or len(cells) != len(numbers)):
        return None
    if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return None
    pairs = tuple(Pair(number, cell) for number, cell in zip(numbers, cells, strict=False))
    return Grid(pairs, tuple(numbers), len(cells))


@dataclass(frozen=True, slots=True)
class Correction:
    """What a note says about questions after appeals."""

    numbers: tuple[int, ...]
    accepted: tuple[str, ...]
    """Every answer that earns the mark; empty when everybody gets it."""
    replaces: bool
    """Whether the accepted answer stands in for the original."""
    note: str


_CLAUSES = re.compile(r"[，,；;。]\s*(?=第\s*\d)")
_CLAUSE = re.compile(r"第\s*(\d{1,4}(?:\s*[、,，及和與与]\s*(?:第\s*)?\d{1,4})*)\s*[题題](.*)", re.DOTALL)
_ACCEPTED = re.compile(
    r"([A-K]+(?:\s*[、,，或及和與与/]+\s*[A-K]+)*)\s*(?:者|皆|均|都|亦|也)*\s*(?:可|[給给]分|算对|正确|正確)"
)
_CHANGED = re.compile(r"(?:更正|改|修正)(?:答案)?[为為]?\s*([A-K]+)")
_EVERYBODY = re.compile(r"一律[給给]分|[均皆都全]部?[給给]分|送分")


def corrections(text: str) -> list[Correction]:
    """The corrections in a note such as 第43題答A、C給分."""
    found: list[Correction] = []
    for part in _CLAUSES.split(re.sub(r"\s+", "", text)):
        clause = _CLAUSE.search(part)
        if not clause:
            continue
        numbers = tuple(int(number) for number in re.findall(r"\d+", clause[1]))
        note = clause[0].strip("，,。；; ")
        accepted, changed = _ACCEPTED.search(clause[2]), _CHANGED.search(clause[2])
        if accepted:
            letters = tuple(re.findall(r"[A-K]+", accepted[1]))
            found.append(Correction(numbers, letters, len(letters) == 1, note))
        elif changed:
            found.append(Correction(numbers, (changed[1],), replaces=True, note=note))
        elif _EVERYBODY.search(clause[2]):
            found.append(Correction(numbers, (), replaces=False, note=note))
    return found


def key_block(texts: Sequence[str], start: int) -> int:
    """How many of the lines from ``start`` on are lines of answers and nothing else."""
    end = start
    while end < len(texts) and (not texts[end].strip() or line_pairs(texts[end])):
        end += 1
    return end - start
