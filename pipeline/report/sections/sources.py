"""What became of every source file, and how much the files overlap."""

from __future__ import annotations

from pipeline.losses import alarms, losses, overlaps
from pipeline.report.build import Build
from pipeline.report.params import ReportParams
from pipeline.report.section import Section
from schemas.dataset import DatasetParams

_ROWS = 200
_SIDE = 12


def section(build: Build, params: ReportParams) -> Section | None:  # noqa: ARG001 - every section's form
    """A row a source, and a matrix of those that share most; None before anything was read."""
    found = losses(build.table)
    if not found:
        return None
    pairs = overlaps(build.table)
    most = sorted({name for pair, _ in pairs.most_common(_SIDE) for name in pair})[:_SIDE]
    values = {
        "sources": found[:_ROWS],
        "more": max(0, len(found) - _ROWS),
        "names": most,
        "matrix": [[pairs[min(one, other), max(one, other)] for other in most] for one in most],
    }
    threshold = (
        DatasetParams.model_fields["loss_alarm"].default if build.loss_alarm is None else build.loss_alarm
    )
    return Section("sources", "Source files", "来源文件", values, alarms(found, threshold))
