"""Versions of a release: what changed since the last one, and which number that makes."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from build_dataset.pipeline import releases
from build_dataset.schemas.dataset import DatasetParams
from build_dataset.schemas.release import Change, ReleaseRow
from build_dataset.schemas.taxonomy import dimensions

_LONGEST = 1 << 20  # bytes of an earlier changelog that are carried on


WORDING = ("question_type", "stem", "shared_stem", "options", "answer", "accepted_answers")
"""Columns that a model is asked and graded by."""
PROVENANCE = ("document", "number", "sources", "group_id", "cluster_id")
"""Columns that say where a question was found, not what it is: sorting or renaming a sheet changes no question."""
KINDS = ("added", "removed", "waiting", "renamed", "moved", "changed", "relabelled", "updated")
Level = Literal["major", "minor", "patch"]


@dataclass(frozen=True)
class Changes:
    """The differences of two releases."""

    rows: pl.DataFrame  # a `Change` table, sorted by question and kind
    columns_added: tuple[str, ...] = ()
    columns_removed: tuple[str, ...] = ()

    def counts(self) -> dict[str, int]:
        """Questions by kind of change, in the order of ``KINDS``."""
        counts = Counter(self.rows["change"].to_list())
        return {kind: counts[kind] for kind in KINDS}

    def level(self) -> Level:
        """Return the part of the version that has to go up.

        major: a result on the old validation or test questions no longer compares, or a reader's code breaks. One of
        these questions was removed or asks something else, any question moved to another split or has another id, or
        a column is gone.
        minor: questions or columns were added, questions of train removed or changed, labels changed.
        patch: anything else: explanations, names of exams, who labelled.
        """
        rows = self.rows
        held_out = rows.filter(pl.coalesce("previous_split", "split") != "train")
        breaking = held_out["change"].is_in(["removed", "waiting", "changed"]).any()
        if breaking or rows["change"].is_in(["moved", "renamed"]).any() or self.columns_removed:
            return "major"
        return "patch" if rows["change"].is_in(["updated"]).all() and not self.columns_added else "minor"


@dataclass(frozen=True)
class ReleaseComparison:
    """A release compared with the previous one."""

    version: str  # of this one
    previous: str | None  # Version of the previous one; None before the first.
    changes: Changes  # since then
    suggested: str | None  # The lowest version that the changes allow; None for the first.
    history: str  # the previous release's changelog, from its newest entry on

    @property
    def level(self) -> Level | None:
        """Return whether the changes make a major, minor or patch release; None for the first."""
        return self.changes.level() if self.previous is not None else None

    @property
    def is_draft(self) -> bool:
        """Return whether the version is too low for the changes, or already released."""
        least = releases.parse_version(self.suggested) if self.suggested else None
        return least is not None and releases.parse_version(self.version) < least

    def facts(self) -> dict[str, Any]:
        """For the manifest."""
        return {
            "version": self.version,
            "previous": self.previous,
            "level": self.level,
            "suggested": self.suggested,
            "changes": self.changes.counts() if self.previous is not None else None,
            "columns_added": list(self.changes.columns_added),
            "columns_removed": list(self.changes.columns_removed),
        }


def compare_with_previous(
    dataset: DatasetParams, splits: Mapping[str, pl.DataFrame], merges: pl.DataFrame, waiting: Collection[str] = ()
) -> ReleaseComparison:
    """Compare the rows of a release with the previous one, if there is one; ``waiting`` are questions for people."""
    if not (folders := releases.every_release(dataset)):
        return ReleaseComparison(dataset.version, None, Changes(Change.to_frame([])), None, "")
    last = folders[-1]
    changes = compare_releases(releases.read_release(last), splits, merges, waiting)
    suggested = ".".join(map(str, next_version(releases.parse_version(last.name), changes.level())))
    text = ""
    with suppress(OSError), (last / releases.CHANGELOG).open("rb") as stream:
        text = stream.read(_LONGEST).decode("utf-8", "replace")
    _, mark, entries = text.partition("\n## ")  # the title and what stands before the first entry go
    return ReleaseComparison(dataset.version, last.name, changes, suggested, f"## {entries}".strip() if mark else "")


def next_version(version: releases.Version, level: Level) -> releases.Version:
    """The next version. While the first number is 0, nothing is promised yet: each step counts one lower."""
    major, minor, patch = version
    if level == "major":
        return (major + 1, 0, 0) if major else (0, minor + 1, 0)  # 0.3.1 → 0.4.0
    return (major, minor + 1, 0) if level == "minor" and major else (major, minor, patch + 1)


def compare_releases(
    old: pl.DataFrame, splits: Mapping[str, pl.DataFrame], merges: pl.DataFrame, waiting: Collection[str] = ()
) -> Changes:
    """Compare a release with an old one by ``releases.match_released``; ``waiting`` are questions for people."""
    new = pl.concat(rows.with_columns(split=pl.lit(split)) for split, rows in splits.items())
    names = [name for name in ReleaseRow.column_names() if name != "question_id"]
    shared = [name for name in names if name in old.columns]
    gone = tuple(sorted(set(old.columns) - {*ReleaseRow.column_names(), "split"}))  # columns that readers miss
    before = old.select(
        pl.col("question_id").alias("previous_id"),
        pl.col("split").alias("split_before"),
        *(pl.col(name).cast(new.schema[name], strict=False).alias(f"{name}_before") for name in shared),
    )
    known = releases.match_released(old, new, merges).rename({"old": "previous_id", "new": "question_id"})
    removed = before.join(known, on="previous_id", how="anti").with_columns(question_id="previous_id")
    matched = before.join(known, on="previous_id")
    both = pl.concat([new.join(matched, on="question_id", how="left"), removed], how="diagonal")
    other_id = pl.col("previous_id") != pl.col("question_id")  # null where either is missing
    before_of = {"previous_split": pl.col("split_before"), "previous_id": pl.when(other_id).then("previous_id")}
    rows = [
        both.filter(where).select("question_id", "split", change=pl.lit(kind), columns=columns, **before_of)
        for kind, where, columns in _kinds(shared, other_id, pl.col("question_id").is_in(list(waiting)))
    ]
    table = pl.concat(rows).select(Change.column_names()).cast(Change.polars_schema()).sort("question_id", "change")
    return Changes(table, tuple(name for name in names if name not in shared), gone)


def _kinds(shared: list[str], other_id: pl.Expr, waits: pl.Expr) -> Iterator[tuple[str, pl.Expr, pl.Expr]]:
    """Yield each kind of change, where it is one, and the names of the columns that differ."""
    split, previous = pl.col("split"), pl.col("split_before")
    nothing = pl.lit([], dtype=pl.List(pl.String))  # whole rows, no single columns
    yield "added", previous.is_null(), nothing
    yield "removed", split.is_null() & ~waits, nothing
    yield "waiting", split.is_null() & waits, nothing
    yield "renamed", other_id & pl.col("same"), nothing
    yield "moved", split != previous, nothing
    kinds = dict.fromkeys(WORDING, "changed") | dict.fromkeys(dimensions(), "relabelled")
    for kind in ("changed", "relabelled", "updated"):
        names = [name for name in shared if name not in PROVENANCE and kinds.get(name, "updated") == kind]
        differing = [pl.when(pl.col(name).ne_missing(pl.col(f"{name}_before"))).then(pl.lit(name)) for name in names]
        columns = pl.concat_list(differing).list.drop_nulls() if differing else nothing
        yield kind, split.is_not_null() & previous.is_not_null() & (columns.list.len() > 0), columns
