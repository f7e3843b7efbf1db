from __future__ import annotations

from pipeline.evaluate.scoring import by_slice, dimension_names
from tests.pipeline.evaluate.conftest import make_question


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


def test_reviewed_and_unreviewed_labels_are_apart():
    settled = {
        f"{name}_status": "agreed" for name in ("disease_group", "clinical_department", "medical_discipline")
    }
    whole = settled | {"competency_status": "adjudicated", "difficulty_status": "agreed"}
    slices = by_slice([make_question(1), make_question(2, **settled), make_question(3, **whole)])
    assert {part.label_en: len(ids) for part, ids in slices.items() if part.dimension == "label_status"} == {
        "reviewed": 1,
        "partly reviewed": 1,
        "unreviewed": 1,
    }


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
