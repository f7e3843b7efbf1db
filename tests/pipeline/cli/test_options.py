"""Functions become commands: their options, defaults, help and configuration."""

import inspect
from enum import Enum
from pathlib import Path
from typing import Annotated, Literal, get_args, get_origin

import pytest
from typer.models import ArgumentInfo, OptionInfo

from build_dataset.pipeline.catalogue import STAGES
from build_dataset.pipeline.cli import options as module
from build_dataset.pipeline.cli.options import command, configure, stage_options
from build_dataset.pipeline.config import ConfigBase
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.params import Params, option


def told(parameter):
    """The type and typer's description of a parameter."""
    assert get_origin(parameter.annotation) is Annotated
    kind, described = get_args(parameter.annotation)
    return kind, described


def flags(parameter):
    """Return the flags of an option; typer keeps the first of them as its default."""
    described = told(parameter)[1]
    return (described.default, *described.param_decls)


def parameters(made):
    return inspect.signature(made).parameters


def example(config: ConfigBase, files: list[Path], count: int | None = None, plain: bool = False) -> None:
    """Do it."""


def test_what_has_no_default_is_an_argument_and_everything_else_an_option():
    found = parameters(command("no such command", example))
    assert list(found) == ["config", "overrides", "files", "count", "plain"]
    kinds = {name: type(told(one)[1]) for name, one in found.items()}
    assert kinds == {
        "config": OptionInfo,
        "overrides": OptionInfo,
        "files": ArgumentInfo,
        "count": OptionInfo,
        "plain": OptionInfo,
    }
    defaults = [found[name].default for name in ("config", "overrides", "count", "plain")]
    assert defaults == [Path("dataset.toml"), None, None, False]
    assert {one.kind for one in found.values()} == {inspect.Parameter.KEYWORD_ONLY}
    assert flags(found["config"]) == ("--config", "-c")
    assert told(found["overrides"])[1].metavar == "KEY=VALUE"


def test_a_default_may_be_an_argument_and_flags_make_an_option_of_what_has_none(monkeypatch):
    shown = {"files": {"flags": ["--file"]}, "count": {"argument": True, "help": "Number."}}
    monkeypatch.setitem(module._HELP["commands"], "odd", shown)
    found = parameters(command("odd", example))
    assert isinstance(told(found["files"])[1], OptionInfo)
    assert flags(found["files"]) == ("--file",)
    assert isinstance(told(found["count"])[1], ArgumentInfo)
    assert (told(found["count"])[1].help, found["count"].default) == ("Number.", None)


def test_a_command_reads_its_configuration_and_passes_on_the_rest(monkeypatch):
    calls = []

    def called(config: ConfigBase, count: int = 1, **given: int) -> None:
        """Say."""
        calls.append((config, count, given))

    monkeypatch.setattr(module, "configure", lambda path, pairs: (path, pairs))
    further = inspect.Parameter("more", inspect.Parameter.KEYWORD_ONLY, annotation=int, default=2)
    made = command("x", called, [further], ["count"])
    assert list(parameters(made)) == ["more", "config", "overrides"]
    assert (made.__name__, made.__doc__) == ("called", "Say.")
    made(config="c", overrides=["a=1"], more=3)
    assert calls == [(("c", ["a=1"]), 1, {"more": 3})]


def test_a_command_without_a_configuration_reads_none():
    calls = []

    def called(count: int = 1) -> None:
        calls.append(count)

    made = command("x", called)
    assert list(parameters(made)) == ["count"]
    made(count=4)
    assert calls == [4]


class Choice(Enum):
    ONE = "one"


class Options(Params):
    min_options: int = option(2, "Least [bold] number.", ge=2)
    share: float | None = option(None, "Share.")
    dry: bool = option(False, "Dry.")
    kind: Literal["a", "b"] = option("a", "Kind.")
    choice: Choice = option(Choice.ONE, "Choice.")
    place: Path = option(Path("x"), "Place.")
    both: int | str = option(1, "No option.")
    names: list[str] = option([], "No option.")


def test_each_scalar_of_a_stages_parameters_is_an_option_that_is_absent_by_default():
    found = {one.name: one for one in stage_options(Options)}
    assert {name: flags(one) for name, one in found.items()} == {
        "min_options": ("--min-options",),
        "share": ("--share",),
        "dry": ("--dry/--no-dry",),
        "kind": ("--kind",),
        "choice": ("--choice",),
        "place": ("--place",),
    }
    assert {one.default for one in found.values()} == {None}
    assert [told(one)[1].show_default for one in found.values()] == ["2", False, False, "a", "one", "x"]
    assert told(found["min_options"])[1].help == "Least [bold] number."
    assert told(found["min_options"])[0] == int | None
    assert [str(one.value) for one in get_args(told(found["kind"])[0])[0]] == ["a", "b"]


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_every_option_of_a_stage_has_help(stage):
    for one in stage_options(stage.params):
        assert told(one)[1].help


@pytest.fixture
def file(tmp_path):
    (tmp_path / "dataset.toml").write_text('[dataset]\nname = "x"\nseed = 3\n')
    return tmp_path / "dataset.toml"


def test_pairs_and_options_override_the_file_and_absent_options_do_not(file):
    assert configure(file, None).dataset.seed == 3
    assert configure(file, [" dataset.seed = 7 "]).dataset.seed == 7
    assert configure(file, ["dataset.seed=7"], {"dataset.seed": 8}).dataset.seed == 8
    assert configure(file, ["dataset.seed=7"], {"dataset.seed": None}).dataset.seed == 7
    assert configure(file, ["dataset.title=a=b"]).dataset.title == "a=b"
    with pytest.raises(UserError, match="write it as KEY=VALUE"):
        configure(file, ["dataset.seed"])
