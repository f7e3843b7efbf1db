"""Quotas: how many questions of each stratum go to each split, in whole questions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

Row = list[int]
"""Questions by split."""


def totals_by_share(size: int, units: int, shares: Sequence[Fraction]) -> Row:
    """Questions by split: shares of ``size``, the largest remainders rounded up (Hamilton's method).

    A split with a share above 0 gets at least one question as long as there are units to go round, the
    later splits first; small datasets do not end with an empty test split.
    """
    ideal = [size * share for share in shares]
    rows = [int(value) for value in ideal]
    by_remainder = sorted(range(len(shares)), key=lambda split: (rows[split] - ideal[split], -split))
    for split in by_remainder[: size - sum(rows)]:
        rows[split] += 1
    wanting = [split for split, share in enumerate(shares) if share > 0 and rows[split] == 0]
    for split in reversed(wanting):
        largest = rows.index(max(rows))
        if sum(count > 0 for count in rows) < units and rows[largest] > 1:
            rows[largest] -= 1
            rows[split] += 1
    return rows


def totals_by_number(size: int, units: int, validation: int, test: int) -> Row:
    """Questions by split: fixed numbers for validation and test, the rest train (CMB, table 2).

    Where there are fewer questions than the two numbers together, half of the questions stay in train and
    the other half is shared between validation and test in the proportion asked for.
    """
    asked = validation + test
    if asked <= size:
        return [size - asked, validation, test]
    half = Fraction(size // 2, asked * size)
    return totals_by_share(size, units, [1 - asked * half, validation * half, test * half])


def round_cells(sizes: Sequence[int], keys: Sequence[tuple[str, ...]], totals: Sequence[int]) -> list[Row]:
    """Whole questions by stratum and split, each the ideal number rounded down or up, with exact totals.

    Such a rounding always exists (controlled rounding: Cox, JASA 82, 1987). Among the possible ones this
    prefers those that keep the single dimensions of the strata in proportion too.

    Args:
        sizes: questions by stratum.
        keys: values by stratum, e.g. ``("执业医师", "临床医学", "A1")``.
        totals: questions by split; sums to the sum of ``sizes``.

    Returns:
        a row by stratum; each row sums to the stratum's size, each column to the split's total.
    """
    everything = sum(sizes)
    if everything == 0:
        return [[0] * len(totals) for _ in sizes]
    cells: list[Row] = []
    open_cells: list[list[bool]] = []
    debts: dict[tuple[int, str], list[int]] = {}
    for size, key in zip(sizes, keys, strict=True):
        rest = [size * total % everything for total in totals]
        row = [size * total // everything for total in totals]
        owed = [debts.setdefault(margin, [0] * len(totals)) for margin in [(-1, ""), *enumerate(key)]]
        for debt in owed:
            for split, part in enumerate(rest):
                debt[split] += part
        order = sorted(
            (split for split in range(len(totals)) if rest[split]),
            key=lambda split: (-sum(debt[split] for debt in owed), -rest[split], -split),
        )
        for split in order[: size - sum(row)]:
            row[split] += 1
            for debt in owed:
                debt[split] -= everything
        cells.append(row)
        open_cells.append([part > 0 for part in rest])
    floors = [[size * total // everything for total in totals] for size in sizes]
    _settle(cells, floors, open_cells, totals)
    return cells


def _settle(cells: list[Row], floors: list[Row], open_cells: list[list[bool]], totals: Sequence[int]) -> None:
    """Bring the columns to their totals by moving roundings up along paths from split to split."""
    while True:
        off = [sum(column) - total for column, total in zip(zip(*cells, strict=True), totals, strict=True)]
        if not any(off):
            return
        start, end = off.index(max(off)), off.index(min(off))
        for giver, taker in _path(cells, floors, open_cells, start, end):
            row = _movable(cells, floors, open_cells, giver, taker)
            assert row is not None
            cells[row][giver] -= 1
            cells[row][taker] += 1


def _path(
    cells: list[Row], floors: list[Row], open_cells: list[list[bool]], start: int, end: int
) -> list[tuple[int, int]]:
    """Return the steps that move one question from ``start`` to ``end``: at once, or through the third split."""
    others = (split for split in range(len(cells[0])) if split not in (start, end))
    ways = [[(start, end)], *([(start, split), (split, end)] for split in others)]
    return next(
        way for way in ways if all(_movable(cells, floors, open_cells, *step) is not None for step in way)
    )


def _movable(
    cells: list[Row], floors: list[Row], open_cells: list[list[bool]], giver: int, taker: int
) -> int | None:
    """The last stratum whose rounding up can move from ``giver`` to ``taker``."""
    for row in range(len(cells) - 1, -1, -1):
        up = cells[row][giver] > floors[row][giver]
        down = open_cells[row][taker] and cells[row][taker] == floors[row][taker]
        if up and down:
            return row
    return None
