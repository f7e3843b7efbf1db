"""A run tells what it would ask of an endpoint before it asks, and what it took afterwards."""

from __future__ import annotations

import json

import pytest

from build_dataset.pipeline.evaluate.llm import WrittenText, judge
from build_dataset.pipeline.evaluate.params import JudgeOptions
from build_dataset.pipeline.evaluate.prompting import Prompt
from build_dataset.pipeline.evaluate.stage import estimate_evaluation, run
from build_dataset.schemas.evaluation import Task
from tests.annotation.scripted_server import Reply
from tests.conftest import MemoryStore
from tests.pipeline.evaluate.test_judge import FULL
from tests.pipeline.evaluate.test_stage import TEST, asking

PRICED = {"price_in": 1000.0, "price_out": 10000.0}


def test_a_dry_run_tells_what_every_model_would_be_asked_and_asks_nobody(context, splits, serve):
    writer = serve(lambda question, earlier, body: Reply(content="答案是A"))
    before = estimate_evaluation(splits(TEST), asking(writer), context)
    assert any(f"{len(TEST)} prompts to ask" in line for line in before)
    assert writer.asked.total() == 0
    run(splits(TEST), asking(writer), context)
    assert any(" 0 prompts to ask" in line for line in estimate_evaluation(splits(TEST), asking(writer), context))


def test_a_dry_run_tells_tokens_and_cost_where_prices_are_set(context, splits, serve):
    writer = serve(lambda question, earlier, body: Reply(content="答案是A"))
    (told,) = estimate_evaluation(splits(TEST), asking(writer, **PRICED, max_tokens=10), context)
    assert f"and {10 * len(TEST)} out: " in told
    assert told.endswith(" USD")
    (told,) = estimate_evaluation(splits(TEST), asking(writer, price_in=None, price_out=None), context)
    assert told.endswith("cost unknown (set price_in and price_out)")


@pytest.mark.parametrize(("options", "cost"), [(PRICED, 0.6), ({}, None)])
def test_the_cost_of_all_verdicts_is_their_sum_or_unknown(serve, options, cost):
    server = serve(lambda question, earlier, body: Reply(content=json.dumps(FULL)))
    asked = JudgeOptions.model_validate({"model": "j", "base_url": server.url, "max_retries": 0} | options)
    prompts = [Prompt(f"p{number}", ({"role": "user", "content": f"问{number}"},)) for number in range(3)]
    texts = [WrittenText("m", Task.CLINICAL, prompt.id, prompt, "答", "参考") for prompt in prompts]
    made = judge(texts, asked, MemoryStore(), lambda _: None)
    assert (made.requests, len(made.judgements)) == (3, 3 * len(FULL))
    assert made.cost == (pytest.approx(cost) if cost else None)
