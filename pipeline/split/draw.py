"""The draw: units go to splits in the order of their lots, as long as the quotas of their strata allow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pipeline.releases import SPLITS

TRAIN, VALIDATION, TEST = range(len(SPLITS))
_FILLED = (TEST, VALIDATION)
"""Filled in this order, so that the test split holds the lowest lots; what fits in neither is train."""

Contents = tuple[tuple[int, int], ...]
"""The content of a unit: (stratum, questions) pairs."""


@dataclass
class SplitDraw:
    """Splits of units under quotas.

    Attributes:
        contents: of every unit, in the order of lots.
        need: questions that are still missing, by stratum and split; below 0 where there are too many.
        split: of every unit that has one.
        fixed: units whose split was decided before; they are never moved.
    """

    contents: Sequence[Contents]
    need: list[list[int]]
    split: dict[int, int]
    fixed: frozenset[int]


def draw(
    contents: Sequence[Contents], quotas: Iterable[Sequence[int]], given: Mapping[int, int]
) -> SplitDraw:
    """Give every unit a split.

    Units with a ``given`` split keep it and count towards the quotas. The others, in order, go to test if
    they fit into what all their strata still need there, else to validation, else to train. As single
    questions always fit, a stratum misses its quota only by what groups do not allow; of those, units that
    bring the strata nearer to their quotas are moved out of train in the end.

    Args:
        contents: of every unit, in the order of lots.
        quotas: questions by stratum and split.
        given: split by unit, from an earlier release.
    """
    state = SplitDraw(contents, [list(row) for row in quotas], {}, frozenset(given))
    wanted = [sum(row[split] for row in state.need) for split in range(len(SPLITS))]
    for unit, split in given.items():
        place(state, unit, split)
    for unit, content in enumerate(contents):
        if unit not in state.fixed:
            place(state, unit, _first_fit(state, content))
    for split in _FILLED:
        _top_up(state, split)
    for split in _FILLED:
        if wanted[split] > 0 and split not in state.split.values():
            _fill_empty(state, split)
    return state


def _first_fit(state: SplitDraw, content: Contents) -> int:
    for split in _FILLED:
        if all(state.need[stratum][split] >= count for stratum, count in content):
            return split
    return TRAIN


def place(state: SplitDraw, unit: int, split: int) -> None:
    """Put a unit into a split, out of the one where it is."""
    before = state.split.get(unit)
    for stratum, count in state.contents[unit]:
        state.need[stratum][split] -= count
        if before is not None:
            state.need[stratum][before] += count
    state.split[unit] = split


def _gain(state: SplitDraw, content: Contents, split: int) -> int:
    """By how many questions the strata get nearer to their quotas when a unit moves from train."""
    gain = 0
    for stratum, count in content:
        row = state.need[stratum]
        gain += abs(row[split]) - abs(row[split] - count)
        gain += abs(row[TRAIN]) - abs(row[TRAIN] + count)
    return gain


def _top_up(state: SplitDraw, split: int) -> None:
    if not any(row[split] > 0 for row in state.need):
        return
    for unit, content in enumerate(state.contents):
        if _movable(state, unit) and _gain(state, content, split) > 0:
            place(state, unit, split)


def _fill_empty(state: SplitDraw, split: int) -> None:
    """Move the unit that does least harm, so that a small dataset made of groups has every split."""
    movable = [unit for unit in range(len(state.contents)) if _movable(state, unit)]
    if len(movable) > 1:
        place(state, max(movable, key=lambda unit: _gain(state, state.contents[unit], split)), split)


def _movable(state: SplitDraw, unit: int) -> bool:
    return state.split[unit] == TRAIN and unit not in state.fixed


Pot = Sequence[int]
"""Strata whose quotas add up to a total that is to be met: all, or those of a subcategory."""


def balance(state: SplitDraw, quotas: Sequence[Sequence[int]], pots: Sequence[Pot]) -> None:
    """Move single questions between train and the other splits until each pot has its totals.

    A group that did not fit leaves its stratum short; a single question of another stratum of the same pot
    makes up for it: each time from the stratum that is furthest behind its ideal proportion.
    """
    singles: dict[int, list[int]] = {}
    for unit, content in enumerate(state.contents):
        if len(content) == 1 and content[0][1] == 1 and unit not in state.fixed:
            singles.setdefault(content[0][0], []).append(unit)
    for pot in pots:
        for split in (TEST, VALIDATION):
            short = sum(state.need[stratum][split] for stratum in pot)
            source, target = (TRAIN, split) if short > 0 else (split, TRAIN)
            for _ in range(abs(short)):
                chosen = _next(state, quotas, pot, singles, split, source)
                if chosen is None:
                    break
                place(state, chosen, target)


def _next(
    state: SplitDraw,
    quotas: Sequence[Sequence[int]],
    pot: Pot,
    singles: dict[int, list[int]],
    split: int,
    source: int,
) -> int | None:
    """The next single question to move out of ``source``: the lowest lot in, the highest out."""
    everything = sum(sum(quotas[stratum]) for stratum in pot)
    total = sum(quotas[stratum][split] for stratum in pot)

    def lag(stratum: int) -> int:
        filled = quotas[stratum][split] - state.need[stratum][split]
        return sum(quotas[stratum]) * total - filled * everything

    entering = source == TRAIN
    for stratum in sorted(pot, key=lambda stratum: (-lag(stratum) if entering else lag(stratum), stratum)):
        lots = singles.get(stratum, [])
        for unit in lots if entering else reversed(lots):
            if state.split[unit] == source:
                return unit
    return None
