"""Versions of a release: what changed since the last one, and which number that makes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl

from pipeline import releases
from schemas.dataset import DatasetParams
from schemas.release import Change, ReleaseRow
from schemas.taxonomy import dimensions

_LONGEST = 1 << 20
"""Bytes of an earlier changelog that are carried on."""


@dataclass(frozen=True)
class ReleaseComparison:
    """A release compared with the previous one.

    Attributes:
        version: of this one.
        previous: version of the previous one, or its folder's name where it does not say; None before the first.
        changes: since then.
        suggested: the lowest version that the changes allow; None where the previous one has no version.
        history: the previous release's changelog, from its newest entry on.
    """

    version: str
    previous: str | None
    changes: Changes
    suggested: str | None
    history: str

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
    dataset: DatasetParams, splits: Mapping[str, pl.DataFrame], merges: pl.DataFrame
) -> ReleaseComparison:
    """Compare the rows of a release with the previous one, if there is one."""
    folder = releases.previous_release(dataset)
    if folder is None:
        return ReleaseComparison(dataset.version, None, Changes(Change.to_frame([])), None, "")
    changes = compare_releases(releases.read_release(folder), splits, merges)
    version = _version(folder)
    suggested = version and ".".join(map(str, next_version(releases.parse_version(version), changes.level())))
    return ReleaseComparison(dataset.version, version or folder.name, changes, suggested, _history(folder))


def next_version(version: releases.Version, level: Level) -> releases.Version:
    """The next version. While the first number is 0, nothing is promised yet: each step counts one lower."""
    major, minor, patch = version
    if level == "major":
        return (major + 1, 0, 0) if major else (0, minor + 1, 0)
    if level == "minor" and major:
        return major, minor + 1, 0
    return major, minor, patch + 1


def _version(folder: Path) -> str | None:
    """Return the version that the release states, else that of its folder's name."""
    said = [folder.name]
    with suppress(OSError, ValueError, KeyError, TypeError):
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        said.insert(0, str(manifest["facts"]["release"]["version"]))
    return next(filter(releases.is_version, said), None)


def _history(folder: Path) -> str:
    text = ""
    with suppress(OSError), (folder / releases.CHANGELOG).open("rb") as stream:
        text = stream.read(_LONGEST).decode("utf-8", "replace")
    _, mark, entries = text.partition("\n## ")
    return f"## {entries}".strip() if mark else ""


WORDING = ("question_type", "stem", "shared_stem", "options", "answer", "accepted_answers")
"""Columns that a model is asked and graded by."""
PROVENANCE = ("document", "number", "sources", "group_id", "cluster_id")
"""Columns that say where a question was found, not what it is: sorting or renaming a sheet changes no question."""
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
        """Return the part of the version that has to go up.

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


def compare_releases(old: pl.DataFrame, splits: Mapping[str, pl.DataFrame], merges: pl.DataFrame) -> Changes:
    """Compare a new release with an old one.

    Which question is which is ``releases.match_released``'s to say. One that says the same under another id counts as
    renamed; one whose text was corrected as changed, whatever its id.
    """
    new = pl.concat(rows.with_columns(split=pl.lit(split)) for split, rows in splits.items())
    names = [name for name in ReleaseRow.column_names() if name != "question_id"]
    shared = [name for name in names if name in old.columns]
    gone = tuple(sorted(set(old.columns) - {*ReleaseRow.column_names(), "split"}))
    old = old.select(
        "question_id", "split", *(pl.col(name).cast(new.schema[name], strict=False) for name in shared)
    )
    known = releases.match_released(old, new, merges).rename({"old": "previous_id", "new": "question_id"})
    old = old.rename({"question_id": "previous_id"})
    gone_rows = old.join(known, on="previous_id", how="anti").with_columns(question_id="previous_id")
    before = old.join(known, on="previous_id")
    both = new.join(before, on="question_id", suffix="_before")
    renamed = both.filter((pl.col("previous_id") != pl.col("question_id")) & pl.col("same"))
    moved = both.filter(pl.col("split") != pl.col("split_before"))
    rows = [
        _rows(new.join(before, on="question_id", how="anti"), "added", split="split"),
        _rows(gone_rows, "removed", previous="split"),
        _rows(renamed, "renamed", "split", "split_before"),
        _rows(moved, "moved", "split", "split_before"),
        *_edits(both, shared),
    ]
    return Changes(
        pl.concat(rows)
        .sort("question_id", "change")
        .select(Change.column_names())
        .cast(Change.polars_schema()),
        tuple(name for name in names if name not in shared),
        gone,
    )


def _edits(both: pl.DataFrame, shared: list[str]) -> list[pl.DataFrame]:
    """Questions whose wording, labels or other columns differ, with the names of these columns."""
    kinds = dict.fromkeys(WORDING, "changed") | dict.fromkeys(dimensions(), "relabelled")
    found = []
    for kind in ("changed", "relabelled", "updated"):
        names = [name for name in shared if name not in PROVENANCE and kinds.get(name, "updated") == kind]
        differing = [
            pl.when(pl.col(name).ne_missing(pl.col(f"{name}_before"))).then(pl.lit(name)) for name in names
        ]
        rows = both.with_columns(columns=pl.concat_list(differing).list.drop_nulls())
        found.append(_rows(rows.filter(pl.col("columns").list.len() > 0), kind, "split", "split_before"))
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
