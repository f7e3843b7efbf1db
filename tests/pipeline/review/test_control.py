"""Gold questions and wrong proposals measure the experts and never become labels."""

from __future__ import annotations

import json
from itertools import pairwise

import polars as pl
import pytest

from build_dataset.annotation.adjudication import Rules
from build_dataset.annotation.label_studio.projects import REVIEW
from build_dataset.annotation.label_studio.pull import Pulled
from build_dataset.annotation.params import ReviewParams
from build_dataset.annotation.reviewed import Reviewed
from build_dataset.pipeline.review import folder
from build_dataset.pipeline.review.control import PROBE, controls, gold_questions, mix_in_gold, separate, with_probes
from build_dataset.pipeline.review.progress import expert_work
from build_dataset.pipeline.runtime.publish import read_table
from build_dataset.schemas.annotations import Annotation, ExpertReview
from build_dataset.schemas.taxonomy import dimensions
from tests.annotation import records

LABELS = dimensions()["competency"].zh_names()


def annotations(count: int) -> pl.DataFrame:
    return Annotation.to_frame(
        records.annotation(name, each.zh_names()[0], question_id=f"q{n}")
        for n in range(count)
        for name, each in dimensions().items()
    )


def test_probes_are_one_wrong_label_in_their_share_of_questions():
    before = annotations(200)
    after = with_probes(before, 0.25, seed=1)
    wrong = after.filter(pl.col("annotator") == PROBE)
    assert 30 <= wrong.height <= 70
    assert wrong["question_id"].is_unique().all()
    assert wrong.join(before, on=["question_id", "dimension", "label"]).is_empty()
    assert all(row["label"] in dimensions()[row["dimension"]].zh_names() for row in wrong.to_dicts())
    assert with_probes(before, 0.25, seed=1).equals(after)
    assert with_probes(before, 0.0, seed=1).equals(before)


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
    return params, read_table(tmp_path / "reviews" / "pulled.parquet")


def test_answers_to_both_are_taken_out_of_the_reviews_and_counted(tmp_path):
    folder.remember_shown(tmp_path, with_probes(annotations(1), 1.0, seed=3))
    shown = read_table(tmp_path / "reviews" / folder.SHOWN).filter(pl.col("shown_by") == PROBE).to_dicts()[0]
    name, wrong = shown["dimension"], shown["shown"]
    right = dimensions()[name].zh_names()[0]
    gold = gold_questions(gold_file(tmp_path / "gold.jsonl"))
    later = {"updated_at": "2030-01-01T00:00:00.000000Z"}
    reviews = [
        records.review("clicks", wrong, question_id="q0", dimension=name, origin="prediction", **later),
        records.review("reads", right, question_id="q0", dimension=name, origin="prediction-changed", **later),
    ]
    reviews += [
        records.review("clicks", LABELS[0], question_id=each.question.question_id, dimension="competency", at=n)
        for n, each in enumerate(gold)
    ]
    params, left = pulled(tmp_path, reviews)
    assert left.select("reviewer", "label").rows() == [("reads", right)]
    assert folder.accepted_probes(tmp_path) == {"q0"}
    found = controls(folder.read_control(tmp_path))
    clicks, reads = found["clicks"], found["reads"]
    assert (clicks.probes, clicks.accepted, reads.probes, reads.accepted) == (1, 1, 1, 0)
    assert (clicks.gold, clicks.right) == (40, sum(LABELS[n % 3] == LABELS[0] for n in range(40)))
    assert clicks.interval.low < clicks.right / 40 < clicks.interval.high
    assert round(clicks.right / clicks.gold, 2) == 0.35
    assert params.gold is not None


def test_an_expert_who_drifts_is_named():
    answers = pl.DataFrame(
        [
            {
                "question_id": f"g{n}",
                "dimension": "d",
                "reviewer": "a",
                "updated_at": f"{n:03}",
                "kind": "gold",
                "right": n < 80 or n % 4 == 0,
            }
            for n in range(100)
        ]
    )
    control = controls(answers)
    [work] = expert_work(["q"], [records.review("a", question_id="q")], Rules(), controls=control)
    assert any("last gold labels" in alarm for alarm in work.alarms())
    steady = controls(answers.with_columns(right=pl.int_range(pl.len()) % 8 != 0))
    [work] = expert_work(["q"], [records.review("a", question_id="q")], Rules(), controls=steady)
    assert work.alarms() == []


def gold_answers(right: list[bool]) -> pl.DataFrame:
    kinds = {"dimension": "d", "reviewer": "a", "kind": "gold"}
    return pl.DataFrame(
        [
            {"question_id": f"g{n // 2}", "updated_at": f"{n:03}", "right": is_right} | kinds
            for n, is_right in enumerate(right)
        ]
    )


def test_the_chart_is_of_the_last_twenty_labels_and_begins_with_forty():
    few = controls(gold_answers([True] * 39))["a"]
    assert (few.gold, few.right, few.questions, few.chart) == (39, 39, 20, ())
    found = controls(gold_answers([True] * 30 + [False] * 10))["a"]
    assert len(found.chart) == 21
    assert found.chart[0] == found.chart[10] == 1.0
    assert found.chart[11] == 0.95
    assert found.chart[-1] == 0.5
    assert found.limit == pytest.approx(0.75 - 3 * (0.75 * 0.25 / 20) ** 0.5)


def test_without_gold_labels_there_is_no_mean():
    probes = gold_answers([True, False]).with_columns(kind=pl.lit(PROBE))
    found = controls(probes)["a"]
    assert (found.gold, found.right, found.interval, found.limit) == (0, 0, None, 0.0)
    assert (found.probes, found.accepted) == (2, 1)


def test_answers_are_parted_into_gold_probes_and_reviews():
    gold = Reviewed(records.question("g"), {"competency": dimensions()["competency"].find(LABELS[0])})
    rows = [
        records.review("a", LABELS[0], question_id="g", dimension="competency"),
        records.review("b", LABELS[1], question_id="g", dimension="competency"),
        records.review("a", "易", question_id="g", dimension="difficulty"),
        records.review("a", "易", question_id="p", shown="易", shown_by=PROBE),
        records.review("b", "难", question_id="p", shown="易", shown_by=PROBE),
        records.review("c", "易", question_id="p", shown="易", shown_by=PROBE, blind=True),
        records.review("a", "易", question_id="q", shown="易", shown_by="lexicon"),
    ]
    counted, control = separate(ExpertReview.to_frame(rows), [gold])
    assert counted.select("question_id", "reviewer").rows() == [("p", "b"), ("p", "c"), ("q", "a")]
    assert control.select("question_id", "reviewer", "kind", "right").rows() == [
        ("g", "a", "gold", True),
        ("g", "b", "gold", False),
        ("p", "a", PROBE, False),
        ("p", "b", PROBE, True),
    ]


@pytest.mark.parametrize(("gold", "places"), [(1, [3]), (2, [2, 5]), (3, [2, 4, 6])])
def test_gold_questions_are_spread_evenly(gold, places):
    questions = [records.question(f"q{n}") for n in range(6)]
    mixed = mix_in_gold(questions, [Reviewed(records.question("g"), {})] * gold)
    assert [place for place, each in enumerate(mixed) if each.question_id == "g"] == places
