"""The commands, put together; errors of the user become one line, exit code 2."""

from __future__ import annotations

import errno
import io
import sys
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.text import Text

from pipeline.cli import build, finetune, inspect, release, results, review, score_answers, setup
from schemas.errors import UserError

app = typer.Typer(
    name="build-dataset",
    help="Turn exam papers into a benchmark you can trust.",
    epilog="Exit codes: 0 done · 2 something to put right · 3 done but for items that a further run may finish · "
    "130 stopped with Ctrl-C · 1 a bug of ours, with its traceback.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


_STOPPED = 130
_OF_THE_MACHINE = {
    errno.EACCES,
    errno.EDQUOT,
    errno.EIO,
    errno.EISDIR,
    errno.EMFILE,
    errno.ENAMETOOLONG,
    errno.ENOSPC,
    errno.ENOTDIR,
    errno.EPERM,
    errno.EROFS,
}
"""Disks and rights, which users can put right; other system errors are bugs of ours."""


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


for part in (setup, build, inspect, review, score_answers, release, results, finetune):
    part.register(app)


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(
                errors="backslashreplace"
            )  # a terminal that lacks our letters still shows the rest
    try:
        app(standalone_mode=True)
    except UserError as error:
        _fail(str(error))
    except OSError as error:
        if error.errno not in _OF_THE_MACHINE:
            raise
        told = ": ".join(str(part) for part in (error.filename, error.strerror or error) if part)
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        _fail(
            told + ("; make room and run the same command again: it goes on where it stopped" if full else "")
        )
    except SystemExit as end:
        if end.code == _STOPPED:
            Console(stderr=True).print("stopped; run the same command again to go on where it stopped")
        raise


def _fail(message: str) -> NoReturn:
    console = Console(stderr=True)
    for line in message.splitlines():
        console.print(Text.assemble(("error: ", "red"), line), soft_wrap=True)
    sys.exit(2)
