"""Another threshold needs no further search: candidates are stored, whatever the thresholds."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from benchmarks.dedup.measure import Memory
from build_dataset.pipeline.dedup import candidates
from build_dataset.pipeline.dedup.keys import with_keys
from build_dataset.pipeline.dedup.params import DedupParams
from build_dataset.pipeline.dedup.stage import run
from build_dataset.schemas.questions import Question

CASE = "患者，男，45岁。因右足第一跖趾关节红肿热痛3天就诊，血尿酸620μmol/L，首选的治疗药物是"
OPTIONS = "减少尿酸的生成量 促进尿酸的排泄 抑制粒细胞的浸润 分解已有的尿酸 保护肾脏的功能"
REWORDED = OPTIONS.replace("抑制粒细胞的浸润", "抑制体内粒细胞的浸润")


@pytest.fixture
def context() -> SimpleNamespace:
    return SimpleNamespace(seed=0, store=Memory())


def kinds(result) -> list[str]:
    return result.tables["merges"]["kind"].to_list()


def test_rethresholding_searches_nothing(make, context, monkeypatch) -> None:
    questions = Question.to_frame([make("a", CASE, OPTIONS), make("b", CASE, REWORDED), make("c", CASE, OPTIONS)])
    assert kinds(run({"questions": questions}, DedupParams(), context)) == ["same_question", "exact"]

    def fail(*_: object, **__: object) -> None:
        raise AssertionError("the candidates are stored")

    monkeypatch.setattr(candidates, "find_candidates", fail)
    assert kinds(run({"questions": questions}, DedupParams(option=0.95), context)) == ["exact"]
    again = run({"questions": questions}, DedupParams(), context)
    assert kinds(again) == ["same_question", "exact"]


@pytest.mark.parametrize("change", [{"seed": 1}, {"stem": CASE.replace("620", "380")}])
def test_other_questions_or_another_seed_are_searched_anew(make, context, change: dict) -> None:
    first = [make("a", CASE), make("b", "患者" + CASE)]
    run({"questions": Question.to_frame(first)}, DedupParams(), context)
    second = [make("a", change.get("stem", CASE)), make("b", "患者" + CASE)]
    context.seed = change.get("seed", 0)
    run({"questions": Question.to_frame(second)}, DedupParams(), context)
    assert len(context.store) == 2


def test_what_is_stored_is_what_was_found(make, context) -> None:
    frame = Question.to_frame(
        [make(name, stem) for name, stem in zip("abcd", [CASE, CASE, CASE + "什么", "骨会是"], strict=True)]
    )
    keys = with_keys(frame)
    found = candidates.stored_candidates(frame, keys, 0, 0.8, context.store)
    again = candidates.stored_candidates(frame, keys, 0, 0.8, context.store)
    assert len(context.store) == 1
    assert found.pairs().tolist() == again.pairs().tolist() == [[0, 1], [0, 2]]
    assert again.scores.tolist() == found.scores.tolist()


def test_the_most_alike_come_first(make) -> None:
    stems = [CASE, CASE.replace("就诊", "来院"), CASE.replace("620", "380")]
    frame = Question.to_frame([make(name, stem) for name, stem in zip("abc", stems, strict=True)])
    found = candidates.find_candidates(with_keys(frame), 0, 0.8)
    assert len(found.scores) == 3
    assert found.scores.tolist() == sorted(found.scores.tolist(), reverse=True)
