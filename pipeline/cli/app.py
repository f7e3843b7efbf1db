"""The commands, put together; errors of the user become one line, exit code 2."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.console import Console

from pipeline.cli import build, inspect, review, setup
from schemas.errors import UserError

app = typer.Typer(
    name="build-dataset",
    help="Turn exam papers into a benchmark you can trust.",
    epilog="Exit codes: 0 done · 2 something to put right · 3 done but for items that a further run may finish.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _tell_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(version("build-dataset"))
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_tell_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Nothing but ``--version`` goes before a command."""


setup.register(app)
build.register(app)
review.register(app)
inspect.register(app)


def main() -> None:
    """Run the command line."""
    console = Console(stderr=True)
    try:
        app(standalone_mode=True)
    except UserError as error:
        for line in str(error).splitlines():
            console.print(f"[red]error:[/red] {_plain(line)}", soft_wrap=True, highlight=False)
        sys.exit(2)
    except KeyboardInterrupt:
        console.print("stopped; run the same command again to go on where it stopped")
        sys.exit(130)


def _plain(text: str) -> str:
    """Text of files and servers is data: its brackets are not markup."""
    return text.replace("[", r"\[")
