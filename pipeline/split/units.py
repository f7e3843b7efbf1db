"""Units: the questions that must stay together, and the order in which lots are drawn among them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import polars as pl

from pipeline.disjoint import DisjointSets

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
    joined = DisjointSets()
    for name in columns.columns:
        joined.union_equal(enumerate(columns[name].to_list()))
    placed = clusters.join(questions.select("question_id").with_row_index("row"), on="question_id")
    joined.union_equal(zip(placed["row"].to_list(), placed["cluster_id"].to_list(), strict=True))
    hashes, ids = questions["content_hash"].to_list(), questions["question_id"].to_list()
    found = [
        Unit(tuple(rows), _lot(seed, min(hashes[row] for row in rows)))
        for rows in joined.sets(range(questions.height))
    ]
    return sorted(found, key=lambda unit: (unit.rank, min(ids[row] for row in unit.rows)))


def _lot(seed: int, content: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}:{content}".encode()).digest()[:8])
