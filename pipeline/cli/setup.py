"""``init`` and ``doctor``: begin a dataset, and see what is missing."""

from __future__ import annotations

import json
import os
import re
import shlex
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from pipeline.cli.options import BEGIN, DEFAULT_CONFIG, ConfigPath, Overrides, configure
from pipeline.config import FILE_NAME, ConfigBase
from pipeline.doctor import State, examine
from schemas.errors import UserError

_MARKS = {State.OK: "[green]✓[/green]", State.ABSENT: "[dim]–[/dim]", State.WRONG: "[red]✗[/red]"}
_PAPERS = frozenset(
    {".pdf", ".docx", ".png", ".jpg", ".jpeg", ".tif", ".tiff", ".xlsx", ".csv", ".jsonl", ".txt"}
)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(
        epilog="Example: [cyan]build-dataset init mydata/ --raw ~/papers[/cyan]", rich_help_panel=BEGIN
    )(init)
    app.command(epilog="Example: [cyan]build-dataset doctor[/cyan]", rich_help_panel=BEGIN)(doctor)


def init(
    folder: Annotated[
        Path,
        typer.Argument(help="Folder of the new dataset; made when it is not there. This one when absent."),
    ] = Path(),
    raw: Annotated[Path | None, typer.Option(help="A folder that already holds the papers.")] = None,
) -> None:
    """Begin a dataset: dataset.toml with comments, raw/ for papers unless they lie here, build/ for what is made."""
    target = folder / FILE_NAME
    if target.exists():
        raise UserError(f"{target} is there already: edit it, or choose another folder")
    if raw is not None and not raw.is_dir():
        raise UserError(f"no folder {raw} to read papers from")
    here = raw is None and _holds_papers(folder)
    place = "." if here else _place(raw, folder) if raw else "raw"
    papers = json.dumps(place, ensure_ascii=False)  # TOML quotes as JSON does
    name = re.sub(r"[^\w.-]+", "-", folder.resolve().name).strip("-") or "dataset"
    text = (files("pipeline.cli") / "templates" / FILE_NAME).read_text(encoding="utf-8")
    try:
        (folder / "build").mkdir(parents=True, exist_ok=True)
        if place == "raw":
            (folder / "raw").mkdir(exist_ok=True)
        target.write_text(text.format(name=name, raw=papers), encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot write {target}: {error.strerror}") from None
    console = Console()
    console.print(f"made {escape(str(target))}", highlight=False, soft_wrap=True)
    if here:
        console.print("the papers in this folder and those below it will be read (dataset.raw)")
    if raw is not None:
        console.print(f"papers will be read from {escape(str(raw))}", highlight=False, soft_wrap=True)
    if place == "raw":
        kinds = "PDF, scans, Word, JSON, CSV, Excel; answer keys beside them"
        told = f"put exam papers into {escape(str(folder / 'raw'))}: {kinds}"
        console.print(told, highlight=False, soft_wrap=True)
    step = "" if folder.resolve() == Path.cwd() else f"cd {escape(shlex.quote(str(folder)))} && "
    console.print(f"then: {step}build-dataset run", highlight=False, soft_wrap=True)


def _place(raw: Path, folder: Path) -> str:
    """The folder of papers as dataset.toml names it: from where that lies if both share a parent, else in full."""
    there, here = raw.resolve(), folder.resolve()
    near = there.is_relative_to(here.parent) and here.parent != Path(here.anchor)
    return Path(os.path.relpath(there, here)).as_posix() if near else there.as_posix()


def _holds_papers(folder: Path) -> bool:
    return folder.is_dir() and any(
        path.suffix.lower() in _PAPERS for path in folder.iterdir() if path.is_file()
    )


def doctor(config: ConfigPath = DEFAULT_CONFIG, overrides: Overrides = None) -> None:
    """What is installed, reachable or missing, each with the remedy."""
    loaded: ConfigBase | None = None
    if config.exists() or config != DEFAULT_CONFIG:
        loaded = configure(config, overrides)
    checks = examine(loaded)
    table = Table(show_header=False, box=None)
    for check in checks:
        remedy = f" → {check.remedy}" if check.remedy and check.state is not State.OK else ""
        table.add_row(_MARKS[check.state], check.name, escape(check.detail + remedy))
    Console().print(table)
    if any(check.state is State.WRONG for check in checks):
        raise typer.Exit(2)
