"""Repair: strata that groups left more than a question from their ideal, where other groups fit better."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, permutations

from pipeline.split.balance import Pot
from pipeline.split.draw import SPLITS, TRAIN, Contents, Draw, place

_KINDS = 16
"""Kinds of units that are tried in a stratum, the most common first: every pair of their moves is."""
_ROUNDS = 8
"""Times that a stratum is improved: each takes it as near to its ideal as two moves can."""

_Distance = dict[int, list[int]]
"""Of each stratum: questions above its ideal by split, times the questions of its pot."""


@dataclass(frozen=True)
class _Move:
    """A unit of some kind goes from a split to another."""

    content: Contents
    source: int
    target: int


def repair(state: Draw, quotas: Sequence[Sequence[int]], pots: Sequence[Pot]) -> None:
    """Move one or two units at a time in strata that are a question or more from their ideal, while that helps.

    The draw fills quotas in the order of lots, which can leave a rest that no group fits; a group of another size in
    place of one that was drawn may do. What helps is what lowers the sum of squared distances from the ideal of all
    strata concerned.
    """
    weights = {stratum: sum(sum(quotas[other]) for other in pot) for pot in pots for stratum in pot}
    distances = _distances(state, quotas, pots)
    off = {stratum for stratum, away in distances.items() if _is_off(away, weights[stratum])}
    units = _by_kind(state, off)
    for stratum in sorted(off):
        for _ in range(_ROUNDS):
            if not _is_off(distances[stratum], weights[stratum]):
                break
            moves = _best(distances, weights, units[stratum], state)
            if not moves:
                break
            for move in moves:
                _apply(state, distances, weights, move, units[stratum][move.content])


def _distances(state: Draw, quotas: Sequence[Sequence[int]], pots: Sequence[Pot]) -> _Distance:
    found = {}
    for pot in pots:
        totals = [sum(quotas[stratum][split] for stratum in pot) for split in range(len(SPLITS))]
        everything = sum(totals)
        for stratum in pot:
            size = sum(quotas[stratum])
            found[stratum] = [
                (quotas[stratum][split] - state.need[stratum][split]) * everything - size * totals[split]
                for split in range(len(SPLITS))
            ]
    return found


def _is_off(away: Sequence[int], weight: int) -> bool:
    return any(abs(part) >= weight for part in away)


def _by_kind(state: Draw, strata: set[int]) -> dict[int, dict[Contents, list[int]]]:
    """The movable units of each stratum by what they hold, in the order of lots; the commonest kinds alone."""
    found: dict[int, dict[Contents, list[int]]] = {stratum: {} for stratum in strata}
    for unit, content in enumerate(state.contents):
        if unit not in state.fixed:
            for stratum, _ in content:
                if stratum in strata:
                    found[stratum].setdefault(content, []).append(unit)
    for stratum, kinds in found.items():
        common = sorted(kinds, key=lambda content: (-len(kinds[content]), content))[:_KINDS]
        found[stratum] = {content: kinds[content] for content in common}
    return found


def _best(
    distances: _Distance, weights: dict[int, int], kinds: dict[Contents, list[int]], state: Draw
) -> tuple[_Move, ...]:
    """The one or two moves that help most; none when none helps."""
    possible = [*_possible(kinds, state)]
    best: tuple[_Move, ...] = ()
    least = 0
    for moves in (*((move,) for move in possible), *combinations_with_replacement(possible, 2)):
        change = _change(distances, weights, moves)
        if change < least and _there(moves, kinds, state):
            best, least = moves, change
    return best


def _possible(kinds: dict[Contents, list[int]], state: Draw) -> Iterator[_Move]:
    for content, units in kinds.items():
        there = {state.split[unit] for unit in units} - _nearly_empty(state)
        for source, target in permutations(range(len(SPLITS)), 2):
            if source in there:
                yield _Move(content, source, target)


def _nearly_empty(state: Draw) -> set[int]:
    """Splits with so few units that two moves could leave none."""
    units = Counter(state.split.values())
    return {split for split in range(len(SPLITS)) if units[split] <= len(SPLITS) - 1}


def _there(moves: tuple[_Move, ...], kinds: dict[Contents, list[int]], state: Draw) -> bool:
    """Whether there are two such units where both moves take the same."""
    if len(moves) < 2 or moves[0].content != moves[1].content or moves[0].source != moves[1].source:
        return True
    return sum(state.split[unit] == moves[0].source for unit in kinds[moves[0].content]) > 1


def _change(distances: _Distance, weights: dict[int, int], moves: tuple[_Move, ...]) -> int:
    """By how much the sum of squared distances changes."""
    moved: dict[tuple[int, int], int] = {}
    for move in moves:
        for stratum, count in move.content:
            step = count * weights[stratum]
            moved[stratum, move.source] = moved.get((stratum, move.source), 0) - step
            moved[stratum, move.target] = moved.get((stratum, move.target), 0) + step
    return sum(step * (step + 2 * distances[stratum][split]) for (stratum, split), step in moved.items())


def _apply(
    state: Draw, distances: _Distance, weights: dict[int, int], move: _Move, units: Sequence[int]
) -> None:
    """Move the unit with the highest lot out of a filled split, or the lowest out of train."""
    ordered = units if move.source == TRAIN else reversed(units)
    unit = next(unit for unit in ordered if state.split[unit] == move.source)
    place(state, unit, move.target)
    for stratum, count in move.content:
        distances[stratum][move.source] -= count * weights[stratum]
        distances[stratum][move.target] += count * weights[stratum]
