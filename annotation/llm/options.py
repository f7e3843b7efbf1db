"""Options of a language model: endpoint, model, sampling, prices and limits."""

import os
from functools import cache
from typing import Any, Literal, Self

from pydantic import model_validator

from build_dataset.schemas import data, errors
from build_dataset.schemas.params import Address, Params, VariableName, non_semantic, option

OPENAI_URL = "https://api.openai.com/v1"  # alone gets the key without being asked to


class LlmOptions(Params):
    """A model at an OpenAI-compatible endpoint: address, sampling, prices and limits.

    Keys are read from the environment and nowhere else.
    """

    base_url: Address = option(OPENAI_URL, "Address of the API, up to and with /v1: OpenAI, Azure, vLLM, llama.cpp …")
    model: str | None = option(None, "The model's name at that endpoint.")
    api_key_env: VariableName = non_semantic(
        "OPENAI_API_KEY",
        "Name of the environment variable that holds the key. Other endpoints than OpenAI's get a key only "
        "when this is set.",
    )
    timeout: float = non_semantic(120.0, "Seconds to wait for an answer.", gt=0)
    temperature: float = option(0.0, "Sampling temperature.", ge=0, le=2)
    send_temperature: bool = option(True, "False leaves it out, for models that refuse it.")
    max_tokens: int = option(1024, "Most tokens of an answer.", ge=1)
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = option(
        "max_tokens", "What the endpoint calls that limit; OpenAI's reasoning models want the second."
    )
    seed: int | None = option(None, "Sampling seed, for endpoints that take one.")
    extra_body: dict[str, Any] = option({}, "Further fields of the request, e.g. {reasoning_effort = 'low'}.")
    price_in: float | None = option(None, "Price of a million prompt tokens.", ge=0)
    price_out: float | None = option(None, "Price of a million answer tokens.", ge=0)
    batch_share: float = option(0.5, "What the endpoint's Batch API costs, as a share of these prices.", ge=0, le=1)
    currency: str = option("USD", "Currency of the prices and of max_cost.")
    max_cost: float | None = non_semantic(None, "Stop before the cost of all answers could exceed this.", ge=0)
    concurrency: int = non_semantic(8, "Requests in flight at once.", ge=1, le=1024)
    max_retries: int = non_semantic(5, "Further attempts after a rate limit, server error or lost connection.", ge=0)
    poll: float = non_semantic(60.0, "Seconds between looks at a batch that is under way.", gt=0)

    @model_validator(mode="after")
    def _priced_cap(self) -> Self:
        if self.max_cost is not None and (self.price_in is None or self.price_out is None):
            raise ValueError("max_cost needs price_in and price_out (per million tokens)")
        return self

    def api_key(self) -> str | None:
        """The key from the environment; None where there is none, or none is meant for this endpoint."""
        return os.environ.get(self.api_key_env, "").strip() or None if self._takes_key() else None

    def missing(self) -> str | None:
        """Return what a request would lack, in one line; None when everything is there."""
        if not self.model:
            return "no model is named: set model in its section of dataset.toml"
        if self._takes_key() and not self.api_key():
            return f"the environment variable {self.api_key_env} holds no key for {self.base_url}"
        return None

    def _takes_key(self) -> bool:
        # A server of anybody else must not get the key that was set for OpenAI's.
        return self.base_url == OPENAI_URL or "api_key_env" in self.model_fields_set

    def cost(self, prompt_tokens: int | None, completion_tokens: int | None, *, batched: bool = False) -> float | None:
        """Price of so many tokens in ``currency``; None where prices or counts are unknown."""
        if self.price_in is None or self.price_out is None:
            return None
        if prompt_tokens is None or completion_tokens is None:
            return None
        share = self.batch_share if batched else 1.0
        return share * (prompt_tokens * self.price_in + completion_tokens * self.price_out) / 1e6

    def with_list_prices(self) -> tuple[Self, str | None]:
        """Return options with prices for an estimate, and the origin of list prices; configured prices win."""
        if self.price_in is not None or self.price_out is not None:
            return self, None
        for prices in price_lists():
            if self.model in prices["models"] and self.base_url.startswith(prices["address"]):
                price_in, price_out = prices["models"][self.model]
                changed = {"price_in": price_in, "price_out": price_out, "currency": "USD"}
                changed["batch_share"] = prices.get("batch_share", self.batch_share)
                rates = f"{price_in:.2f} USD in, {price_out:.2f} out per million tokens"
                return self.model_copy(update=changed), f"{rates}, list prices of {prices['date']} ({prices['source']})"
        return self, None

    def told(self, asked: str, tokens_in: int, tokens_out: int, digits: int = 2, *, batched: bool = False) -> str:
        """Return an estimate: ``10 pages to send, about 38,080 tokens in and 30,000 out: 3.91 USD``."""
        priced, listed = self.with_list_prices()
        cost = priced.cost(tokens_in, tokens_out, batched=batched)
        price = "cost unknown (set price_in and price_out)"
        if cost is not None:
            price = f"{cost:.{digits}f} {priced.currency}{f' by {listed}' if listed else ''}"
        return f"{asked}, about {tokens_in:,} tokens in and {tokens_out:,} out: {price}"


@cache
def price_lists() -> list[dict[str, Any]]:
    """Return the list prices of vendors, the latest first."""
    content = data.shipped_toml("build_dataset.annotation", "prices.toml")
    return sorted(content["lists"], key=lambda prices: str(prices["date"]), reverse=True)


def openai_client(options: LlmOptions, kind: Literal["", "Async"] = "") -> Any:
    """Return a client of the openai SDK without retries of its own: a request that is sent twice is paid twice."""
    import openai

    with errors.trusted_certificates():
        # No redirects: the key is for this address alone.
        http = getattr(openai, f"Default{kind}HttpxClient")(follow_redirects=False)
    given = {"base_url": options.base_url, "timeout": options.timeout, "api_key": options.api_key() or "none"}
    return getattr(openai, f"{kind}OpenAI")(max_retries=0, http_client=http, **given)
