"""``init`` and ``doctor``: begin a dataset, and see what is missing."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from pipeline.api import stage_names
from pipeline.cli.build import run_stages
from pipeline.cli.options import DEFAULT_CONFIG, configure
from pipeline.cli.report import print_json, tell
from pipeline.config import FILE_NAME, Config, ConfigBase, load
from schemas.errors import UserError

if TYPE_CHECKING:
    from pipeline.doctor import Check

_MARKS = {"ok": "[green]✓[/green]", "absent": "[dim]–[/dim]", "wrong": "[red]✗[/red]"}
_PAPERS = frozenset(
    {".pdf", ".docx", ".png", ".jpg", ".jpeg", ".tif", ".tiff", ".xlsx", ".csv", ".jsonl", ".txt"}
)


def init(folder: Path = Path(), raw: Path | None = None) -> None:
    """Create dataset.toml, raw/ and build/ for a new dataset."""
    target = folder / FILE_NAME
    if target.exists():
        raise UserError(f"{target} is there already: edit it, or choose another folder")
    if raw is not None and not raw.is_dir():
        raise UserError(f"no folder {raw} to read papers from")
    files_here = [path for path in folder.iterdir() if path.is_file()] if folder.is_dir() else []
    here = raw is None and any(path.suffix.lower() in _PAPERS for path in files_here)
    place = "." if here else _place(raw, folder) if raw else "raw"
    name = re.sub(r"[^\w.-]+", "-", folder.resolve().name).strip("-") or "dataset"
    text = _template(name, place)
    try:
        for made in ("build", "raw") if place == "raw" else ("build",):
            (folder / made).mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot write {target}: {error.strerror}") from None
    step = "" if folder.resolve() == Path.cwd() else f"cd {shlex.quote(str(folder))} && "
    told = {"target": target, "here": here, "raw": raw, "put_into": folder / place, "place": place}
    tell("init", {**told, "step": step})


def _template(name: str, raw: str) -> str:
    text = (files("pipeline.cli") / "templates" / FILE_NAME).read_text(encoding="utf-8")
    return text.format(name=name, raw=json.dumps(raw, ensure_ascii=False))  # TOML quotes as JSON does


def _place(raw: Path, folder: Path) -> str:
    """The folder of papers as dataset.toml names it: from where that lies if both share a parent, else in full."""
    there, here = raw.resolve(), folder.resolve()
    near = there.is_relative_to(here.parent) and here.parent != Path(here.anchor)
    return Path(os.path.relpath(there, here)).as_posix() if near else there.as_posix()


def demo(folder: Path = Path("build-dataset-demo")) -> None:
    """Build the sample exam in a new folder: no key, no server, no download."""
    if folder.exists():
        raise UserError(f"{folder} exists already: name another folder")
    folder.mkdir(parents=True)
    shutil.copytree(_sample(), folder / "raw")
    target = folder / FILE_NAME
    target.write_text(_template("sample-exam", "raw"), encoding="utf-8")
    run_stages(load(target), stage_names(None, None))


def _sample() -> Path:
    """Return the folder of the sample exam: inside the wheel, else in the repository."""
    home = Path(str(files("pipeline"))).parent
    return next(place for place in (home / "sample", home / "raw" / "sample" / "papers") if place.is_dir())


def schema() -> None:
    """Print the JSON Schema of dataset.toml, for completion and checks in editors."""
    print_json(Config.model_json_schema())


def doctor(config: Path = DEFAULT_CONFIG, as_json: bool = False, overrides: list[str] | None = None) -> None:
    """Check what is installed, reachable or missing, and how to fix it."""
    from pipeline.doctor import CheckState, run_checks

    loaded: ConfigBase | None = None
    if config.exists() or config != DEFAULT_CONFIG:
        loaded = configure(config, overrides)
    checks = run_checks(loaded)
    if as_json:
        print_json([asdict(check) for check in checks])
    else:
        _print_checks(checks)
    if any(check.state is CheckState.WRONG for check in checks):
        raise typer.Exit(2)


def _print_checks(checks: Sequence[Check]) -> None:
    table = Table(show_header=False, box=None)
    for check in checks:
        remedy = f" → {check.remedy}" if check.remedy and check.state != "ok" else ""
        table.add_row(_MARKS[check.state], check.name, escape(check.detail + remedy))
    Console().print(table)
