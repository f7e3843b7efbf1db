"""Inputs of a stage: tables of earlier stages and computed sources, with their content hashes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

import polars as pl

from pipeline.catalogue import STAGES
from pipeline.config import ConfigBase
from pipeline.runtime.publish import intact, read_manifest, read_table
from pipeline.runtime.sources import MANIFESTS, SOURCES
from pipeline.stage import Stage
from schemas.errors import UserError
from schemas.identity import sha256

_ABSENT = "absent"


class Inputs:
    """Tables and their hashes; a source is computed once, however many stages read it."""

    def __init__(self, config: ConfigBase) -> None:
        self._config = config
        self._build = config.dataset.build
        self._sources: dict[str, pl.DataFrame] = {}

    def tables(self, stage: Stage) -> dict[str, pl.DataFrame]:
        """A stage's inputs by table name; optional ones by their whole reference.

        Raises:
            UserError: a stage before it has not run.
        """
        hashes = self.hashes(stage)
        needed = {reference.partition("/")[2]: self._table(reference) for reference in stage.reads}
        there = [reference for reference in _optional(stage) if hashes[reference] != _ABSENT]
        return needed | {reference: self._table(reference) for reference in there}

    def hashes(self, stage: Stage) -> dict[str, str]:
        """The content hash of each of a stage's inputs, by reference; those left out that cannot change its result.

        Raises:
            UserError: a stage before it has not run.
        """
        ignored = self._config.params(stage.name).ignores()
        needed = {name: self._needed(stage, name) for name in stage.reads if name not in ignored}
        return needed | {name: self._written(name) or _ABSENT for name in _optional(stage)}

    def _table(self, reference: str) -> pl.DataFrame:
        if reference in SOURCES:
            return self._source(reference)
        return read_table(self._build / f"{reference}.parquet")

    def _source(self, reference: str) -> pl.DataFrame:
        if reference == MANIFESTS:  # changes while stages run
            return SOURCES[reference](self._config.dataset)
        if reference not in self._sources:
            self._sources[reference] = SOURCES[reference](self._config.dataset)
        return self._sources[reference]

    def _needed(self, stage: Stage, reference: str) -> str:
        if reference in SOURCES:
            return sha256(self._source(reference).write_json())
        if (found := self._written(reference)) is None:
            maker = reference.partition("/")[0]
            raise UserError(f"{stage.name} needs the result of {maker}: run `build-dataset {maker}` first")
        return found

    def _written(self, reference: str) -> str | None:
        """The hash of a table; None where its stage has not run, or has no such table."""
        maker, _, table = reference.partition("/")
        manifest = read_manifest(self._build / maker)
        if manifest is None or not intact(self._build / maker, manifest):
            return None
        written: dict[str, str] = manifest["outputs"].get(f"{table}.parquet", {})
        return written.get("sha256")


def _optional(stage: Stage) -> Iterator[str]:
    """References of the tables that a stage reads where they are there."""
    before = list(takewhile(lambda row: row.name != stage.name, STAGES))
    for reference in stage.optional:
        maker, _, table = reference.partition("/")
        names = [row.name for row in before] if maker == "*" else [maker]
        yield from (f"{name}/{table}" for name in names)


def makers(stage: Stage) -> set[str]:
    """The names of the stages before it whose results a stage reads."""
    before = [earlier.name for earlier in takewhile(lambda one: one.name != stage.name, STAGES)]
    read = {reference.partition("/")[0] for reference in (*stage.reads, *_optional(stage))}
    return set(before) if MANIFESTS in stage.reads else read.intersection(before)
