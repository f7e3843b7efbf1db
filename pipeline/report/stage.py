"""The report stage: one page about everything that was built, with its figures and tables."""

from build_dataset.pipeline import set_aside, stage
from build_dataset.pipeline.rendering import markup
from build_dataset.pipeline.report import content, evaluation, flow, texts
from build_dataset.pipeline.report.build import WORDS, Build, Section
from build_dataset.pipeline.report.params import ReportParams
from build_dataset.pipeline.review.waiting import FILE as WORKBOOK, edited_workbooks, workbook
from build_dataset.schemas import errors, wording

PAGE = "index.html"
_MODULES = {"content": content, "evaluation": evaluation, "flow": flow, "texts": texts}


def run(tables: stage.Tables, params: ReportParams, context: stage.Context) -> stage.Result:
    """Report on all stages that have run, and name those that have not; counts are of stages."""
    build = Build(tables, params, context.dataset)
    if not build.ran:
        raise errors.UserError("nothing was built yet: run `build-dataset run` first")
    made = {name: getattr(_MODULES[module], name)(build) for name, (module, *_) in WORDS["sections"].items()}
    sections: dict[str, Section] = {name: section for name, section in made.items() if section is not None}
    files = {name: data for section in sections.values() for name, data in section.files.items()}
    notices = [notice for section in sections.values() for notice in section.notices]
    notices.sort(key=lambda notice: -notice.lost)  # stable: sections' order among equals
    notices = [*flow.doubt_notices(set_aside.source_doubts(build.table)), *notices]
    if "waiting" in sections and (context.build / "parse").is_dir():
        files[WORKBOOK], _, _ = workbook(context)
    notes = [f"{wording.counted(len(notices), 'warning')} at the head of the page"] if notices else []
    for name, path in edited_workbooks(folder := context.build / "report").items():
        files[name], way = path.read_bytes(), f"build-dataset review sheet import {folder / name} --by NAME"
        notes.append(f"decisions that were not imported are kept in {name}; import or delete it: {way}")
    files[PAGE] = markup.html_page(
        "build_dataset.pipeline.report:report.html",
        dataset=context.dataset,
        sections=sections,
        notices=notices,
        reasons=wording.reason_names(),
        words=WORDS,
        files=[name for name in sorted(files) if not name.endswith(".parquet")],  # people open the others
    )
    return stage.Result(
        tables={},
        counts=stage.Counts(n_input=len(build.ran), kept=len(build.ran)),
        files=files,
        facts={"warnings": [notice.english for notice in notices]},
        notes=notes,
    )
