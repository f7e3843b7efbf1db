"""The second reader in a run: on, its doubts wait and come to a person; off, it is as if it were not there."""

import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import openpyxl
import pytest

from build_dataset.annotation.params import ReviewParams
from build_dataset.pipeline.catalogue import stage
from build_dataset.pipeline.config import load
from build_dataset.pipeline.review import decisions, waiting
from build_dataset.pipeline.runtime.publish import read_table
from build_dataset.pipeline.runtime.runner import Runner
from build_dataset.pipeline.stage import Context
from tests.annotation.scripted_server import ScriptedServer
from tests.pipeline.proofread.second_reader import doubt, reader

STAGES = ["ocr", "parse", "clean", "proofread", "dedup"]
ROWS = (
    ("溃疡性结肠炎最常累及", "乙状结场", "回肠", "空肠", "十二指肠", "A"),
    ("胃大部切除术后贫血的原因是", "缺铁", "缺钙", "缺碘", "缺锌", "A"),
    ("消化性溃疡的并发症不包括", "出血", "穿孔", "癌变", "黄疸", "D"),
)


def doubts(shown) -> list[dict[str, str]]:
    found = []
    if "结场" in shown["option:A"]:
        found.append(doubt("misread", "option:A", "结场", "结肠"))
    if "结场" in shown.get("explanation", ""):
        found.append(doubt("misread", "explanation", "结场", "结肠"))
    return [*found, doubt("missing_text", "stem", "不包括")] if "不包括" in shown["stem"] else found


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    started = reader(doubts)
    yield started
    started.close()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "raw").mkdir()
    with (tmp_path / "raw" / "bank.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("题干", "A", "B", "C", "D", "答案"), *ROWS])
    (tmp_path / "dataset.toml").write_text('[dataset]\nname = "x"\nraw = "raw"\nbuild = "build"\n', encoding="utf-8")
    return tmp_path


def build(home: Path, server: ScriptedServer | None, **more) -> Runner:
    options = {"proofread.model": "m", "proofread.base_url": server.url} if server else {}
    runner = Runner(load(home / "dataset.toml", {**options, **more}))
    assert runner.run(STAGES)
    return runner


def outputs(home: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in home.rglob("*.parquet")}


def room(runner: Runner, home: Path) -> Context:
    return replace(runner.context(stage("report")), raw=home / "raw")


def decide(runner: Runner, home: Path, word) -> tuple[list[str | None], decisions.Decided]:
    """Decide on each row of the workbook by its proposal, and import it; the proposals, and what came of it."""
    path, own = home / "waiting.xlsx", room(runner, home)
    path.write_bytes(waiting.workbook(own)[0])
    book = openpyxl.load_workbook(path)
    sheet = book[waiting.SHEET]
    heads = [cell.value for cell in sheet[1]]
    proposed = [row[heads.index("建议 proposal")].value or None for row in sheet.iter_rows(min_row=2)]
    for row, proposal in zip(sheet.iter_rows(min_row=2), proposed, strict=True):
        row[heads.index("处理 decision")].value = word(proposal)
    book.save(path)
    return proposed, decisions.import_decisions([path], "li", ReviewParams(), own)


def test_doubted_questions_do_not_reach_dedup(home, server):
    runner = build(home, server)
    assert read_table(runner.build / "dedup" / "questions.parquet").height == 1
    assert runner.states()["proofread"] == "done"
    asked = sum(server.asked.values())
    assert runner.run(STAGES)
    assert sum(server.asked.values()) == asked


def test_switched_off_again_it_leaves_no_trace_but_its_paid_answers(home, server):
    plain = build(home, None)
    before = outputs(home)
    assert not (plain.build / "proofread").exists()
    assert plain.states()["proofread"] == "off"
    build(home, server)
    assert outputs(home) != before
    again = Runner(load(home / "dataset.toml"))
    assert again.states()["proofread"] == again.states()["dedup"] == "stale"
    again.run(STAGES)
    assert outputs(home) == before
    server.asked.clear()
    build(home, server)
    assert not server.asked


def test_a_person_decides_in_the_workbook_and_the_second_reader_is_not_asked_again(home, server):
    proposed, outcome = decide(build(home, server), home, lambda proposal: "采用建议" if proposal else "保留")
    assert sorted(proposed, key=str) == [None, "选项 A：结场 → 结肠"]
    assert (outcome.decided, outcome.notes) == ({"correct": 1, "keep": 1}, [])
    server.asked.clear()
    found = read_table(build(home, server).build / "dedup" / "questions.parquet")
    assert found.height == 3
    texts = [option["text"] for option in found["options"][0]]
    assert "乙状结肠" in texts or "乙状结肠" in str(found["options"].to_list())
    assert not server.asked


def test_proposals_for_the_explanation_are_taken_with_those_for_the_text(home, server):
    with (home / "raw" / "bank.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            [("题干", "A", "B", "C", "D", "答案", "解析"), (*ROWS[0], "病变多在乙状结场"), (*ROWS[1], "")]
        )
    _, outcome = decide(build(home, server), home, lambda proposal: "采用建议")
    assert (outcome.decided, outcome.notes) == ({"correct": 1}, [])
    corrected = read_table(build(home, server).build / "dedup" / "questions.parquet").row(0, named=True)
    assert corrected["options"][0]["text"] == "乙状结肠"
    assert corrected["explanation"] == "病变多在乙状结肠"


def test_a_proposal_that_is_not_there_cannot_be_taken(home, server):
    _, outcome = decide(build(home, server), home, lambda proposal: "take")
    assert outcome.decided == {"correct": 1}
    assert "there is no proposal to take" in outcome.notes[0]


def test_the_command_of_a_stage_that_is_off_says_what_to_set(home):
    from typer.testing import CliRunner

    from build_dataset.pipeline.cli.app import app

    result = CliRunner().invoke(app, ["proofread", "--config", str(home / "dataset.toml")])
    assert result.exit_code != 0
    assert "[proofread] model" in f"{result.output}{result.exception}"
