"""A run tells what it would ask of an endpoint before it asks, and what it took afterwards."""

import json

import pytest

from build_dataset.pipeline.evaluate.judging.scores import WrittenText, judge
from build_dataset.pipeline.evaluate.params import EvaluateParams, JudgeOptions
from build_dataset.pipeline.evaluate.prompting import Prompt
from build_dataset.pipeline.evaluate.stage import estimate, run
from build_dataset.schemas.evaluation import Task
from tests.annotation.scripted_server import Reply
from tests.conftest import MemoryStore
from tests.pipeline.evaluate.test_judge import FULL
from tests.pipeline.evaluate.test_stage import TEST, asking

PRICED = {"price_in": 1000.0, "price_out": 10000.0}


def test_a_dry_run_tells_what_every_model_would_be_asked_and_asks_nobody(context, splits, serve):
    writer = serve(lambda question, earlier, body: Reply(content="答案是A"))
    before = estimate(splits(TEST), asking(writer), context)
    assert any(f"{len(TEST)} prompts to ask" in line for line in before)
    assert writer.asked.total() == 0
    run(splits(TEST), asking(writer), context)
    assert any(" 0 prompts to ask" in line for line in estimate(splits(TEST), asking(writer), context))


def test_a_dry_run_needs_no_model_and_none_that_can_be_asked(context, splits):
    alone = estimate(splits(TEST), EvaluateParams(), context)
    assert alone == [f"{name}: {len(TEST)} prompts, on this machine" for name in ("random", "majority")]
    (*_, told) = estimate(splits(TEST), EvaluateParams(model="m", base_url="http://127.0.0.1:9/v1"), context)
    assert told.startswith(f"openai:m: {len(TEST)} prompts to ask")


def test_replies_that_were_on_their_way_at_a_kill_are_told_beside_the_cost(context, splits, serve):
    """A killed process leaves its notes of calls in the store, and no answers."""
    writer = serve(lambda question, earlier, body: Reply(content="答案是A"))
    run(splits(TEST), asking(writer, **PRICED), context)
    store = context.store.items
    note, answers = next(key for key in store if "sent" in key), [key for key in store if "wasted" not in key]
    store[note] = answers[:2]
    for key in answers[:2]:
        del store[key]
    result = run(splits(TEST), asking(writer, **PRICED), context)
    (facts,) = result.facts["models"].values()
    assert writer.asked.total() == len(TEST) + 2
    assert (facts["prompts"], facts["unseen_calls"], result.counts.kept) == (len(TEST), 2, len(TEST))
    assert facts["cost"] == pytest.approx(len(TEST) * (100 * 1000 + 10 * 10000) / 1e6)
    assert facts["unseen_cost_at_most"] > 0


def test_a_dry_run_tells_tokens_and_cost_where_prices_are_set(context, splits, serve):
    writer = serve(lambda question, earlier, body: Reply(content="答案是A"))
    (told,) = estimate(splits(TEST), asking(writer, **PRICED, max_tokens=10), context)
    assert f"and {10 * len(TEST)} out: " in told
    assert told.endswith(" USD")
    (told,) = estimate(splits(TEST), asking(writer, price_in=None, price_out=None), context)
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


@pytest.mark.parametrize(("changes", "sent"), [({"seed": 5}, [5, 6, 7]), ({}, [None] * 3)])
def test_each_repetition_is_sent_the_seed_plus_its_number_and_none_where_none_is_set(
    context, splits, serve, changes, sent
):
    seeds: dict[str, list[int | None]] = {}

    def keep_seed(question, earlier, body):
        seeds.setdefault(question, []).append(body.get("seed"))
        return Reply(content="答案是A")

    result = run(splits(TEST), asking(serve(keep_seed), repeats=3, **changes), context)
    assert [sorted(each, key=str) for each in seeds.values()] == [sent] * len(TEST)
    assert result.tables["predictions"].sort("question_id", "repeat")["seed"].to_list() == sent * len(TEST)
