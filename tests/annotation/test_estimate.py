from __future__ import annotations

import builtins
from datetime import UTC, date, datetime

import pytest

from annotation import estimate as tokens
from annotation.llm.options import LlmOptions


def test_openai_s_own_encodings_count_where_the_package_is_there():
    pytest.importorskip("bpe_openai", reason="the extra `tokens` is not installed")
    count, name = tokens.token_counter("gpt-4o")
    assert name == "o200k_base"
    assert count("hello world") == 2
    assert tokens.token_counter("gpt-4")[1] == "cl100k_base"
    assert tokens.token_counter("some-model-of-others")[1] == tokens.token_counter(None)[1] == "o200k_base"
    assert count("<|endoftext|>") > 1, "text of papers is never a control token"


def test_without_it_tokens_are_reckoned_and_that_is_said(monkeypatch):
    real = builtins.__import__

    def without(name, *given, **more):
        if name == "bpe_openai":
            raise ImportError
        return real(name, *given, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    tokens.token_counter.cache_clear()
    count, name = tokens.token_counter("gpt-4o")
    assert (count("高血压"), name.startswith("by characters")) == (3, True)
    tokens.token_counter.cache_clear()


@pytest.mark.parametrize(("text", "expected"), [("高血压高血压高血压高", 8), ("abcdefghij", 3), ("", 0)])
def test_tokens_are_reckoned_by_kind_of_character(text, expected):
    assert tokens.approximate_tokens(text) == expected


def test_known_models_have_a_dated_list_price_with_its_source_at_the_vendor_s_own_address_alone():
    priced, told = tokens.with_list_prices(LlmOptions(model="gpt-4o"))
    assert (priced.price_in, priced.price_out, priced.currency) == (2.5, 10.0, "USD")
    assert "list prices of 2026-" in told
    assert "https://" in told
    proxy = LlmOptions(model="gpt-4o", base_url="http://127.0.0.1:8000/v1")
    assert tokens.with_list_prices(proxy) == (proxy, None)
    unknown = LlmOptions(model="my-model")
    assert tokens.with_list_prices(unknown) == (unknown, None)


def test_configured_prices_win_over_list_prices():
    own = LlmOptions(model="gpt-4o", price_in=1.0, price_out=2.0, currency="EUR")
    assert tokens.with_list_prices(own) == (own, None)


def test_every_list_price_is_dated_sourced_and_found():
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    for prices in tokens._price_lists():
        assert date.fromisoformat(prices["date"]).isoformat() <= today
        assert prices["source"].startswith("https://")
        for model, (price_in, price_out) in prices["models"].items():
            priced, _ = tokens.with_list_prices(LlmOptions(model=model, base_url=prices["address"]))
            assert 0 < (priced.price_in or 0) <= price_in < price_out
