"""Units, the questions that stay together, in the order of their lots; and strata, in which proportions hold."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from pipeline.disjoint import DisjointSets

_MIN_SHARED_STEM = 20
"""Characters from which equal shared stems are the same case; shorter ones may be boilerplate."""


@dataclass(frozen=True)
class SplitUnit:
    """Questions that go to one split together."""

    rows: tuple[int, ...]
    """Row numbers in the table of questions, ascending."""
    rank: int
    """Its lot: that of the member with the lowest content hash. (The lowest lot of all members would put
    groups before single questions: they had 1.6 times their share of the test split.)"""


def find_units(questions: pl.DataFrame, clusters: pl.DataFrame, seed: int) -> list[SplitUnit]:
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
        SplitUnit(tuple(rows), _lot(seed, min(hashes[row] for row in rows)))
        for rows in joined.sets(range(questions.height))
    ]
    return sorted(found, key=lambda unit: (unit.rank, min(ids[row] for row in unit.rows)))


def _lot(seed: int, content: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}:{content}".encode()).digest()[:8])


OTHER = "其他/other"
NONE = "无/none"

Stratum = tuple[str, ...]
"""Values of the stratifying columns, first to last; pooled strata are shorter and end in ``OTHER``."""


def strata_of(questions: pl.DataFrame, labels: pl.DataFrame, names: Sequence[str]) -> list[Stratum]:
    """The values of every question in the stratifying columns, in the order of ``questions``.

    Args:
        questions: with ``question_id`` and the columns among ``names``.
        labels: with ``question_id, dimension, label``, for the dimensions among ``names``.
        names: columns of questions or dimensions of annotation.
    """
    if not names:
        return [()] * questions.height
    frame = questions
    for name in names:
        if name not in questions.columns:
            of_dimension = labels.filter(pl.col("dimension") == name)
            column = of_dimension.select("question_id", pl.col("label").alias(name)).unique("question_id")
            frame = frame.join(column, on="question_id", how="left", maintain_order="left")
    return list(frame.select(pl.col(*names).fill_null(NONE)).iter_rows())


def pool_small(counts: Mapping[Stratum, int], minimum: int, keep: int = 0) -> dict[Stratum, Stratum]:
    """Pool small strata, so that strata have at least ``minimum`` questions.

    A stratum that is too small gives up its last value and is pooled with its neighbours that are too small
    as well; if together they still are, they give up the value before, and so on up to one pool of all.

    Args:
        counts: questions by stratum.
        minimum: questions a stratum should have.
        keep: number of leading values that are never given up; pools inside them may stay smaller.

    Returns:
        the final stratum by original one.
    """
    final = {stratum: stratum for stratum in counts}
    depth = max((len(stratum) for stratum in counts), default=0)
    for length in range(depth, keep, -1):
        sizes: dict[Stratum, int] = {}
        for stratum, count in counts.items():
            sizes[final[stratum]] = sizes.get(final[stratum], 0) + count
        for stratum, pooled in final.items():
            if sizes[pooled] < minimum:
                final[stratum] = (*pooled[: length - 1], OTHER)
    return final


def stratum_name(stratum: Stratum) -> str:
    """A stratum's name in tables."""
    return " · ".join(stratum) or "全部/all"
