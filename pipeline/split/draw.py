"""The draw: units go to splits in the order of their lots, as long as the quotas of their strata allow.

Strata that groups left more than a question from their ideal are repaired, where other groups fit better. Quotas hold
in combinations of a few columns; of other dimensions, chance alone decides. So units that hold the same of all strata
change places at the end while that brings labels closer to their proportions; quotas stay as they are. (Sechidis,
Tsoumakas and Vlahavas, "On the stratification of multi-label data", ECML 2011: a new question moves most of a draft.)
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, permutations, product
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array

from build_dataset.pipeline.stats import Floats
from build_dataset.schemas.grouping import group_values
from build_dataset.schemas.questions import SPLITS

TRAIN, VALIDATION, TEST = range(len(SPLITS))  # places in a row of quotas
_FILLED = (TEST, VALIDATION)
"""Filled in this order, so that the test split holds the lowest lots; what fits in neither is train."""
_ROUNDS = 99  # times that a stratum is improved
Contents = tuple[tuple[int, int], ...]  # the content of a unit: (stratum, questions) pairs
Quotas = Sequence[Sequence[int]]  # questions by stratum and split
QuotaGroup = Sequence[int]  # strata whose quotas must add up to a total: all strata, or those of a subcategory
_Kinds = dict[Contents, list[int]]  # units by what they hold, in the order of lots


class _Move(NamedTuple):
    """A unit of some kind goes from a split to another."""

    content: Contents
    source: int
    target: int


class SplitDraw:
    """Splits of units under quotas."""

    def __init__(
        self, contents: Sequence[Contents], quotas: Quotas, quota_groups: Sequence[QuotaGroup], given: Mapping[int, int]
    ) -> None:
        """Take the units in the order of lots, and the splits that were decided before, which nothing changes."""
        self._contents, self._quotas, self._quota_groups, self._fixed = contents, quotas, quota_groups, given.keys()
        self.need = [list(row) for row in quotas]
        """Questions that are still missing, by stratum and split; below 0 where there are too many."""
        self.split: dict[int, int] = {}  # of every unit that has one
        self._totals: dict[int, list[int]] = {}  # questions of its group by split, of every stratum
        for quota_group in quota_groups:
            totals = [sum(quotas[stratum][split] for stratum in quota_group) for split in range(len(SPLITS))]
            self._totals |= dict.fromkeys(quota_group, totals)
        for unit, split in given.items():
            self.put(unit, split)

    def put(self, unit: int, split: int) -> None:
        """Put a unit into a split, out of the one where it is."""
        before = self.split.get(unit)  # None in the first place
        for stratum, count in self._contents[unit]:
            self.need[stratum][split] -= count
            if before is not None:
                self.need[stratum][before] += count
        self.split[unit] = split

    def draw(self) -> None:
        """Give every unit a split: test if it fits into what all its strata need there, else validation, else train."""
        wanted = {split for split in _FILLED if any(row[split] for row in self._quotas)}
        for unit, content in enumerate(self._contents):
            if unit not in self._fixed:
                fits = (split for split in _FILLED if all(self.need[row][split] >= count for row, count in content))
                self.put(unit, next(fits, TRAIN))
        for split in _FILLED:
            if split in wanted and split not in self.split.values():
                # The unit that harms the quotas least, so that a small dataset made of groups has every split.
                movable = [unit for unit, there in self.split.items() if there == TRAIN and unit not in self._fixed]
                moves = ((unit, _Move(self._contents[unit], TRAIN, split)) for unit in movable)
                harm = ((self._change(move, self._surpluses([move.content])), unit) for unit, move in moves)
                if len(movable) > 1:
                    self.put(min(harm)[1], split)

    def balance(self) -> None:
        """Move single questions into or out of train until groups have their totals, from what is furthest behind."""
        pairs = ((content, unit) for unit, content in enumerate(self._contents) if unit not in self._fixed)
        alone = ((content[0][0], unit) for content, unit in pairs if sum(count for _, count in content) == 1)
        singles = group_values(alone)  # questions that no other is tied to, by stratum
        for quota_group in self._quota_groups:
            for split in _FILLED:
                short = sum(self.need[stratum][split] for stratum in quota_group)
                source, target = (TRAIN, split) if short > 0 else (split, TRAIN)
                for _ in range(abs(short)):
                    if (moving := self._next(quota_group, singles, split, source)) is None:
                        break
                    self.put(moving, target)

    def _next(self, quota_group: QuotaGroup, singles: Mapping[int, list[int]], split: int, source: int) -> int | None:
        """The next single question to move out of ``source``: the lowest lot in, the highest out."""
        order = 1 if source == TRAIN else -1  # out of train what is behind most, into it what is ahead
        strata = sorted(quota_group, key=lambda stratum: (order * self._surplus(stratum)[split], stratum))
        units = (unit for stratum in strata for unit in singles.get(stratum, [])[::order])
        return next((unit for unit in units if self.split[unit] == source), None)

    def repair(self) -> None:
        """Move a unit at a time in strata that are a question or more from their ideal, while that helps.

        The draw fills quotas in the order of lots, which can leave a rest that no group fits; one of another size may.
        What helps lowers the sum of squared distances from the ideal of all strata concerned. No split is emptied.
        """
        # The movable units of each stratum that is off by what they hold.
        kinds_of: dict[int, _Kinds] = {stratum: {} for stratum in self._totals if self._is_off(stratum)}
        for unit, content in enumerate(self._contents):
            if unit not in self._fixed:
                for stratum in kinds_of.keys() & {stratum for stratum, _ in content}:
                    kinds_of[stratum].setdefault(content, []).append(unit)
        for stratum, kinds in sorted(kinds_of.items()):
            for _ in range(_ROUNDS):
                if not self._is_off(stratum) or (move := self._best(kinds)) is None:
                    break
                # the unit with the highest lot out of a filled split, or the lowest out of train
                ordered = kinds[move.content][:: 1 if move.source == TRAIN else -1]
                self.put(next(unit for unit in ordered if self.split[unit] == move.source), move.target)

    def _surplus(self, stratum: int) -> list[int]:
        """Questions over the ideal by split, times the number of questions in the group."""
        totals, quotas = self._totals[stratum], self._quotas[stratum]
        each, whole, size = zip(quotas, self.need[stratum], totals, strict=True), sum(totals), sum(quotas)
        return [(quota - need) * whole - size * total for quota, need, total in each]

    def _surpluses(self, contents: Iterable[Contents]) -> dict[int, list[int]]:
        return {stratum: self._surplus(stratum) for content in contents for stratum, _ in content}

    def _is_off(self, stratum: int) -> bool:
        """Return whether a stratum is a question or more from its ideal."""
        return any(abs(part) >= sum(self._totals[stratum]) for part in self._surplus(stratum))

    def _best(self, kinds: _Kinds) -> _Move | None:
        """The move that helps most; None when none helps."""
        sources = {content: {self.split[unit] for unit in units} for content, units in kinds.items()}
        units, surplus = Counter(self.split.values()), self._surpluses(kinds)
        each = product(sorted(kinds), permutations(range(len(SPLITS)), 2))
        moves = (_Move(content, source, target) for content, (source, target) in each)
        possible = [move for move in moves if move.source in sources[move.content] and units[move.source] > 1]
        best = min(possible, key=lambda move: self._change(move, surplus), default=None)
        return best if best and self._change(best, surplus) < 0 else None

    def _change(self, move: _Move, surplus: Mapping[int, Sequence[int]]) -> int:
        steps = ((count * sum(self._totals[stratum]), surplus[stratum]) for stratum, count in move.content)
        return sum(2 * step * (step + of[move.target] - of[move.source]) for step, of in steps)


_WORK = 10_000_000  # units that are looked at in all rounds: bounds the time
_ENOUGH = 50  # questions of a label whose share is told


def ideals(
    labels: pl.DataFrame, units: Sequence[Sequence[int]], strata: Sequence[int], quotas: Sequence[Sequence[int]]
) -> tuple[csr_array, Floats]:
    """Questions by unit and label; and the ideal by label and split: questions count as their strata's do."""
    unit_of = np.full(len(strata), -1)
    for number, members in enumerate(units):
        unit_of[list(members)] = number
    placed = labels.select(pl.struct("name", "label").rle_id(), "row").to_numpy().astype(np.int64)
    codes, rows = placed[:, 0], placed[:, 1]
    inside = unit_of[rows] >= 0  # a retired question is in no unit
    rows, codes, count = rows[inside], codes[inside], int(codes.max(initial=-1)) + 1
    shares = np.array(quotas, float) / np.maximum(np.sum(quotas, axis=1, keepdims=True), 1)
    wanted = np.zeros((count, len(SPLITS)))
    np.add.at(wanted, codes, shares[np.array(strata)[rows]])
    return csr_array((np.ones(len(rows)), (unit_of[rows], codes)), shape=(len(units), count)), wanted


def even_out(
    state: SplitDraw, contents: Sequence[Contents], held: csr_array, wanted: Floats, fixed: Mapping[int, int]
) -> None:
    """Exchange units, not ``fixed`` ones, until none brings labels (``held`` by unit) closer to what is ``wanted``."""
    numbers: dict[Contents, int] = {}
    kinds = np.array([numbers.setdefault(content, len(numbers)) for content in contents], np.int64)
    kinds[list(fixed)] = -1
    order = np.argsort(kinds, kind="stable")[len(fixed) :]  # movable units by kind, in the order of lots
    if not len(order) or not held.shape[1]:
        return
    starts, rows = np.flatnonzero(np.diff(kinds[order], prepend=-1)), held[order]
    there = np.array([state.split[unit] for unit in range(len(contents))])
    places = there[order]
    off = np.stack([held.T @ (there == split) for split in range(len(SPLITS))], axis=1) - wanted
    weights = 1 / np.maximum(wanted.sum(axis=1), 1)
    own_weight = rows.power(2) @ weights
    for _ in range(max(1, _WORK // len(order))):
        before = places.copy()
        for one, other in combinations(range(len(SPLITS)), 2):
            gain = rows @ (weights * (off[:, other] - off[:, one]))  # of going from `one` to `other`, halved
            leaving = _lowest(np.where(places == one, own_weight + gain, np.inf), starts)
            coming = _lowest(np.where(places == other, own_weight - gain, np.inf), starts)
            for first, second in zip(leaving, coming, strict=True):
                change = np.zeros(len(weights))
                for unit, sign in ((first, -1), (second, 1)):
                    part = slice(rows.indptr[unit], rows.indptr[unit + 1])
                    change[rows.indices[part]] += sign * rows.data[part]
                better = weights @ (change * (off[:, one] - off[:, other] + change)) < -1e-9
                if better and places[first] == one and places[second] == other:
                    off[:, one] += change
                    off[:, other] -= change
                    places[first], places[second] = other, one
        if (places == before).all():
            break
    for unit, split in zip(order.tolist(), places.tolist(), strict=True):
        state.put(unit, split)


def _lowest(values: Floats, starts: NDArray[np.int64]) -> list[int]:
    """The place of the lowest value in each run of places, the first of equal ones."""
    lowest = np.repeat(np.minimum.reduceat(values, starts), np.diff(starts, append=len(values)))
    candidates = np.where(values == lowest, np.arange(len(values)), len(values))
    first: list[int] = np.minimum.reduceat(candidates, starts).tolist()
    return first


def labels_of(questions: pl.DataFrame, labels: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """The labels of questions and their values in some ``columns``: ``row, name, label``, sorted."""
    numbered = questions.with_row_index("row")
    given = numbered.select("row", "question_id").join(labels, on="question_id").rename({"dimension": "name"})
    values = numbered.select("row", *columns).unpivot(index="row", variable_name="name", value_name="label")
    parts = [part.select("row", "name", "label") for part in (given, values)]
    return pl.concat(parts).drop_nulls().unique().sort("name", "label", "row")


def deviations(labels: pl.DataFrame, splits: Mapping[int, str]) -> dict[str, Any]:
    """Lowest and highest share of test, by dimension, of labels with enough questions."""
    shares = (
        labels.with_columns(split=pl.col("row").replace_strict(splits, default=None, return_dtype=pl.String))
        .drop_nulls("split")
        .group_by("name", "label")
        .agg(size=pl.len(), share=(pl.col("split") == SPLITS[-1]).mean())
        .filter(pl.col("size") >= _ENOUGH)
        .group_by("name")
        .agg(labels=pl.len(), lowest=pl.col("share").min().round(4), highest=pl.col("share").max().round(4))
    )
    return {row.pop("name"): row for row in shares.sort("name").to_dicts()}
