"""The experts' work: ``review`` labels, ``score-answers`` answers; ``push`` and ``pull`` talk to Label Studio."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from build_dataset.annotation.params import ReviewParams
from build_dataset.pipeline.catalogue import stage
from build_dataset.pipeline.cli.build import INCOMPLETE, run
from build_dataset.pipeline.cli.language import word
from build_dataset.pipeline.cli.options import DEFAULT_CONFIG, configure
from build_dataset.pipeline.cli.report import print_json, print_line, print_template, print_warning, save
from build_dataset.pipeline.config import ConfigBase
from build_dataset.pipeline.evaluate.params import EvaluateParams
from build_dataset.pipeline.stage import Context, Stage
from build_dataset.schemas.annotations import LabelStatus
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.taxonomy import dimensions
from build_dataset.schemas.wording import counted, minute

if TYPE_CHECKING:
    from build_dataset.pipeline.runtime.runner import Runner

REVIEW, EVALUATE = stage("review"), stage("evaluate")
_NOT_IN_NAMES = re.compile(r"[^\w@.+-]+")
"""Characters left out of the name of an expert's workbook: `zhang / li`; 张医生 stays."""


@contextmanager
def locked_build(config: ConfigBase, of: Stage = REVIEW) -> Iterator[tuple[Runner, ReviewParams, Context]]:
    """Yield a runner, the experts' options and a stage's context, while no other process writes to the build folder."""
    from build_dataset.pipeline.runtime.publish import build_lock
    from build_dataset.pipeline.runtime.runner import Runner

    runner = Runner(config)
    with build_lock(runner.build):
        yield runner, config.section(ReviewParams), runner.context(of)


def settle(context: typer.Context, config: ConfigBase, force: bool = False) -> None:
    """Compute final labels from the reviews that were pulled. No server is needed."""
    if context.invoked_subcommand is None:  # `review` alone; `review push` comes by here too
        run(config, "review", "review", force)


def push(config: ConfigBase, count: int | None = None) -> None:
    """Send questions with their proposed labels to Label Studio. Nothing is sent twice."""
    from build_dataset.pipeline.review import exchange

    with locked_build(config) as (runner, params, context):
        tables = runner.tables(REVIEW)
        if params.assign:  # a project for each expert
            reports, notes = exchange.push_to_experts(tables, params, context, count=count)
        else:
            reports, notes = [exchange.push(tables, params, context, count=count)], []
    for report in reports:
        print_template("push", report)
    for note in notes:
        print_warning(note)


def adjudicate(config: ConfigBase) -> None:
    """Send disputed and flagged questions to a third expert, who sees both labels but no names."""
    from build_dataset.pipeline.review import exchange

    with locked_build(config) as (runner, params, context), _nothing_to_send_is_fine():
        print_template("push", exchange.adjudicate(runner.tables(REVIEW), params, context))


def verify(config: ConfigBase) -> None:
    """Send waiting questions and doubtful keys to a person who checks them against the page."""
    from build_dataset.pipeline.review import exchange

    with locked_build(config) as (_, params, context), _nothing_to_send_is_fine():
        report, without = exchange.verify(params, context)
        print_template("push", report)
        if without:
            print_line(f"{without} items not sent: no question is in them")


def sheet_export(
    config: ConfigBase,
    expert: str = "",
    waiting: bool = False,
    adjudicate: bool = False,
    count: int | None = None,
    out: Path | None = None,
) -> None:
    """Write a workbook: what an expert is to label or to rule on, or with --waiting all that waits for a decision."""
    from build_dataset.pipeline.review import sheets, waiting as waiting_room

    if waiting == bool(expert):
        raise UserError("name the expert with --expert, or write what waits for a decision with --waiting")
    if waiting:
        path = out or Path(waiting_room.FILE)
        if path.exists():
            raise UserError(f"{path} is there already, maybe filled in: import it, then move it away, or give --out")
        with locked_build(config) as (_, _, context):
            content, questions, without = waiting_room.workbook(context)
        save(path, content)
        print_template("waiting", {"path": path, "questions": questions, "without": without})
        return
    expert = expert.strip().lower()  # as reviews are keyed
    path = out or Path(f"{'adjudicate' if adjudicate else 'review'}-{_NOT_IN_NAMES.sub('-', expert)}.xlsx")
    with locked_build(config) as (runner, params, context):
        export = sheets.export_cases if adjudicate else sheets.export
        done = export(runner.tables(REVIEW), params, context, expert=expert, path=path, count=count)
    print_line(f"{counted(done, 'question')} for {expert} in {path}; `review sheet import` takes it in when it is back")


def sheet_cancel(config: ConfigBase, expert: str = "") -> None:
    """Let go of a workbook that is lost: the next export gives its open questions to others."""
    from build_dataset.pipeline.review import sheets

    with locked_build(config) as (runner, _, _):
        freed = sheets.cancel(runner.tables(REVIEW)["pulled"], runner.build, expert.strip().lower())
    print_line(f"{counted(freed, 'question')} of {expert} can go to others: `review sheet export --expert NAME`")


def sheet_import(files: list[Path], config: ConfigBase, by: str = "") -> None:
    """Take in workbooks that came back, then settle labels as `pull` does."""
    from build_dataset.pipeline.clean.params import CleanParams
    from build_dataset.pipeline.review import decisions, sheets

    decided = [path for path in files if decisions.is_waiting(path)]
    files = [path for path in files if path not in decided]
    if decided and not by.strip():
        raise UserError(f"{decided[0]} holds decisions on waiting questions: say who made them with --by NAME")
    with locked_build(config) as (_, params, context):
        outcome = decisions.import_decisions(decided, by.strip().lower(), params, context, config.section(CleanParams))
        imported = sheets.import_sheets(files, params, context) if files else []
    if decided:
        print_template("decided", outcome)
    for path, sheet, rejects in imported:
        print_template("sheet", {"path": path, "sheet": sheet, "rejects": rejects})
    if files:
        run(config, "review", "review")  # settles labels at once
    if outcome.notes or any(rejects or sheet.unconfirmed for _, sheet, rejects in imported):
        raise typer.Exit(INCOMPLETE)  # what was told above is to be mended and imported again


def pull(config: ConfigBase, full: bool = False, force: bool = False) -> None:
    """Fetch the reviews, then compute final labels and agreement."""
    from build_dataset.pipeline.review import decisions, exchange

    with locked_build(config) as (runner, params, context):
        reports = exchange.pull(params, context, full=full, force=force)
        alike = decisions.take_up(params, context)
        unknown = exchange.unknown_people(params, runner.build)  # told after the pull, which worked
    for report in reports:
        print_template("pull", report)
    if alike:
        print_line(f"decided as another of the same kind: {counted(alike, 'question')}")
    if unknown:
        who = ", ".join(unknown)
        print_warning(f"no such account in Label Studio, see review.reviewers and review.adjudicators: {who}")
    if exchange.to_apply(runner.build) and runner.state(stage("clean")) == "stale":
        print_warning("corrections wait to be applied: run `build-dataset run`")
    run(config, "review", "review")


def status(config: ConfigBase, as_json: bool = False) -> None:
    """Show progress as of the last pull: by question, dimension and expert."""
    from build_dataset.pipeline.review import stage as reviewing
    from build_dataset.pipeline.review.folder import read_control
    from build_dataset.pipeline.runtime.runner import Runner

    runner = Runner(config)
    params, control = config.section(ReviewParams), read_control(runner.build)
    progress, experts, rows, changes = reviewing.status(runner.tables(REVIEW), params, control)
    if as_json:
        work = [{**asdict(expert), "alarms": expert.alarms()} for expert in experts]
        print_json({**progress._asdict(), "experts": work, "changes": [change._asdict() for change in changes]})
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(word("dimension"), min_width=16)
    for heading in (*LabelStatus, "differ"):
        table.add_column(word(str(heading)), justify="right", no_wrap=True)
    raw = {row.dimension: row.raw for row in rows}  # agreement by dimension
    for name, counts in progress.dimensions.items():
        dimension, agreed = dimensions()[name], raw.get(name)
        numbers = [str(counts.get(label_status, 0)) for label_status in LabelStatus]
        differ = "" if agreed is None else f"{1 - agreed:.1%}"  # of the questions that two experts saw
        table.add_row(f"{dimension.zh} {dimension.en}", *numbers, differ)
    Console().print(table)
    last = minute(progress.last_review) if progress.last_review else None  # None before the first pull
    print_template("review_status", {"found": progress, "experts": experts, "last": last, "changes": changes})


@contextmanager
def _nothing_to_send_is_fine() -> Iterator[None]:
    """Print a message if there is nothing to send; this is no error."""
    from build_dataset.annotation.label_studio.projects import NothingToSendError

    try:
        yield
    except NothingToSendError as nothing:
        print_line(str(nothing))


def push_answers(
    config: Path = DEFAULT_CONFIG,
    sample: int | None = None,
    overlap: int | None = None,
    overrides: list[str] | None = None,
) -> None:
    """Send a random sample of every run's answers to the experts, without the models' names."""
    from build_dataset.pipeline.evaluate.judging import project

    options = {"evaluate.scoring.sample": sample, "evaluate.scoring.overlap": overlap}
    loaded = configure(config, overrides, options)  # --sample and --overlap hold for this call
    with locked_build(loaded, EVALUATE) as (_, params, context):
        report = project.push(loaded.section(EvaluateParams), params, context)
    print_template("push", report)


def pull_scores(config: ConfigBase, full: bool = False) -> None:
    """Fetch the experts' scores. `evaluate` uses them without asking any model again."""
    from build_dataset.pipeline.evaluate.judging import project

    with locked_build(config, EVALUATE) as (_, params, context):
        report = project.pull(config.section(EvaluateParams), params, context, full=full)
    print_template("pull", report)
    print_line("`build-dataset evaluate` takes the scores up; `build-dataset score-answers status` tells")


def scoring_status(config: ConfigBase) -> None:
    """Show progress as of the last pull; `evaluate` tells how well experts and judges agree."""
    from build_dataset.pipeline.evaluate.judging import project

    progress = project.status(config.dataset.build, config.section(EvaluateParams).scoring.experts)
    print_template("scoring_status", progress)
