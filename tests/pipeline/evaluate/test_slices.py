import pytest

from build_dataset.pipeline.evaluate.scoring import (
    Graded,
    Slice,
    by_slice,
    cluster_id,
    dimension_names,
    review_status,
    slices_of,
)
from build_dataset.schemas.evaluation import Outcome
from tests.pipeline.evaluate.conftest import STATUS, make_question


def labels(slices, dimension):
    return [part.label for part in slices if part.dimension == dimension]


def test_slices_stand_in_the_order_of_the_taxonomy():
    questions = [
        make_question(1, difficulty="较难", difficulty_en="Hard"),
        make_question(2, difficulty="易", difficulty_en="Easy"),
        make_question(3, difficulty="较易", difficulty_en="Manageable"),
    ]
    assert labels(by_slice(questions), "difficulty") == ["易", "较易", "较难"]


def test_what_is_not_known_of_a_question_makes_no_slice():
    slices = by_slice([make_question(1, exam_type=None, exam_class=None)])
    assert {part.dimension for part in slices} == {"overall", "question_type", "length", "label_status"}


def test_every_question_is_in_the_overall_slice_once():
    slices = by_slice([make_question(number) for number in range(5)])
    overall = [rows for part, rows in slices.items() if part.dimension == "overall"]
    assert len(overall) == 1
    assert len({row.question_id for row in overall[0]}) == 5


def test_every_dimension_has_a_chinese_and_an_english_name():
    names = dimension_names()
    assert list(names)[:3] == ["overall", "question_type", "disease_group"]
    assert names["competency"][0] != names["competency"][1]


def test_lengths_count_the_shared_case_and_stand_in_order():
    questions = [
        make_question(1, stem="题" * 9),
        make_question(2, stem="题" * 250),
        make_question(3, stem="题" * 20, shared_stem="例" * 9),
        make_question(4, stem="题" * 99),
    ]
    assert labels(by_slice(questions), "length") == ["0–9", "20–29", "90–99", "100+"]


def question_of(length, **changes):
    return make_question(1, stem="题" * length, **changes)


@pytest.mark.parametrize(
    ("settled", "status"), [(0, "unreviewed"), (1, "partly reviewed"), (4, "partly reviewed"), (5, "reviewed")]
)
@pytest.mark.parametrize("how", ["agreed", "adjudicated", "single"])
def test_labels_of_two_experts_or_of_a_third_are_settled(settled, status, how):
    question = make_question(1, **dict.fromkeys(list(STATUS)[:settled], how))
    assert review_status(question) == (status if how != "single" else "unreviewed")


def test_a_question_is_in_a_slice_for_all_that_is_known_of_it():
    question = question_of(12, difficulty="易", difficulty_en="Easy", exam_subject="内科")
    assert slices_of(question) == [
        Slice("overall", "全部", "all"),
        Slice("question_type", "A1", "A1"),
        Slice("difficulty", "易", "Easy"),
        Slice("exam_type", "医师考试", "Physician"),
        Slice("exam_class", "执业医师", "Licensed physician"),
        Slice("exam_subject", "内科", None),
        Slice("length", "10–19", None),
        Slice("label_status", "未审核", "unreviewed"),
    ]


def test_labels_that_no_list_names_stand_last_by_their_names():
    questions = [make_question(number, exam_type=name) for number, name in enumerate(("乙考", "医师考试", "丙考"))]
    assert labels(by_slice(questions), "exam_type") == ["医师考试", "丙考", "乙考"]
    lengths = by_slice([question_of(length) for length in (120, 5, 95, 15)])
    assert labels(lengths, "length") == ["0–9", "10–19", "90–99", "100+"]


def test_questions_of_a_case_are_one_cluster():
    assert cluster_id(make_question(1, group_id="case")) == "case"
    assert cluster_id(make_question(1)) == "paper000-1-001"
    assert Graded(make_question(1), Outcome.ANSWERED, None).repeat == 0
