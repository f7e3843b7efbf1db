"""The output of the review commands, on a narrow terminal too."""

import json
import re
import shutil
from collections import Counter

import polars as pl
import pytest
from openpyxl import load_workbook
from typer.testing import CliRunner

from build_dataset.annotation.label_studio.pull import PullReport
from build_dataset.annotation.label_studio.push import PushReport
from build_dataset.pipeline.cli.app import app
from build_dataset.pipeline.cli.language import MessageLanguage, choose
from build_dataset.pipeline.cli.report import print_template
from build_dataset.pipeline.review.decisions import Decided
from build_dataset.pipeline.review.waiting import DECISIONS
from build_dataset.pipeline.review.workbook import MAIN, label_columns
from build_dataset.schemas.annotations import ExpertReview
from build_dataset.schemas.taxonomy import dimensions
from tests.annotation.records import review
from tests.conftest import ROOT

NOTHING = {
    "kind": "review",
    "project": 3,
    "url": "http://x/projects/3/data?labeling=1",
    "created": False,
    "added": 0,
    "batch": 2,
    "updated": 0,
    "unchanged": 7,
    "later": 0,
    "changed_after_review": (),
    "duplicates_removed": 0,
    "withdrawn": 0,
    "others": 0,
    "replies_lost": 0,
}


@pytest.mark.parametrize("columns", ["80", "120"])
def test_no_column_of_the_status_is_cut(sample_build, columns):
    options = ["--config", str(ROOT / "dataset.toml"), "--set", f"dataset.build={sample_build}"]
    told = CliRunner(env={"COLUMNS": columns}).invoke(app, ["review", "status", *options])
    assert told.exit_code == 0, told.output
    for head in ("unreviewed", "single", "agreed", "disputed", "adjudicated", "differ"):
        assert f" {head} " in told.output
    assert "…" not in told.output
    assert "nothing was pulled yet" in told.output


def test_a_push_that_changed_nothing_says_no_more_than_that(capsys):
    print_template("push", PushReport(**NOTHING))
    assert capsys.readouterr().out.splitlines() == [
        "review project 3 found: 0 added, 0 updated, 7 unchanged",
        "experts begin at http://x/projects/3/data?labeling=1",
    ]


def test_everything_out_of_the_ordinary_is_told_with_what_it_means(capsys):
    changed = tuple(f"q{number}" for number in range(7))
    odd = {"added": 4, "later": 5, "withdrawn": 1, "others": 2, "changed_after_review": changed}
    print_template("push", PushReport(**{**NOTHING, **odd}))
    said = capsys.readouterr().out
    assert "4 added in batch 2" in said
    assert "changed after an expert had answered them: q0, q1, q2, q3, q4 and 2 more" in said
    assert "5 not sent yet" in said
    assert "1 withdrawn" in said
    assert "2 other tasks" in said


def test_what_does_not_count_is_told_as_it_is_written(capsys):
    print_template("pull", PullReport("review", False, 1, 0, 0, 5, 1, {"another_hand": 2}, ("q[1]",)))
    assert capsys.readouterr().out.splitlines() == [
        "review: 1 new, 0 changed, 0 deleted; 1 questions answered",
        "does not count: another_hand 2",
        "answered by more people than were asked: q[1]",
    ]


def test_every_decision_of_a_workbook_is_told_in_chinese(capsys):
    choose(MessageLanguage.ZH)
    print_template("decided", Decided(Counter([*DECISIONS, "open"])))
    choose(None)
    told = capsys.readouterr().out
    assert "未决定：1" in told
    assert not re.search("keep|correct|drop|unsure|open|take", told)


def test_time_and_drift_of_each_expert_are_told_as_json(sample_build, tmp_path):
    build = tmp_path / "build"
    shutil.copytree(sample_build, build)
    names = pl.read_parquet(build / "dedup" / "questions.parquet")["question_id"].to_list()[:6]
    reviews = [
        review(who, "易", question_id=name, dimension="difficulty", at=place, seconds=seconds)
        for who, seconds in (("张@example.org", 30.0), ("li@example.org", 60.0))
        for place, name in enumerate(names)
    ]
    (build / "reviews").mkdir(exist_ok=True)
    ExpertReview.to_frame(reviews).write_parquet(build / "reviews" / "pulled.parquet")
    gold = [(f"{place:03}", "g", "difficulty", "张@example.org", place < 40) for place in range(60)]
    columns = ["updated_at", "question_id", "dimension", "reviewer", "right"]
    pl.DataFrame(gold, columns, orient="row").write_parquet(build / "reviews" / "control.parquet")

    config = ["--config", str(ROOT / "dataset.toml"), "--set", f"dataset.build={build}"]
    told = CliRunner().invoke(app, ["review", "status", *config, "--json"])
    assert told.exit_code == 0, told.output
    rows = {row["reviewer"]: row for row in json.loads(told.output)["experts"]}
    mine = rows["张@example.org"]
    assert (mine["questions"], mine["hours"]) == (6, pytest.approx(0.05))
    assert (mine["control"]["gold"], mine["control"]["right"]) == (60, 40)
    assert "of the last gold labels are right" in mine["alarms"][0]
    assert rows["li@example.org"]["hours"] == pytest.approx(0.1)


def test_a_workbook_of_which_something_was_not_taken_ends_with_exit_code_3(sample_build, tmp_path):
    build = tmp_path / "build"
    shutil.copytree(sample_build, build)
    config = ["--config", str(ROOT / "dataset.toml"), "--set", f"dataset.build={build}"]
    path = tmp_path / "zhang.xlsx"
    sheet = ["--lang", "zh", "review", "sheet"]
    told = CliRunner().invoke(app, [*sheet, "export", "--expert", "zhang", "--out", str(path), *config])
    assert told.exit_code == 0, told.output
    book = load_workbook(path)
    page = book[MAIN]
    heads = [str(cell.value) for cell in page[1]]
    for name, head in label_columns().items():
        for row in (2, 3):
            page.cell(row, heads.index(head) + 1).value = dimensions()[name].zh_names()[0]
    page.cell(2, heads.index("⑤ 难度") + 1).value = None
    page.cell(2, len(heads)).value = page.cell(3, len(heads)).value = "是"
    book.save(path)
    told = CliRunner().invoke(app, [*sheet, "import", str(path), *config])
    assert told.exit_code == 3, told.output
    assert "第 2 行：缺少一个维度的标签（zhang, difficulty）；该行其余内容照常计入" in told.output
    page.cell(2, heads.index("⑤ 难度") + 1).value = "易"
    book.save(path)
    told = CliRunner().invoke(app, [*sheet, "import", str(path), *config])
    assert told.exit_code == 0, told.output


def test_only_decisions_are_told_to_be_applied_by_a_run(capsys):
    print_template("decided", Decided(Counter({"open": 5})))
    assert "build-dataset run" not in capsys.readouterr().out
    print_template("decided", Decided(Counter({"keep": 1, "open": 4})))
    assert "build-dataset run" in capsys.readouterr().out
