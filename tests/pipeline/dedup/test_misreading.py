"""Misreadings are told from other words by what the rest of the collection says."""

from __future__ import annotations

import pytest

from pipeline.dedup.grams import Vocabulary, bigrams
from pipeline.dedup.misreading import edits, looks_misread, turns_misread


@pytest.fixture
def vocabulary() -> Vocabulary:
    made = Vocabulary(enough=4)
    made.add(
        bigrams(
            [
                "慢性肝炎的病因",
                "慢性胃炎的病因",
                "药物的不良反应是",
                "药物的不良反应有",
                "血压120mmhg",
                "血压120mmhg",
            ]
        )
    )
    made.add(bigrams(["慢性肝炎", "慢性胃炎", "急性肝炎", "急性胃炎"]))
    return made


@pytest.mark.parametrize(
    ("first", "second", "misread"),
    [
        ("慢性肝炎的病因", "慢性肟炎的病因", True),
        ("慢性肝炎的病因", "慢性胃炎的病因", False),
        ("药物的不良反应是", "药物的态良反应是", True),
        ("药物的不良反应是", "药物的良反应是", False),
        ("血压120mmhg", "血压12銅mmhg", True),
        ("血压120mmhg", "血压130mmhg", False),
    ],
)
def test_a_misreading_leaves_what_nobody_else_says(
    vocabulary, first: str, second: str, misread: bool
) -> None:
    assert looks_misread(first, second, vocabulary) is misread


def test_without_enough_of_a_collection_nothing_looks_misread() -> None:
    assert not looks_misread("慢性肝炎", "慢性肟炎", Vocabulary())
    assert not turns_misread("慢性肝炎", "慢性肟炎", Vocabulary())


def test_edits_name_both_readings(vocabulary) -> None:
    (edit,) = edits("慢性肝炎", "慢性肟炎")
    assert (edit.old, edit.new, edit.is_foreign(vocabulary), edit.is_deliberate) == ("肝", "肟", True, False)
    (exchanged,) = edits("左侧", "右侧")
    assert exchanged.is_deliberate


def test_a_vocabulary_counts_what_it_was_given(vocabulary) -> None:
    assert [vocabulary.count(*pair) for pair in ("慢性", "胃炎", "不良", "炎胃")] == [4, 3, 2, 0]
