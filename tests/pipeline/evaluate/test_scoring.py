import json
import random

import pytest
from hypothesis import given, strategies as st
from sklearn.metrics import f1_score

from build_dataset.pipeline.evaluate.metrics import METRICS, metric, score_items
from build_dataset.pipeline.evaluate.scoring import (
    Graded,
    Slice,
    accepted_answers,
    human_scores,
    mean_score,
    partial_credit,
)
from build_dataset.schemas.evaluation import Outcome
from tests.pipeline.evaluate.conftest import make_question

ALL = Slice("overall", "全部", "all")


def graded(number: int, key: str, said: str | None, outcome: Outcome | None = None, **changes) -> Graded:
    kind = outcome or (Outcome.NO_ANSWER if said is None else Outcome.ANSWERED)
    return Graded(make_question(number, key, **changes), kind, None if said is None else tuple(said))


def metrics(items: list[Graded]) -> dict[str, float]:
    return {score.metric: score.value for score in score_items("m", ALL, items)}


def f1(items: list[Graded]) -> tuple[float, float]:
    found = metrics(items)
    return found["weighted_f1"], found["macro_f1"]


def test_several_answers_are_right_only_as_the_exact_set():
    assert graded(1, "ABD", "DAB").correct
    assert not graded(1, "ABD", "AB").correct
    assert not graded(1, "ABD", "ABCD").correct


def test_any_answer_that_an_appeal_accepted_is_right():
    appealed = {"accepted_answers": [["A"], ["C"]]}
    assert graded(1, "A", "C", **appealed).correct
    assert graded(1, "A", "A", **appealed).correct
    assert not graded(1, "A", "AC", **appealed).correct


def test_a_question_whose_key_and_appeals_are_empty_accepts_nothing():
    question = make_question(1).model_copy(update={"answer": [], "accepted_answers": [[]]})
    assert accepted_answers(question) == frozenset()


@pytest.mark.parametrize(
    ("said", "credit"),
    [("ABD", 1.0), ("AB", 2 / 3), ("B", 1 / 3), ("ABC", 0.0), ("ABCD", 0.0), ("C", 0.0), ("", 0.0), (None, 0.0)],
)
def test_a_wrong_letter_loses_all_and_a_missing_one_its_share(said, credit):
    assert partial_credit(said, make_question(1, "ABD")) == pytest.approx(credit)


@given(st.sampled_from("ABCD"), st.sampled_from("ABCD"))
def test_partial_credit_of_one_answer_is_the_exact_match(key, said):
    assert partial_credit(said, make_question(1, key)) == float(key == said)


@given(st.lists(st.tuples(st.sampled_from("ABCD"), st.sampled_from(["A", "B", "C", "D", "AB", None])), min_size=1))
def test_f1_equals_scikit_learn(pairs):
    items = [graded(index, key, said) for index, (key, said) in enumerate(pairs)]
    truth, said = [key for key, _ in pairs], [said or "none" for _, said in pairs]
    weighted = f1_score(truth, said, average="weighted", zero_division=0)
    macro = f1_score(truth, said, labels=sorted(set(truth)), average="macro", zero_division=0)
    assert f1(items) == pytest.approx((weighted, macro))


def test_an_accepted_answer_counts_as_the_key_in_f1():
    items = [graded(1, "A", "C", accepted_answers=[["A"], ["C"]]), graded(2, "B", "B")]
    assert f1(items) == (1.0, 1.0)


def test_no_answer_refusal_and_truncation_are_told_apart_from_wrong():
    items = [
        graded(1, "A", "A"),
        graded(2, "A", "B"),
        graded(3, "A", None),
        graded(4, "A", None, Outcome.REFUSED),
        graded(5, "A", None, Outcome.TRUNCATED),
    ]
    found = metrics(items)
    assert found["accuracy"] == pytest.approx(1 / 5)
    assert (found["no_answer_rate"], found["refused_rate"], found["truncated_rate"]) == (0.2, 0.2, 0.2)


def test_every_metric_has_an_interval():
    items = [graded(index, "ABCD"[index % 4], "ABCA"[index % 4]) for index in range(40)]
    scores = {score.metric: score for score in score_items("m", ALL, items)}
    for name in ("accuracy", "partial_credit", "weighted_f1", "macro_f1"):
        assert 0 <= scores[name].low < scores[name].value < scores[name].high <= 1
    methods = {name: score.interval for name, score in scores.items()}
    assert (methods["accuracy"], methods["weighted_f1"]) == ("wilson", "cluster_bootstrap")
    assert all(score.questions == 40 for score in scores.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["weighted_f1", "macro_f1"])
def test_the_interval_of_f1_holds_its_level_about(name):
    """The truth is F1 of a large sample: right by .7 where the key is A or B, by .4 where it is C."""

    def draw(chance: random.Random, size: int) -> list[Graded]:
        items = []
        for index in range(size):
            key = chance.choices("ABC", (5, 4, 1))[0]
            right = chance.random() < (0.4 if key == "C" else 0.7)
            items.append(graded(index, key, key if right else chance.choice("ABC".replace(key, ""))))
        return items

    measure = metric(name).measure
    truth = measure.value(draw(random.Random(1), 20_000))
    found = [measure.interval(draw(random.Random(seed), 120)) for seed in range(2, 102)]
    assert sum(one.low <= truth <= one.high for one in found) >= 88


def test_rows_of_the_metrics_are_whole():
    names = [row.name for row in METRICS]
    assert len(set(names)) == len(names)
    assert all(row.title and row.over for row in METRICS)


def test_the_human_line_weights_every_respondent_equally():
    questions = [
        make_question(1, human_accuracy=0.9, respondents=100),
        make_question(2, human_accuracy=0.5, respondents=300),
        make_question(3, human_accuracy=0.1),
        make_question(4),
    ]
    found = {score.metric: (score.value, score.questions) for score in human_scores(ALL, questions)}
    assert found["accuracy"] == (pytest.approx((90 + 150) / 400), 2)
    assert list(found) == ["accuracy"]


def test_there_is_no_human_line_without_people():
    assert human_scores(ALL, [make_question(1)]) == []


def test_the_human_line_equals_the_counts_it_comes_from(shared_data):
    items = json.loads((shared_data / "human" / "human_accuracy_69.json").read_text(encoding="utf-8"))
    questions = [
        make_question(index, human_accuracy=item["n_right"] / item["n_total"], respondents=item["n_total"])
        for index, item in enumerate(items)
    ]
    right, total = sum(item["n_right"] for item in items), sum(item["n_total"] for item in items)
    found = {score.metric: score.value for score in human_scores(ALL, questions)}
    assert found["accuracy"] == pytest.approx(right / total)


def test_a_mean_has_a_deviation_from_two_values_on() -> None:
    one = mean_score([0.5], part=ALL, run="m", metric="accuracy", questions=1)
    two = mean_score([0.5, 0.7], part=ALL, run="m", metric="accuracy", questions=1)
    assert (one.value, one.sd, one.repeats, one.low) == (0.5, None, 1, None)
    assert (two.value, two.sd, two.repeats) == (pytest.approx(0.6), pytest.approx(0.02**0.5), 2)


def test_people_without_a_number_have_a_mean_alone() -> None:
    found = human_scores(
        ALL, [make_question(1, human_accuracy=0.0), make_question(2, human_accuracy=0.5, respondents=0)]
    )
    assert [(score.metric, score.value, score.questions) for score in found] == [("accuracy", 0.25, 2)]
