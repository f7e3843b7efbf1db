"""The report stage: one page about everything that was built, with its figures and tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pipeline import html
from pipeline.report.build import Build
from pipeline.report.params import ReportParams
from pipeline.report.section import Section
from pipeline.report.sections import (
    agreement,
    aside,
    calibration,
    changes,
    conflicts,
    corrected,
    duplicates,
    evaluation,
    exams,
    funnel,
    labelling,
    labels,
    leaking,
    lengths,
    overview,
    provenance,
    reading,
    sources,
    splitting,
    tidied,
)
from pipeline.stage import Context, Counts, Result, Tables
from schemas.errors import UserError
from schemas.wording import counted

PAGE = "index.html"
_SECTIONS: tuple[Callable[[Build, ReportParams], Section | None], ...] = (
    overview.section,
    funnel.section,
    sources.section,
    reading.section,
    tidied.section,
    corrected.section,
    aside.rejected,
    aside.waiting,
    conflicts.section,
    duplicates.section,
    exams.section,
    lengths.section,
    labels.section,
    labelling.section,
    agreement.section,
    calibration.section,
    splitting.section,
    leaking.section,
    changes.section,
    evaluation.section,
    provenance.section,
)
"""In the page's order."""


def run(tables: Tables, params: ReportParams, context: Context) -> Result:
    """Tell of all stages that have run; those that have not are named.

    Counts are of those stages.

    Args:
        tables: ``manifests``, and whatever optional tables there are.
        params: the ``[report]`` section.
        context: of the run; its ``[dataset]`` section names the page.

    Raises:
        UserError: no stage has run.
    """
    build = Build(tables, context.dataset.loss_alarm)
    if not build.ran:
        raise UserError("nothing was built yet: run `build-dataset run` first")
    sections = [found for make in _SECTIONS if (found := make(build, params)) is not None]
    files = {name: data for section in sections for name, data in section.files.items()}
    warnings = [warning for section in sections for warning in section.warnings]
    files[PAGE] = _page(sections, warnings, sorted(files), context)
    return Result(
        tables={},
        counts=Counts(n_input=len(build.ran), kept=len(build.ran)),
        files=files,
        facts={"warnings": warnings},
        notes=[f"{counted(len(warnings), 'warning')} at the head of the page"] if warnings else [],
    )


def _page(
    sections: Sequence[Section], warnings: Sequence[str], files: Sequence[str], context: Context
) -> bytes:
    return html.render(
        "pipeline.report:report.html",
        dataset=context.dataset,
        sections=sections,
        warnings=warnings,
        files=[name for name in files if not name.endswith(".parquet")],
    )
