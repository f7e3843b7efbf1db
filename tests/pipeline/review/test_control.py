"""Gold questions measure the experts and never become labels."""

from __future__ import annotations

import json
from itertools import pairwise

import polars as pl
import pytest

from build_dataset.annotation.adjudication import Reviewed, Rules
from build_dataset.annotation.label_studio.projects import REVIEW
from build_dataset.annotation.label_studio.pull import Pulled
from build_dataset.annotation.params import ReviewParams
from build_dataset.pipeline.review import folder
from build_dataset.pipeline.review.progress import controls, expert_work, gold_questions, mix_in_gold, separate
from build_dataset.pipeline.runtime.publish import read_table
from build_dataset.schemas.annotations import ExpertReview
from build_dataset.schemas.taxonomy import dimensions
from tests.annotation import records

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
