"""Duplicates that were merged and twins that were kept, side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from pipeline.report.build import Build
from pipeline.report.pairs import Row, side_by_side
from pipeline.report.params import ReportParams
from pipeline.report.section import Section

MERGED: Mapping[str, str] = {
    "exact": "完全相同",
    "same_question": "同一题目，措辞不同",
    "reordered_options": "选项顺序不同",
}
TWINS: Mapping[str, str] = {
    "negation": "否定不同",
    "number": "数值不同",
    "unit": "单位不同",
    "sex": "性别不同",
    "age": "年龄不同",
    "term": "关键词不同",
    "variant": "题干相同、选项不同",
}
_TIES = ("survivor", "group")
"""Kinds that say nothing of a difference."""
_MEMBERS = 40
"""Members of one cluster that are compared for the pair to show."""
_COLUMNS = ("question_id", "document", "number", "pages", "stem", "shared_stem", "options", "answer")

Pair = tuple[str, str, str]
"""Two question ids and what is said of them."""


def section(build: Build, params: ReportParams) -> Section | None:
    """Pairs of each kind; None where dedup has not run or found nothing."""
    merges, clusters, questions = (
        build.table(name) for name in ("dedup/merges", "dedup/clusters", "clean/questions")
    )
    if merges is None or clusters is None or questions is None or not (merges.height or clusters.height):
        return None
    merged = {kind: _merged_pairs(part, params) for kind, part in _by_kind(merges)}
    twins = {kind: part for kind, part in _by_kind(clusters) if kind not in _TIES}
    related = clusters.join(
        pl.concat([part.head(params.pairs) for part in twins.values()] or [clusters.clear()])
        .select("cluster_id")
        .unique(),
        on="cluster_id",
        how="semi",
    )
    wanted = {name for pairs in merged.values() for pair in pairs for name in pair[:2]}
    rows = _rows(questions, wanted | set(related["question_id"].to_list()))
    values = {
        "merged": [
            _kind(kind, MERGED, _counted(merges, kind), merged[kind], rows, params)
            for kind in _ordered(merged, MERGED)
        ],
        "twins": [
            _kind(kind, TWINS, part.height, _twin_pairs(part.head(params.pairs), related, rows), rows, params)
            for kind in _ordered(twins, TWINS)
            for part in [twins[kind]]
        ],
        "clusters": clusters["cluster_id"].n_unique(),
        "sizes": _sizes(clusters),
    }
    return Section("duplicates", "Duplicates merged, twins kept", "去重：合并与保留的相似题", values)


def _by_kind(frame: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    parts = frame.sort("question_id").partition_by("kind", as_dict=True, maintain_order=True)
    return [(str(key[0]), part) for key, part in parts.items()]


def _ordered(found: Iterable[str], known: Mapping[str, str]) -> list[str]:
    order = list(known)
    return sorted(found, key=lambda kind: (order.index(kind) if kind in order else len(order), kind))


def _counted(frame: pl.DataFrame, kind: str) -> int:
    return frame.filter(pl.col("kind") == kind).height


def _merged_pairs(merges: pl.DataFrame, params: ReportParams) -> list[Pair]:
    """The least alike first: where a wrong merge would stand."""
    chosen = merges.sort("score", "question_id").head(params.pairs)
    return [
        (survivor, merged, f"score {score:.3f} · {reason}")
        for survivor, merged, score, reason in chosen.select(
            "survivor_id", "question_id", "score", "reason"
        ).iter_rows()
    ]


def _twin_pairs(chosen: pl.DataFrame, related: pl.DataFrame, rows: Mapping[str, Row]) -> list[Pair]:
    """Each chosen twin beside the most similar other member of its cluster, no pair twice."""
    from rapidfuzz import process
    from rapidfuzz.distance import Indel

    members = dict(related.group_by("cluster_id").agg(pl.col("question_id").sort()).iter_rows())
    pairs: dict[frozenset[str], Pair] = {}
    for name, cluster in chosen.select("question_id", "cluster_id").iter_rows():
        others = [other for other in members.get(cluster, ())[:_MEMBERS] if other != name and other in rows]
        if name not in rows or not others:
            continue
        texts = [rows[other]["stem"] for other in others]
        found = process.extractOne(rows[name]["stem"], texts, scorer=Indel.normalized_similarity)
        other = others[found[2]] if found else others[0]
        pairs.setdefault(frozenset((name, other)), (name, other, f"cluster {cluster}"))
    return list(pairs.values())


def _rows(questions: pl.DataFrame, wanted: set[str]) -> dict[str, Row]:
    found = questions.lazy().filter(pl.col("question_id").is_in(sorted(wanted))).select(_COLUMNS).collect()
    return {row["question_id"]: row for row in found.iter_rows(named=True)}


def _kind(
    kind: str,
    names: Mapping[str, str],
    count: int,
    pairs: list[Pair],
    rows: Mapping[str, Row],
    params: ReportParams,
) -> dict[str, Any]:
    return {
        "kind": kind,
        "chinese": names.get(kind, ""),
        "count": count,
        "pairs": [
            {"said": said, "cards": side_by_side(rows[one], rows[other], params.characters)}
            for one, other, said in pairs
            if one in rows and other in rows
        ],
    }


def _sizes(clusters: pl.DataFrame) -> list[tuple[int, int]]:
    """Clusters by the number of their members that were kept."""
    sizes = clusters.group_by("cluster_id").len()["len"].value_counts().sort("len")
    return [(int(size), int(count)) for size, count in sizes.iter_rows()]
