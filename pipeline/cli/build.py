"""``run``, and a command for every stage of the catalogue."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from annotation.params import AnnotateParams
from pipeline.catalogue import STAGES
from pipeline.catalogue import stage as stage_named
from pipeline.cli.options import (
    BEGIN,
    DEFAULT_CONFIG,
    SINGLE,
    ConfigPath,
    Force,
    Overrides,
    configure,
    keyword,
    stage_options,
)
from pipeline.cli.report import tell_end, tell_estimate, tell_stage
from pipeline.config import ConfigBase
from pipeline.preflight import preflight
from pipeline.runtime.runner import Report, Runner
from pipeline.stage import Stage
from schemas.errors import UserError
from schemas.params import is_knob
from schemas.questions import Question

INCOMPLETE = 3  # exit code: some items wait for a further run


def register(app: typer.Typer) -> None:
    """Add the commands."""
    examples = _examples(("build-dataset run", "build-dataset run --from dedup --to export"))
    app.command(epilog=examples, rich_help_panel=BEGIN)(run)
    for stage in STAGES:
        if stage.name != "review":  # a group of its own
            examples = _examples(stage.examples)
            add = app.command(stage.name, help=stage.title, epilog=examples, rich_help_panel=SINGLE)
            add(_command(stage))


def run(
    config: ConfigPath = DEFAULT_CONFIG,
    first: Annotated[str | None, typer.Option("--from", help="Begin with this stage.")] = None,
    last: Annotated[str | None, typer.Option("--to", help="End with this stage.")] = None,
    force: Force = False,
    overrides: Overrides = None,
) -> None:
    """Run every stage; what is done already is skipped."""
    names = [stage.name for stage in STAGES]
    for name in (first, last):
        if name is not None and name not in names:
            raise UserError(f"no stage {name}; the stages are {', '.join(names)}")
    begin = names.index(first) if first else 0
    end = names.index(last) if last else len(names) - 1
    if begin > end:
        raise UserError(f"--from {first} comes after --to {last}; the stages are {', '.join(names)}")
    run_stages(configure(config, overrides), names[begin : end + 1], force=force)


def run_stages(config: ConfigBase, names: Sequence[str], *, force: bool = False) -> None:
    """Check what the stages need, run them, print the counts; exit with 3 when items wait for a further run."""
    console = Console(stderr=True)
    runner = Runner(config, console)
    preflight(config, runner.due(names, force=force))
    reports: list[Report] = []

    def tell(report: Report) -> None:
        reports.append(report)
        tell_stage(console, report)

    complete = runner.run(names, force=force, tell=tell)
    tell_end(console, config, reports)
    if not complete:
        raise typer.Exit(INCOMPLETE)


def _command(stage: Stage) -> Callable[..., None]:
    """A command whose options are the stage's own."""

    def command(**given: Any) -> None:
        config: Path = given.pop("config")
        overrides, force = given.pop("overrides"), given.pop("force")
        dry_run = given.pop("dry_run", False)
        options = {f"{stage.name}.{key}": _plain(value) for key, value in given.items()}
        loaded = configure(config, overrides, options)
        if dry_run:
            _dry_run(loaded)
            return
        run_stages(loaded, [stage.name], force=force)
        _tell_for_once(stage, [key for key, value in given.items() if value is not None])

    common = [
        keyword("config", ConfigPath, DEFAULT_CONFIG),
        keyword("force", Force, False),
        keyword("overrides", Overrides, None),
    ]
    if stage.name == "annotate":
        help_text = "Print questions, tokens, cost and time; ask nothing."
        common.append(keyword("dry_run", Annotated[bool, typer.Option("--dry-run", help=help_text)], False))
    parameters = [*stage_options(stage.params), *common]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {item.name: item.annotation for item in parameters}
    return command


def _tell_for_once(stage: Stage, given: Sequence[str]) -> None:
    """Say that ``run`` does not know of options that can change a result."""
    fields = stage.params.model_fields
    told = [f"--{name.replace('_', '-')}" for name in given if not is_knob(fields[name])]
    if told:
        note = f"{', '.join(told)}: for this once; `build-dataset run` goes by [{stage.name}] in dataset.toml"
        Console(stderr=True).print(escape(note), highlight=False, soft_wrap=True)


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    return str(value.resolve()) if isinstance(value, Path) else value


def _dry_run(config: ConfigBase) -> None:
    from annotation.estimate import estimate
    from pipeline.annotate import reviewed_questions

    stage = stage_named("annotate")
    runner = Runner(config)
    tables = runner.tables(stage)
    questions = list(Question.from_frame(tables["questions"]))
    params = config.params("annotate")
    assert isinstance(params, AnnotateParams)
    reviewed = reviewed_questions(questions, tables, params)
    tell_estimate(Console(), estimate(questions, params, runner.context(stage).store, reviewed))


def _examples(lines: Sequence[str]) -> str:
    return "Examples:\n\n" + "\n\n".join(f"[cyan]{line}[/cyan]" for line in lines)
