"""Options that commands share, and how a stage's parameters become options."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterable, Mapping
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer
from rich.markup import escape

from pipeline.config import ConfigBase, load, toml_value
from schemas.errors import UserError
from schemas.params import Params

ConfigPath = Annotated[
    Path, typer.Option("--config", "-c", help="Configuration file of the dataset.", show_default=True)
]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Override a key of the configuration, e.g. --set dataset.seed=7."
    ),
]
Force = Annotated[
    bool,
    typer.Option(
        "--force",
        help="Run finished stages again. Pages already read and answers already paid for are reused.",
    ),
]

DEFAULT_CONFIG = Path("dataset.toml")

BEGIN, LOOK, SINGLE, EXPERTS, RESULTS = (
    "Start and build",
    "Inspect results",
    "Single stages",
    "Expert review in Label Studio",
    "Releases and models",
)
"""Headings under which ``--help`` lists the commands."""


def examples(lines: Iterable[str]) -> str:
    """Return the end of a command's help."""
    told = [f"[cyan]build-dataset {line}[/cyan]" for line in lines]
    return f"Example: {told[0]}" if len(told) == 1 else "\n\n".join(["Examples:", *told])


def configure(path: Path, pairs: list[str] | None, options: Mapping[str, Any] | None = None) -> ConfigBase:
    """The configuration with ``--set KEY=VALUE`` pairs and named options applied.

    Raises:
        UserError: a pair without ``=``, or what ``pipeline.config.load`` raises.
    """
    overrides: dict[str, Any] = {}
    for pair in pairs or []:
        key, separator, value = pair.partition("=")
        if not separator:
            raise UserError(f"--set {pair}: write it as KEY=VALUE, e.g. --set dataset.seed=7")
        overrides[key.strip()] = toml_value(value.strip())
    overrides.update({key: value for key, value in (options or {}).items() if value is not None})
    return load(path, overrides)


def stage_options(params: type[Params]) -> list[inspect.Parameter]:
    """Typer parameters for the scalar fields of a stage's options; absent means: as configured."""
    found = []
    for name, field in params.model_fields.items():
        kind = _scalar(field.annotation)
        if kind is None:
            continue
        flag = name.replace("_", "-")
        names = f"--{flag}/--no-{flag}" if kind is bool else f"--{flag}"
        option = typer.Option(names, help=escape(field.description or ""), show_default=False)
        found.append(keyword(name, Annotated[kind | None, option], None))
    return found


def keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    """A parameter of a command that is made, as typer takes it."""
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _scalar(annotation: Any) -> Any:
    """The type of an option for this annotation; None when it has no form as one option."""
    origin = get_origin(annotation)
    if origin in (Union, types.UnionType):
        inner = [item for item in get_args(annotation) if item is not type(None)]
        return _scalar(inner[0]) if len(inner) == 1 else None
    if origin is Literal:
        return Enum(  # typer shows the choices of an enumeration
            "Choice", {str(choice): str(choice) for choice in get_args(annotation)}, type=str
        )
    is_choice = isinstance(annotation, type) and issubclass(annotation, Enum)
    return annotation if is_choice or annotation in (str, int, float, bool, Path) else None
