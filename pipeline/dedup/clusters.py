"""Clusters of related questions, which a split never parts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from pipeline.dedup.relation import CONFLICT, MERGED
from pipeline.dedup.resolve import Edge
from pipeline.disjoint import DisjointSets
from schemas.questions import Cluster

KINDS = ("negation", "number", "unit", "sex", "age", "term", "variant", "group", "survivor")
"""Reasons for a question to belong to its cluster, the most telling first: the kind of its relation to another member;
``group`` when only its shared stem or options tie it; ``survivor`` when it stands for copies merged into it."""


def clusters(
    ids: Sequence[str], groups: Sequence[str | None], gone: Iterable[int], edges: Iterable[Edge]
) -> pl.DataFrame:
    """The ``Cluster`` table: a row for every survivor that has a relative, none for the others.

    Args:
        ids: question ids by row, ascending.
        groups: what ties each row to others of its document; None when nothing does.
        gone: rows that were merged or wait for a person. They tie their relatives, but have no row themselves.
        edges: related pairs.

    Returns:
        Rows by question id. A cluster is named after its first member, merged and waiting ones included.
    """
    sets, kinds = DisjointSets(), _kinds(edges := list(edges))
    for one, other, _ in edges:
        sets.union(one, other)
    _tie_groups(sets, groups)
    missing = set(gone)
    rows = sorted(
        (ids[row], ids[members[0]], kinds.get(row, "group"))
        for members in sets.members()
        for row in members
        if row not in missing
    )
    return pl.DataFrame(rows, schema=Cluster.polars_schema(), orient="row")


def _kinds(edges: Iterable[Edge]) -> dict[int, str]:
    """The most telling kind of each row's relations."""
    found: dict[int, str] = {}
    for one, other, kind in edges:
        shown = "survivor" if kind in (*MERGED, CONFLICT) else kind
        for row in (one, other):
            found[row] = min(found.get(row, shown), shown, key=KINDS.index)
    return found


def _tie_groups(sets: DisjointSets, groups: Sequence[str | None]) -> None:
    """Join each group of which a member has relatives, so that merging one member leaves none behind."""
    members: dict[str, list[int]] = {}
    for row, group in enumerate(groups):
        if group is not None:
            members.setdefault(group, []).append(row)
    touched = {row for found in sets.members() for row in found}
    for rows in members.values():
        if touched.intersection(rows):
            for row in rows[1:]:
                sets.union(rows[0], row)
