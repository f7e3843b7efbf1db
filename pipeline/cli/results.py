"""``score``, ``submission`` and ``leaderboard``: answers of others, answers for others, everybody's in one table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from pipeline.cli.options import DEFAULT_CONFIG, RESULTS, ConfigPath, Overrides, configure
from pipeline.cli.report import print_whole, shown
from schemas.errors import UserError

if TYPE_CHECKING:
    from pipeline.rendering.tables import Table

_SCORE = """[bold]Examples[/bold]

build-dataset score answers.jsonl --out scored.jsonl

build-dataset score model_answer.json --key CMB-test-choice-answer.json --out scored.jsonl
"""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(epilog=_SCORE, rich_help_panel=RESULTS)(score)
    app.command(
        epilog="Example: [cyan]build-dataset submission openai:gpt-4o --out model_answer.json[/cyan]",
        rich_help_panel=RESULTS,
    )(submission)
    app.command(
        epilog="Example: [cyan]build-dataset leaderboard mine/build theirs/build --out board[/cyan]",
        rich_help_panel=RESULTS,
    )(leaderboard)


def score(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="JSONL with id, question, options as {letter: text}, answer, raw_output and, if known, question_type "
            "and answer_first; with --key, a JSON array of {id, model_answer}.",
        ),
    ],
    out: Annotated[
        Path, typer.Option(help="JSONL file to write: the same rows with extracted, rule and correct.")
    ],
    key: Annotated[
        Path | None,
        typer.Option(help="Answer file of CMB's form: id, answer and, if known, type, exam and options."),
    ] = None,
    tables: Annotated[
        Path | None, typer.Option(help="With --key: a folder for the tables by category and subcategory.")
    ] = None,
) -> None:
    """Score raw model outputs from a file. No dataset is needed."""
    from pipeline.evaluate.submission import score_file, write_rows

    console = Console()
    if any(given is not None and _same_file(out, given) for given in (source, key)):
        raise UserError(f"--out {out} would replace the file that is read: choose another name")
    if key is None:
        if tables is not None:
            raise UserError("--tables goes with --key: without one there are no categories to score by")
        counts = score_file(source, out)
    else:
        from pipeline.evaluate.results.build import rich_table
        from pipeline.evaluate.results.build import tables as tables_of
        from pipeline.evaluate.submission import score_submission

        found = score_submission(source, key)
        counts = write_rows(found.rows, out)
        for name, table in tables_of(found.evaluated):
            print_whole(console, rich_table(name, table))
            if tables is not None:
                _write(table, tables)
        if found.missing:
            console.print(f"{found.missing} questions of the key have no answer in {escape(source.name)}")
    told = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items())
    console.print(f"{told}; written to {escape(shown(out))}", highlight=False, soft_wrap=True)


def submission(
    run: Annotated[str, typer.Argument(help="The model, as the results call it.")],
    out: Annotated[Path, typer.Option(help="The file to write.")],
    config: ConfigPath = DEFAULT_CONFIG,
    overrides: Overrides = None,
) -> None:
    """Write a model's answers in the format of CMB's leaderboard."""
    from pipeline.evaluate.submission import predictions_of
    from pipeline.evaluate.submission import submission as write

    content = write(predictions_of(configure(config, overrides).dataset.build), run)
    out.write_bytes(content)
    Console().print(f"written to {escape(shown(out))}", highlight=False, soft_wrap=True)


def leaderboard(
    builds: Annotated[list[Path], typer.Argument(help="Build folders in which models were evaluated.")],
    out: Annotated[
        Path | None, typer.Option(help="A folder for the table as Parquet, CSV, Markdown and LaTeX.")
    ] = None,
) -> None:
    """Compare all models that answered the same released questions, from several builds."""
    from pipeline.evaluate.comparing import gather
    from pipeline.evaluate.comparing import leaderboard as rank
    from pipeline.evaluate.results.build import rich_table

    table = rank(gather(builds))
    console = Console()
    print_whole(console, rich_table("Leaderboard 排行榜", table))
    if out is not None:
        _write(table, out)
        console.print(f"written to {escape(shown(out))}", highlight=False, soft_wrap=True)


def _same_file(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve() or (one.exists() and other.exists() and one.samefile(other))


def _write(table: Table, folder: Path) -> None:
    for name, content in table.files().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
