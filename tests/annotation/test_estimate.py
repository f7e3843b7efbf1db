from __future__ import annotations

import json
from datetime import UTC, date, datetime

import pytest

from build_dataset.annotation import estimate as tokens
from build_dataset.annotation.llm.options import LlmOptions, price_lists
from build_dataset.annotation.llm_annotator import label_prompt, requests_for
from build_dataset.annotation.params import AnnotateLlmOptions, AnnotateParams
from build_dataset.schemas.taxonomy import dimensions
from tests.annotation.records import question
from tests.conftest import MemoryStore


def test_known_models_have_a_dated_list_price_with_its_source_at_the_vendor_s_own_address_alone():
    priced, told = LlmOptions(model="gpt-4o").with_list_prices()
    assert (priced.price_in, priced.price_out, priced.currency) == (2.5, 10.0, "USD")
    assert "list prices of 2026-" in told
    assert "https://" in told
    proxy = LlmOptions(model="gpt-4o", base_url="http://127.0.0.1:8000/v1")
    assert proxy.with_list_prices() == (proxy, None)
    unknown = LlmOptions(model="my-model")
    assert unknown.with_list_prices() == (unknown, None)


def test_configured_prices_win_over_list_prices():
    own = LlmOptions(model="gpt-4o", price_in=1.0, price_out=2.0, currency="EUR")
    assert own.with_list_prices() == (own, None)


def test_every_list_price_is_dated_sourced_and_found():
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    for prices in price_lists():
        assert date.fromisoformat(prices["date"]).isoformat() <= today
        assert prices["source"].startswith("https://")
        for model, (price_in, price_out) in prices["models"].items():
            priced, _ = LlmOptions(model=model, base_url=prices["address"]).with_list_prices()
            assert 0 < (priced.price_in or 0) <= price_in < price_out


@pytest.fixture
def by_length(monkeypatch):
    """A tokenizer for which each character is a token."""
    monkeypatch.setattr(tokens, "token_counter", lambda: (len, "characters"))


LLM = {"model": "m", "base_url": "http://127.0.0.1:1/v1", "price_in": 2, "price_out": 8, "currency": "EUR"}


def test_an_estimate_counts_messages_forms_and_answers_and_what_is_stored_is_free(by_length):
    questions = [question(f"q{n}", stem=f"题{n}", content_hash=f"h{n}") for n in range(3)]
    params = AnnotateParams(llm=AnnotateLlmOptions(**LLM, concurrency=2))
    prompt = label_prompt(params.llm)
    form = json.dumps(prompt.form, ensure_ascii=False, separators=(",", ":"))
    each = len(prompt.system) + 4 + len(prompt.messages(questions[0])[1]["content"]) + 4 + len(form)
    answer = len("".join(f'"{one.zh}":"10",' for one in dimensions().values())) + 1
    found = tokens.estimate(questions, params)
    assert found == tokens.Estimate(
        annotator="llm:m",
        questions=3,
        stored=0,
        requests=3,
        prompt_tokens=3 * each,
        completion_tokens=3 * answer,
        cost=pytest.approx((3 * each * 2 + 3 * answer * 8) / 1e6),
        currency="EUR",
        seconds=4.0,
        batch_cost=pytest.approx((3 * each + 3 * answer * 4) / 1e6),
        counted="characters",
        listed=None,
    )
    store = MemoryStore()
    store.put(requests_for(questions, params.llm, prompt)[0].key(params.llm), {})
    left = tokens.estimate(questions, params, store)
    assert (left.stored, left.requests, left.prompt_tokens, left.seconds) == (1, 2, 2 * each, 2.0)
    batched = tokens.estimate(questions, params.model_copy(update={"batch": True}))
    assert (batched.seconds, batched.cost) == (None, found.batch_cost)


def test_a_form_that_is_not_sent_costs_nothing(by_length):
    def prompt_tokens(form: str) -> int:
        return tokens.estimate(
            [question()], AnnotateParams(llm=AnnotateLlmOptions(**LLM, response_format=form))
        ).prompt_tokens

    assert prompt_tokens("json_object") - prompt_tokens("none") == len('{"type":"json_object"}')


def test_without_a_model_an_estimate_is_of_questions_alone():
    found = tokens.estimate([question()], AnnotateParams(llm=AnnotateLlmOptions(currency="EUR")))
    assert found == tokens.Estimate("lexicon", 1, currency="EUR")
    assert (found.stored, found.requests, found.prompt_tokens, found.completion_tokens) == (0, 0, 0, 0)
    assert (found.cost, found.seconds, found.batch_cost, found.counted, found.listed) == (0.0, 0.0, 0.0, "", None)


def test_the_latest_list_price_is_told_with_its_own_share_for_batches():
    flash = LlmOptions(model="deepseek-flash", base_url="https://api.deepseek.com/v1")
    priced, told = flash.with_list_prices()
    assert (priced.price_in, priced.price_out, priced.batch_share) == (0.3, 1.2, 1.0)
    assert told.startswith("0.30 USD in, 1.20 out per million tokens, list prices of 2026-11-15 (https://")
    assert LlmOptions(model="gpt-4o").with_list_prices()[0].batch_share == 0.5
    half = LlmOptions(model="gpt-4o", price_out=3.0)
    assert half.with_list_prices() == (half, None)
    dates = [prices["date"] for prices in price_lists()]
    assert dates == sorted(dates, reverse=True)


def test_who_asks_nobody_costs_nothing() -> None:
    found = tokens.estimate([question("q")] * 3, AnnotateParams(annotator="lexicon"))
    assert tuple(found) == ("lexicon", 3, 0, 0, 0, 0, 0.0, "USD", 0.0, 0.0, "", None)
