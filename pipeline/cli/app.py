"""The commands, put together; errors of the user become one line, exit code 2."""

import errno
import io
import os
import platform
import sys
import tempfile
import traceback
import warnings
from importlib.metadata import version
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.text import Text

from build_dataset.pipeline.cli import build, options
from build_dataset.pipeline.cli.language import MessageLanguage, choose, translated, word
from build_dataset.schemas.errors import UserError

app = typer.Typer(
    name="build-dataset",
    cls=options.HelpedGroup,
    help="Turn exam papers into a benchmark you can trust.",
    epilog="Exit codes: 0 done · 2 something to fix, or an empty dataset · 3 some items need another run · "
    "130 stopped with Ctrl-C · 1 a bug in build-dataset, with a report to send us.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_BUG = 1  # exit code: a bug of ours, with a report
_STOPPED = 130  # exit code of Ctrl-C in shells: 128 + SIGINT
_OF_THE_MACHINE = {
    getattr(errno, name, None)  # some systems lack some of them
    for name in (
        *("EACCES", "EDQUOT", "EFBIG", "EIO", "EISDIR", "EMFILE", "ELOOP", "ENAMETOOLONG"),
        *("ENFILE", "ENOMEM", "ENOSPC", "ENOTDIR", "EPERM", "EROFS", "ESTALE", "ETIMEDOUT"),
    )
} - {None}
"""Disks, rights and limits, which users can put right; other system errors are bugs of ours."""


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(version("build-dataset"))
        raise typer.Exit


_LANGUAGE = "Language of messages; default: the locale's (LC_ALL, LANG)."
_LANGUAGE_OPTION = typer.Option("--lang", callback=choose, is_eager=True, help=_LANGUAGE)
_VERSION_OPTION = typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")


@app.callback()
def _options(
    version: Annotated[bool, _VERSION_OPTION] = False, lang: Annotated[MessageLanguage | None, _LANGUAGE_OPTION] = None
) -> None:
    """Options that go before a command."""


options.add_commands(app)
build.add_stages(app)


def main() -> None:
    """Run the command line; whatever goes wrong is told in lines, never in a traceback."""
    for stream in (sys.stdout, sys.stderr):  # Windows, LANG=C
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # for terminals that lack our letters
    if not sys.warnoptions:  # warnings of libraries are for developers: python -W default shows them
        warnings.simplefilter("ignore")
        os.environ.setdefault("PYTHONWARNINGS", "ignore")  # of worker processes
    try:
        app(standalone_mode=True)
    except UserError as error:
        _fail(str(error))
    except MemoryError:
        _fail("out of memory: close other programs, or set executor.workers lower, and run the same command again")
    except SystemExit as end:
        if end.code == _STOPPED:  # typer turns Ctrl-C into it
            Console(stderr=True).print(translated("stopped; run the same command again to go on where it stopped"))
        raise
    except Exception as error:  # the last resort: nothing unforeseen reaches the user as a traceback
        if isinstance(error, OSError) and error.errno in _OF_THE_MACHINE:
            reason = ": ".join(str(part) for part in (error.filename, error.strerror or error) if part)
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)  # a quota counts as a full disk
            _fail(reason + ("; make room and run the same command again: it goes on where it stopped" if full else ""))
        kind = type(error).__name__ + (f": {error.name}" if isinstance(error, ImportError) and error.name else "")
        _fail(f"a bug in build-dataset ({kind}); please send us {_report()}", _BUG)


def _report() -> str:
    """Write the present traceback to a new file and return its path: no arguments or variables, which may be secret."""
    command = sys.argv[1] if len(sys.argv) > 1 and sys.argv[1].isidentifier() else ""  # never a path
    about = f"build-dataset {version('build-dataset')} {command}, Python {platform.python_version()}, {sys.platform}"
    frames = "".join(traceback.format_tb(sys.exc_info()[2]))
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="build-dataset-", suffix=".txt", delete=False, encoding="utf-8"
        ) as report:
            report.write(f"{about}\n{frames}{type(sys.exc_info()[1]).__name__}\n")
    except OSError:
        return "this:\n" + frames
    return report.name


def _fail(message: str, code: int = 2) -> NoReturn:
    console = Console(stderr=True)
    for line in translated(message).splitlines():
        console.print(Text.assemble((word("error: "), "red"), line), soft_wrap=True)  # text of files is no markup
    sys.exit(code)
