import json
import re
import shutil

import pytest
import xlsxwriter
from typer.testing import CliRunner

from build_dataset.pipeline.catalogue import STAGES
from build_dataset.pipeline.cli.app import app
from build_dataset.pipeline.config import load
from build_dataset.schemas.errors import UserError

cli = CliRunner()


def run(*words):
    return cli.invoke(app, [str(word) for word in words])


@pytest.mark.parametrize("name", ["init", "doctor", "run", "status", "explain", *(stage.name for stage in STAGES)])
def test_every_command_has_help_with_examples(name):
    shown = run(name, "--help")
    assert shown.exit_code == 0
    assert "Example" in shown.output


def test_init_makes_a_configuration_that_loads(tmp_path):
    assert run("init", tmp_path / "my data").exit_code == 0
    config = load(tmp_path / "my data" / "dataset.toml")
    assert config.dataset.name == "my-data"
    assert config.dataset.raw.is_dir()


def test_the_commented_defaults_of_init_are_true(tmp_path):
    run("init", tmp_path)
    path = tmp_path / "dataset.toml"
    before = load(path)
    lines = path.read_text().splitlines()
    told = [line[2:] if line.startswith("# ") and (" = " in line or line.startswith("# [")) else line for line in lines]
    path.write_text("\n".join(told))
    after = load(path)
    for name in ("split", "ocr", "review"):
        assert after.params(name) == before.params(name)


def test_init_reads_the_papers_of_the_folder_it_is_called_in(tmp_path, monkeypatch):
    (tmp_path / "paper.pdf").write_bytes(b"%PDF")
    monkeypatch.chdir(tmp_path)
    shown = run("init")
    assert "the papers in this folder" in shown.output
    assert shown.output.endswith("then: build-dataset run\n")
    assert load(tmp_path / "dataset.toml").dataset.raw == tmp_path
    assert not (tmp_path / "raw").exists()


def test_init_does_not_touch_what_is_there(tmp_path):
    (tmp_path / "dataset.toml").write_text("mine")
    shown = run("init", tmp_path)
    assert isinstance(shown.exception, UserError)
    assert (tmp_path / "dataset.toml").read_text() == "mine"


@pytest.mark.parametrize("name", ["papers", 'pa"p\\ers [2024] {x}'])
def test_init_can_name_a_folder_that_holds_the_papers(tmp_path, name):
    (tmp_path / name).mkdir()
    shown = run("init", tmp_path / "data", "--raw", tmp_path / name)
    assert "papers will be read from" in shown.output
    raw = load(tmp_path / "data" / "dataset.toml").dataset.raw
    assert raw.resolve() == (tmp_path / name).resolve()
    assert str(tmp_path) not in (tmp_path / "data" / "dataset.toml").read_text(encoding="utf-8")


def test_status_of_an_empty_build_lists_every_stage_that_is_not_off_as_missing(tmp_path):
    run("init", tmp_path)
    shown = run("status", "--json", "--config", tmp_path / "dataset.toml")
    assert [(row["stage"], row["state"]) for row in json.loads(shown.output)] == [
        (stage.name, "missing") for stage in STAGES if stage.params().off() is None
    ]
    assert "nothing was decided yet" in run("status", "--waiting", "--config", tmp_path / "dataset.toml").output
    assert "nothing is built yet" in run("status", "--config", tmp_path / "dataset.toml").output


@pytest.mark.parametrize("command", ["explain", "list"])
def test_before_a_build_a_command_says_what_to_run(tmp_path, command):
    run("init", tmp_path)
    shown = run(command, "rejected", "--config", tmp_path / "dataset.toml")
    assert "build-dataset run" in str(shown.exception)


def test_a_stage_option_overrides_the_file(tmp_path):
    run("init", tmp_path)
    shown = run("split", "--method", "nonsense", "--config", tmp_path / "dataset.toml")
    assert shown.exit_code == 2
    assert "per_subcategory" in shown.output


def test_an_option_that_changes_a_result_is_said_to_hold_for_once(sample_build, tmp_path):
    shutil.copytree(sample_build, tmp_path / "build")
    config = tmp_path / "dataset.toml"
    config.write_text('[dataset]\nname = "x"\n')
    assert "used this time only" in run("split", "--ratios", "6:2:2", "--config", config).output
    assert "used this time only" not in run("split", "--config", config).output


@pytest.mark.slow
def test_when_nothing_is_left_the_end_says_why_and_how_a_key_would_be_named(tmp_path):
    run("init", tmp_path)
    paper = "\n".join(f"{n}. 第{n}题问的是什么\nA. 甲{n}\nB. 乙{n}\nC. 丙{n}\nD. 丁{n}" for n in range(1, 9))
    (tmp_path / "raw" / "2024.txt").write_text(paper, encoding="utf-8")
    shown = run("run", "--to", "export", "--config", tmp_path / "dataset.toml")
    assert shown.exit_code == 2
    assert "named like it and _answers (2024_answers.txt)" in shown.output
    assert "nothing is left after clean: no_answer 8" in shown.output
    assert "│ train" not in shown.output


@pytest.mark.parametrize("columns", ["40", "80"])
def test_status_cuts_no_number_however_narrow_the_terminal(sample_build, tmp_path, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    (tmp_path / "dataset.toml").write_text(f'[dataset]\nname = "x"\nbuild = "{sample_build}"\n')
    shown = run("status", "--config", tmp_path / "dataset.toml")
    assert "…" not in shown.output
    assert all(name in shown.output for name in ("evaluate", "rejected", "waiting"))


def test_explain_tells_why_a_file_was_not_read(sample_build, tmp_path):
    (tmp_path / "dataset.toml").write_text(f'[dataset]\nname = "x"\nbuild = "{sample_build}"\n')
    shown = run("explain", "truncated.pdf", "--json", "--config", tmp_path / "dataset.toml")
    assert [(event["stage"], event["reason"]) for event in json.loads(shown.output)["events"]] == [("ocr", "truncated")]


@pytest.mark.slow
def test_status_has_a_line_for_each_file_and_names_the_sheets_that_were_left_out(tmp_path):
    config = small(tmp_path, "1. 下列正确的是\nA. 甲\nB. 乙\n")
    with xlsxwriter.Workbook(tmp_path / "raw" / "bank.xlsx") as book:
        for sheet, rows in {"说明": ["联系人"], "题目": ["题干", "A", "B", "答案"]}.items():
            page = book.add_worksheet(sheet)
            page.write_row(0, 0, rows)
            page.write_row(1, 0, ["水的沸点是", "90", "100", "B"][: len(rows)])
    run("run", "--to", "export", *config)
    told = run("status", *config).output
    assert re.search(r"bank\.xlsx │ +1 │ +1 │", told)
    assert re.search(r"paper\.txt │ +1 │ +0 │.*no_answer 1", told)
    assert "bank.xlsx: 说明 was left out" in told


def test_a_log_file_that_cannot_be_written_is_named(tmp_path):
    told = run("run", "--log-file", tmp_path / "no" / "log.txt", *small(tmp_path)).exception
    assert "log.txt cannot be written" in str(told)


def small(folder, text="1. 下列正确的是\nA. 甲\nB. 乙\n答案：A\n"):
    (folder / "raw").mkdir()
    (folder / "raw" / "paper.txt").write_text(text, encoding="utf-8")
    (folder / "dataset.toml").write_text('[dataset]\nname = "x"\n[executor]\nworkers = 1\n')
    return ("--config", folder / "dataset.toml")


def test_a_quiet_run_prints_nothing_and_json_prints_a_manifest_a_line(tmp_path):
    told = run("run", "--to", "parse", "-q", "--json", *small(tmp_path))
    assert [json.loads(line)["stage"] for line in told.stdout.splitlines()] == ["ocr", "parse"]
    assert told.stderr == ""


def test_a_log_file_holds_what_was_said_and_why_it_stopped(tmp_path):
    config, log = small(tmp_path), tmp_path / "log.txt"
    assert run("run", "--to", "parse", "--log-file", log, *config).exit_code == 0
    assert run("dedup", "--log-file", log, *config).exit_code != 0
    said = log.read_text(encoding="utf-8")
    assert "✓ ocr" in said
    assert "error: dedup needs the result of clean" in said
    assert "\x1b[" not in said


def test_a_verbose_run_names_files_and_parameters(tmp_path):
    told = run("ocr", "-v", *small(tmp_path)).stderr
    assert "lines.parquet" in told
    assert '"max_pixels"' in told


def test_the_schema_of_the_configuration_names_every_section():
    found = json.loads(run("schema").stdout)
    assert {"dataset", "ocr", "dedup", "executor"} <= found["properties"].keys()


def test_doctor_speaks_json(tmp_path):
    checks = json.loads(run("doctor", "--json").stdout)
    assert {"name", "state", "detail", "remedy"} <= checks[0].keys()


def test_demo_does_not_touch_a_folder_that_is_there(tmp_path):
    told = run("demo", tmp_path)
    assert isinstance(told.exception, UserError)
