"""Messages and exit codes of the commands that build a dataset."""

from __future__ import annotations

import io
from enum import Enum
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer
from rich.console import Console

from build_dataset.pipeline import doctor
from build_dataset.pipeline.catalogue import stage
from build_dataset.pipeline.cli import build as module
from build_dataset.pipeline.runtime import runner
from build_dataset.schemas.errors import UserError


@pytest.mark.parametrize(
    ("raw", "folder", "place"),
    [("papers", "data", "../papers"), ("data/papers", "data", "papers"), ("x/y/papers", "data", "../x/y/papers")],
)
def test_papers_near_the_dataset_are_named_from_there(tmp_path, raw, folder, place):
    assert module._place(tmp_path / raw, tmp_path / folder) == place


def test_papers_elsewhere_are_named_in_full(tmp_path):
    assert module._place(tmp_path / "papers", tmp_path / "a" / "data") == str(tmp_path / "papers")
    assert module._place(Path("/x/papers"), Path("/data")) == "/x/papers"


class Choice(Enum):
    ONE = "one"


def test_values_of_options_are_plain_and_paths_are_those_of_the_user(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = [module._plain(value) for value in (Choice.ONE, Path("x"), 3, None)]
    assert found == ["one", str(tmp_path / "x"), 3, None]


def test_options_that_change_a_result_are_said_to_hold_for_once(capsys):
    module._note_unsaved_options(stage("evaluate"), ["shots", "more_than_department", "api_key_env"])
    used = "used this time only; `build-dataset run` uses [evaluate] of dataset.toml"
    assert capsys.readouterr().err == f"--shots, --more-than-department: {used}\n"
    module._note_unsaved_options(stage("evaluate"), ["api_key_env"])
    assert capsys.readouterr().err == ""


def report(name, kept):
    return SimpleNamespace(stage=SimpleNamespace(name=name), manifest={"counts": {"kept": kept}, "名": "值"})


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Run stages whose reports and completeness are given."""

    def call(reports, complete=True, **more):
        asked = []

        def stages(names, force, on_stage_done):
            asked.append((names, force))
            for one in reports:
                on_stage_done(one)
            return complete

        def due(names, force):
            return [*names, force]

        monkeypatch.setattr(runner, "Runner", lambda config, console: SimpleNamespace(run=stages, due=due))
        monkeypatch.setattr(doctor, "preflight", lambda config, names: asked.append(names))
        monkeypatch.setattr(module, "print_stage", lambda console, report, verbose: None)
        monkeypatch.setattr(module, "print_summary", lambda console, config, reports: None)
        config = SimpleNamespace(dataset=SimpleNamespace(build=tmp_path))
        module.run(config, "ocr", "ocr", **more)
        return asked

    return call


def test_stages_are_checked_before_they_run(run):
    assert run([report("ocr", 1)]) == [["ocr", False], (["ocr"], False)]
    assert run([report("ocr", 0)], force=True) == [["ocr", True], (["ocr"], True)]


@pytest.mark.parametrize(
    ("name", "kept", "complete", "code"), [("ocr", 1, False, 3), ("export", 0, True, 2), ("export", 0, False, 3)]
)
def test_a_run_ends_with_three_where_items_wait_and_two_where_nothing_is_left(run, name, kept, complete, code):
    with pytest.raises(typer.Exit) as caught:
        run([report(name, kept)], complete)
    assert caught.value.exit_code == code


def test_manifests_are_printed_as_lines_only_when_asked_for(run, capsys):
    run([report("export", 1)])
    assert capsys.readouterr().out == ""
    run([report("export", 1)], manifests=True)
    assert capsys.readouterr().out == '{"counts": {"kept": 1}, "名": "值"}\n'


def test_a_log_has_lines_of_two_hundred_columns(tmp_path):
    log = tmp_path / "log.txt"
    with module._consoles(True, log) as (terminal, told):
        assert (terminal.quiet, terminal.stderr, told.width) == (True, True, 200)
    with module._consoles(False, None) as (only,):
        assert only.quiet is False


def test_a_log_holds_the_error_that_ended_a_run(tmp_path):
    log = tmp_path / "log.txt"

    def fail():
        with module._consoles(True, log):
            raise UserError("[b]wrong")

    with pytest.raises(UserError):
        fail()
    assert log.read_text().splitlines()[-1] == "error: [b]wrong"


@pytest.mark.parametrize(("state", "code"), [("ok", None), ("absent", None), ("wrong", 2)])
def test_the_doctor_ends_with_two_where_something_is_wrong(monkeypatch, tmp_path, state, code):
    monkeypatch.chdir(tmp_path)
    check = doctor.Check("[x]", doctor.CheckState(state), "detail", "mend [it]")
    monkeypatch.setattr(doctor, "run_checks", lambda config: [check])
    stream = io.StringIO()
    monkeypatch.setattr(module, "Console", lambda: Console(file=stream, width=100))
    if code is None:
        module.doctor()
    else:
        with pytest.raises(typer.Exit) as caught:
            module.doctor()
        assert caught.value.exit_code == code
    assert ("→ mend [it]" in stream.getvalue()) is (state != "ok")
