"""Units: the questions that must stay together, and the order in which lots are drawn among them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

_MIN_SHARED_STEM = 20
"""Characters from which equal shared stems are the same case; shorter ones may be boilerplate."""


@dataclass(frozen=True)
class Unit:
    """Questions that go to one split together."""

    rows: tuple[int, ...]
    """Row numbers in the table of questions, ascending."""
    rank: int
    """Its lot: that of the member with the lowest content hash. (The lowest lot of all members would put
    groups before single questions: they had 1.6 times their share of the test split.)"""


def find_units(questions: pl.DataFrame, clusters: pl.DataFrame, seed: int) -> list[Unit]:
    """The units of ``questions``, in the order of their lots.

    Joined are questions of one group, of one duplicate cluster, with one case text (a case printed in two
    papers has two group ids), and with one content.

    A question's lot is a hash of the seed and of what the question says; it depends on no other question.

    Args:
        questions: with ``question_id, group_id, shared_stem, content_hash``.
        clusters: with ``question_id, cluster_id``; more than one cluster a question is allowed.
        seed: of the lots.
    """
    columns = questions.select(
        "group_id", "content_hash", case=pl.col("shared_stem").str.replace_all(r"\s+", "")
    ).with_columns(case=pl.when(pl.col("case").str.len_chars() >= _MIN_SHARED_STEM).then("case"))
    forest = Forest(questions.height)
    for name in columns.columns:
        forest.join_equal(enumerate(columns[name].to_list()))
    placed = clusters.join(questions.select("question_id").with_row_index("row"), on="question_id")
    forest.join_equal(zip(placed["row"].to_list(), placed["cluster_id"].to_list(), strict=True))
    hashes, ids = questions["content_hash"].to_list(), questions["question_id"].to_list()
    found = [Unit(tuple(rows), _lot(seed, min(hashes[row] for row in rows))) for rows in forest.trees()]
    return sorted(found, key=lambda unit: (unit.rank, min(ids[row] for row in unit.rows)))


class Forest:
    """Disjoint sets of the numbers below ``size`` (union-find with path halving)."""

    def __init__(self, size: int) -> None:
        self._parent = list(range(size))

    def root(self, item: int) -> int:
        """The number that stands for the set of ``item``."""
        parent = self._parent
        while parent[item] != item:
            parent[item] = parent[parent[item]]
            item = parent[item]
        return item

    def join(self, one: int, other: int) -> None:
        """Make one set of two; the lower root stands for it."""
        low, high = sorted((self.root(one), self.root(other)))
        self._parent[high] = low

    def join_equal(self, keyed: Iterable[tuple[int, str | None]]) -> None:
        """Join all numbers that have the same key; no key joins nothing."""
        first: dict[str, int] = {}
        for item, key in keyed:
            if key is None:
                continue
            seen = first.setdefault(key, item)
            if seen != item:
                self.join(seen, item)

    def trees(self) -> Sequence[list[int]]:
        """The sets, each ascending."""
        members: dict[int, list[int]] = {}
        for item in range(len(self._parent)):
            members.setdefault(self.root(item), []).append(item)
        return list(members.values())


def _lot(seed: int, content: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}:{content}".encode()).digest()[:8])
