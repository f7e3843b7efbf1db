"""Messages of the terminal while stages run and afterwards."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from pipeline.config import ConfigBase
from schemas.wording import counted

if TYPE_CHECKING:
    from jinja2 import Environment

    from pipeline.runtime.runner import Report

_WIDEST = 1000  # columns of text
_PLACES = (
    ("report", "index.html", "open this first"),
    ("evaluate", "results.md", "scores"),
    ("export", "README.md", "dataset card"),
)


def say(text: str, style: str | None = None, *, console: Console | None = None) -> None:
    """Print a line as it is, however long."""
    (console or Console()).print(text, style=style, markup=False, highlight=False, soft_wrap=True)


def warn(text: str, console: Console | None = None) -> None:
    """Print a line that somebody should see to."""
    say(text, "yellow", console=console)


def tell_stage(console: Console, report: Report, *, verbose: bool = False) -> None:
    """Print a stage's counts in one line, its reasons and notes below; ``verbose``: its files and parameters too."""
    counts = report.manifest["counts"]
    state = "[green]✓[/green]" if report.manifest["complete"] else "[yellow]…[/yellow]"
    took = f"{report.seconds:.1f} s" if report.fresh else "already done"
    console.print(
        f"{state} [bold]{report.stage.name:<9}[/bold] {sum_line(counts)}  [dim]{took}[/dim]", highlight=False
    )
    if verbose:
        _tell_details(console, report.manifest)
    if not report.fresh:
        return
    for outcome in ("rejected", "waiting"):
        reasons = report.manifest["reasons"][outcome]
        if reasons:
            say(f"    {outcome}: {reason_line(reasons)}", "dim", console=console)
    if report.reused:
        reused = counted(report.reused, "result")
        say(f"    {reused} from before, {report.added:,} new", "dim", console=console)
    for note in report.notes if counts["in"] else ():
        say(f"    {note}", console=console)


def _tell_details(console: Console, manifest: Mapping[str, Any]) -> None:
    for name, made in manifest["outputs"].items():
        rows = f", {made['rows']:,} rows" if "rows" in made else ""
        say(f"    {name}: {made['bytes']:,} bytes{rows}", console=console)
    say(f"    parameters {json.dumps(manifest['params'], ensure_ascii=False)}", console=console)


def tell_end(console: Console, config: ConfigBase, reports: Sequence[Report]) -> None:
    """Print the splits, the places of the results and the files that lost most."""
    from pipeline.releases import released
    from schemas.questions import SPLITS

    made = {report.stage.name: report.manifest for report in reports}
    build = config.dataset.build
    if "export" in made and not _tell_nothing_left(console, reports):
        draft = "" if released(config.dataset) else " (a draft until `build-dataset release`)"
        columns = ("split", Column("questions", justify="right"), "file")
        splits = Table(*columns, title=f"{config.dataset.name}: splits{draft}", title_justify="left")
        for split in SPLITS:
            rows = made["export"]["outputs"][f"{split}.parquet"]["rows"]
            splits.add_row(split, f"{rows:,}", escape(shown(build / "export" / f"{split}.parquet")))
        print_whole(console, splits)
    for stage, name, what in _PLACES:
        if stage in made and (build / stage / name).exists():
            say(f"{what:<18}{shown(build / stage / name)}", console=console)
    aside = shown(build / "STAGE")
    for what, where in (
        ("taken out, why", f"{aside}/rejects.xlsx, .parquet"),
        ("waiting, why", f"{aside}/review.xlsx, .parquet"),
        ("more", "build-dataset status · build-dataset list rejected · build-dataset explain QUESTION_ID"),
    ):
        say(f"{what:<18}{where}", console=console)
    tell_losses(console, config)
    incomplete = [name for name, manifest in made.items() if not manifest["complete"]]
    if incomplete:
        warn(f"not complete: {', '.join(incomplete)}; run the same command again to finish", console)


def tell_losses(console: Console, config: ConfigBase, most: int = 8) -> None:
    """Name the files of which more was lost than ``dataset.loss_alarm``, with the commonest reason and the remedy."""
    from pipeline.losses import alarms, from_build, losses

    found = alarms(losses(from_build(config.dataset.build)), config.dataset.loss_alarm)
    for notice in found[:most]:
        warn(f"warning: {notice.english}", console)
    if len(found) > most:
        warn(f"… and {len(found) - most:,} more files; see the report", console)


def _tell_nothing_left(console: Console, reports: Sequence[Report]) -> bool:
    """Say after which stage no question was left, and why; whether that is so."""
    for report in reports:
        counts, reasons = report.manifest["counts"], report.manifest["reasons"]
        if counts["in"] and not counts["kept"]:
            why = reason_line({**reasons["rejected"], **reasons["waiting"]})
            warn(f"nothing is left after {report.stage.name}: {why}", console)
            return True
    return False


def tell(template: str, it: object) -> None:
    """Print a text of ``templates/`` about an object; lines that begin with ``!`` are warnings."""
    for line in _texts().get_template(f"{template}.txt").render(it=it).splitlines():
        if line.startswith("!"):
            warn(line.removeprefix("! "))
        elif line.strip():
            say(line)


@cache
def _texts() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    from pipeline.rendering.tables import number

    environment = Environment(  # noqa: S701 - for a terminal
        loader=PackageLoader("pipeline.cli"), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"number": number, "counted": counted}
    return environment


def print_json(content: Any) -> None:
    """Print JSON for scripts."""
    typer.echo(json.dumps(content, ensure_ascii=False, indent=2))


def print_whole(console: Console, table: Table) -> None:
    """Print a table without cutting numbers and paths, also where it is wider than the terminal or a pipe."""
    needed = console.measure(table, options=console.options.update_width(_WIDEST)).maximum
    width, console.width = console.width, max(console.width, needed)
    console.print(table, crop=False)
    console.width = width


def sum_line(counts: Mapping[str, Any]) -> str:
    """``64 items = 60 kept + 1 merged + 3 rejected``; the parts add up."""
    parts = [f"{counts['kept']:,} kept"]
    parts += [f"{counts[name]:,} {name}" for name in ("merged", "rejected", "waiting") if counts[name]]
    unit = counts["unit"]
    return f"{counted(counts['in'], unit.removesuffix('s'), unit)} = {' + '.join(parts)}"


def reason_line(reasons: Mapping[str, int], most: int = 8) -> str:
    """``needs_figure 3, no_answer 1``."""
    told = [f"{reason} {count}" for reason, count in list(reasons.items())[:most]]
    return ", ".join(told) + (", …" if len(reasons) > most else "")


def shown(path: Path) -> str:
    """A path relative to where the user stands, when it lies below."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
