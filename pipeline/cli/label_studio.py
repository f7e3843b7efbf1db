"""Options, lock and messages shared by all commands that talk to Label Studio."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from pipeline.cli.options import configure
from pipeline.cli.report import say, warn
from pipeline.config import ConfigBase

if TYPE_CHECKING:
    from pathlib import Path

    from annotation.label_studio.pull import PullReport
    from annotation.label_studio.push import PushReport
    from pipeline.runtime.runner import Runner

Full = Annotated[bool, typer.Option("--full", help="Fetch everything, not only what changed.")]
Adopt = Annotated[bool, typer.Option("--adopt", help="Take over the project of another folder that is gone.")]
_NAMED = 5
"""Question ids in a line."""
_T = TypeVar("_T")


@contextmanager
def at_work(
    config: Path, overrides: list[str] | None, options: Mapping[str, Any] | None = None
) -> Iterator[tuple[ConfigBase, Runner]]:
    """The configuration and a runner, while no other process writes to the build folder."""
    from pipeline.runtime.publish import build_lock
    from pipeline.runtime.runner import Runner

    loaded = configure(config, overrides, options)
    runner = Runner(loaded)
    with build_lock(runner.build):
        yield loaded, runner


def section(config: ConfigBase, stage: str, kind: type[_T]) -> _T:
    """The section of a stage."""
    params = config.params(stage)
    assert isinstance(params, kind)
    return params


def tell_push(report: PushReport) -> None:
    """Say what a push did."""
    made = "made" if report.created else "found"
    batch = f" in batch {report.batch}" if report.added and report.kind == "review" else ""
    say(
        f"{report.kind} project {report.project} {made}: {report.added} added{batch}, {report.updated} updated, "
        f"{report.unchanged} unchanged"
    )
    if report.changed_after_review:
        warn(f"changed after an expert had answered them: {_some(report.changed_after_review)}")
    for count, what in (
        (report.later, "not sent yet; the next push sends them"),
        (report.withdrawn, "withdrawn: they need no answer any more, and had none"),
        (report.duplicates_removed, "removed: second tasks of a question, without an answer"),
        (
            report.others,
            "other tasks in the project, which belong to no question of this dataset: left alone",
        ),
        (report.replies_lost, "replies lost on the way; what had arrived was not sent again"),
        (report.mended, "times the server had kept less than was sent; put right"),
        (report.restored, "answers that were pulled earlier put back into the project"),
    ):
        if count:
            say(f"{count} {what}")
    say(f"experts begin at {report.url}")


def tell_pull(report: PullReport) -> None:
    """Say what a pull found."""
    say(
        f"{report.kind}: {report.new} new, {report.changed} changed, {report.deleted} deleted; "
        f"{report.questions} questions answered"
    )
    if report.remedy is not None:
        warn(
            f"{report.kind}: its project is gone from Label Studio: what was pulled stays and counts;"
            f" `{report.remedy}` makes it anew where it is needed"
        )
    if report.newly_gone:
        warn(
            f"{report.newly_gone} answers are gone from Label Studio: they stay here and count"
            " (`pull --force` lets go of them)"
        )
    elif report.kept:
        say(f"{report.kept} answers that are gone from Label Studio count from earlier pulls")
    for reason, count in report.rejects.items():
        warn(f"does not count: {reason} {count}")
    if report.third_experts:
        warn(f"answered by more people than were asked: {_some(report.third_experts)}")


def _some(question_ids: tuple[str, ...]) -> str:
    rest = len(question_ids) - _NAMED
    return ", ".join(question_ids[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")
