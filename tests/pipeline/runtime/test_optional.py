"""A stage may read tables that need not be there, and what the stages before it say of themselves."""

import json

import polars as pl
import pytest

from build_dataset.pipeline.runtime import sources
from build_dataset.pipeline.stage import Counts, Result
from build_dataset.schemas.questions import Rejection
from tests.pipeline.runtime.small import Word, install, stage


def made(name, rejected):
    def run(tables, params, context):
        rejects = [Rejection(item_id="r", stage=name, reason="odd", detail="odd")] * rejected
        return Result({"words": Word.to_frame([Word(text=name)])}, Counts(1 + rejected, 1, rejected=rejected), rejects)

    return run


SEEN = []


def tell(tables, params, context):
    SEEN.append(tables)
    return Result({}, Counts(1, 1))


FUNCTIONS = {"x:ocr": made("ocr", 1), "x:parse": made("parse", 0), "x:report": tell}
REPORT = stage("report", "stages", ("build/manifests",), "x:report", False, optional=("*/rejects", "parse/words"))
STAGES = (stage("ocr", "files", (), "x:ocr"), stage("parse", "words", (), "x:parse"), REPORT)


@pytest.fixture
def runner(tmp_path, monkeypatch):
    SEEN.clear()
    monkeypatch.setattr(sources, "STAGES", STAGES)
    return install(monkeypatch, tmp_path, FUNCTIONS, STAGES)()


def test_a_table_of_a_stage_that_has_not_run_is_missing(runner):
    runner.run(["ocr", "report"])
    assert sorted(SEEN[0]) == ["manifests", "ocr/rejects"]
    assert SEEN[0]["ocr/rejects"]["reason"].to_list() == ["odd"]


def test_a_table_that_is_there_is_read_by_its_whole_name(runner):
    runner.run(["ocr", "parse", "report"])
    assert sorted(SEEN[0]) == ["manifests", "ocr/rejects", "parse/rejects", "parse/words"]


def test_it_is_told_anew_when_a_stage_has_run_since_and_not_otherwise(runner):
    runner.run(["ocr", "report"])
    assert runner.state(STAGES[2]) == "done"
    runner.run(["report"])
    assert len(SEEN) == 1
    runner.run(["parse"])
    assert runner.state(STAGES[2]) == "stale"
    runner.run(["report"])
    assert len(SEEN) == 2


def test_a_count_that_changed_makes_it_stale(runner):
    runner.run(["ocr", "report"])
    path = runner.build / "ocr" / "manifest.json"
    said = json.loads(path.read_text())
    said["counts"]["in"] = 9
    path.write_text(json.dumps(said))
    assert runner.state(STAGES[2]) == "stale"


def test_a_result_that_is_not_whole_counts_as_not_run(runner):
    runner.run(["ocr", "parse"])
    (runner.build / "parse" / "words.parquet").unlink()
    runner.run(["report"])
    assert "parse/words" not in SEEN[0]
    assert SEEN[0]["manifests"].filter(pl.col("stage") == "parse")["manifest"].to_list() == [None]
