"""From files to splits: what came into every stage and what became of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pipeline.report import words
from pipeline.report.build import SPLITS, Build, StageRun
from pipeline.report.params import ReportParams
from pipeline.report.section import Section

OUTCOMES = ("kept", "merged", "rejected", "waiting")
_QUESTIONS = ("items", "questions")
"""Units that share one scale: questions, before and after they are known to be such."""


def section(build: Build, params: ReportParams) -> Section:  # noqa: ARG001 - every section's form
    """The funnel: bars of all stages, reasons below each, the splits at its end."""
    largest = max(
        (stage.counts["in"] for stage in build.ran if stage.counts["unit"] in _QUESTIONS), default=0
    )
    return Section(
        "funnel",
        "From files to splits",
        "从文件到数据划分",
        {
            "stages": [_row(stage, largest) for stage in build.stages],
            "splits": _splits(build),
            "outcomes": [(name, words.OUTCOMES[name]) for name in OUTCOMES],
        },
        [*_unfinished(build), *_small_splits(build)],
    )


def _row(stage: StageRun, largest: int) -> dict[str, Any]:
    row: dict[str, Any] = {
        "name": stage.name,
        "chinese": words.STAGES.get(stage.name, ""),
        "title": stage.title,
        "ran": stage.manifest is not None,
    }
    if stage.manifest is None:
        return row
    counts = stage.counts
    scale = largest if counts["unit"] in _QUESTIONS else counts["in"]
    return row | {
        "unit": counts["unit"],
        "unit_chinese": words.UNITS.get(counts["unit"], ""),
        "complete": stage.manifest["complete"],
        "into": counts["in"],
        "parts": [
            {
                "outcome": name,
                "count": counts[name],
                "width": 100 * counts[name] / scale if scale else 0,
            }
            for name in OUTCOMES
        ],
        "reasons": [
            {"outcome": outcome, "reason": reason, "count": count}
            for outcome in ("rejected", "waiting")
            for reason, count in stage.reasons(outcome).items()
        ],
    }


def _splits(build: Build) -> list[dict[str, Any]]:
    """Questions by split, as exported, else as assigned."""
    sizes = {name: build.stage("export").rows(name) for name in SPLITS}
    if None in sizes.values():
        sizes = build.stage("split").facts.get("splits", {})
    total = sum(size or 0 for size in sizes.values())
    return [
        {
            "name": name,
            "chinese": words.SPLITS[name],
            "count": sizes[name],
            "width": 100 * (sizes[name] or 0) / total if total else 0,
        }
        for name in SPLITS
        if name in sizes
    ]


def _unfinished(build: Build) -> Iterator[str]:
    for stage in build.ran:
        assert stage.manifest
        if not stage.manifest["complete"]:
            yield f"{stage.name} is not complete: run the same command again to finish it."
    for name, makers in build.outdated.items():
        yield (
            f"{name} was made from an earlier result of {' and '.join(makers)}: "
            "run `build-dataset run`, or the numbers below do not belong together."
        )
    missing = [stage.name for stage in build.stages if stage.manifest is None]
    if missing:
        yield f"Not run yet, and so not in this report: {', '.join(missing)}."


def _small_splits(build: Build) -> Iterator[str]:
    empty = [split["name"] for split in _splits(build) if not split["count"]]
    if empty:
        yield f"No questions in {' and '.join(empty)}."
