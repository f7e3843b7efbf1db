"""``build-dataset finetune``: the papers' tuned baselines from our own training split."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from pipeline.cli.options import DEFAULT_CONFIG, RESULTS, ConfigPath, Overrides, configure

_EPILOG = """[bold]Examples[/bold]

build-dataset finetune models/Qwen2.5-7B --recipe lora --out build/models/qwen-lora

build-dataset finetune models/chinese-roberta --recipe encoder --out build/models/roberta
"""


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command(epilog=_EPILOG, rich_help_panel=RESULTS)(finetune)


def finetune(
    model: Annotated[str, typer.Argument(help="Folder of the model, or its name on a hub.")],
    out: Annotated[
        Path, typer.Option(help="Folder for the tuned weights. An interrupted run continues from there.")
    ],
    recipe: Annotated[
        str, typer.Option(help="lora, p_tuning_v2, encoder (the papers' settings), or the path of a .toml.")
    ] = "lora",
    limit: Annotated[int | None, typer.Option(min=1, help="Train on at most this many questions.")] = None,
    config: ConfigPath = DEFAULT_CONFIG,
    overrides: Overrides = None,
) -> None:
    """Fine-tune a model on the training split, as the papers did."""
    from pipeline.finetune.recipe import load_recipe
    from pipeline.finetune.train import tune
    from pipeline.runtime.publish import read_table
    from schemas.errors import UserError
    from schemas.release import ReleaseRow

    settings = load_recipe(recipe)
    path = configure(config, overrides).dataset.build / "export" / "train.parquet"
    if not path.is_file():
        raise UserError("there is no export to learn from: run `build-dataset run` first")
    rows = list(ReleaseRow.from_frame(read_table(path)))[:limit]
    done = tune(model, rows, settings, out)
    console = Console()
    console.print(f"{done['learned']} questions learned, loss {done['loss']:.4f}", highlight=False)
    if left := done["too_long"] + done["incomplete"]:
        console.print(
            f"{done['too_long']} too long, {done['incomplete']} without what is learned: {left} left out"
        )
    kind = "multiple_choice" if settings.method == "multiple_choice" else "transformers"
    named = f'model = "{out}"' if kind == "multiple_choice" else f'model = "{model}", adapter = "{out}"'
    told = f'evaluate it: [[evaluate.models]] kind = "{kind}", {named}'
    console.print(told, markup=False, highlight=False, soft_wrap=True)
