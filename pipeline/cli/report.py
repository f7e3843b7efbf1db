"""Messages of the terminal while stages run and afterwards."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from build_dataset.pipeline.cli.language import either, is_chinese, stage_name, translated, word
from build_dataset.pipeline.config import ConfigBase
from build_dataset.schemas import data, errors
from build_dataset.schemas.identity import is_note
from build_dataset.schemas.wording import counted, in_both_languages

if TYPE_CHECKING:
    from build_dataset.pipeline.runtime.runner import Report

_STYLES = {"! ": "yellow", "# ": "bold", "~ ": "dim", "+ ": "green"}
"""Styles of lines of the templates: warnings, titles, remarks, what is done."""
_HERE = "build_dataset.pipeline.cli"
_WIDEST = 1000  # columns of text
_FILES = 12  # files listed at the end of a run; `status` lists more
_ALARMS = 8  # files whose remedy is told
_PLACES: list[tuple[str, str, str]] = data.shipped_toml(_HERE, "templates/commands.toml")["first"]
"""Stage, or ``*`` for each, name and description of the files that people open first."""


def print_line(text: str, style: str | None = None, *, console: Console | None = None) -> None:
    """Print a line in the language of the user, however long."""
    console = console or Console()
    console.print(translated(text), style=style, markup=False, emoji=False, highlight=False, soft_wrap=True)


def print_warning(text: str, console: Console | None = None) -> None:
    """Print a line that asks for attention."""
    print_line(text, "yellow", console=console)


def print_stage(console: Console, report: Report, *, verbose: bool = False) -> None:
    """Print a stage's counts in one line, its reasons and notes below; ``verbose``: its files and parameters too."""
    counts = report.manifest["counts"]
    state = "[green]✓[/green]" if report.manifest["complete"] else "[yellow]…[/yellow]"
    took = f"{report.seconds:.1f} s" if report.fresh else word("already done")
    line = f"{state} [bold]{_padded(stage_name(report.stage.name), 9)}[/bold] {sum_line(counts)}  [dim]{took}[/dim]"
    console.print(line, highlight=False)
    params = json.dumps(report.manifest["params"], ensure_ascii=False)  # shown by --verbose
    values = {"report": report, "verbose": verbose, "params": params, "reason_line": reason_line}
    print_template("stage", values, console)


def print_summary(console: Console, config: ConfigBase, reports: Sequence[Report]) -> None:
    """Print doubts about sources, the splits, the places of the results and the files that lost most."""
    from build_dataset.pipeline.releases import every_release
    from build_dataset.pipeline.set_aside import LOSING
    from build_dataset.schemas.questions import SPLITS

    print_doubts(config, console)
    made = {report.stage.name: report.manifest for report in reports}  # also of stages that were already done
    build = config.dataset.build
    counts = {name: manifest["counts"] for name, manifest in made.items()}
    empty = next((name for name, each in counts.items() if each["in"] and not each["kept"]), None)
    if "export" in made and empty:  # the first such stage is to blame
        why = reason_line({**made[empty]["reasons"]["rejected"], **made[empty]["reasons"]["waiting"]})
        print_warning(f"nothing is left after {empty}: {why}", console)
    elif "export" in made:
        draft = "" if every_release(config.dataset) else word(" (a draft until `build-dataset release`)")
        columns = (word("split"), Column(word("questions"), justify="right"), word("file"))
        splits = Table(*columns, title=f"{config.dataset.name}: {word('splits')}{draft}", title_justify="left")
        for split in SPLITS:
            rows = made["export"]["outputs"][f"{split}.parquet"]["rows"]
            splits.add_row(split, f"{rows:,}", escape(shown(build / "export" / f"{split}.parquet")))
        print_whole(splits, console)
    for maker, name, what in _PLACES:
        for path in (build / stage / name for stage in made if maker in (stage, "*")):
            if path.exists():
                print_line(f"{_padded(word(what), 18)}{shown(path)}", console=console)
    more = "build-dataset status · build-dataset list rejected · build-dataset explain QUESTION_ID"
    print_line(f"{_padded(word('more'), 18)}{more}", console=console)
    if not made.keys().isdisjoint(("ocr", *LOSING)):  # the other stages take nothing from a file
        print_files(config, _FILES, console)
    if incomplete := [name for name, manifest in made.items() if not manifest["complete"]]:  # a server was down
        print_warning(f"not complete: {', '.join(incomplete)}; run the same command again to finish", console)


def _padded(text: str, width: int) -> str:
    """A text with spaces behind it; an ideograph is two columns wide."""
    return text + " " * (width - cell_len(text))


def print_doubts(config: ConfigBase, console: Console | None = None) -> None:
    """Print the doubts about whole sources: one line of dataset.toml settles each for all its questions."""
    from build_dataset.pipeline.report.flow import doubt_notices
    from build_dataset.pipeline.runtime.publish import find_table
    from build_dataset.pipeline.set_aside import source_doubts

    for notice in doubt_notices(source_doubts(partial(find_table, config.dataset.build))):
        print_warning(f"first: {either(notice.english, notice.chinese)}", console)


def print_files(config: ConfigBase, most: int, console: Console | None = None) -> None:
    """Print up to ``most`` files, the largest loss first, and remedies for what lost more than ``loss_alarm``."""
    from build_dataset.pipeline.report.flow import loss_notices
    from build_dataset.pipeline.runtime.publish import find_table, read_manifest
    from build_dataset.pipeline.set_aside import source_losses

    losses = source_losses(partial(find_table, config.dataset.build))
    numbers = (Column(word(name), justify="right") for name in ("found", "kept", "merged", "rejected", "waiting"))
    table = Table(word("file"), *numbers, Column(word("mainly"), overflow="fold"))
    for loss in losses[:most]:
        counts = (loss.n_input, loss.kept, loss.merged, loss.rejected, loss.waiting)
        red = "red" if not loss.kept + loss.merged else None  # no question of the file is left
        table.add_row(escape(loss.document), *(f"{count:,}" for count in counts), translated(loss.mainly()), style=red)
    if losses:
        print_whole(table, console)
    if len(losses) > most:
        print_line(f"… and {len(losses) - most:,} more files; the report lists them", console=console)
    if notes := sorted(path.name for path in config.dataset.raw.rglob("*") if is_note(path.name) and path.is_file()):
        print_line(f"passed over as notes on the folder, no papers: {', '.join(notes[:most])}", console=console)
    facts = (read_manifest(config.dataset.build / "ocr") or {}).get("facts", {})
    for name, lines in facts.get("left_out", {}).items():
        print_warning(f"{name}: {'; '.join(map(translated, lines))}", console)
    notices = loss_notices(losses, config.dataset.loss_alarm)
    for notice in notices[:_ALARMS]:
        print_warning(f"warning: {either(notice.english, notice.chinese)}", console)
    if len(notices) > _ALARMS:
        print_warning(f"… and {len(notices) - _ALARMS:,} more files; see the report", console)


def print_template(template: str, it: object, console: Console | None = None) -> None:
    """Print a text of ``templates/`` about an object, with lines in the style that their first two characters name."""
    from build_dataset.pipeline.rendering.markup import rendered

    for line in rendered(f"{_HERE}:{template}{either('', '.zh')}.txt", it=it).splitlines():
        if line.strip():
            style = _STYLES.get(line[:2])  # as "! "
            print_line(line[2:] if style else line, style, console=console)


def save(path: Path, content: bytes) -> None:
    """Write a file, and its folder where there is none; a ``UserError`` where that is impossible."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise errors.UserError(f"{path} cannot be written: {error.strerror}") from None


def print_json(content: Any) -> None:
    """Print JSON for scripts."""
    typer.echo(json.dumps(content, ensure_ascii=False, indent=2))


def print_whole(table: Table, console: Console | None = None) -> None:
    """Print a table without cutting numbers and paths, also where it is wider than the terminal or a pipe."""
    console = console or Console()
    needed = console.measure(table, options=console.options.update_width(_WIDEST)).maximum  # unbroken
    width, console.width = console.width, max(console.width, needed)  # restored below
    console.print(table, crop=False)
    console.width = width


def sum_line(counts: Mapping[str, Any]) -> str:
    """``64 items = 60 kept + 1 merged + 3 rejected``; the parts add up."""
    parts = [f"{counts['kept']:,} {word('kept')}"]
    parts += [f"{counts[name]:,} {word(name)}" for name in ("merged", "rejected", "waiting") if counts[name]]
    unit = counts["unit"]
    return f"{translated(counted(counts['in'], unit.removesuffix('s'), unit))} = {' + '.join(parts)}"


def reason_line(reasons: Mapping[str, int], most: int = 8) -> str:
    """``needs_figure 3, no_answer 1``."""
    named = in_both_languages if is_chinese() else str
    parts = [f"{named(reason)} {count}" for reason, count in list(reasons.items())[:most]]
    return ", ".join(parts) + (", …" if len(reasons) > most else "")


def shown(path: Path) -> str:
    """A path relative to where the user stands, when it lies below."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
