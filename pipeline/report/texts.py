"""Sections that show texts: how pages were read, texts before and after, contradicting keys, duplicates and twins."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from pipeline.report.build import WORDS, Build, Section, notice
from pipeline.report.shown import Row, mark_differences, side_by_side, spread_evenly, tally

_DOUBTFUL = 0.9
"""Mean confidence of a page's OCR below which a person should look: of 48 scans and photographs the 42 above it have 90
to 100 % of their lines right, those below 71 to 99 %."""
_PAGES = 30
"""Doubtful pages listed."""
_TIES = ("survivor", "group")
"""Kinds that name no difference."""
_MEMBERS = 40
"""Members of one cluster that are compared for the pair to show."""
_COLUMNS = ("question_id", "document", "number", "pages", "stem", "shared_stem", "options", "answer")

Pair = tuple[str, str, str]
"""Two question ids and a remark on them."""


def reading(build: Build) -> Section | None:
    """Pages by how they were read, the least certain first; None where no source has pages."""
    pages = build.filled("ocr/pages")
    if pages is None:
        return None
    confidence = pl.col("confidence")
    ways = (
        pages.group_by("method", "engine", "reason")
        .agg(
            pages=pl.len(),
            documents=pl.col("document").n_unique(),
            mean=confidence.mean(),
            lowest=confidence.min(),
        )
        .sort("pages", "method", "engine", "reason", descending=[True, False, False, False])
    )
    doubtful = pages.filter(confidence < _DOUBTFUL).sort("confidence", "document", "page")
    notices = []
    if doubtful.height:
        notices.append(notice("doubtful_pages", limit=_DOUBTFUL, n=doubtful.height, pages=pages.height))
    if lost := build.stage("ocr").facts.get("pages_lost"):
        notices.append(notice("lost_pages", n=len(lost)))
    values = {
        "ways": ways.to_dicts(),
        "doubtful": doubtful.head(_PAGES).select("document", "page", "confidence").to_dicts(),
        "doubtful_count": doubtful.height,
        "limit": _DOUBTFUL,
    }
    return Section("reading", "How pages were read", "页面读取方式", values, notices)


def tidied(build: Build) -> Section | None:
    """Tidied texts by part of the question, a few before and after; None where no text was changed."""
    values = _changes(build, "clean/changes", "part")
    return Section("tidied", "Texts tidied", "文本规范化", values) if values else None


def corrected(build: Build) -> Section | None:
    """Corrections by field, a few before and after, without names; None where nobody corrected anything."""
    values = _changes(build, "clean/corrections", "field")
    return Section("corrected", "Corrected by people", "人工更正", values) if values else None


def _changes(build: Build, reference: str, field: str) -> dict[str, Any] | None:
    """Return counts of changed texts by part, and a few side by side, spread evenly over all."""
    rows = build.filled(reference)
    if rows is None:
        return None
    rows = rows.with_columns(name=pl.col(field).str.split(":").list.first()).sort("question_id", field)
    texts = rows.filter(pl.col("name") != "verdict")
    return {
        "count": rows.height,
        "questions": rows["question_id"].n_unique(),
        "people": rows["by"].n_unique() if "by" in rows.columns else 0,
        "parts": tally(rows["name"]),
        "examples": [
            {
                "id": row["question_id"],
                "part": row[field],
                "sides": mark_differences(row["before"], row["after"], build.params.characters),
            }
            for row in spread_evenly(texts, build.params.pairs).iter_rows(named=True)
        ],
    }


def conflicts(build: Build) -> Section | None:
    """Copies of a question whose keys contradict each other; None when there are none."""
    review = build.table("dedup/review")
    if review is None:
        return None
    found = review.filter(pl.col("reason") == "conflicting_answers").sort("item_id")
    if found.is_empty():
        return None
    shown = found.head(build.params.conflicts).select("detail", "item")
    copies = int(found["question_ids"].list.len().sum())
    values = {
        "count": found.height,
        "all_copies": copies,
        "shown": shown.height,
        "conflicts": [_conflict(detail, item, build.params.characters) for detail, item in shown.iter_rows()],
    }
    told = notice("conflicts", n=found.height, lost=copies)
    return Section("conflicts", "Contradicting keys", "答案冲突", values, [told])


def _conflict(detail: str, item: str | None, limit: int) -> dict[str, Any]:
    """The first copy beside each other one, at most three."""
    copies = json.loads(item or "[]")
    pairs = [side_by_side(copies[0], other, limit) for other in copies[1:4]]
    cards = [pairs[0][0], *(pair[1] for pair in pairs)] if pairs else []
    return {"detail": detail[:limit], "copies": len(copies), "cards": cards}


def duplicates(build: Build) -> Section | None:
    """Merged duplicates and kept twins, side by side; None where dedup has not run or found nothing."""
    merges, clusters, questions = map(build.table, ("dedup/merges", "dedup/clusters", "clean/questions"))
    if merges is None or clusters is None or questions is None or not (merges.height or clusters.height):
        return None
    most = build.params.pairs
    merged = _by_kind(merges, WORDS["merged"])
    twins = {kind: part for kind, part in _by_kind(clusters, WORDS["twins"]).items() if kind not in _TIES}
    chosen = pl.concat([part.head(most) for part in twins.values()] or [clusters.clear()])
    related = clusters.join(chosen.select("cluster_id").unique(), on="cluster_id", how="semi")
    pairs: dict[str, list[Pair]] = {}
    for kind, part in merged.items():  # the lowest similarity first: wrong merges are found there
        worst = (
            part.sort("score", "question_id")
            .head(most)
            .select("survivor_id", "question_id", "score", "reason")
        )
        pairs[kind] = [
            (one, other, f"score {score:.3f} · {why}") for one, other, score, why in worst.iter_rows()
        ]
    wanted = {name for found in pairs.values() for pair in found for name in pair[:2]}
    wanted |= set(related["question_id"].to_list())
    found = questions.filter(pl.col("question_id").is_in(sorted(wanted))).select(_COLUMNS)
    rows = {row["question_id"]: row for row in found.iter_rows(named=True)}
    pairs |= {kind: _twin_pairs(part.head(most), related, rows) for kind, part in twins.items()}
    values = {
        "merged": [_kind(kind, part, pairs[kind], rows, build) for kind, part in merged.items()],
        "twins": [_kind(kind, part, pairs[kind], rows, build) for kind, part in twins.items()],
        "clusters": clusters["cluster_id"].n_unique(),
    }
    return Section("duplicates", "Duplicates merged, twins kept", "去重：合并与保留的相似题", values)


def _by_kind(frame: pl.DataFrame, known: Iterable[str]) -> dict[str, pl.DataFrame]:
    """Rows by kind, known kinds first in their order."""
    parts = frame.sort("question_id").partition_by("kind", as_dict=True)
    found = {str(kind): part for (kind,), part in parts.items()}
    return {kind: found[kind] for kind in [*known, *sorted(found)] if kind in found}


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


def _kind(
    kind: str, part: pl.DataFrame, pairs: list[Pair], rows: Mapping[str, Row], build: Build
) -> dict[str, Any]:
    return {
        "kind": kind,
        "count": part.height,
        "pairs": [
            {"said": said, "cards": side_by_side(rows[one], rows[other], build.params.characters)}
            for one, other, said in pairs
            if one in rows and other in rows
        ],
    }
