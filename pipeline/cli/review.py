"""``review``: settle labels, and ``review push|pull|status`` for the experts' work in Label Studio."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from annotation.params import ReviewParams
from pipeline.catalogue import stage
from pipeline.cli.build import run_stages
from pipeline.cli.options import DEFAULT_CONFIG, ConfigPath, Force, Overrides, configure
from pipeline.config import ConfigBase
from pipeline.runtime.lock import build_lock
from pipeline.runtime.runner import Runner
from schemas.annotations import LabelStatus
from schemas.taxonomy import dimensions

if TYPE_CHECKING:
    from annotation.label_studio.pull import PullReport
    from annotation.label_studio.push import PushReport
    from annotation.standing import ReviewStatus

REVIEW = stage("review")
_EXAMPLES = "Examples:\n\n" + "\n\n".join(
    f"[cyan]{line}[/cyan]" for line in ("build-dataset review", *REVIEW.examples)
)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(help=REVIEW.title, epilog=_EXAMPLES, invoke_without_command=True)
    group.callback(invoke_without_command=True)(settle)
    group.command(epilog="Example: [cyan]build-dataset review push[/cyan]")(push)
    group.command(epilog="Example: [cyan]build-dataset review pull --full[/cyan]")(pull)
    group.command(epilog="Example: [cyan]build-dataset review status[/cyan]")(status)
    app.add_typer(group, name="review")


def settle(
    context: typer.Context,
    config: ConfigPath = DEFAULT_CONFIG,
    force: Force = False,
    overrides: Overrides = None,
) -> None:
    """Settle labels from what was pulled; asks no server."""
    if context.invoked_subcommand is None:
        run_stages(configure(config, overrides), ["review"], force=force)


def push(config: ConfigPath = DEFAULT_CONFIG, overrides: Overrides = None) -> None:
    """Send the questions, prefilled with their labels, to Label Studio; again, it adds nothing."""
    from pipeline import review

    loaded = configure(config, overrides)
    runner = Runner(loaded)
    with build_lock(runner.build):
        tables = runner.tables(REVIEW)
        report = review.push(tables, _params(loaded), runner.context(REVIEW))
    _tell_push(Console(), report)


def pull(
    config: ConfigPath = DEFAULT_CONFIG,
    full: Annotated[bool, typer.Option("--full", help="Fetch everything, not only what changed.")] = False,
    overrides: Overrides = None,
) -> None:
    """Fetch what the experts did, then settle labels and measure their agreement."""
    from pipeline import review

    loaded = configure(config, overrides)
    runner = Runner(loaded)
    with build_lock(runner.build):
        report = review.pull(_params(loaded), runner.context(REVIEW), full=full)
    _tell_pull(Console(), report)
    run_stages(loaded, ["review"])


def status(config: ConfigPath = DEFAULT_CONFIG, overrides: Overrides = None) -> None:
    """How far the review has come, as of the last pull: per question, dimension and expert."""
    from pipeline import review

    loaded = configure(config, overrides)
    found = review.status(Runner(loaded).tables(REVIEW), _params(loaded))
    console = Console()
    console.print(_dimension_table(found))
    states = ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in found.states.items())
    console.print(f"{found.questions} questions = {states}", highlight=False)
    for expert, count in found.experts.items():
        console.print(f"  {escape(expert)} reviewed {count}", highlight=False)
    for flag, count in found.flags.items():
        console.print(f"  flagged {escape(flag)}: {count}", highlight=False)
    if found.last_review:
        console.print(
            f"last review: {escape(found.last_review)} (as of the last `review pull`)", highlight=False
        )


def _params(config: ConfigBase) -> ReviewParams:
    params = config.params("review")
    assert isinstance(params, ReviewParams)
    return params


def _tell_push(console: Console, report: PushReport) -> None:
    made = "made" if report.created else "found"
    console.print(
        f"project {report.project} {made}: {report.added} added, {report.updated} updated, "
        f"{report.unchanged} unchanged",
        highlight=False,
    )
    if report.changed_after_review:
        ids = ", ".join(report.changed_after_review[:5])
        console.print(
            f"[yellow]changed after an expert had reviewed them: {escape(ids)}[/yellow]", highlight=False
        )
    for name in ("duplicates_removed", "others", "replies_lost"):
        count = asdict(report)[name]
        if count:
            console.print(f"{name.replace('_', ' ')}: {count}", highlight=False)
    console.print(f"experts begin at {escape(report.url)}", highlight=False)


def _tell_pull(console: Console, report: PullReport) -> None:
    console.print(
        f"pulled: {report.new} new, {report.changed} changed, {report.deleted} deleted; "
        f"{report.questions} questions reviewed",
        highlight=False,
    )
    for reason, count in report.rejects.items():
        console.print(f"[yellow]does not count: {escape(reason)} {count}[/yellow]", highlight=False)
    if report.third_experts:
        ids = ", ".join(report.third_experts[:5])
        console.print(f"[yellow]reviewed by more than two: {escape(ids)}[/yellow]", highlight=False)


def _dimension_table(found: ReviewStatus) -> Table:
    table = Table()
    table.add_column("dimension")
    for label_status in LabelStatus:
        table.add_column(label_status.value, justify="right")
    for name, counts in found.dimensions.items():
        dimension = dimensions()[name]
        numbers = [str(counts.get(label_status, 0)) for label_status in LabelStatus]
        table.add_row(f"{dimension.zh} {dimension.en}", *numbers)
    return table
