"""The report stage: one page about everything that was built, with its figures and tables."""

from collections.abc import Callable

from pipeline.rendering import html
from pipeline.report import content, flow, texts
from pipeline.report.build import WORDS, Build, Section
from pipeline.report.evaluation import evaluation
from pipeline.report.params import ReportParams
from pipeline.stage import Context, Counts, Result, Tables
from schemas.errors import UserError
from schemas.wording import counted, reason_names

PAGE = "index.html"
_SECTIONS: tuple[Callable[[Build], Section | None], ...] = (
    flow.overview,
    flow.funnel,
    flow.sources,
    texts.reading,
    texts.tidied,
    texts.corrected,
    flow.rejected,
    flow.waiting,
    texts.conflicts,
    texts.duplicates,
    content.exams,
    content.lengths,
    content.labels,
    content.labelling,
    content.agreement,
    content.calibration,
    content.splitting,
    content.leaking,
    content.changes,
    evaluation,
    flow.provenance,
)
"""In the page's order."""


def run(tables: Tables, params: ReportParams, context: Context) -> Result:
    """Report on all stages that have run, and name those that have not; counts are of stages."""
    build = Build(tables, params, context.dataset)
    if not build.ran:
        raise UserError("nothing was built yet: run `build-dataset run` first")
    sections = [found for make in _SECTIONS if (found := make(build)) is not None]
    files = {name: data for section in sections for name, data in section.files.items()}
    notices = [notice for section in sections for notice in section.notices]
    notices.sort(key=lambda notice: -notice.lost)  # stable: sections' order among equals
    files[PAGE] = html.render(
        "pipeline.report:report.html",
        dataset=context.dataset,
        sections=sections,
        notices=notices,
        reasons=reason_names(),
        words=WORDS,
        files=[name for name in sorted(files) if not name.endswith(".parquet")],  # people open the others
    )
    return Result(
        tables={},
        counts=Counts(n_input=len(build.ran), kept=len(build.ran)),
        files=files,
        facts={"warnings": [notice.english for notice in notices]},
        notes=[f"{counted(len(notices), 'warning')} at the head of the page"] if notices else [],
    )
