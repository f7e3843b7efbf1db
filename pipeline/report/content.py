"""Sections on exams, lengths, labels, splits and leaks; the agreement of experts."""

from bisect import bisect_left
from collections import Counter
from itertools import pairwise
from typing import Any

import polars as pl

from build_dataset.pipeline.export.card import labels_by_split
from build_dataset.pipeline.rendering.markup import number
from build_dataset.pipeline.report import published
from build_dataset.pipeline.report.build import Build, Section, notice
from build_dataset.pipeline.stats import ENOUGH
from build_dataset.schemas.annotations import LabelStatus
from build_dataset.schemas.taxonomy import dimensions

_SETTLED = (LabelStatus.AGREED.value, LabelStatus.ADJUDICATED.value)  # two experts agree, or a third decided
_EDGES = (0, 10, 20, 30, 40, 50, 60, 80, 100, 150, 200, 300, 500)
"""Characters: bins are (edge, next edge]; the last is open. Half of CMExam's questions are within 12 to 32."""
_BINS = [f"{low + 1}–{high}" for low, high in pairwise(_EDGES)] + [f"> {_EDGES[-1]}"]
_STRATA = 60  # strata listed
_SPLIT_FACTS = ("pooled_strata_count", "strata_off_by_more_than_one_count", "retired")
"""Facts about the split that notices of their names tell."""
_ACROSS = ("exact", "near")
"""Kinds of leaks from one split into another; all others are overlaps with public benchmarks."""

_TENTATIVE = 0.667
"""Below this alpha Krippendorff (Content Analysis, 2nd ed., 11.4) would draw not even tentative conclusions."""
_ALL = "all"  # reviewers of a row that is about all experts together


def exams(build: Build) -> Section | None:
    """CMB's tables 1 and 2; None where nothing says of which exams the questions are."""
    if not (splits := build.splits):
        return None
    tables = [table for table in (published.cmb_table1(splits), published.cmb_table2(splits)) if table]
    if not tables:
        return None
    return Section({"tables": tables}, files={name: data for table in tables for name, data in table.files().items()})


def lengths(build: Build) -> Section | None:
    """Lengths of the released questions and CMExam's table 2; None before the export."""
    if not (splits := build.splits):
        return None
    table = published.table2(splits)
    filled = {name: published.text_lengths(rows) for name, rows in splits.items() if rows.height}
    bins = {name: Counter(bisect_left(_EDGES, size, 1) for size in sizes) for name, sizes in filled.items()}
    places = range(1, len(_EDGES) + 1)
    shares = {name: [counts[at] / len(filled[name]) for at in places] for name, counts in bins.items()}
    largest = max(share for shares_of in shares.values() for share in shares_of)
    return Section({"table": table, "shares": shares, "bins": _BINS, "largest": largest}, files=table.files())


def labels(build: Build) -> Section | None:
    """Distribution of every dimension, split by split; None before the export."""
    if not (splits := build.splits):
        return None
    shown, notices = [], []
    whole = pl.concat(splits.values())  # all splits have the same columns
    for name, dimension in dimensions().items():
        labels, unused = labels_by_split(splits, dimension)
        reviewed = whole.filter(pl.col(f"{name}_status").is_in(_SETTLED))[name]
        settled: dict[str | None, int] = dict(reviewed.value_counts().iter_rows())
        rows: list[dict[str, Any]] = [
            {
                "chinese": label or "无标签",
                "english": (dimension.english(label) or "") if label else "no label",
                "counts": counts,
                "shares": {split: counts[split] / max(frame.height, 1) for split, frame in splits.items()},
                "total": sum(counts.values()),
                "settled": settled.get(label, 0),
            }
            for label, counts in labels
        ]
        item = {
            "name": name,
            "chinese": dimension.zh,
            "english": dimension.en,
            "rows": rows,
            "largest": max((share for row in rows for share in row["shares"].values()), default=0) or 1,
            "unused": unused,
            "few": sum(0 < counts.get("test", 0) < ENOUGH for _, counts in labels),  # an unused label is not few
        }
        shown.append(item)
    if few := [item for item in shown if item["few"]]:
        english = ", ".join(f"{item['english']} {item['few']}" for item in few)
        chinese = "，".join(f"{item['chinese']} {item['few']}" for item in few)
        notices.append(notice("few_questions", few=ENOUGH, english=english, chinese=chinese))
    values = {"dimensions": shown, "splits": {name: rows.height for name, rows in splits.items()}}
    return Section(values, notices, published.figure2(splits) if build.params.figures else {})


def splitting(build: Build) -> Section | None:
    """Method, seed and the strata that did not get their share; None before the split."""
    stage = build.stage("split")
    if not stage.manifest:
        return None
    notices = [notice(name, n=count) for name in _SPLIT_FACTS if (count := stage.facts.get(name))]
    moved = build.filled("export/changes", pl.col("previous_split") == "test", pl.col("split") == "train")
    notices += [] if moved is None else [notice("moved", n=moved.height)]
    return Section({"facts": stage.facts, "params": stage.params, "most": _STRATA}, notices)


def leaking(build: Build) -> Section | None:
    """Leaks by kind, and the benchmarks compared with; None before the check has run."""
    leaks = build.table("leaks/leaks")
    if leaks is None:
        return None
    inside = pl.col("kind").is_in(_ACROSS)  # leaks that we made ourselves
    across, outside = leaks.filter(inside), leaks.filter(~inside)
    counts = {"across": across.height, "published": outside["question_id"].n_unique()}
    files = build.filled("leaks/benchmarks")
    kinds = leaks.group_by("kind").len().sort("kind").rows()
    notices = [notice(name, n=count) for name, count in counts.items() if count]
    if files is None:
        notices.append(notice("no_benchmark"))
    return Section({**counts, "files": 0 if files is None else files.height, "kinds": kinds}, notices)


def agreement(build: Build) -> Section | None:
    """Agreement by dimension and pair; None where no question was judged by two."""
    table = build.table("review/agreement")
    if table is None:
        return None
    names = list(dimensions())
    place = pl.col("dimension").replace_strict(names, list(range(len(names))), default=len(names))
    of_all = pl.col("label").is_null() & pl.col("slice").is_null() & (pl.col("items") > 0)
    # all experts before pairs; pairs that share no question are left out
    whole = table.filter(of_all).sort(place, pl.col("reviewers") != _ALL, "reviewers")
    if whole.is_empty():
        return None
    weak = whole.filter((pl.col("reviewers") == _ALL) & (pl.col("alpha") < _TENTATIVE))
    english, chinese = [], []
    for name, alpha in weak.select("dimension", "alpha").iter_rows():
        known = dimensions().get(name)  # of another label set: none
        english.append(f"{known.en if known else name} {number(alpha, 2)}")
        chinese.append(f"{known.zh if known else ''} {number(alpha, 2)}")
    said: dict[str, Any] = {"english": ", ".join(english), "chinese": "，".join(chinese)}
    notices = [notice("weak_agreement", limit=_TENTATIVE, **said)] if english else []
    return Section({"known": dimensions(), "rows": whole.to_dicts()}, notices)
