import json
import platform
from dataclasses import replace
from importlib.metadata import version

import polars as pl
import pytest

from build_dataset.pipeline.catalogue import STAGES as ALL_STAGES
from build_dataset.pipeline.runtime import runner as module
from build_dataset.pipeline.runtime.runner import LostItemsError
from build_dataset.pipeline.stage import Counts, Result
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.questions import Rejection, ReviewItem
from tests.pipeline.runtime.small import STAGES, Word, install, upper

CALLS = []


def words(tables, params, context):
    CALLS.append("ocr")
    names = tables["files"]["document"].to_list()
    for name in names:
        if context.store.get(name) is None:
            context.store.put(name, len(name))
    rejected = [Rejection(item_id=name, stage="ocr", reason="odd", detail="odd") for name in names if "odd" in name]
    kept = [Word(text=name) for name in names if "odd" not in name]
    return Result({"words": Word.to_frame(kept)}, Counts(len(names), len(kept), rejected=len(rejected)), rejected)


def noted_upper(*given):
    CALLS.append("parse")
    return upper(*given)


@pytest.fixture
def runner(tmp_path, monkeypatch):
    CALLS.clear()
    functions = {"x:words": words, "x:upper": noted_upper}
    make = install(monkeypatch, tmp_path, functions)
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "a.pdf").write_bytes(b"a")
    (tmp_path / "raw" / "odd.pdf").write_bytes(b"b")
    make.build, make.functions = tmp_path / "build", functions
    return make


def manifest(runner, stage):
    return json.loads((runner.build / stage / "manifest.json").read_text())


def test_each_stage_publishes_its_tables_rejects_review_and_manifest(runner):
    runner().run(["ocr", "parse"])
    assert pl.read_parquet(runner.build / "parse" / "words.parquet")["text"].to_list() == ["A.PDF"]
    names = {path.name for path in (runner.build / "ocr").iterdir()}
    tables = {"words.parquet", "rejects.parquet", "review.parquet"}
    assert names == {*tables, "rejects.xlsx", "manifest.json"}, "a workbook where there are rows"


def test_what_is_done_is_not_done_again(runner):
    runner().run(["ocr", "parse"])
    runner().run(["ocr", "parse"])
    assert CALLS == ["ocr", "parse"]


def test_a_new_file_runs_the_stages_that_it_changes(runner):
    runner().run(["ocr", "parse"])
    (runner.build.parent / "raw" / "odd2.pdf").write_bytes(b"c")
    runner().run(["ocr", "parse"])
    assert CALLS == ["ocr", "parse", "ocr"], "the rejected file changes nothing for parse"


def test_force_runs_again_with_the_same_bytes(runner):
    runner().run(["ocr", "parse"])
    before = {path: path.read_bytes() for path in runner.build.glob("*/*.*") if path.parent.name != "store"}
    runner().run(["ocr", "parse"], force=True)
    assert CALLS == ["ocr", "parse"] * 2
    assert before == {path: path.read_bytes() for path in before}


def test_a_lost_file_is_made_again(runner):
    runner().run(["ocr", "parse"])
    (runner.build / "parse" / "words.parquet").unlink()
    assert runner().state(STAGES[1]) == "missing"
    runner().run(["ocr", "parse"])
    assert CALLS == ["ocr", "parse", "parse"]


@pytest.mark.parametrize(
    ("column", "count", "error", "told"),
    [("text", 2, LostItemsError, "does not add up"), ("word", 1, TypeError, "columns of Word")],
)
def test_counts_that_do_not_add_up_and_other_columns_are_not_published(runner, column, count, error, told):
    made = Result({"words": pl.DataFrame({column: ["a"]})}, Counts(count, 1))
    runner.functions["x:words"] = lambda tables, params, context: made
    with pytest.raises(error, match=told):
        runner().run(["ocr"])
    assert not (runner.build / "ocr").exists()


def test_a_stage_that_fails_leaves_the_old_result_and_the_ledger_says_so(runner):
    runner().run(["ocr"])

    def broken(tables, params, context):
        raise OSError("disk gone")

    runner.functions["x:words"] = broken
    with pytest.raises(OSError, match="disk gone"):
        runner().run(["ocr"], force=True)
    assert pl.read_parquet(runner.build / "ocr" / "words.parquet").height == 1
    outcomes = [json.loads(line)["outcome"] for line in (runner.build / "runs.jsonl").read_text().splitlines()]
    assert outcomes == ["done", "failed"]


def test_an_incomplete_stage_runs_again(runner):
    complete = runner.functions["x:words"]
    runner.functions["x:words"] = lambda *given: replace(complete(*given), complete=False)
    assert runner().run(["ocr"]) is False
    assert runner().state(STAGES[0]) == "incomplete"
    runner.functions["x:words"] = complete
    assert runner().run(["ocr"]) is True
    assert CALLS == ["ocr", "ocr"]


def test_the_ledger_counts_what_the_store_had_already(runner):
    runner().run(["ocr"])
    runner().run(["ocr"], force=True)
    lines = [json.loads(line) for line in (runner.build / "runs.jsonl").read_text().splitlines()]
    assert [(line["added"], line["reused"]) for line in lines] == [(2, 0), (0, 2)]


@pytest.mark.parametrize("lost", [False, True])
def test_a_stage_without_its_input_or_whose_input_lost_a_file_says_what_to_run_first(runner, lost):
    if lost:
        runner().run(["ocr"])
        (runner.build / "ocr" / "words.parquet").unlink()
    with pytest.raises(UserError, match="run `build-dataset run --to ocr` first"):
        runner().run(["parse"])


def test_a_new_title_changes_only_what_names_the_dataset(runner, monkeypatch):
    named = replace(STAGES[1], names_dataset=True)
    monkeypatch.setattr(module, "STAGES", (STAGES[0], named))
    runner().run(["ocr", "parse"])
    renamed = runner(**{"dataset.title": "Another"})
    assert (renamed.state(STAGES[0]), renamed.state(named)) == ("done", "stale")


def test_what_stands_behind_a_stale_stage_is_stale_too(runner, monkeypatch):
    own = {"parse": "stale", "proofread": "off", "export": "missing"}  # the others are done
    monkeypatch.setattr(module, "STAGES", ALL_STAGES)
    monkeypatch.setattr(module.Runner, "state", lambda _, stage: own.get(stage.name, "done"))
    states = runner().states()
    assert (states["ocr"], states["clean"], states["dedup"], states["split"]) == ("done", *["stale"] * 3)
    assert (states["export"], states["report"], states["proofread"]) == ("missing", "stale", "off")


def test_a_changed_seed_makes_a_stage_stale(runner):
    runner().run(["ocr"])
    assert runner().state(STAGES[0]) == "done"
    assert runner(**{"dataset.seed": 9}).state(STAGES[0]) == "stale"


def test_due_are_the_first_stage_that_is_not_done_and_all_after_it(runner):
    names = ["ocr", "parse"]
    assert runner().due(names) == names
    runner().run(names)
    assert runner().due(names) == []
    assert runner().due(names, force=True) == names
    (runner.build.parent / "raw" / "new.pdf").write_bytes(b"x")
    assert runner().due(names) == names
    assert runner().due(["parse"]) == []


def test_a_manifest_says_all_of_a_result(runner):
    def waits(tables, params, context):
        review = [
            ReviewItem(item_id="i", stage="ocr", reason="two", detail="", question_ids=["p", "q"]),
            ReviewItem(item_id="j", stage="ocr", reason="none", detail="", question_ids=[]),
        ]
        frame = Word.to_frame([Word(text="w")])
        counts = Counts(7, 1, merged=2, rejected=1, waiting=3)
        return Result({"words": frame}, counts, REJECTED, review, facts={"f": 1})

    runner.functions["x:words"] = waits
    told = []
    runner().run(["ocr"], on_stage_done=told.append)
    found = manifest(runner, "ocr")
    names = ["rejects.parquet", "rejects.xlsx", "review.parquet", "review.xlsx", "words.parquet"]
    assert list(found.pop("outputs")) == names
    packages = ("build-dataset", "polars", "pyarrow", "pymupdf", "rapidfuzz", "rapidocr")
    files = found["inputs"]["raw/files"]
    params = runner().config.params("ocr").semantic()
    del found["seal"]
    assert found == {
        "stage": "ocr",
        "fingerprint": json.dumps([params, {"raw/files": files}, 20230605]),
        "complete": True,
        "counts": {"unit": "files", "in": 7, "kept": 1, "merged": 2, "rejected": 1, "waiting": 3},
        "reasons": {"rejected": {"odd": 1}, "waiting": {"two": 2, "none": 1}},
        "facts": {"f": 1},
        "params": params,
        "inputs": {"raw/files": files},
        "versions": {"python": platform.python_version()} | {name: version(name) for name in packages},
    }
    (report,) = told
    assert (report.fresh, report.manifest["stage"], report.added, report.reused) == (True, "ocr", 0, 0)


REJECTED = [Rejection(item_id="odd.pdf", stage="ocr", reason="odd", detail="odd")]


def test_a_run_is_complete_only_when_every_stage_is(runner):
    first = runner.functions["x:words"]
    runner.functions["x:words"] = lambda *given: replace(first(*given), complete=False)
    assert runner().run(["ocr", "parse"]) is False, "though the last stage is complete"
    assert runner().run(["parse"]) is True
    assert runner().run([]) is True


@pytest.mark.parametrize(("given", "named"), [((5,), True), ((5, "full"), True), ((5, "full", "mine"), False)])
def test_an_error_of_the_disk_names_the_stages_folder_where_it_names_none(runner, given, named):
    def broken(tables, params, context):
        raise OSError(*given)

    runner.functions["x:words"] = broken
    with pytest.raises(OSError) as caught:
        runner().run(["ocr"])
    place = str(runner.build / "ocr")
    expected = None if len(given) == 1 else place if named else "mine"
    assert caught.value.filename == expected
