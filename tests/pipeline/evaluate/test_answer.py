"""Questions asked repeatedly."""

import polars as pl
import pytest

from build_dataset.pipeline.evaluate.params import EvaluateParams, RandomModel
from build_dataset.pipeline.evaluate.stage import run
from tests.annotation.scripted_server import Reply
from tests.pipeline.evaluate.conftest import make_question
from tests.pipeline.evaluate.test_stage import TEST, TRAIN, asking


def overall(result, metric):
    rows = result.tables["scores"].filter((pl.col("metric") == metric) & (pl.col("dimension") == "overall"))
    return rows.filter(pl.col("run") != "human").to_dicts()


def test_repetitions_are_asked_stored_and_averaged_with_their_deviation(context, splits, serve):
    asked = []

    def answer(question, earlier, body):
        asked.append(question)
        return Reply(content="AB"[len(asked) % 2])

    server = serve(answer)
    questions = [make_question(1, "A")]
    result = run(splits(questions, TRAIN), asking(server, repeats=4, temperature=1.0), context)
    rows = result.tables["predictions"].sort("repeat").to_dicts()
    assert [row["repeat"] for row in rows] == [0, 1, 2, 3]
    (score,) = overall(result, "accuracy")
    assert (score["value"], score["repeats"], score["questions"]) == (0.5, 4, 1)
    assert score["sd"] == pytest.approx(0.5774, abs=1e-4)
    assert result.counts.balanced()
    run(splits(questions, TRAIN), asking(server, repeats=4, temperature=1.0), context)
    assert server.asked.total() == 4


@pytest.mark.parametrize(("seed", "sent"), [(7, [7, 8, 9]), (None, [None] * 3)])
def test_an_endpoint_is_sent_the_seed_plus_the_number_of_the_repetition_or_none(context, splits, serve, seed, sent):
    seeds = []

    def answer(question, earlier, body):
        seeds.append(body.get("seed"))
        return Reply(content="A")

    result = run(
        splits([make_question(1, "A")], TRAIN), asking(serve(answer), repeats=3, temperature=1.0, seed=seed), context
    )
    assert sorted(seeds, key=str) == sent
    assert result.tables["predictions"].sort("repeat")["seed"].to_list() == sent


def test_random_guesses_differ_from_repetition_to_repetition(context, splits):
    questions = [make_question(number) for number in range(40)]
    params = EvaluateParams(models=[RandomModel(repeats=5)])
    result = run(splits(questions, TRAIN), params, context)
    (score,) = overall(result, "accuracy")
    assert score["repeats"] == 5
    assert score["sd"] > 0
    assert score["interval"] == "cluster_wilson"


def test_runs_on_the_same_questions_are_compared(context, splits):
    result = run(splits(TEST, TRAIN), EvaluateParams(), context)
    (row,) = result.tables["comparisons"].to_dicts()
    assert (row["run_a"], row["run_b"], row["questions"]) == ("random", "majority", 4)
