"""The draw: units go to splits in the order of their lots, as long as the quotas of their strata allow.

Strata that groups left more than a question from their ideal are repaired, where other groups fit better.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, permutations

from schemas.questions import SPLITS

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
    """
    state = SplitDraw(contents, [list(row) for row in quotas], {}, frozenset(given))
    wanted = [sum(row[split] for row in state.need) for split in range(len(SPLITS))]
    for unit, split in given.items():
        put_in_split(state, unit, split)
    for unit, content in enumerate(contents):
        if unit not in state.fixed:
            fits = (
                split for split in _FILLED if all(state.need[stratum][split] >= n for stratum, n in content)
            )
            put_in_split(state, unit, next(fits, TRAIN))
    for split in _FILLED:
        _top_up(state, split)
    for split in _FILLED:
        if wanted[split] > 0 and split not in state.split.values():
            _fill_empty(state, split)
    return state


def put_in_split(state: SplitDraw, unit: int, split: int) -> None:
    """Put a unit into a split, out of the one where it is."""
    before = state.split.get(unit)
    for stratum, count in state.contents[unit]:
        state.need[stratum][split] -= count
        if before is not None:
            state.need[stratum][before] += count
    state.split[unit] = split


def _gain(state: SplitDraw, content: Contents, split: int) -> int:
    """Return the number of questions by which strata get nearer to their quotas when a unit moves from train."""
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
            put_in_split(state, unit, split)


def _fill_empty(state: SplitDraw, split: int) -> None:
    """Move the unit that harms the quotas least, so that a small dataset made of groups has every split."""
    movable = [unit for unit in range(len(state.contents)) if _movable(state, unit)]
    if len(movable) > 1:
        put_in_split(state, max(movable, key=lambda unit: _gain(state, state.contents[unit], split)), split)


def _movable(state: SplitDraw, unit: int) -> bool:
    return state.split[unit] == TRAIN and unit not in state.fixed


Pot = Sequence[int]
"""Strata whose quotas must add up to a total: all strata, or those of a subcategory."""


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
        for split in _FILLED:
            short = sum(state.need[stratum][split] for stratum in pot)
            source, target = (TRAIN, split) if short > 0 else (split, TRAIN)
            for _ in range(abs(short)):
                chosen = _next(state, quotas, pot, singles, split, source)
                if chosen is None:
                    break
                put_in_split(state, chosen, target)


def _next(
    state: SplitDraw,
    quotas: Sequence[Sequence[int]],
    pot: Pot,
    singles: dict[int, list[int]],
    split: int,
    source: int,
) -> int | None:
    """The next single question to move out of ``source``: the lowest lot in, the highest out."""
    surplus = {stratum: parts[split] for stratum, parts in _distances(state, quotas, [pot]).items()}
    order = 1 if source == TRAIN else -1
    for stratum in sorted(pot, key=lambda stratum: (order * surplus[stratum], stratum)):
        for unit in singles.get(stratum, [])[::order]:
            if state.split[unit] == source:
                return unit
    return None


_KINDS = 16
"""Kinds of units that are tried in a stratum, the most common first: every pair of their moves is."""
_ROUNDS = 8
"""Times that a stratum is improved: each takes it as near to its ideal as two moves can."""

_Distance = dict[int, list[int]]
"""Surplus over the ideal by stratum and split, times the number of questions in its pot."""
_Kinds = dict[Contents, list[int]]
"""Units by what they hold, in the order of lots."""


@dataclass(frozen=True)
class _Move:
    """A unit of some kind goes from a split to another."""

    content: Contents
    source: int
    target: int


def repair(state: SplitDraw, quotas: Sequence[Sequence[int]], pots: Sequence[Pot]) -> None:
    """Move one or two units at a time in strata that are a question or more from their ideal, while that helps.

    The draw fills quotas in the order of lots, which can leave a rest that no group fits; a group of another size in
    place of one that was drawn may do. What helps is what lowers the sum of squared distances from the ideal of all
    strata concerned. No split is emptied.
    """
    _Repair(state, quotas, pots).run()


class _Repair:
    """The strata while they are improved."""

    def __init__(self, state: SplitDraw, quotas: Sequence[Sequence[int]], pots: Sequence[Pot]) -> None:
        self._state, self._distances = state, _distances(state, quotas, pots)
        self._weights = {stratum: sum(sum(quotas[other]) for other in pot) for pot in pots for stratum in pot}
        self._units = Counter(state.split.values())

    def run(self) -> None:
        """Improve every stratum that is off, as long as it gets better."""
        off = {stratum for stratum in self._distances if self._is_off(stratum)}
        for stratum, kinds in sorted(_by_kind(self._state, off).items()):
            for _ in range(_ROUNDS):
                moves = self._best(kinds) if self._is_off(stratum) else ()
                if not moves:
                    break
                for move in moves:
                    self._apply(move, kinds[move.content])

    def _is_off(self, stratum: int) -> bool:
        return any(abs(part) >= self._weights[stratum] for part in self._distances[stratum])

    def _best(self, kinds: _Kinds) -> tuple[_Move, ...]:
        """The one or two moves that help most; none when none helps."""
        possible = [*self._possible(kinds)]
        best: tuple[_Move, ...] = ()
        least = 0
        for moves in (*((move,) for move in possible), *combinations_with_replacement(possible, 2)):
            change = self._change(moves)
            if change < least and self._allowed(moves, kinds):
                best, least = moves, change
        return best

    def _possible(self, kinds: _Kinds) -> Iterator[_Move]:
        """Return all moves of units of these kinds."""
        split = self._state.split
        for content, units in kinds.items():
            there = {split[unit] for unit in units}
            for source, target in permutations(range(len(SPLITS)), 2):
                if source in there:
                    yield _Move(content, source, target)

    def _allowed(self, moves: tuple[_Move, ...], kinds: _Kinds) -> bool:
        """Return whether no split is emptied, and there are two units where both moves take the same kind."""
        left = Counter(move.source for move in moves)
        left.subtract(move.target for move in moves)
        if any(gone > 0 and self._units[split] <= gone for split, gone in left.items()):
            return False
        first, last = moves[0], moves[-1]
        if len(moves) < 2 or first.content != last.content or first.source != last.source:
            return True
        return sum(self._state.split[unit] == first.source for unit in kinds[first.content]) > 1

    def _change(self, moves: tuple[_Move, ...]) -> int:
        """Return the change of the sum of squared distances."""
        moved: Counter[tuple[int, int]] = Counter()
        for move in moves:
            for stratum, count in move.content:
                step = count * self._weights[stratum]
                moved[stratum, move.source] -= step
                moved[stratum, move.target] += step
        distances = self._distances
        return sum(step * (step + 2 * distances[stratum][split]) for (stratum, split), step in moved.items())

    def _apply(self, move: _Move, units: Sequence[int]) -> None:
        """Move the unit with the highest lot out of a filled split, or the lowest out of train."""
        ordered = units if move.source == TRAIN else reversed(units)
        unit = next(unit for unit in ordered if self._state.split[unit] == move.source)
        put_in_split(self._state, unit, move.target)
        self._units[move.source] -= 1
        self._units[move.target] += 1
        for stratum, count in move.content:
            self._distances[stratum][move.source] -= count * self._weights[stratum]
            self._distances[stratum][move.target] += count * self._weights[stratum]


def _distances(state: SplitDraw, quotas: Sequence[Sequence[int]], pots: Sequence[Pot]) -> _Distance:
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


def _by_kind(state: SplitDraw, strata: set[int]) -> dict[int, _Kinds]:
    """The movable units of each stratum by what they hold, in the order of lots; the commonest kinds alone."""
    found: dict[int, _Kinds] = {stratum: {} for stratum in strata}
    for unit, content in enumerate(state.contents):
        if unit not in state.fixed:
            for stratum in strata.intersection(stratum for stratum, _ in content):
                found[stratum].setdefault(content, []).append(unit)
    for stratum, kinds in found.items():
        found[stratum] = dict(sorted(kinds.items(), key=lambda kind: (-len(kind[1]), kind[0]))[:_KINDS])
    return found
