"""Pace and quality of experts' work; gold questions measure it and never become labels."""

import json
from itertools import pairwise

import polars as pl
import pytest

from build_dataset.annotation.adjudication import Reviewed, Rules
from build_dataset.annotation.label_studio.projects import REVIEW
from build_dataset.annotation.label_studio.pull import Pulled
from build_dataset.annotation.params import ReviewParams
from build_dataset.pipeline.review import folder
from build_dataset.pipeline.review.progress import (
    Control,
    ExpertWork,
    controls,
    expert_work,
    gold_questions,
    mix_in_gold,
    separate,
)
from build_dataset.pipeline.runtime.publish import read_table
from build_dataset.pipeline.stats import ENOUGH
from build_dataset.schemas.annotations import ExpertReview
from build_dataset.schemas.taxonomy import dimensions
from tests.annotation import records
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


LABELS = dimensions()["competency"].zh_names()


def gold_file(path):
    rows = [{"stem": f"金标题{n}", "options": "A. 甲\nB. 乙", "competency": LABELS[n % 3]} for n in range(40)]
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def test_gold_questions_stand_among_the_others_under_names_like_theirs(tmp_path):
    gold = gold_questions(gold_file(tmp_path / "gold.jsonl"), ["papers/a.pdf"])
    questions = [records.question(f"q{n}") for n in range(80)]
    mixed = mix_in_gold(questions, gold)
    assert len(mixed) == 120
    places = [place for place, each in enumerate(mixed) if not each.question_id.startswith("q")]
    assert max(b - a for a, b in pairwise(places)) <= 4
    assert {each.question.document for each in gold} == {"papers/a.pdf"}
    assert gold_questions(None) == []


def pulled(tmp_path, reviews):
    params = ReviewParams(gold=gold_file(tmp_path / "gold.jsonl"))
    folder.write_pulled(tmp_path, REVIEW, Pulled(reviews=ExpertReview.to_frame(reviews), project="p"))
    folder.combine(tmp_path, params)
    return read_table(tmp_path / "reviews" / "pulled.parquet")


def test_answers_to_gold_questions_are_taken_out_of_the_reviews_and_counted(tmp_path):
    gold = gold_questions(gold_file(tmp_path / "gold.jsonl"))
    reviews = [records.review("clicks", "易", question_id="q0", dimension="difficulty")]
    reviews += [
        records.review("clicks", LABELS[0], question_id=each.question.question_id, dimension="competency", at=n)
        for n, each in enumerate(gold)
    ]
    assert pulled(tmp_path, reviews).select("reviewer", "label").rows() == [("clicks", "易")]
    found = controls(folder.read_control(tmp_path))["clicks"]
    assert (found.gold, found.right) == (40, sum(LABELS[n % 3] == LABELS[0] for n in range(40)))
    assert found.interval.low < found.right / 40 < found.interval.high


def gold_answers(right: list[bool]) -> pl.DataFrame:
    rows = [(f"{n:03}", f"g{n // 2}", "d", "a", is_right) for n, is_right in enumerate(right)]
    return pl.DataFrame(rows, ["updated_at", "question_id", "dimension", "reviewer", "right"], orient="row")


@pytest.mark.parametrize(
    ("right", "drifts"), [([n < 80 or n % 4 == 0 for n in range(100)], True), ([n % 8 != 0 for n in range(100)], False)]
)
def test_an_expert_who_drifts_is_named(right, drifts):
    control = controls(gold_answers(right))
    [work] = expert_work(["q"], [records.review("a", question_id="q")], Rules(), controls=control)
    assert any("last gold labels" in alarm for alarm in work.alarms()) == drifts


def test_the_last_twenty_labels_are_held_against_all_from_forty_on():
    few = controls(gold_answers([True] * 39))["a"]
    assert (few.gold, few.right, few.questions, few.latest) == (39, 39, 20, None)
    found = controls(gold_answers([True] * 30 + [False] * 10))["a"]
    assert found.latest == 0.5
    assert found.limit == pytest.approx(0.75 - 3 * (0.75 * 0.25 / 20) ** 0.5)


def test_answers_are_parted_into_gold_and_reviews():
    gold = Reviewed(records.question("g"), {"competency": dimensions()["competency"].find(LABELS[0])})
    rows = [
        records.review("a", LABELS[0], question_id="g", dimension="competency"),
        records.review("b", LABELS[1], question_id="g", dimension="competency"),
        records.review("a", "易", question_id="g", dimension="difficulty"),
        records.review("a", "易", question_id="q", shown="易", shown_by="lexicon"),
    ]
    counted, control = separate(ExpertReview.to_frame(rows), [gold])
    assert counted.select("question_id", "reviewer").rows() == [("q", "a")]
    assert control.select("question_id", "reviewer", "right").rows() == [("g", "a", True), ("g", "b", False)]


@pytest.mark.parametrize(("gold", "places"), [(1, [3]), (2, [2, 5]), (3, [2, 4, 6])])
def test_gold_questions_are_spread_evenly(gold, places):
    questions = [records.question(f"q{n}") for n in range(6)]
    mixed = mix_in_gold(questions, [Reviewed(records.question("g"), {})] * gold)
    assert [place for place, each in enumerate(mixed) if each.question_id == "g"] == places
