"""Options of an endpoint: its key, its address, its prices."""

import pytest

from build_dataset.annotation.llm.options import OPENAI_URL, LlmOptions

OWN = "https://llm.example.org/v1"


@pytest.mark.parametrize(
    ("prices", "tokens", "batched", "cost"),
    [
        ({"price_in": 2, "price_out": 8}, (1000, 100), False, 0.0028),
        ({"price_in": 2, "price_out": 8}, (1000, 100), True, 0.0014),
        ({"price_in": 2, "price_out": 8, "batch_share": 0.25}, (1000, 100), True, 0.0007),
        ({"price_in": 2}, (1000, 100), False, None),
        ({"price_out": 2}, (1000, 100), False, None),
        ({"price_in": 0, "price_out": 0}, (1000, 100), False, 0.0),
        ({"price_in": 2, "price_out": 8}, (None, 100), False, None),
        ({"price_in": 2, "price_out": 8}, (1000, None), False, None),
    ],
)
def test_a_price_is_of_a_million_tokens(prices, tokens, batched, cost):
    found = LlmOptions(model="m", **prices).cost(*tokens, batched=batched)
    assert found == (None if cost is None else pytest.approx(cost))


@pytest.mark.parametrize("prices", [{}, {"price_in": 1}, {"price_out": 1}])
def test_a_cap_needs_both_prices(prices):
    with pytest.raises(ValueError, match="max_cost needs price_in and price_out"):
        LlmOptions(max_cost=1, **prices)
    assert LlmOptions(max_cost=0, price_in=0, price_out=0).max_cost == 0


def test_what_a_request_would_lack_is_told(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert LlmOptions().missing() == "no model is named: set model in its section of dataset.toml"
    told = f"the environment variable OPENAI_API_KEY holds no key for {OPENAI_URL}"
    assert LlmOptions(model="m").missing() == told
    assert LlmOptions(model="m", base_url=OWN).missing() is None
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    assert LlmOptions(model="m").missing() is None
