"""Balance: exact sizes of splits, where groups kept single strata from their quotas."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.split.draw import TEST, TRAIN, VALIDATION, Draw, place

Pot = Sequence[int]
"""Strata whose quotas add up to a total that is to be met: all, or those of a subcategory."""


def balance(state: Draw, quotas: Sequence[Sequence[int]], pots: Sequence[Pot]) -> None:
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
    state: Draw,
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
