"""A judge scores every text, and what it does not answer waits."""

import json

import polars as pl
import pytest

from build_dataset.annotation.llm.messages import BadAnswerError
from build_dataset.pipeline.evaluate.judging.scores import read_scores
from build_dataset.pipeline.evaluate.params import EvaluateParams, JudgeOptions, OpenAiModel
from build_dataset.pipeline.evaluate.stage import problems, run
from tests.annotation.scripted_server import Reply
from tests.pipeline.evaluate.conftest import make_question

FULL = {"fluency": 5, "relevance": 4, "completeness": 3, "proficiency": 2}
QUESTIONS = [make_question(number, explanation=f"说法A{number}正确，因为有据。") for number in (1, 2, 3)]


def writing(server, name, **changes):
    return OpenAiModel.model_validate(
        {"model": name, "base_url": server.url, "task": "explanation", "name": name, "max_retries": 0} | changes
    )


def judging(server, **changes):
    prices = {"price_in": 1.0, "price_out": 1.0}
    return JudgeOptions.model_validate({"model": "j", "base_url": server.url, "max_retries": 0} | prices | changes)


@pytest.fixture
def writer(serve):
    return serve(lambda question, earlier, body: Reply(content=f"{body['model']}说：A对，{question[-3:]}。"))


def rows(result, name):
    return result.tables[name].to_dicts()


def test_every_text_gets_a_score_in_every_aspect(context, splits, serve, writer):
    server = serve(lambda question, earlier, body: Reply(content=json.dumps(FULL)))
    params = EvaluateParams(models=[writing(writer, "one")], judge=judging(server))
    result = run(splits(QUESTIONS), params, context)
    found = {(row["question_id"], row["aspect"]): row["score"] for row in rows(result, "judgements")}
    assert found == {(row.question_id, aspect): score for row in QUESTIONS for aspect, score in FULL.items()}
    scores = {row["metric"]: row["value"] for row in rows(result, "scores")}
    assert scores["relevance (llm:j)"] == 4.0
    assert scores["judged (llm:j)"] == 3.5
    assert result.counts.balanced()
    assert result.counts.n_input == 3 + 3
    assert result.facts["judge"]["requests"] == 3
    run(splits(QUESTIONS), params, context)
    assert server.asked.total() == 3


def test_the_judge_sees_the_question_the_reference_and_the_answer(context, splits, serve, writer):
    seen = []

    def answer(question, earlier, body):
        seen.append(question)
        return Reply(content=json.dumps(FULL))

    params = EvaluateParams(models=[writing(writer, "one")], judge=judging(serve(answer)))
    run(splits(QUESTIONS[:1]), params, context)
    (asked,) = seen
    assert "第1题：下列哪项正确" in asked
    assert "说法A1正确，因为有据。" in asked
    assert "one说：A对" in asked


def test_a_judge_that_gives_no_valid_score_leaves_the_text_waiting(context, splits, serve, writer):
    server = serve(lambda question, earlier, body: Reply(content='{"fluency": 9}'))
    params = EvaluateParams(models=[writing(writer, "one")], judge=judging(server))
    result = run(splits(QUESTIONS[:1]), params, context)
    assert result.tables["judgements"].is_empty()
    assert [item.reason for item in result.review] == ["judge_invalid_label"]
    assert not result.complete
    assert result.counts.balanced()


def test_refused_texts_are_not_judged(context, splits, serve):
    writer = serve(lambda question, earlier, body: Reply(content="抱歉，我无法回答。"))
    server = serve(lambda question, earlier, body: Reply(content=json.dumps(FULL)))
    params = EvaluateParams(models=[writing(writer, "one")], judge=judging(server))
    result = run(splits(QUESTIONS), params, context)
    assert server.asked.total() == 0
    assert set(pl.Series(result.tables["predictions"]["outcome"])) == {"refused"}


@pytest.mark.parametrize("text", ["", "没有", "[1]", '{"fluency": 5}', json.dumps(FULL | {"fluency": True})])
def test_what_is_no_verdict_is_none(text):
    with pytest.raises(BadAnswerError):
        read_scores(text)


def test_json_in_a_code_fence_is_read():
    assert read_scores(f"```json\n{json.dumps(FULL)}\n```") == FULL


def test_a_judge_without_a_model_is_told_before_anything_is_asked(context, writer):
    params = EvaluateParams(models=[writing(writer, "one")], judge=JudgeOptions())
    assert problems(params, context.dataset) == [
        "evaluate.judge: no model is named: set model in its section of dataset.toml"
    ]
