"""What made this: versions, parameters, checksums."""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from pipeline.report.build import Build, StageRun
from pipeline.report.params import ReportParams
from pipeline.report.section import Section


def section(build: Build, params: ReportParams) -> Section:  # noqa: ARG001 - every section's form
    """Of every stage: its parameters, versions, what it cost, and the SHA-256 of its tables."""
    return Section(
        "provenance",
        "What made this",
        "来源与版本",
        {
            "versions": _versions(build),
            "engines": _engines(build),
            "stages": [_stage(stage) for stage in build.ran],
        },
    )


def _versions(build: Build) -> list[tuple[str, str]]:
    """Library versions, each with all versions that stages ran with."""
    found: dict[str, set[str]] = {}
    for stage in build.ran:
        assert stage.manifest
        for name, version in stage.manifest.get("versions", {}).items():
            found.setdefault(name, set()).add(version)
    return [(name, ", ".join(sorted(versions))) for name, versions in found.items()]


def _engines(build: Build) -> list[tuple[str, str]]:
    pages = build.table("ocr/pages")
    if pages is None:
        return []
    return [
        (str(engine), str(version))
        for engine, version in pages.select("engine", "engine_version").unique().sort(pl.all()).iter_rows()
    ]


def _stage(stage: StageRun) -> dict[str, Any]:
    assert stage.manifest
    return {
        "name": stage.name,
        "params": json.dumps(stage.params, ensure_ascii=False, indent=1),
        "facts": json.dumps(stage.facts, ensure_ascii=False, indent=1)[:4000],
        "outputs": [
            (name, entry.get("rows"), entry["sha256"])
            for name, entry in stage.manifest["outputs"].items()
            if name.endswith(".parquet")
        ],
    }
