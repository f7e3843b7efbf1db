"""``score --key`` and ``submission`` from the command line."""

import json
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from build_dataset.pipeline.cli import results
from build_dataset.pipeline.cli.app import app
from build_dataset.schemas.errors import UserError
from tests.conftest import ROOT


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_a_submission_goes_out_and_comes_back_with_its_scores(tmp_path, sample_build):
    out, key = tmp_path / "answers.json", tmp_path / "key.json"
    options = ("--config", ROOT / "dataset.toml", "--set", f"dataset.build={sample_build}")
    assert run("submission", "majority", "--out", out, *options).exit_code == 0
    given = json.loads(out.read_text(encoding="utf-8"))
    key.write_text(json.dumps([{"id": row["id"], "answer": row["model_answer"]} for row in given]), encoding="utf-8")
    told = run("score", out, "--key", key, "--out", tmp_path / "scored.jsonl", "--tables", tmp_path / "board")
    assert told.exit_code == 0, told.output
    assert f"{len(given)} rows, {len(given)} correct, 0 wrong" in told.output
    assert (tmp_path / "board" / "tables" / "cmexam_table3.tex").is_file()


def test_tables_without_a_key_are_refused(tmp_path):
    told = run("score", tmp_path / "x", "--out", tmp_path / "y", "--tables", tmp_path)
    assert isinstance(told.exception, UserError)


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


@pytest.fixture
def told(capsys):
    """Return the lines of standard output, and those of errors."""

    def read():
        captured = capsys.readouterr()
        return captured.out.splitlines(), captured.err.splitlines()

    return read


ROW = {"id": 1, "options": {"A": "甲", "B": "乙"}, "answer": "A"}


def lines(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_counts_of_scored_outputs_are_told_in_a_line(tmp_path, told, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = lines(tmp_path / "in.jsonl", ROW | {"raw_output": "A"}, ROW | {"raw_output": None})
    results.score(source, tmp_path / "out.jsonl")
    assert told()[0] == ["2 rows, 1 correct, 0 wrong, 1 no answer; written to out.jsonl"]


@pytest.mark.parametrize(("answers", "missing"), [(1, True), (2, False)])
def test_questions_that_a_submission_leaves_out_are_counted(tmp_path, told, answers, missing):
    key = lines(tmp_path / "key.jsonl", *({"id": str(n), "answer": "A"} for n in range(2)))
    given = lines(tmp_path / "m.jsonl", *({"id": str(n), "model_answer": "A"} for n in range(answers)))
    results.score(given, tmp_path / "out.jsonl", key)
    out = told()[0]
    assert ("1 questions of the key have no answer in m.jsonl" in out) is missing
    assert out[-1].startswith(f"2 rows, {answers} correct, 0 wrong, {2 - answers} no answer; written to ")


def config(tmp_path, version="1.0.0"):
    folders = {"build": tmp_path / "build", "releases": tmp_path / "releases"}
    return SimpleNamespace(dataset=SimpleNamespace(version=version, **folders))


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("push", [None, "me/exam"])
def test_a_release_that_is_there_is_only_uploaded(tmp_path, monkeypatch, there, push):
    done = []
    monkeypatch.setattr(results, "_freeze", lambda config: done.append("freeze"))
    monkeypatch.setattr(results, "_push", lambda dataset, repo, yes: done.append((repo, yes)))
    if there:
        (tmp_path / "releases" / "1.0.0").mkdir(parents=True)
    results.release(config(tmp_path), push)
    frozen = [] if there and push else ["freeze"]
    assert done == frozen + ([(push, False)] if push else [])


def test_without_its_package_nothing_is_uploaded(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "find_spec", lambda name: None)
    with pytest.raises(UserError) as caught:
        results._push(config(tmp_path).dataset, "me/exam", yes=True)
    assert str(caught.value) == "--push needs huggingface_hub: pip install huggingface_hub"
