"""Which exams the questions come from: CMB's tables 1 and 2."""

from __future__ import annotations

from pipeline.report.build import Build
from pipeline.report.params import ReportParams
from pipeline.report.published import cmb_table1, cmb_table2
from pipeline.report.section import Section


def section(build: Build, params: ReportParams) -> Section | None:  # noqa: ARG001 - every section's form
    """Questions by category and subcategory; None where nothing says which exams they are of."""
    if build.splits is None:
        return None
    tables = [table for table in (cmb_table1(build.splits), cmb_table2(build.splits)) if table]
    if not tables:
        return None
    files = {name: data for table in tables for name, data in table.files().items()}
    return Section("exams", "Exams", "考试类别", {"tables": tables}, files=files)
