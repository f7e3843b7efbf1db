"""Outputs that a model reads: their tokens and cost, told before and counted after."""

from __future__ import annotations

import pytest

from build_dataset.pipeline.evaluate.llm import OutputReader, UnreadOutput, estimate
from build_dataset.pipeline.evaluate.params import ReaderOptions
from build_dataset.pipeline.evaluate.prompting import Prompt
from tests.annotation.scripted_server import Reply
from tests.conftest import MemoryStore
from tests.pipeline.evaluate.conftest import make_question

PRICED = {"model": "some-model", "price_in": 1000.0, "price_out": 10000.0}


def unread(number: int, size: int = 20) -> UnreadOutput:
    messages = ({"role": "user", "content": "Q"},)
    return UnreadOutput(Prompt(f"p{number}", messages, make_question(number)), "不" * size)


def told(*outputs: UnreadOutput, **options) -> str:
    return estimate(ReaderOptions.model_validate(PRICED | options), outputs, MemoryStore())


@pytest.mark.parametrize(
    ("outputs", "options", "expected"),
    [
        ([unread(1)], {}, "1 outputs to read, about 211 tokens in and 16 out: 0.3710 USD"),
        ([unread(1), unread(2)], {}, "2 outputs to read, about 422 tokens in and 32 out: 0.7420 USD"),
        ([unread(1), unread(1)], {}, "1 outputs to read, about 211 tokens in and 16 out: 0.3710 USD"),
        ([unread(1)], {"max_tokens": 10}, "1 outputs to read, about 211 tokens in and 10 out: 0.3110 USD"),
        (
            [unread(1)],
            {"price_in": None, "price_out": None},
            "1 outputs to read, about 211 tokens in and 16 out: cost unknown (set price_in and price_out)",
        ),
    ],
)
def test_an_estimate_counts_what_each_output_takes_once(outputs, options, expected):
    assert told(*outputs, **options) == expected


@pytest.mark.parametrize(("options", "cost"), [({}, 0.6), ({"price_in": None, "price_out": None}, None)])
def test_the_cost_of_all_replies_is_their_sum_or_unknown(serve, options, cost):
    server = serve(lambda question, earlier, body: Reply(content='{"answer": ["C", "A", "C"]}'))
    asked = ReaderOptions.model_validate(PRICED | {"base_url": server.url, "max_retries": 0} | options)
    reader = OutputReader(options=asked, store=MemoryStore())
    found = reader.read("m", [unread(1), unread(2), unread(3)])
    assert found == dict.fromkeys(("p1", "p2", "p3"), ("A", "C"))
    assert (reader.requests, reader.cost) == (3, pytest.approx(cost) if cost else None)
