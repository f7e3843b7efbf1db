"""``release``: the export is put among the releases."""

from __future__ import annotations

from itertools import islice

import typer
from rich.console import Console
from rich.markup import escape

from pipeline.catalogue import STAGES
from pipeline.cli.options import DEFAULT_CONFIG, RESULTS, ConfigPath, Overrides, configure
from pipeline.cli.report import shown
from pipeline.runtime.lock import build_lock
from pipeline.runtime.runner import Runner


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        epilog="Example: set dataset.version in dataset.toml, then "
        "[cyan]build-dataset run --to export && build-dataset release[/cyan]",
        rich_help_panel=RESULTS,
    )(release)


def release(config: ConfigPath = DEFAULT_CONFIG, overrides: Overrides = None) -> None:
    """Put the export among the releases: its questions keep their splits, the next release is compared with it."""
    from pipeline.export.freeze import freeze

    loaded = configure(config, overrides)
    runner = Runner(loaded)
    names = [stage.name for stage in STAGES]
    with build_lock(loaded.dataset.build):
        states = dict(islice(runner.states().items(), names.index("export") + 1))
        made = freeze(loaded.dataset, states)
    console = Console(stderr=True)
    previous, changes = made.facts["previous"], made.facts["changes"] or {}
    told = ", ".join(f"{count:,} {kind}" for kind, count in changes.items() if count) or "no changes"
    since = f"{made.facts['level']} since {previous}: {told}" if previous else "the first release"
    console.print(
        f"[green]✓[/green] released [bold]{loaded.dataset.version}[/bold] ({escape(since)})", highlight=False
    )
    console.print(
        f"  {escape(shown(made.folder))}: keep this folder, and publish it", highlight=False, soft_wrap=True
    )
    console.print("  its questions keep their splits in every further run", highlight=False)
