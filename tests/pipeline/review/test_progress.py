"""The estimate of the time that the rest takes."""

from __future__ import annotations

import pytest

from build_dataset.annotation.adjudication import Rules
from build_dataset.pipeline.review.progress import Control, ExpertWork, expert_work
from build_dataset.pipeline.stats.intervals import ENOUGH
from build_dataset.schemas.annotations import ExpertReview
from tests.annotation.records import moment, review


def reviewed(who: str, number: int, at: int, seconds: float | None = None, **fields) -> ExpertReview:
    return review(who, question_id=f"q{number}", at=at, seconds=seconds, **fields)


QUESTIONS = [f"q{n}" for n in range(10)]


def test_the_pace_is_the_median_that_the_screen_measured():
    [pace] = expert_work(QUESTIONS, [reviewed("a", n, n, seconds) for n, seconds in enumerate((10, 20, 900))], Rules())
    assert (pace.questions, pace.left, pace.seconds) == (3, 7, 20)


def test_adjudicators_have_no_queue():
    reviews = [reviewed("w", 0, 0, project="adjudication"), reviewed("judge", 1, 0)]
    assert expert_work(QUESTIONS, reviews, Rules(frozenset({"judge"}))) == []


def test_an_expert_s_work_is_told_with_time_haste_and_how_often_labels_are_left():
    fast = [review("a", question_id=f"q{n}", seconds=2.0 if n else 700.0, origin="prediction", at=n) for n in range(40)]
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


def work(**fields) -> ExpertWork:
    made = {"reviewer": "a", "questions": ENOUGH, "left": 0, "seconds": None, "hours": None, "quick": None}
    return ExpertWork(**made | {"accepted": None, "agreed": None, "first": "", "last": ""} | fields)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"quick": 0.2}, []),
        ({"quick": 0.21}, ["21% answered in under 5 s"]),
        ({"quick": 1.0, "questions": ENOUGH - 1}, []),
        ({"accepted": 0.99}, []),
        ({"accepted": 0.991}, ["99.1% of the labels filled in were left as they were"]),
        ({"accepted": 1.0, "questions": ENOUGH - 1}, []),
        ({"control": Control(latest=0.6, limit=0.6)}, []),
        ({"control": Control(latest=0.55, limit=0.6)}, ["55% of the last gold labels are right; the limit is 60%"]),
    ],
)
def test_an_alarm_is_told_from_its_limit_on(fields, told):
    assert work(**fields).alarms() == told


def test_reading_takes_five_seconds_and_ten_minutes_are_a_pause():
    times = [4.99, 5.0, 599.0, 600.0, 601.0, None]
    reviews = [reviewed("a", n, n, seconds) for n, seconds in enumerate(times)]
    [found] = expert_work(QUESTIONS, reviews, Rules())
    assert found.quick == pytest.approx(1 / 5)
    assert found.hours == pytest.approx((4.99 + 5 + 599 + 600 + 600) / 3600)
    assert found.seconds == 599
    assert (found.questions, found.first, found.last) == (6, moment(0), moment(5))


def test_what_the_screen_did_not_measure_is_absent():
    [found] = expert_work(QUESTIONS, [reviewed("a", 0, 0)], Rules())
    assert (found.seconds, found.hours, found.quick, found.accepted, found.agreed) == (None,) * 5
    assert found.control == Control()


def test_labels_that_were_sent_blind_were_neither_accepted_nor_changed():
    reviews = [
        reviewed("a", 0, 0, origin="prediction"),
        reviewed("a", 1, 0, origin="prediction-changed"),
        reviewed("a", 2, 0, origin="prediction", blind=True),
        reviewed("a", 3, 0, origin="prediction", blind=False),
        reviewed("a", 4, 0, origin="manual"),
    ]
    [found] = expert_work(QUESTIONS, reviews, Rules())
    assert found.accepted == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("experts", "people", "left"), [(2, "a", 9), (2, "ab", 9), (3, "ab", 9), (2, "abc", 6), (3, "abc", 9)]
)
def test_what_is_left_is_shared_where_more_people_work_than_are_asked(experts, people, left):
    reviews = [reviewed(who, 0, 0) for who in people]
    found = expert_work(QUESTIONS, reviews, Rules(), experts=experts)
    assert {each.left for each in found} == {left}


def test_who_has_questions_of_their_own_has_those_left():
    found = expert_work(QUESTIONS, [reviewed("a", 0, 0), reviewed("b", 0, 0)], Rules(), {"a": {"q1", "q2"}})
    assert {each.reviewer: each.left for each in found} == {"a": 2, "b": 0}
