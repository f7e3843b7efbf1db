"""``score --key``, ``submission`` and ``leaderboard`` from the command line."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from pipeline.cli.app import app
from schemas.errors import UserError
from tests.conftest import ROOT


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.mark.parametrize("name", ["score", "submission", "leaderboard"])
def test_every_command_has_help_with_examples(name):
    assert "Example" in run(name, "--help").output


def test_a_submission_goes_out_and_comes_back_with_its_scores(tmp_path, sample_build):
    out, key = tmp_path / "answers.json", tmp_path / "key.json"
    options = ("--config", ROOT / "dataset.toml", "--set", f"dataset.build={sample_build}")
    assert run("submission", "majority", "--out", out, *options).exit_code == 0
    given = json.loads(out.read_text(encoding="utf-8"))
    key.write_text(
        json.dumps([{"id": row["id"], "answer": row["model_answer"]} for row in given]), encoding="utf-8"
    )
    told = run("score", out, "--key", key, "--out", tmp_path / "scored.jsonl", "--tables", tmp_path / "board")
    assert told.exit_code == 0, told.output
    assert f"{len(given)} rows, {len(given)} correct, 0 wrong" in told.output
    assert (tmp_path / "board" / "tables" / "cmexam_table3.tex").is_file()


def test_tables_without_a_key_are_refused(tmp_path):
    told = run("score", tmp_path / "x", "--out", tmp_path / "y", "--tables", tmp_path)
    assert isinstance(told.exception, UserError)


def test_a_leaderboard_is_printed_and_written(tmp_path, sample_build):
    told = run("leaderboard", sample_build, sample_build, "--out", tmp_path)
    assert told.exit_code == 0, told.output
    assert told.output.count("random") == 1, "the same baseline of two builds stands once"
    assert (tmp_path / "tables" / "leaderboard.md").is_file()


@pytest.mark.parametrize("name", ["in.jsonl", "../here/in.jsonl", "link.jsonl"])
def test_scores_are_never_written_over_the_file_they_were_read_from(tmp_path, name):
    home = tmp_path / "here"
    home.mkdir()
    (home / "in.jsonl").write_text('{"id": 1, "options": {"A": "x"}, "answer": "A", "raw_output": "A"}\n')
    (home / "link.jsonl").symlink_to("in.jsonl")
    before = (home / "in.jsonl").read_bytes()
    told = run("score", home / "in.jsonl", "--out", home / name)
    assert told.exit_code != 0
    assert (home / "in.jsonl").read_bytes() == before
