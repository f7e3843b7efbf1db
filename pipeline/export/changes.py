"""What changed since the previous release, question by question, and what that means for the version."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import polars as pl

from pipeline.releases import content_of
from schemas.release import Change, ReleaseRow
from schemas.taxonomy import dimensions

WORDING = ("question_type", "stem", "shared_stem", "options", "answer", "accepted_answers")
"""Columns that a model is asked and graded by."""
KINDS = ("added", "removed", "renamed", "moved", "changed", "relabelled", "updated")

Level = Literal["major", "minor", "patch"]


@dataclass(frozen=True)
class Changes:
    """The differences of two releases.

    Attributes:
        rows: a ``Change`` table, sorted by question and kind.
        columns_added, columns_removed: of the tables.
    """

    rows: pl.DataFrame
    columns_added: tuple[str, ...] = ()
    columns_removed: tuple[str, ...] = ()

    def counts(self) -> dict[str, int]:
        """Questions by kind of change, in the order of ``KINDS``."""
        found = Counter(self.rows["change"].to_list())
        return {kind: found[kind] for kind in KINDS}

    def level(self) -> Level:
        """How much the version has to go up.

        major: a result on the old validation or test questions no longer compares, or a reader's code breaks. One of
        these questions was removed or asks something else, any question moved to another split or has another id, or
        a column is gone.
        minor: questions or columns were added, questions of train removed or changed, labels changed.
        patch: anything else: explanations, names of exams, who labelled.
        """
        rows = self.rows
        held_out = rows.filter(pl.coalesce("previous_split", "split") != "train")
        breaking = held_out["change"].is_in(["removed", "changed"]).any()
        if breaking or rows["change"].is_in(["moved", "renamed"]).any() or self.columns_removed:
            return "major"
        return "patch" if rows["change"].is_in(["updated"]).all() and not self.columns_added else "minor"


def nothing() -> Changes:
    """The changes of a first release."""
    return Changes(Change.to_frame([]))


def compare(old: pl.DataFrame, splits: Mapping[str, pl.DataFrame]) -> Changes:
    """Compare a new release with an old one.

    A question is the same when its id is; or when it says the same and its id is new, as after its file was saved
    again: it counts as renamed then.

    Args:
        old: see ``pipeline.releases.read_release``.
        splits: the rows of the new release.
    """
    new = pl.concat(rows.with_columns(split=pl.lit(split)) for split, rows in splits.items())
    names = [name for name in ReleaseRow.column_names() if name != "question_id"]
    shared = [name for name in names if name in old.columns]
    gone = tuple(sorted(set(old.columns) - {*ReleaseRow.column_names(), "split"}))
    old = old.select(
        "question_id", "split", *(pl.col(name).cast(new.schema[name], strict=False) for name in shared)
    )
    renamed = _renamed(old, new)
    before = old.join(renamed, on="question_id", how="left").with_columns(
        previous_id="question_id", question_id=pl.coalesce("new_id", "question_id")
    )
    both = new.join(before, on="question_id", suffix="_before")
    rows = [
        _rows(new.join(before, on="question_id", how="anti"), "added", split="split"),
        _rows(before.join(new, on="question_id", how="anti"), "removed", previous="split"),
        _rows(
            both.filter(pl.col("previous_id") != pl.col("question_id")), "renamed", "split", "split_before"
        ),
        _rows(both.filter(pl.col("split") != pl.col("split_before")), "moved", "split", "split_before"),
        *_edits(both, shared),
    ]
    table = pl.concat(rows).sort("question_id", "change")
    return Changes(
        table.select(Change.polars_schema().names()).cast(Change.polars_schema()),
        tuple(name for name in names if name not in shared),
        gone,
    )


def _renamed(old: pl.DataFrame, new: pl.DataFrame) -> pl.DataFrame:
    """``question_id, new_id`` of questions that say the same under another id; where that is beyond doubt."""
    gone, come = (
        rows.select("question_id", content=content_of(rows))
        for rows in (old.join(new, on="question_id", how="anti"), new.join(old, on="question_id", how="anti"))
    )
    found = gone.join(come, on="content", suffix="_new")
    found = found.filter(~found["question_id"].is_duplicated() & ~found["question_id_new"].is_duplicated())
    return found.select("question_id", new_id="question_id_new")


def _edits(both: pl.DataFrame, shared: list[str]) -> list[pl.DataFrame]:
    """Questions whose wording, labels or other columns differ, with the names of these columns."""
    differs = both.select(*(pl.col(name).ne_missing(pl.col(f"{name}_before")).alias(name) for name in shared))
    labels = set(dimensions())
    groups = {
        "changed": [name for name in shared if name in WORDING],
        "relabelled": [name for name in shared if name in labels],
        "updated": [name for name in shared if name not in WORDING and name not in labels],
    }
    found = []
    for kind, names in groups.items():
        said = [pl.when(pl.col(name)).then(pl.lit(name)) for name in names]
        columns = differs.select(pl.concat_list(said).list.drop_nulls().alias("columns"))["columns"]
        rows = both.with_columns(columns=columns).filter(pl.col("columns").list.len() > 0)
        found.append(_rows(rows, kind, "split", "split_before"))
    return found


def _rows(
    rows: pl.DataFrame, kind: str, split: str | None = None, previous: str | None = None
) -> pl.DataFrame:
    text = pl.lit(None, dtype=pl.String)
    renamed = pl.when(pl.col("previous_id") != pl.col("question_id")).then("previous_id")
    return rows.select(
        "question_id",
        change=pl.lit(kind),
        split=pl.col(split) if split else text,
        previous_split=pl.col(previous) if previous else text,
        previous_id=renamed if "previous_id" in rows.columns else text,
        columns=pl.col("columns") if "columns" in rows.columns else pl.lit([], dtype=pl.List(pl.String)),
    )
