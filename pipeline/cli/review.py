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
from schemas.annotations import Agreement, LabelStatus
from schemas.taxonomy import dimensions

if TYPE_CHECKING:
    from annotation.label_studio.pull import PullReport
    from annotation.label_studio.push import PushReport
    from annotation.progress import Pace
    from annotation.standing import ReviewStatus

REVIEW = stage("review")
_EXAMPLES = "Examples:\n\n" + "\n\n".join(
    f"[cyan]{line}[/cyan]" for line in ("build-dataset review", *REVIEW.examples)
)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(help=REVIEW.title, epilog=_EXAMPLES, invoke_without_command=True)
    group.callback(invoke_without_command=True)(settle)
    for command, example in (
        (push, "push --count 500"),
        (pull, "pull --full"),
        (adjudicate, "adjudicate"),
        (verify, "verify"),
        (status, "status"),
    ):
        group.command(epilog=f"Example: [cyan]build-dataset review {example}[/cyan]")(command)
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


def push(
    config: ConfigPath = DEFAULT_CONFIG,
    count: Annotated[
        int | None,
        typer.Option(
            "--count", help="Send at most so many new questions, as a batch; all when absent.", min=1
        ),
    ] = None,
    overrides: Overrides = None,
) -> None:
    """Send the questions, prefilled with their labels, to Label Studio; again, it adds nothing."""
    from pipeline.review import sending

    loaded = configure(config, overrides)
    runner = Runner(loaded)
    with build_lock(runner.build):
        tables = runner.tables(REVIEW)
        report = sending.push(tables, _params(loaded), runner.context(REVIEW), count=count)
    tell_push(Console(), report)


def adjudicate(config: ConfigPath = DEFAULT_CONFIG, overrides: Overrides = None) -> None:
    """Send what experts disagree on or flagged to a third one, who sees both labels and no names."""
    from pipeline.review import sending

    loaded = configure(config, overrides)
    runner = Runner(loaded)
    with build_lock(runner.build):
        report = sending.adjudicate(runner.tables(REVIEW), _params(loaded), runner.context(REVIEW))
    tell_push(Console(), report)


def verify(config: ConfigPath = DEFAULT_CONFIG, overrides: Overrides = None) -> None:
    """Send what waits in parse, clean and dedup, beside the cut-out from its page, to be verified."""
    from pipeline.review import sending

    loaded = configure(config, overrides)
    runner = Runner(loaded)
    with build_lock(runner.build):
        report, without = sending.verify(_params(loaded), runner.context(REVIEW))
    console = Console()
    tell_push(console, report)
    if without:
        console.print(f"not sent, since no question is in them: {without} items", highlight=False)


def pull(
    config: ConfigPath = DEFAULT_CONFIG,
    full: Annotated[bool, typer.Option("--full", help="Fetch everything, not only what changed.")] = False,
    overrides: Overrides = None,
) -> None:
    """Fetch what people did, then settle labels and measure the experts' agreement."""
    from pipeline.review import fetching

    loaded = configure(config, overrides)
    runner = Runner(loaded)
    with build_lock(runner.build):
        reports = fetching.pull(_params(loaded), runner.context(REVIEW), full=full)
    console = Console()
    for report in reports:
        tell_pull(console, report)
    if fetching.to_apply(runner.build) and runner.state(stage("clean")) == "stale":
        console.print(
            "[yellow]corrections wait to be applied: run `build-dataset run`[/yellow]", highlight=False
        )
    run_stages(loaded, ["review"])


def status(config: ConfigPath = DEFAULT_CONFIG, overrides: Overrides = None) -> None:
    """How far the review has come, as of the last pull: per question, dimension and expert; and what is left."""
    from pipeline.review import stage as reviewing

    loaded = configure(config, overrides)
    found, paces, rows = reviewing.status(Runner(loaded).tables(REVIEW), _params(loaded))
    console = Console()
    console.print(_dimension_table(found, rows))
    states = ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in found.states.items())
    console.print(f"{found.questions} questions = {states}", highlight=False)
    for pace in paces:
        console.print(f"  {escape(pace.reviewer)} {_pace(pace)}", highlight=False)
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


def tell_push(console: Console, report: PushReport) -> None:
    """Say what a push did."""
    made = "made" if report.created else "found"
    batch = f" as batch {report.batch}" if report.added and report.kind == "review" else ""
    console.print(
        f"{report.kind} project {report.project} {made}: {report.added} added{batch}, {report.updated} updated, "
        f"{report.unchanged} unchanged",
        highlight=False,
    )
    if report.changed_after_review:
        ids = ", ".join(report.changed_after_review[:5])
        console.print(
            f"[yellow]changed after an expert had reviewed them: {escape(ids)}[/yellow]", highlight=False
        )
    for name in ("later", "withdrawn", "duplicates_removed", "others", "replies_lost"):
        count = asdict(report)[name]
        if count:
            console.print(f"{name.replace('_', ' ')}: {count}", highlight=False)
    console.print(f"experts begin at {escape(report.url)}", highlight=False)


def tell_pull(console: Console, report: PullReport) -> None:
    """Say what a pull found."""
    console.print(
        f"{report.kind}: {report.new} new, {report.changed} changed, {report.deleted} deleted; "
        f"{report.questions} questions answered",
        highlight=False,
    )
    for reason, count in report.rejects.items():
        console.print(f"[yellow]does not count: {escape(reason)} {count}[/yellow]", highlight=False)
    if report.third_experts:
        ids = ", ".join(report.third_experts[:5])
        console.print(
            f"[yellow]answered by more people than were asked: {escape(ids)}[/yellow]", highlight=False
        )


def _pace(pace: Pace) -> str:
    """Done, left, and the time that it takes."""
    said = f"reviewed {pace.done}, {pace.left} left"
    if pace.seconds is None or pace.seconds_left is None:
        return said
    hours, minutes = divmod(round(pace.seconds_left / 60), 60)
    return f"{said}: about {hours} h {minutes:02} min at {pace.seconds:.0f} s a question"


def _dimension_table(found: ReviewStatus, rows: list[Agreement]) -> Table:
    table = Table()
    table.add_column("dimension")
    for label_status in LabelStatus:
        table.add_column(label_status.value, justify="right")
    table.add_column("disagreement", justify="right")
    raw = {row.dimension: row.raw for row in rows}
    for name, counts in found.dimensions.items():
        dimension = dimensions()[name]
        numbers = [str(counts.get(label_status, 0)) for label_status in LabelStatus]
        agreed = raw.get(name)
        numbers.append("" if agreed is None else f"{1 - agreed:.1%}")
        table.add_row(f"{dimension.zh} {dimension.en}", *numbers)
    return table
