"""The stage: which copy survives, what its tables say, that nothing is lost and order does not matter."""

import random
import string

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from build_dataset.pipeline.dedup.stage import copy_ranks
from build_dataset.schemas.questions import Cluster, Merge, Question

CASE = "患者，男，45岁。因右足第一跖趾关节红肿热痛3天就诊，血尿酸620μmol/L，首选的治疗药物是"


@pytest.mark.parametrize(
    "better", [{"explanation": "秋水仙碱是首选药物。"}, {"human_accuracy": 0.6}, {"accepted_answers": [["A"], ["B"]]}]
)
def test_the_better_copy_survives(make, dedup, better: dict) -> None:
    result = dedup([make("a", CASE), make("b", CASE, **better), make("c", CASE)])
    assert result.tables["questions"]["question_id"].to_list() == ["b"]
    assert result.tables["merges"].select("question_id", "survivor_id").rows() == [("a", "b"), ("c", "b")]


def test_a_text_layer_is_better_than_any_recognition(make, dedup) -> None:
    copies = [make("a", CASE, confidence=0.8), make("b", CASE, confidence=0.97), make("c", CASE)]
    assert dedup(copies[:2]).tables["questions"]["question_id"].to_list() == ["b"]
    assert dedup(copies).tables["questions"]["question_id"].to_list() == ["c"]


def test_of_equal_copies_the_one_that_was_read_cleaner_is_the_better(make) -> None:
    frame = Question.to_frame([make("a", CASE), make("b", CASE), make("c", CASE, explanation="因为。")])
    assert copy_ranks(frame, np.array([4, 0, 9])) == [2, 1, 0]


def test_a_group_without_relatives_is_no_cluster(make, dedup) -> None:
    shared = {"shared_stem": CASE, "group_id": "1", "document": "paper"}
    result = dedup([make("a", "首选的药物是", **shared), make("b", "最有意义的检查是", "血尿酸 心电图", **shared)])
    assert result.tables["clusters"].is_empty()


def test_the_survivor_keeps_its_fields_as_they_are(make, dedup) -> None:
    best = make("b", CASE, explanation="见教材。", human_accuracy=0.7, respondents=12)
    (survivor,) = Question.from_frame(dedup([make("a", CASE), best]).tables["questions"])
    assert survivor == best


def test_a_survivor_with_copies_has_a_cluster_and_a_single_has_none(make, dedup) -> None:
    lone = make("z", "肺炎链球菌肺炎的典型痰液是", "铁锈色痰 脓痰 血痰")
    result = dedup([make("a", CASE), make("b", CASE), lone])
    assert result.tables["clusters"].rows() == [("a", "a", "survivor")]


def test_merging_a_member_ties_its_group_to_the_survivor(make, dedup) -> None:
    group = {"group_id": "g", "document": "paper", "question_type": "B1"}
    orphaned = [make("b1", "治疗痛风急性发作首选", **group), make("b2", "抑制尿酸生成的药物是", answer="B", **group)]
    result = dedup([make("a", "治疗痛风急性发作首选", explanation="详解"), *orphaned])
    assert result.tables["merges"]["question_id"].to_list() == ["b1"]
    assert result.tables["clusters"].rows() == [("a", "a", "survivor"), ("b2", "a", "group")]


def test_clusters_of_different_documents_do_not_meet_by_group_name(make, dedup) -> None:
    first = make("a", "抑制尿酸生成的药物是", group_id="g", document="one")
    second = make("b", "肺炎链球菌肺炎的典型痰液是", "铁锈色痰 脓痰 血痰", group_id="g", document="two")
    assert dedup([first, second]).tables["clusters"].is_empty()


def test_sameness_is_not_handed_on_to_twins(make, dedup) -> None:
    """Two twins may each be like a copy in between; the copy joins one of them, the twins stay two."""
    between = make("m", CASE.replace("620μmol/L，", ""))
    result = dedup([make("a", CASE), make("b", CASE.replace("620", "380")), between])
    survivors = result.tables["questions"]["question_id"].to_list()
    assert {"a", "b"} <= set(survivors)


def test_no_questions_make_empty_tables(dedup) -> None:
    result = dedup([])
    assert result.tables["questions"].schema == Question.polars_schema()
    assert result.tables["merges"].schema == Merge.polars_schema()
    assert result.tables["clusters"].schema == Cluster.polars_schema()
    assert result.counts.balanced()


def test_questions_without_options_are_no_trouble(make, dedup) -> None:
    bare = [make(name, CASE).model_copy(update={"options": [], "answer": None}) for name in "ab"]
    assert dedup(bare).counts.merged == 1


STEMS = st.sampled_from(
    [
        CASE,
        CASE.replace("男", "女"),
        CASE.replace("620", "380"),
        CASE.replace("首选的", "不宜选用的"),
        "患者" + CASE,
        "关于痛风的叙述，正确的是",
        "关于痛风的说法，错误的是",
        "下列关于痛风的叙述，不正确的是",
        "错误的是",
        "骨会是",
    ]
)
OPTIONS = st.permutations(["秋水仙碱", "别嘌醇", "丙磺舒"]).map(" ".join) | st.just("甲 乙 丙")
ROWS = st.lists(st.tuples(STEMS, OPTIONS, st.sampled_from(["A", "B", None])), max_size=12)


def build(make, rows) -> list[Question]:
    return [make(string.ascii_lowercase[place], *row) for place, row in enumerate(rows)]


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(rows=ROWS, seed=st.integers(0, 99))
def test_order_does_not_matter(make_dedup, rows, seed: int) -> None:
    make, dedup = make_dedup
    questions = build(make, rows)
    shuffled = questions[:]
    random.Random(seed).shuffle(shuffled)
    one, other = dedup(questions), dedup(shuffled)
    assert all(one.tables[name].equals(other.tables[name]) for name in one.tables)
    assert one.review == other.review


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(rows=ROWS)
def test_every_question_ends_in_one_place_and_survivors_are_distinct(make_dedup, rows) -> None:
    make, dedup = make_dedup
    questions = build(make, rows)
    result = dedup(questions)
    ends = [
        *result.tables["questions"]["question_id"],
        *result.tables["merges"]["question_id"],
        *(name for item in result.review for name in item.question_ids),
    ]
    assert sorted(ends) == [item.question_id for item in questions]
    assert result.counts.balanced()
    survivors = set(result.tables["questions"]["question_id"])
    assert set(result.tables["merges"]["survivor_id"]) <= survivors
    assert set(result.tables["clusters"]["question_id"]) <= survivors
    again = dedup(list(Question.from_frame(result.tables["questions"])))
    assert again.counts.kept == len(survivors)
