"""Proportions of every label: questions change places until the splits have each label in proportion.

Quotas hold in combinations of a few columns; of other dimensions, chance alone decides. Units that hold the same of all
strata change places while that brings labels closer to their proportions; quotas stay as they are. (Sechidis, Tsoumakas
and Vlahavas, "On the stratification of multi-label data", ECML 2011, draw question by question, which moves most of a
draft when a question is added.)
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array

from build_dataset.pipeline.split.draw import Contents, SplitDraw
from build_dataset.pipeline.stats.intervals import Floats
from build_dataset.schemas.questions import SPLITS

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
    own = rows.power(2) @ weights
    for _ in range(max(1, _WORK // len(order))):
        before = places.copy()
        for one, other in combinations(range(len(SPLITS)), 2):
            gain = rows @ (weights * (off[:, other] - off[:, one]))  # of going from `one` to `other`, halved
            leaving, coming = (
                _lowest(np.where(places == split, sign * gain + own, np.inf), starts)
                for split, sign in ((one, 1), (other, -1))
            )
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
