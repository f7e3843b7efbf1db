"""The estimate of the time that the rest takes."""

from __future__ import annotations

import pytest

from annotation.adjudication import Rules
from pipeline.review.progress import expert_work
from schemas.annotations import ExpertReview
from tests.annotation.records import review


def reviewed(who: str, number: int, at: int, seconds: float | None = None, **fields) -> ExpertReview:
    return review(who, question_id=f"q{number}", at=at, seconds=seconds, **fields)


QUESTIONS = [f"q{n}" for n in range(10)]


def test_the_pace_is_the_median_that_the_screen_measured():
    [pace] = expert_work(
        QUESTIONS, [reviewed("a", n, n, seconds) for n, seconds in enumerate((10, 20, 900))], Rules()
    )
    assert (pace.questions, pace.left, pace.seconds) == (3, 7, 20)


def test_more_than_two_experts_share_what_is_left():
    reviews = [reviewed(who, 0, 0, 10.0) for who in "ab"] + [reviewed("c", 1, 0, 10.0)]
    found = {pace.reviewer: pace.left for pace in expert_work(QUESTIONS, reviews, Rules())}
    assert found == {"a": 6, "b": 6, "c": 6}, "17 answers are wanted of three"


def test_two_experts_have_each_their_own_left():
    reviews = [reviewed("a", n, n, 10.0) for n in range(10)] + [reviewed("b", 0, 0, 10.0)]
    assert {pace.reviewer: pace.left for pace in expert_work(QUESTIONS, reviews, Rules())} == {"a": 0, "b": 9}


def test_adjudicators_have_no_queue():
    reviews = [reviewed("w", 0, 0, project="adjudication"), reviewed("judge", 1, 0)]
    assert expert_work(QUESTIONS, reviews, Rules(frozenset({"judge"}))) == []


def test_an_expert_s_work_is_told_with_time_haste_and_how_often_labels_are_left():
    fast = [
        review("a", question_id=f"q{n}", seconds=2.0 if n else 700.0, origin="prediction", at=n)
        for n in range(40)
    ]
    slow = [review("b", "难" if n % 2 else "易", question_id=f"q{n}", seconds=30.0, origin="prediction-changed")
            for n in range(4)]  # fmt: skip
    reviews = [*fast, *slow]
    found = expert_work([f"q{n}" for n in range(50)], reviews, Rules())
    one, two = found
    assert (one.questions, one.left, one.accepted, one.agreed) == (40, 10, 1.0, 0.5)
    assert one.hours == pytest.approx((600 + 39 * 2) / 3600), "a pause is no work"
    assert one.quick == pytest.approx(39 / 40)
    assert len(one.alarms()) == 2
    assert (two.accepted, two.quick, two.alarms()) == (0.0, 0.0, [])
