"""``release``: the export is put among the releases."""

from __future__ import annotations

from importlib.util import find_spec
from itertools import islice
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from pipeline.catalogue import STAGES
from pipeline.cli.options import DEFAULT_CONFIG, RESULTS, ConfigPath, Overrides, configure
from pipeline.cli.report import shown
from pipeline.config import ConfigBase
from schemas.dataset import DatasetParams
from schemas.errors import UserError
from schemas.wording import counted


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        epilog="Example: set dataset.version in dataset.toml, then "
        "[cyan]build-dataset run --to export && build-dataset release[/cyan]",
        rich_help_panel=RESULTS,
    )(release)


def release(
    config: ConfigPath = DEFAULT_CONFIG,
    push: Annotated[
        str | None,
        typer.Option(
            metavar="ORG/NAME",
            help="List the files that would be uploaded to this dataset on the hub; --yes uploads them.",
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="With --push: upload.")] = False,
    overrides: Overrides = None,
) -> None:
    """Freeze this export as a release. Its questions keep their splits from now on."""
    loaded = configure(config, overrides)
    if push is None or not (loaded.dataset.releases / loaded.dataset.version).exists():
        _freeze(loaded)
    if push is not None:
        _push(loaded.dataset, push, yes=yes)


def _push(dataset: DatasetParams, repo: str, *, yes: bool) -> None:
    """Say what would be uploaded, or upload it."""
    if find_spec("huggingface_hub") is None:
        raise UserError("--push needs huggingface_hub: pip install huggingface_hub")
    from pipeline.export.release import plan
    from pipeline.export.release import push as upload

    console = Console(stderr=True)
    found = plan(dataset, repo)
    size = sum(found.files.values()) / 1e6
    for name, count in found.files.items():
        console.print(f"  {count:>12,}  {escape(name)}", highlight=False)
    files = counted(len(found.files), "file")
    if not yes:
        console.print(
            f"{files}, {size:.1f} MB, would go to {escape(found.endpoint)}/datasets/{escape(repo)} (private if new); "
            "nothing was sent: add --yes",
            highlight=False,
            soft_wrap=True,
        )
        return
    address = upload(dataset, found)
    console.print(f"[green]✓[/green] {files} uploaded: {escape(address)}", highlight=False, soft_wrap=True)


def _freeze(loaded: ConfigBase) -> None:
    from pipeline.export.release import freeze
    from pipeline.runtime.lock import build_lock
    from pipeline.runtime.runner import Runner

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
