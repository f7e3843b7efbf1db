"""Proportions of every label: questions change places until the splits have each label in proportion.

Quotas hold in combinations of a few columns; of the other dimensions, chance alone decides. Here units that hold the
same of all strata change places between two splits, while that brings labels closer to their proportions: quotas stay
as they are. (Sechidis, Tsoumakas and Vlahavas, "On the stratification of multi-label data", ECML 2011, draw question by
question instead, which moves most of a draft when a question is added.)
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array

from build_dataset.pipeline.split.draw import Contents, SplitDraw
from build_dataset.schemas.questions import SPLITS

_WORK = 10_000_000  # units that are looked at in all rounds: bounds the time
_ENOUGH = 50  # questions of a label whose share is told
Floats = NDArray[np.float64]


def even_out(
    state: SplitDraw,
    contents: Sequence[Contents],
    held: csr_array,
    wanted: Floats,
    fixed: Mapping[int, int],
) -> None:
    """Exchange units until no exchange brings labels closer to ``wanted``.

    Args:
        state: the draw; it is changed.
        contents: what each unit holds, by unit.
        held: units × labels: questions.
        wanted: labels × splits: questions.
        fixed: units that stay where an earlier release has them.
    """
    numbers: dict[Contents, int] = {}
    kinds = np.array([numbers.setdefault(content, len(numbers)) for content in contents], np.int64)
    kinds[list(fixed)] = -1
    order = np.argsort(kinds, kind="stable")[len(fixed) :]  # movable units, in the order of lots within a kind
    if not len(order) or not held.shape[1]:
        return
    starts = np.flatnonzero(np.diff(kinds[order], prepend=-1))
    rows = held[order]
    places = np.array([state.split[unit] for unit in order.tolist()])
    everything = np.array([state.split[unit] for unit in range(len(contents))])
    off = np.stack([held.T @ (everything == split) for split in range(len(SPLITS))], axis=1) - wanted
    weights = 1 / np.maximum(wanted.sum(axis=1), 1)
    own = rows.power(2) @ weights
    for _ in range(max(1, _WORK // len(order))):
        moved = False
        for one, other in combinations(range(len(SPLITS)), 2):
            gain = rows @ (weights * (off[:, other] - off[:, one]))  # of going from `one` to `other`, halved
            best = [
                _lowest(np.where(places == split, sign * gain + own, np.inf), starts)
                for split, sign in ((one, 1), (other, -1))
            ]
            for first, second in zip(*best, strict=True):
                if first < 0 or second < 0:
                    continue
                change = np.zeros(len(weights))
                for unit, sign in ((first, -1), (second, 1)):
                    part = slice(rows.indptr[unit], rows.indptr[unit + 1])
                    change[rows.indices[part]] += sign * rows.data[part]
                if weights @ (change * (off[:, one] - off[:, other] + change)) < -1e-9:
                    off[:, one] += change
                    off[:, other] -= change
                    places[first], places[second] = other, one
                    moved = True
        if not moved:
            break
    for unit, split in zip(order.tolist(), places.tolist(), strict=True):
        state.put(unit, split)


def _lowest(values: Floats, starts: NDArray[np.int64]) -> list[int]:
    """The place of the lowest value in each run of places, the first of equal ones; -1 where all are infinite."""
    lowest = np.repeat(np.minimum.reduceat(values, starts), np.diff(starts, append=len(values)))
    found = np.where((values == lowest) & np.isfinite(values), np.arange(len(values)), len(values))
    first = np.minimum.reduceat(found, starts)
    return np.where(first < len(values), first, -1).tolist()


def labels_of(questions: pl.DataFrame, labels: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """The labels of questions and their values in some ``columns``: ``row, name, label``, sorted."""
    numbered = questions.with_row_index("row")
    given = numbered.select("row", "question_id").join(labels.drop_nulls("label"), on="question_id")
    values = numbered.select("row", *columns).unpivot(index="row", variable_name="name", value_name="label").drop_nulls()
    parts = [given.select("row", "label", name="dimension"), values.select("row", "label", "name")]
    return pl.concat(parts).select("row", "name", "label").unique().sort("name", "label", "row")


def deviations(found: pl.DataFrame, splits: Mapping[int, str]) -> dict[str, Any]:
    """Lowest and highest share of test, by dimension, of labels with enough questions."""
    placed = pl.DataFrame({"row": list(splits), "split": list(splits.values())}, {"row": pl.UInt32, "split": pl.String})
    shares = (
        found.join(placed, on="row")
        .group_by("name", "label")
        .agg(size=pl.len(), share=(pl.col("split") == SPLITS[-1]).mean())
        .filter(pl.col("size") >= _ENOUGH)
        .group_by("name")
        .agg(labels=pl.len(), lowest=pl.col("share").min().round(4), highest=pl.col("share").max().round(4))
    )
    return {row.pop("name"): row for row in shares.sort("name").to_dicts()}
