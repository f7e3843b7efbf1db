"""Commands for typer: options take their help from ``commands.toml``, those of a stage follow from its parameters."""

import inspect
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from enum import Enum
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import typer
from rich.markup import escape
from rich.table import Table
from typer.core import TyperCommand, TyperGroup

from build_dataset.pipeline.cli.language import word
from build_dataset.pipeline.config import FILE_NAME, ConfigBase, load, toml_value
from build_dataset.schemas import data, errors
from build_dataset.schemas.params import Params

_HELP = data.shipped_toml("build_dataset.pipeline.cli", "templates/commands.toml")
DEFAULT_CONFIG = Path(FILE_NAME)
_WHICH: dict[str, tuple[Any, Any]] = {"config": (Path, DEFAULT_CONFIG), "overrides": (list[str] | None, None)}
"""Type and default of the options that name a configuration."""


def command(
    path: str, function: Callable[..., None], further: Iterable[inspect.Parameter] = (), without: Collection[str] = ()
) -> Callable[..., None]:
    """Return a function that typer takes for a command of ``commands.toml`` (``review push``).

    A parameter becomes an option, or an argument if it has neither a default nor flags (``argument = true`` with a
    default); a ``ConfigBase`` is read as ``--config`` and ``--set`` say. The docstring is the help. ``further`` are
    options that the function's ``**given`` takes; parameters ``without`` which it is called keep their defaults.
    """
    texts = {**_HELP["shared"], **_HELP["commands"].get(path, {})}  # a command may say it in its own words
    hints = get_type_hints(function)
    parameters, reads = list(further), False
    for name, parameter in inspect.signature(function).parameters.items():
        if name in without:
            continue
        if hints[name] is ConfigBase:  # becomes --config and --set
            reads = True
            parameters += [_option(each, *_WHICH[each], texts[each]) for each in _WHICH]
        elif parameter.kind is not inspect.Parameter.VAR_KEYWORD:  # **given stands for ``further``
            parameters.append(_option(name, hints[name], parameter.default, texts.get(name, {})))

    def typer_command(**given: Any) -> None:
        if reads:
            given["config"] = configure(given["config"], given.pop("overrides"))
        function(**given)

    typer_command.__name__, typer_command.__doc__ = function.__name__, function.__doc__
    typer_command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    typer_command.__annotations__ = {item.name: item.annotation for item in parameters}
    return typer_command


def _option(name: str, kind: Any, default: Any, texts: Mapping[str, Any]) -> inspect.Parameter:
    """Return a parameter as typer takes it."""
    if kind is not typer.Context:
        more = {key: value for key, value in texts.items() if key not in ("flags", "argument")}
        flags = texts.get("flags", ())
        is_argument = texts.get("argument", default is inspect.Parameter.empty and not flags)
        kind = Annotated[kind, typer.Argument(**more) if is_argument else typer.Option(*flags, **more)]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


class _Folded(Table):
    """A table that breaks words longer than a column, as Chinese sentences are, where typer's cuts them off."""

    def add_row(self, *cells: Any, **more: Any) -> None:
        """See ``Table``."""
        super().add_row(*cells, **more)
        for column in self.columns:
            column.overflow = "fold"


class _Helped:
    """Shows help in the language that ``--lang`` has chosen by then."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help of a command, its options and its commands."""
        for module in map(import_module, ("typer.rich_utils", "rich.columns")):  # what typer writes help with
            vars(module)["Table"] = _Folded
        command: Any = self
        command.epilog = word(command.epilog or "", "help")
        for shown in (command, *command.get_params(ctx), *getattr(command, "commands", {}).values()):
            shown.help = "\n".join(escape(word(line, "help")) for line in (shown.help or "").split("\n"))
            shown.rich_help_panel = word(shown.rich_help_panel or "") or None
            default = getattr(shown, "show_default", None)
            if isinstance(default, str):  # typer would put it in brackets of its own
                shown.help += f" [dim]\\[{word('default')}: {escape(default)}][/dim]"
                shown.show_default = False
        super().format_help(ctx, formatter)  # type: ignore[misc]


HelpedCommand, HelpedGroup = (type(base.__name__, (_Helped, base), {}) for base in (TyperCommand, TyperGroup))


def add_commands(app: typer.Typer) -> None:
    """Add the commands of ``commands.toml``; one that others begin with is a group, which may run alone."""
    groups = {"": app}  # typer's own, by path
    for path, about in _HELP["commands"].items():
        parent, _, name = path.rpartition(" ")  # "review push": review, push
        function = resolve_name(f"{__package__}.{about['function']}") if "function" in about else None
        shown: dict[str, Any] = {"epilog": examples(about.get("examples", ()))}
        if "heading" in about:
            shown["rich_help_panel"] = heading(about["heading"])
        if any(other.startswith(f"{path} ") for other in _HELP["commands"]):  # a group: "review"
            alone = function is not None
            groups[path] = typer.Typer(cls=HelpedGroup, no_args_is_help=not alone, invoke_without_command=alone)
            if function is not None:
                groups[path].callback(invoke_without_command=True)(command(path, function))
            groups[parent].add_typer(groups[path], name=name, help=about.get("help"), **shown)
        elif function is not None:
            groups[parent].command(name, cls=HelpedCommand, **shown)(command(path, function))


def examples(lines: Iterable[str]) -> str | None:
    """Return the end of a command's help."""
    shown = [f"[cyan]build-dataset {line}[/cyan]" for line in lines]
    return f"Example: {shown[0]}" if len(shown) == 1 else "\n\n".join(["Examples:", *shown]) if shown else None


def heading(name: str) -> str:
    """Return the heading under which ``--help`` lists commands."""
    return str(_HELP["headings"][name])


def configure(path: Path, pairs: list[str] | None, options: Mapping[str, Any] | None = None) -> ConfigBase:
    """Return the configuration with ``--set KEY=VALUE`` pairs and named options applied."""
    overrides: dict[str, Any] = {}
    for pair in pairs or []:
        key, separator, value = pair.partition("=")  # a value may hold further signs: a=b=c
        if not separator:
            raise errors.UserError(f"--set {pair}: write it as KEY=VALUE, e.g. --set dataset.seed=7")
        overrides[key.strip()] = toml_value(value.strip())
    overrides.update({key: value for key, value in (options or {}).items() if value is not None})
    return load(path, overrides)


def stage_options(params: type[Params]) -> Iterator[inspect.Parameter]:
    """Yield an option for each scalar field of a stage's parameters; absent means: as configured."""
    for name, field in params.model_fields.items():
        if kind := _scalar(field.annotation):
            flag = name.replace("_", "-")  # min_options: --min-options
            flags = [f"--{flag}/--no-{flag}" if kind is bool else f"--{flag}"]
            default = "on" if field.default is True else getattr(field.default, "value", field.default)
            shown = default not in (None, False) and str(default)  # what holds where dataset.toml is silent
            texts = {"flags": flags, "help": field.description or "", "show_default": shown}
            yield _option(name, kind | None, None, texts)


def _scalar(annotation: Any) -> Any:
    """Return the type of an option for this annotation; None when it has no form as one option."""
    origin = get_origin(annotation)
    if origin in (Union, types.UnionType):
        inner = [item for item in get_args(annotation) if item is not type(None)]  # int | None: int
        return _scalar(inner[0]) if len(inner) == 1 else None
    if origin is Literal:
        return Enum(  # typer shows the choices of an enumeration
            "Choice", {str(choice): str(choice) for choice in get_args(annotation)}, type=str
        )
    is_choice = isinstance(annotation, type) and issubclass(annotation, Enum)
    return annotation if is_choice or annotation in (str, int, float, bool, Path) else None
