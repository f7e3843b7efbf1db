"""Results of the stages before the report, as far as they have run; the form of a section of the page."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import polars as pl

from pipeline.report.params import ReportParams
from pipeline.stage import Tables
from schemas.base import Record
from schemas.dataset import DatasetParams
from schemas.questions import SPLITS
from schemas.wording import Notice

Row = TypeVar("Row", bound=Record)


@dataclass(frozen=True)
class Section:
    """A part of the page; its template ``templates/<name>.html`` shows ``values`` as ``it``."""

    name: str
    """Also the anchor in the page."""
    title: str
    chinese: str
    values: Mapping[str, Any]
    notices: Sequence[Notice] = ()
    """Sentences to know before trusting the result; all of them stand at the head of the page."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Figures and tables beside the page, by path."""


@dataclass(frozen=True)
class StageRun:
    """A stage and, if it has run, its manifest."""

    name: str
    title: str
    manifest: Mapping[str, Any] | None

    @property
    def counts(self) -> Mapping[str, Any]:
        """``unit, in, kept, merged, rejected, waiting``; empty when it has not run."""
        return self.manifest["counts"] if self.manifest else {}

    @property
    def facts(self) -> Mapping[str, Any]:
        """Facts of its manifest; empty when it has not run."""
        return self.manifest["facts"] if self.manifest else {}

    @property
    def params(self) -> Mapping[str, Any]:
        """Parameters that it ran with; empty when it has not run."""
        return self.manifest.get("params", {}) if self.manifest else {}

    def reasons(self, outcome: str) -> Mapping[str, int]:
        """Items by reason, most first.

        Args:
            outcome: ``rejected`` or ``waiting``.
        """
        return self.manifest["reasons"][outcome] if self.manifest else {}

    def rows(self, table: str) -> int | None:
        """Rows of one of its tables; None when there is no such table."""
        entry = self.output(table)
        return entry["rows"] if entry else None

    def output(self, table: str) -> Mapping[str, Any] | None:
        """Entry of one of its tables in the manifest."""
        return self.manifest["outputs"].get(f"{table}.parquet") if self.manifest else None


class Build:
    """The stages' manifests and the tables that are there."""

    def __init__(self, tables: Tables, params: ReportParams, dataset: DatasetParams) -> None:
        """Take the input of the report stage: ``manifests``, and optional tables by ``stage/table``."""
        self._tables = tables
        self.params = params
        self.dataset = dataset
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
        """Return the stage of that name; one without a manifest when it is unknown."""
        return self._by_name.get(name, StageRun(name, "", None))

    def table(self, reference: str) -> pl.DataFrame | None:
        """Return the table ``stage/table``; None when it was not made."""
        return self._tables.get(reference)

    def filled(self, reference: str) -> pl.DataFrame | None:
        """Return the table ``stage/table``; None when it was not made or has no row."""
        frame = self.table(reference)
        return None if frame is None or frame.is_empty() else frame

    def records(self, reference: str, record: type[Row]) -> list[Row]:
        """Return the rows of the table ``stage/table``; none when it was not made."""
        frame = self.table(reference)
        return [] if frame is None else list(record.from_frame(frame))

    def set_aside(self, table: str) -> Iterator[tuple[str, pl.DataFrame]]:
        """Each stage's ``rejects`` or ``review`` that holds something."""
        for stage in self.stages:
            frame = self.filled(f"{stage.name}/{table}")
            if frame is not None:
                yield stage.name, frame

    @cached_property
    def splits(self) -> dict[str, pl.DataFrame] | None:
        """The released rows of each split; None when nothing was exported."""
        found = {name: self.table(f"export/{name}") for name in SPLITS}
        return {name: frame for name, frame in found.items() if frame is not None} or None

    @cached_property
    def outdated(self) -> dict[str, list[str]]:
        """Stages whose inputs were made anew since they ran: stage → the stages that made them."""
        found: dict[str, set[str]] = {}
        for stage in self.ran:
            assert stage.manifest
            for reference, used in stage.manifest.get("inputs", {}).items():
                maker, _, table = reference.partition("/")
                entry = self.stage(maker).output(table)
                if entry is not None and entry["sha256"] != used:
                    found.setdefault(stage.name, set()).add(maker)
        return {name: sorted(makers) for name, makers in found.items()}
