"""How pages were read, and which ones a person should look at."""

from __future__ import annotations

import polars as pl

from pipeline.report.build import Build
from pipeline.report.params import ReportParams
from pipeline.report.section import Section
from schemas.wording import counted

_DOUBTFUL = 0.9
"""Mean confidence of a page's OCR below which a person should look: sound scans are read with .95 and more."""
_LISTED = 30


def section(build: Build, params: ReportParams) -> Section | None:  # noqa: ARG001 - every section's form
    """Pages by how they were read, the least certain first; None where no source has pages."""
    pages = build.table("ocr/pages")
    if pages is None or pages.is_empty():
        return None
    ways = (
        pages.group_by("method", "engine", "reason")
        .agg(
            pl.len().alias("pages"),
            pl.col("document").n_unique().alias("documents"),
            pl.col("confidence").mean().alias("mean"),
            pl.col("confidence").min().alias("lowest"),
        )
        .sort(pl.col("pages"), "method", "engine", "reason", descending=[True, False, False, False])
    )
    doubtful = pages.filter(pl.col("confidence") < _DOUBTFUL).sort("confidence", "document", "page")
    lost = build.stage("ocr").facts.get("pages_lost") or []
    warnings = []
    if doubtful.height:
        warnings.append(
            f"Read with a confidence below {_DOUBTFUL}: {doubtful.height:,} of {counted(pages.height, 'page')}. "
            "Questions there may be misread."
        )
    if lost:
        warnings.append(f"Not readable at all: {counted(len(lost), 'page')}.")
    values = {
        "ways": ways.to_dicts(),
        "doubtful": doubtful.head(_LISTED).select("document", "page", "confidence").to_dicts(),
        "doubtful_count": doubtful.height,
        "limit": _DOUBTFUL,
    }
    return Section("reading", "How pages were read", "页面读取方式", values, warnings)
