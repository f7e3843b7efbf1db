"""``score-answers push|pull|status``, and options, lock and messages of all commands that talk to Label Studio."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from annotation.params import ReviewParams
from annotation.rubric import aspects
from pipeline.catalogue import stage
from pipeline.cli.options import DEFAULT_CONFIG, EXPERTS, ConfigPath, Overrides, configure, examples
from pipeline.cli.report import say, tell
from pipeline.config import ConfigBase
from pipeline.evaluate.params import EvaluateParams
from schemas.evaluation import JudgeAgreement

if TYPE_CHECKING:
    from pipeline.runtime.runner import Runner

EVALUATE = stage("evaluate")
_HELP = "Have experts score models' explanations and clinical answers in Label Studio."
Full = Annotated[bool, typer.Option("--full", help="Fetch everything, not only what changed.")]
Adopt = Annotated[bool, typer.Option("--adopt", help="Take over the project of another folder that is gone.")]


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


def register(app: typer.Typer) -> None:
    """Add the commands."""
    shown = examples(f"score-answers {line}" for line in ("push --sample 30", "pull", "status"))
    group = typer.Typer(help=_HELP, epilog=shown, no_args_is_help=True)
    for command in (push, pull, status):
        group.command()(command)
    app.add_typer(group, name="score-answers", rich_help_panel=EXPERTS)


def push(
    config: ConfigPath = DEFAULT_CONFIG,
    sample: Annotated[
        int | None,
        typer.Option(help="Answers per run, drawn at random; default: evaluate.scoring.sample."),
    ] = None,
    overlap: Annotated[
        int | None, typer.Option(help="Experts per answer; default: evaluate.scoring.overlap.")
    ] = None,
    adopt: Adopt = False,
    overrides: Overrides = None,
) -> None:
    """Send a random sample of every run's answers to the experts, without the models' names."""
    from pipeline.evaluate.judging import project

    options = {"evaluate.scoring.sample": sample, "evaluate.scoring.overlap": overlap}
    with at_work(config, overrides, options) as (loaded, runner):
        report = project.push(*_params(loaded), runner.context(EVALUATE), adopt=adopt)
    tell("push", report)


def pull(
    config: ConfigPath = DEFAULT_CONFIG, full: Full = False, adopt: Adopt = False, overrides: Overrides = None
) -> None:
    """Fetch the experts' scores. `evaluate` uses them without asking any model again."""
    from pipeline.evaluate.judging import project

    with at_work(config, overrides) as (loaded, runner):
        report = project.pull(*_params(loaded), runner.context(EVALUATE), full=full, adopt=adopt)
    tell("pull", report)
    say("`build-dataset evaluate` takes the scores up; `build-dataset score-answers status` tells")


def status(config: ConfigPath = DEFAULT_CONFIG, overrides: Overrides = None) -> None:
    """Show progress as of the last pull, and how well experts and judges agree."""
    from pipeline.evaluate.judging import project

    loaded = configure(config, overrides)
    evaluate, _ = _params(loaded)
    found = project.status(loaded.dataset.build, evaluate.scoring.experts)
    runs = ", ".join(f"{run} {count}" for run, count in found.runs.items())
    say(f"{found.answers} answers sent: {runs}")
    for experts, count in found.scored_by.items():
        say(f"  scored by {experts}: {count} answers")
    for who, count in found.experts.items():
        say(f"  {who}: {count} answers")
    if found.agreement:
        Console().print(_agreement(found.agreement))


def _agreement(rows: Sequence[JudgeAgreement]) -> Table:
    from pipeline.evaluate.judging.scores import AVERAGE

    numbers = ("answers", "Pearson", "Spearman", "Krippendorff's alpha")
    columns: list[Column | str] = ["judge", "aspect", *(Column(name, justify="right") for name in numbers)]
    table = Table(*columns, title="agreement with the experts' mean")
    names = {aspect.name: f"{aspect.zh} {aspect.en}" for aspect in aspects()} | {AVERAGE: "平均 Average"}
    for row in rows:
        values = ("" if value is None else f"{value:.2f}" for value in (row.pearson, row.spearman, row.alpha))
        table.add_row(escape(row.judge), names[row.aspect], str(row.answers), *values)
    return table


def _params(config: ConfigBase) -> tuple[EvaluateParams, ReviewParams]:
    return config.section(EvaluateParams), config.section(ReviewParams)
