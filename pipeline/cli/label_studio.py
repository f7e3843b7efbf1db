"""``score-answers push|pull|status``, and options, lock and messages of all commands that talk to Label Studio."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from annotation.params import ReviewParams
from annotation.rubric import aspects
from pipeline.catalogue import stage
from pipeline.cli.options import DEFAULT_CONFIG, configure
from pipeline.cli.report import say, tell
from pipeline.config import ConfigBase
from pipeline.evaluate.params import EvaluateParams
from schemas.evaluation import JudgeAgreement

if TYPE_CHECKING:
    from pipeline.runtime.runner import Runner

EVALUATE = stage("evaluate")


@contextmanager
def at_work(config: ConfigBase) -> Iterator[Runner]:
    """Yield a runner, while no other process writes to the build folder."""
    from pipeline.runtime.publish import build_lock
    from pipeline.runtime.runner import Runner

    runner = Runner(config)
    with build_lock(runner.build):
        yield runner


def push(
    config: Path = DEFAULT_CONFIG,
    sample: int | None = None,
    overlap: int | None = None,
    adopt: bool = False,
    overrides: list[str] | None = None,
) -> None:
    """Send a random sample of every run's answers to the experts, without the models' names."""
    from pipeline.evaluate.judging import project

    options = {"evaluate.scoring.sample": sample, "evaluate.scoring.overlap": overlap}
    loaded = configure(config, overrides, options)
    with at_work(loaded) as runner:
        report = project.push(*_params(loaded), runner.context(EVALUATE), adopt=adopt)
    tell("push", report)


def pull(config: ConfigBase, full: bool = False, adopt: bool = False) -> None:
    """Fetch the experts' scores. `evaluate` uses them without asking any model again."""
    from pipeline.evaluate.judging import project

    with at_work(config) as runner:
        report = project.pull(*_params(config), runner.context(EVALUATE), full=full, adopt=adopt)
    tell("pull", report)
    say("`build-dataset evaluate` takes the scores up; `build-dataset score-answers status` tells")


def status(config: ConfigBase) -> None:
    """Show progress as of the last pull, and how well experts and judges agree."""
    from pipeline.evaluate.judging import project

    evaluate, _ = _params(config)
    found = project.status(config.dataset.build, evaluate.scoring.experts)
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
