"""Sections on labels: who labelled, how far experts agree, how good each annotator is."""

from typing import Any

import polars as pl

from pipeline.rendering.markdown import number, percent
from pipeline.report.build import Build, Section, notice
from pipeline.stats.intervals import ENOUGH
from schemas.annotations import LabelStatus
from schemas.taxonomy import DIFFICULTY, dimensions
from schemas.wording import Notice

_TENTATIVE = 0.667
"""Below this alpha Krippendorff (Content Analysis, 2nd ed., 11.4) would draw not even tentative conclusions."""
_ALL = "all"
"""Reviewers of a row that is about all experts together."""
_LISTED = 40
"""Rows of agreement by label and by slice."""


def labelling(build: Build) -> Section | None:
    """Labels by dimension, status and annotator; None before the review stage has run."""
    labels = build.filled("review/labels")
    if labels is None:
        return None
    by_annotator = _counts(labels.filter(pl.col("annotator").is_not_null()), "annotator")
    values = {
        "dimensions": dimensions().values(),
        "totals": dict(labels.group_by("dimension").len().iter_rows()),
        "by_status": _counts(labels, "status"),
        "by_annotator": by_annotator,
        "annotators": sorted({annotator for _, annotator in by_annotator}),
    }
    return Section("labelling", "Who labelled", "标注来源", values, _notices(labels))


def _counts(labels: pl.DataFrame, column: str) -> dict[tuple[str, str], int]:
    found = labels.group_by("dimension", column).len().sort("dimension", column)
    return {(dimension, value): int(count) for dimension, value, count in found.iter_rows()}


def _notices(labels: pl.DataFrame) -> list[Notice]:
    guessed = (pl.col("dimension") == DIFFICULTY) & pl.col("estimate") & pl.col("label").is_not_null()
    told = {
        "unreviewed": pl.col("status") == LabelStatus.UNREVIEWED.value,
        "lexicon": pl.col("annotator") == "lexicon",
        "estimates": guessed,
    }
    counts = {name: labels.filter(condition).height for name, condition in told.items()}
    share = percent(counts["unreviewed"], labels.height, 0)
    return [notice(name, n=n, share=share, total=labels.height) for name, n in counts.items() if n]


def agreement(build: Build) -> Section | None:
    """Agreement by dimension and pair, then by slice and label; None where no question was judged by two."""
    found = build.table("review/agreement")
    if found is None:
        return None
    names = list(dimensions())
    place = pl.col("dimension").replace_strict(names, list(range(len(names))), default=len(names))
    order = (place, pl.col("reviewers") != _ALL, "reviewers", "slice", "label")
    judged = found.filter(pl.col("items") > 0).sort(order, nulls_last=False)
    no_label, no_slice = pl.col("label").is_null(), pl.col("slice").is_null()
    whole = judged.filter(no_label & no_slice)
    if whole.is_empty():
        return None
    labels = judged.filter(~no_label & no_slice & (pl.col("reviewers") == _ALL))
    least_agreed = labels.sort("alpha", "dimension", "label", nulls_last=True)
    parts = (
        ("By label, the least agreed first 按标签", least_agreed),
        ("By batch, week and prefilling 按批次、周与预填", judged.filter(no_label & ~no_slice)),
    )
    rows = whole.to_dicts()
    values = {
        "known": dimensions(),
        "rows": rows,
        "more": [
            {"title": title, "count": part.height, "rows": part.head(_LISTED).to_dicts()}
            for title, part in parts
            if part.height
        ],
    }
    return Section("agreement", "Agreement of experts", "专家一致性", values, _weak(rows))


def _weak(rows: list[dict[str, Any]]) -> list[Notice]:
    known = dimensions()
    weak = {
        row["dimension"]: number(row["alpha"], 2)
        for row in rows
        if row["reviewers"] == _ALL and row["alpha"] is not None and row["alpha"] < _TENTATIVE
    }
    if not weak:
        return []
    english = ", ".join(
        f"{known[name].en if name in known else name} {alpha}" for name, alpha in weak.items()
    )
    chinese = "，".join(f"{known[name].zh if name in known else ''} {alpha}" for name, alpha in weak.items())
    return [notice("weak_agreement", limit=_TENTATIVE, english=english, chinese=chinese)]


def calibration(build: Build) -> Section | None:
    """Accuracy of annotators by the experts' labels, with intervals; None where none was compared."""
    table = build.table("calibrate/calibration")
    if table is None:
        return None
    rows = table.filter(pl.col("reference") == "experts").sort("annotator")
    if rows.is_empty():
        return None
    few = rows.filter(pl.col("items") < ENOUGH).height
    values = {"rows": rows.to_dicts(), "few": few, "known": dimensions()}
    return Section("calibration", "Annotators against experts", "标注校准", values)
