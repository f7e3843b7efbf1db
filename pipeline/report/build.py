"""What the stages before left behind, as far as they have run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from pipeline.stage import Tables

SPLITS = ("train", "validation", "test")


@dataclass(frozen=True)
class StageRun:
    """A stage and, if it has run, what its manifest says."""

    name: str
    title: str
    manifest: Mapping[str, Any] | None

    @property
    def counts(self) -> Mapping[str, Any]:
        """``unit, in, kept, merged, rejected, waiting``; empty when it has not run."""
        return self.manifest["counts"] if self.manifest else {}

    @property
    def facts(self) -> Mapping[str, Any]:
        """What else it told; empty when it has not run."""
        return self.manifest["facts"] if self.manifest else {}

    @property
    def params(self) -> Mapping[str, Any]:
        """What it ran with; empty when it has not run."""
        return self.manifest.get("params", {}) if self.manifest else {}

    def reasons(self, outcome: str) -> Mapping[str, int]:
        """Items by reason, most first.

        Args:
            outcome: ``rejected`` or ``waiting``.
        """
        return self.manifest["reasons"][outcome] if self.manifest else {}

    def rows(self, table: str) -> int | None:
        """Rows of one of its tables; None when there is no such table."""
        entry = self.manifest["outputs"].get(f"{table}.parquet") if self.manifest else None
        return entry["rows"] if entry else None


class Build:
    """The stages' manifests and the tables that are there."""

    def __init__(self, tables: Tables, loss_alarm: float | None = None) -> None:
        """Take what the runner gives the stage: ``manifests``, and optional tables by ``stage/table``.

        Args:
            tables: of the stage.
            loss_alarm: the dataset's setting; its default when absent.
        """
        self._tables = tables
        self.loss_alarm = loss_alarm
        self.stages = tuple(
            StageRun(name, title, json.loads(manifest) if manifest else None)
            for name, title, manifest in tables["manifests"].select("stage", "title", "manifest").iter_rows()
        )
        self._by_name = {stage.name: stage for stage in self.stages}

    @property
    def ran(self) -> tuple[StageRun, ...]:
        """The stages that have run."""
        return tuple(stage for stage in self.stages if stage.manifest)

    def stage(self, name: str) -> StageRun:
        """That stage; one without a manifest when it is unknown."""
        return self._by_name.get(name, StageRun(name, "", None))

    def table(self, reference: str) -> pl.DataFrame | None:
        """The table ``stage/table``; None when it was not made."""
        return self._tables.get(reference)

    def set_aside(self, table: str) -> Iterator[tuple[str, pl.DataFrame]]:
        """Each stage's ``rejects`` or ``review`` that holds something."""
        for stage in self.stages:
            frame = self.table(f"{stage.name}/{table}")
            if frame is not None and frame.height:
                yield stage.name, frame

    @cached_property
    def splits(self) -> dict[str, pl.DataFrame] | None:
        """The released rows of each split; None when nothing was exported."""
        found = {name: self.table(f"export/{name}") for name in SPLITS}
        return {name: frame for name, frame in found.items() if frame is not None} or None

    @cached_property
    def outdated(self) -> dict[str, list[str]]:
        """Stages whose inputs were made anew since they ran: stage → the stages that made them."""
        found: dict[str, list[str]] = {}
        for stage in self.ran:
            assert stage.manifest
            for reference, used in stage.manifest.get("inputs", {}).items():
                maker, _, table = reference.partition("/")
                entry = self._written(maker, table)
                if entry is not None and entry["sha256"] != used:
                    found.setdefault(stage.name, []).append(maker)
        return {name: sorted(set(makers)) for name, makers in found.items()}

    def _written(self, maker: str, table: str) -> Mapping[str, Any] | None:
        manifest = self.stage(maker).manifest
        return manifest["outputs"].get(f"{table}.parquet") if manifest else None
