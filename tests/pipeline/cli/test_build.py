"""Messages and exit codes of the commands that build a dataset."""

import io
from types import SimpleNamespace

import pytest
import typer
from rich.console import Console

from build_dataset.pipeline import doctor
from build_dataset.pipeline.cli import build as module
from build_dataset.pipeline.runtime import runner


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
