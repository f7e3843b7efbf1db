"""Pairs compared in worker processes come to the same as pairs compared one by one."""

import pytest

from benchmarks.dedup.banks import questions
from benchmarks.dedup.measure import InProcess
from build_dataset.pipeline.dedup import stage
from build_dataset.pipeline.dedup.params import DedupParams
from build_dataset.pipeline.runtime.executor import LocalExecutor
from build_dataset.pipeline.stage import Failure, Result
from build_dataset.schemas.questions import Question


def deduplicated(context: InProcess) -> Result:
    bank = Question.to_frame([*questions(150, "cases"), *questions(300, "zh")]).unique("question_id")
    return stage.run({"questions": bank}, DedupParams(), context)


@pytest.fixture(scope="module")
def alone() -> Result:
    return deduplicated(InProcess())


def assert_same(found: Result, expected: Result) -> None:
    assert all(found.tables[name].equals(expected.tables[name]) for name in expected.tables)
    assert (found.review, found.facts, found.notes) == (expected.review, expected.facts, expected.notes)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_one_or_two_workers_write_the_same_bytes(workers: int, alone: Result, monkeypatch) -> None:
    monkeypatch.setattr(stage, "_MANY", 10)
    monkeypatch.setattr(stage, "_TOGETHER", 200)
    executor, context = LocalExecutor(workers), InProcess()
    context.map = lambda function, items: executor.map(function, items, None)
    try:
        found = deduplicated(context)
    finally:
        executor.close()
    assert alone.facts["clusters"] > 0
    assert_same(found, alone)


def test_pairs_of_a_worker_that_was_killed_are_compared_here(alone: Result, monkeypatch) -> None:
    monkeypatch.setattr(stage, "_MANY", 10)
    context = InProcess()
    context.map = lambda function, items: ((item, Failure("killed", "")) for item in items)
    assert_same(deduplicated(context), alone)
