"""Commands that begin and build a dataset: ``init``, ``demo``, ``doctor``, ``run``, and one for every stage."""

import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from enum import Enum
from importlib.resources import files
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from build_dataset.pipeline.api import stage_names
from build_dataset.pipeline.catalogue import STAGES
from build_dataset.pipeline.cli import options
from build_dataset.pipeline.cli.language import translated
from build_dataset.pipeline.cli.report import print_json, print_line, print_stage, print_summary, print_template
from build_dataset.pipeline.config import FILE_NAME, Config, ConfigBase, load
from build_dataset.pipeline.stage import Stage
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.params import is_non_semantic

_MARKS = {"ok": "[green]✓[/green]", "absent": "[dim]–[/dim]", "wrong": "[red]✗[/red]"}
_PAPERS = frozenset({".pdf", ".docx", ".png", ".jpg", ".jpeg", ".tif", ".tiff", ".xlsx", ".csv", ".jsonl", ".txt"})
INCOMPLETE = 3  # exit code: some items wait for a further run
NOTHING_LEFT = 2  # exit code: the dataset is empty


def add_stages(app: typer.Typer) -> None:
    """Add a command for each stage of the catalogue."""
    for stage in STAGES:
        if stage.name != "review":  # a group of its own
            shown: dict[str, Any] = {"help": stage.title, "epilog": options.examples(stage.examples or (stage.name,))}
            made = app.command(stage.name, cls=options.HelpedCommand, rich_help_panel=options.heading("stage"), **shown)
            made(_command(stage))


@contextmanager
def _consoles(quiet: bool, log_file: Path | None) -> Iterator[list[Console]]:
    """Yield the terminal, which shows only errors if ``quiet``, and the log file, which gets everything."""
    terminal = Console(stderr=True, quiet=quiet)  # standard output is for --json
    if log_file is None:
        yield [terminal]
        return
    try:
        opened = log_file.open("a", encoding="utf-8")
    except OSError as error:
        raise UserError(f"--log-file {log_file} cannot be written: {error.strerror}") from None
    with opened as stream:
        log = Console(file=stream, width=200, color_system=None)  # wide: lines of a log are not broken
        log.print(f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC", *sys.argv[1:2], highlight=False)
        try:
            yield [terminal, log]
        except UserError as error:
            log.print(escape(f"error: {error}"), highlight=False, soft_wrap=True)
            raise


def run(
    config: ConfigBase,
    first: str | None = None,
    last: str | None = None,
    force: bool = False,
    quiet: bool = False,
    verbose: bool = False,
    manifests: bool = False,
    log_file: Path | None = None,
) -> None:
    """Run all stages in order. Finished stages are skipped."""
    from build_dataset.pipeline.doctor import preflight
    from build_dataset.pipeline.runtime.runner import Report, Runner

    names = stage_names(first, last)
    with _consoles(quiet, log_file) as consoles:
        runner = Runner(config, consoles[0])
        preflight(config, runner.due(names, force=force))  # before anything is read or paid for
        reports: list[Report] = []

        def on_stage_done(report: Report) -> None:
            reports.append(report)
            for console in consoles:
                print_stage(console, report, verbose=verbose)
            if manifests:
                typer.echo(json.dumps(report.manifest, ensure_ascii=False))

        try:
            complete = runner.run(names, force=force, on_stage_done=on_stage_done)
        except OSError as error:  # a write to an open file names none
            error.filename = error.filename or str(config.dataset.build)
            raise
        for console in consoles:
            print_summary(console, config, reports)
    if not complete:
        raise typer.Exit(INCOMPLETE)
    if any(report.stage.name == "export" and not report.manifest["counts"]["kept"] for report in reports):
        raise typer.Exit(NOTHING_LEFT)


def _command(stage: Stage) -> Callable[..., None]:
    """Return a command whose options are the stage's own."""

    def run_stage(
        config: Path = options.DEFAULT_CONFIG,
        force: bool = False,
        overrides: list[str] | None = None,
        quiet: bool = False,
        verbose: bool = False,
        manifests: bool = False,
        log_file: Path | None = None,
        dry_run: bool = False,
        **given: Any,
    ) -> None:
        from build_dataset.pipeline.runtime.runner import Runner

        plain = {key: value.value if isinstance(value, Enum) else value for key, value in given.items()}
        paths = {key: str(value.resolve()) for key, value in plain.items() if isinstance(value, Path)}
        values = {f"{stage.name}.{key}": value for key, value in (plain | paths).items()}  # from where the user is
        loaded = options.configure(config, overrides, values)
        if reason := loaded.params(stage.name).off():
            raise UserError(reason)
        if dry_run:
            runner = Runner(loaded)
            for line in stage.estimates(runner.tables(stage), loaded.params(stage.name), runner.context(stage)):
                print_line(line)
            return
        run(loaded, stage.name, stage.name, force, quiet, verbose, manifests, log_file)
        fields = stage.params.model_fields
        named = [key for key, value in given.items() if value is not None and not is_non_semantic(fields[key])]
        if named and not quiet:  # options on the command line hold for this command only
            flags = ", ".join(f"--{name.replace('_', '-')}" for name in named)
            used = f"used this time only; `build-dataset run` uses [{stage.name}] of dataset.toml"
            print_line(f"{flags}: {used}", console=Console(stderr=True))

    hidden = () if stage.estimate else ("dry_run",)  # only stages that may cost money have --dry-run
    return options.command(stage.name, run_stage, options.stage_options(stage.params), hidden)


def init(folder: Path = Path(), raw: Path | None = None) -> None:
    """Create dataset.toml, raw/ and build/ for a new dataset."""
    target = folder / FILE_NAME
    if target.exists():
        raise UserError(f"{target} is there already: edit it, or choose another folder")
    if raw is not None and not raw.is_dir():
        raise UserError(f"no folder {raw} to read papers from")
    files_here = [path for path in folder.iterdir() if path.is_file()] if folder.is_dir() else []
    here = raw is None and any(path.suffix.lower() in _PAPERS for path in files_here)  # called among papers
    place = "." if here else "raw"
    if raw is not None:  # as dataset.toml will name it: from where that lies if both share a parent, else in full
        there, home = raw.resolve(), folder.resolve()
        near = there.is_relative_to(home.parent) and home.parent != Path(home.anchor)  # siblings
        place = Path(os.path.relpath(there, home)).as_posix() if near else there.as_posix()
    name = re.sub(r"[^\w.-]+", "-", folder.resolve().name).strip("-") or "dataset"  # "A (1)": A-1
    text = _template(name, place)
    try:
        for made in ("build", "raw") if place == "raw" else ("build",):
            (folder / made).mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot write {target}: {error.strerror}") from None
    step = "" if folder.resolve() == Path.cwd() else f"cd {shlex.quote(str(folder))} && "  # to be copied
    values = {"target": target, "here": here, "raw": raw, "put_into": folder / place, "place": place}
    print_template("init", {**values, "step": step})


def _template(name: str, raw: str) -> str:
    text = (files("build_dataset.pipeline.cli") / "templates" / FILE_NAME).read_text(encoding="utf-8")
    return text.format(name=name, raw=json.dumps(raw, ensure_ascii=False))  # TOML quotes as JSON does


def demo(folder: Path = Path("build-dataset-demo")) -> None:
    """Build the sample exam in a new folder: no key, no server, no download."""
    if folder.exists():
        raise UserError(f"{folder} exists already: name another folder")
    folder.mkdir(parents=True)
    home = Path(str(files("build_dataset.pipeline"))).parent
    places = (home / "sample", home / "raw" / "sample" / "papers")  # inside the wheel, in the repository
    sample = next(place for place in places if place.is_dir())
    shutil.copytree(sample, folder / "raw")  # the user may add papers to the copy
    target = folder / FILE_NAME
    target.write_text(_template("sample-exam", "raw"), encoding="utf-8")
    run(load(target))


def schema() -> None:
    """Print the JSON Schema of dataset.toml, for completion and checks in editors."""
    print_json(Config.model_json_schema())


def doctor(config: Path = options.DEFAULT_CONFIG, as_json: bool = False, overrides: list[str] | None = None) -> None:
    """Check what is installed, reachable or missing, and how to fix it."""
    from build_dataset.pipeline.doctor import CheckState, run_checks

    wanted = config.exists() or config != options.DEFAULT_CONFIG  # one that is named must exist
    loaded = options.configure(config, overrides) if wanted else None
    checks = run_checks(loaded)
    if as_json:
        print_json([asdict(check) for check in checks])
    else:
        table = Table(show_header=False, box=None)
        for check in checks:
            remedy = f" → {translated(check.remedy)}" if check.remedy and check.state != "ok" else ""
            table.add_row(_MARKS[check.state], check.name, escape(translated(check.detail) + remedy))
        Console().print(table)
    if any(check.state is CheckState.WRONG for check in checks):
        raise typer.Exit(2)
