"""Earlier releases: versions in order, and questions that are known again."""

import polars as pl
import pytest

from build_dataset.pipeline.releases import is_version, match_released, parse_version
from build_dataset.schemas.questions import Merge, Question
from tests.making import make_question

LETTERS = "肝心脾肺肾胃胆肠骨血脑髓皮毛筋肉眼耳鼻舌"


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("1.4.0", True),
        ("0.0.123456789", True),
        ("1.4", False),
        ("1.4.0.1", False),
        ("1.4.1234567890", False),
        ("v1.4.0", False),
    ],
)
def test_a_version_is_three_numbers(text: str, known: bool) -> None:
    assert is_version(text) is known


def test_versions_are_compared_as_numbers() -> None:
    assert parse_version("1.10.2") == (1, 10, 2) > parse_version("1.9.30")


def frame(**stems: str) -> pl.DataFrame:
    return Question.to_frame([make_question(stem, "", question_id=name) for name, stem in stems.items()])


def pairs(old: pl.DataFrame, new: pl.DataFrame, merges=()) -> list[tuple]:
    return match_released(old, new, Merge.to_frame(merges)).sort("old").rows()


@pytest.mark.parametrize(("changed", "known"), [(0, True), (1, True), (4, True), (5, False)])
def test_a_text_of_which_a_fifth_changed_is_known_again_under_another_id(changed: int, known: bool) -> None:
    """Likeness is .8 where four of twenty characters are others."""
    found = pairs(frame(a=LETTERS), frame(b="甲乙丙丁戊"[:changed] + LETTERS[changed:]))
    assert found == ([("a", "b", changed == 0)] if known else [])


def test_the_most_alike_is_taken_and_each_only_once() -> None:
    old = frame(a=LETTERS, b=LETTERS[:18] + "甲乙")
    new = frame(x="丙" + LETTERS[1:18] + "甲乙", y="丙丁" + LETTERS[2:])
    assert pairs(old, new) == [("a", "y", False), ("b", "x", False)]


def test_what_says_the_same_comes_before_ids_and_ids_before_nothing() -> None:
    old = frame(a=LETTERS, b=LETTERS[::-1], c="甲乙丙")
    new = frame(b=LETTERS, a=LETTERS[::-1], c="丁戊己")
    assert pairs(old, new) == [("a", "b", True), ("b", "a", True), ("c", "c", False)]


def test_as_many_copies_as_before_go_together_and_others_do_not() -> None:
    text = LETTERS[:5]
    assert pairs(frame(a=text, b=text), frame(x=text, y=text)) == [("a", "x", True), ("b", "y", True)]
    assert pairs(frame(a=text, b=text), frame(x=text)) == []


def test_an_id_that_holds_another_text_now_is_no_match_while_texts_are_nearly_equal() -> None:
    old = frame(a=LETTERS, b=LETTERS[::-1])
    new = frame(a="甲" + LETTERS[::-1][1:], c="甲" + LETTERS[1:])
    assert pairs(old, new) == [("a", "c", False), ("b", "a", False)]
