"""A model points at the lines where gates failed: what it proposes is kept where it passes them, and never else."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from annotation.llm import limits
from pipeline.cli.app import app
from pipeline.parse.params import ParseParams
from pipeline.parse.stage import problems, run
from schemas.documents import Document, Line, SourceRow
from tests.annotation.scripted_server import Reply, ScriptedServer
from tests.pipeline.parse.conftest import document_of, lines_of
from tests.pipeline.parse.short import FOUR, items

PAPER = f"{items(1, 2)}\n没有编号的第三项是\n{FOUR}\n{items(4, 5)}\n参考答案\n1.A 2.B 3.C 4.D 5.A"
"""Number 3 was not read: its lines stand in number 2, and 2 and 4 are shown."""


def question(number, first, options=4):
    return {
        "number": number,
        "stem": [first, first],
        "options": [first + 1, first + options],
        "answer": None,
        "explanation": None,
    }


RIGHT = {"questions": [question(2, 1), question(3, 6), question(4, 11)], "none": []}


@pytest.fixture
def ask(context, monkeypatch):
    """Run the stage on a paper against a server that points so; also gives the server."""
    monkeypatch.setattr(limits, "_FIRST_BACKOFF", 0.01)
    servers = []

    def ask(said, paper=PAPER, **options):
        server = ScriptedServer(lambda *_: Reply(content=json.dumps(said)))
        servers.append(server)
        llm = {"base_url": server.url, "model": "pointer", "max_retries": 0, **options}
        tables = {
            "documents": Document.to_frame([document_of()]),
            "lines": Line.to_frame(lines_of(paper)),
            "rows": SourceRow.to_frame([]),
        }
        return run(tables, ParseParams.model_validate({"llm": llm if said else {}}), context), server

    yield ask
    for server in servers:
        server.close()


def kept(result):
    return {row["number"]: "".join(row["answer"]) for row in result.tables["questions"].to_dicts()}


def test_a_question_whose_number_was_not_read_is_found_and_marked(ask):
    result, server = ask(RIGHT)
    assert kept(result) == {1: "A", 2: "B", 3: "C", 4: "D", 5: "A"}
    (third,) = (row for row in result.tables["questions"].to_dicts() if row["number"] == 3)
    assert third["stem"] == "没有编号的第三项是"
    rules = {
        step["rule"]
        for row in result.tables["traces"].to_dicts()
        for step in row["steps"]
        if row["item_id"] == third["question_id"]
    }
    assert "pointed" in rules
    assert result.facts["llm"]["accepted"] == 1
    again, _ = ask(RIGHT)
    assert again.tables["questions"].equals(result.tables["questions"])
    assert sum(server.asked.values()) == 1


def test_nothing_is_asked_where_no_model_is_named(ask):
    result, server = ask(None)
    assert (kept(result).keys() & {2, 3}, sum(server.asked.values())) == (set(), 0)
    assert "llm" not in result.facts


@pytest.mark.parametrize(
    "said",
    [
        {"questions": [question(2, 1), question(3, 6, options=3), question(4, 11)], "none": [10]},
        {"questions": [question(2, 1, options=9), question(4, 11)], "none": []},
        {"questions": [question(2, 1), question(9, 6), question(4, 11)], "none": []},
        {
            "questions": [{**question(2, 1), "stem": [1, 2], "options": [3, 5]}, *RIGHT["questions"][1:]],
            "none": [],
        },
        {"questions": [], "none": list(range(1, 16))},
    ],
    ids=["an option left out", "two as one", "another number", "options from B on", "nothing"],
)
def test_what_a_gate_objects_to_is_not_taken(ask, said):
    result, _ = ask(said)
    without, _ = ask(None)
    assert result.tables["questions"].equals(without.tables["questions"])
    assert result.facts["llm"]["accepted"] == 0


def test_ranges_that_leave_lines_out_are_no_answer(ask):
    result, _ = ask({"questions": [question(2, 1)], "none": []})
    assert (result.facts["llm"]["failed"], result.complete) == (1, False)


def test_a_running_line_that_comes_again_may_be_left_out(ask):
    head = "某省统一测验用卷"
    paper = PAPER.replace("没有编号", f"{head}\n没有编号").replace("5. 第5项", f"{head}\n5. 第5项")
    shown = [question(2, 1), question(3, 7), question(4, 12), question(5, 18)]
    result, _ = ask({"questions": shown, "none": [6, 17]}, paper)
    assert kept(result) == {1: "A", 2: "B", 3: "C", 4: "D", 5: "A"}


def test_a_section_without_a_model_is_told_before_anything_is_read():
    params = ParseParams.model_validate({"llm": {"base_url": "http://localhost:1/v1"}})
    assert problems(params, None) == [
        "[parse.llm] no model is named: set model in its section of dataset.toml"
    ]
    assert problems(ParseParams(), None) == []


def test_a_dry_run_counts_the_requests_and_asks_nobody(tmp_path):
    server = ScriptedServer(lambda *_: Reply(content=json.dumps(RIGHT)))
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "paper.txt").write_text(PAPER, encoding="utf-8")
    options = f'[dataset]\nname = "t"\n[parse.llm]\nbase_url = "{server.url}"\nmodel = "pointer"\n'
    (tmp_path / "dataset.toml").write_text(options, encoding="utf-8")
    config = ["--config", str(tmp_path / "dataset.toml")]
    assert CliRunner().invoke(app, ["ocr", *config]).exit_code == 0
    shown = CliRunner().invoke(app, ["parse", "--dry-run", *config])
    server.close()
    assert shown.exit_code == 0, shown.output
    assert "1 request" in shown.output
    assert server.asked.total() == 0
