"""Estimate of requests, tokens, cost and time of annotating, before anything is asked."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from build_dataset.annotation.llm.messages import AnswerStore, ChatRequest
from build_dataset.annotation.llm_annotator import choose_shots, example, label_prompt, requests_for
from build_dataset.annotation.params import AnnotateParams
from build_dataset.annotation.reviewed import Reviewed
from build_dataset.annotation.tokens import Counter, token_counter
from build_dataset.schemas.questions import Question

SECONDS_A_REQUEST = 2.0  # latency to reckon with; the endpoint's own is unknown before it is asked
MESSAGE_TOKENS = 4  # tokens that frame each message, as OpenAI counts them


class Estimate(NamedTuple):
    """Cost of labelling some questions. All but ``questions``, ``stored`` and ``requests`` are estimates."""

    annotator: str
    questions: int
    stored: int = 0  # requests whose answers are there already
    requests: int = 0  # requests still to be made
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0  # None without prices
    currency: str = "USD"
    seconds: float | None = 0.0  # None if only the endpoint knows: a batch may take a day
    batch_cost: float | None = 0.0  # the same through the Batch API
    counted: str = ""  # how tokens were counted: the encoding, or how far off the count may be
    listed: str | None = None  # date and source of the prices, where they are list prices and not configured


def estimate(
    questions: Sequence[Question],
    params: AnnotateParams,
    store: AnswerStore | None = None,
    reviewed: Sequence[Reviewed] = (),
) -> Estimate:
    """Estimate requests, tokens, cost and time of annotating; sends no request and needs no key."""
    options = params.llm
    chosen = params.chosen(len(reviewed))
    if chosen != "llm":
        return Estimate(chosen, len(questions), currency=options.currency)
    prompt = label_prompt(options, choose_shots(reviewed, options.shots))
    requests = {request.key(options): request for request in requests_for(questions, options, prompt)}
    stored = store.get_many(requests) if store is not None else {}
    missing = [request for key, request in requests.items() if key not in stored]
    count, counted = token_counter()
    count_shared = cache(count)  # what requests share is counted once
    tokens = sum(_tokens(request, count, count_shared) for request in missing)
    completion = len(missing) * count(example(prompt.dimensions, "10"))
    priced, listed = options.with_list_prices()
    return Estimate(
        annotator=f"llm:{options.model}",
        questions=len(questions),
        stored=len(stored),
        requests=len(missing),
        prompt_tokens=tokens,
        completion_tokens=completion,
        cost=priced.cost(tokens, completion, batched=params.batch),
        currency=priced.currency,
        seconds=None if params.batch else math.ceil(len(missing) / options.concurrency) * SECONDS_A_REQUEST,
        batch_cost=priced.cost(tokens, completion, batched=True),
        counted=counted,
        listed=listed,
    )


def _tokens(request: ChatRequest, count: Counter, count_shared: Counter) -> int:
    *shared, own = request.messages
    form = json.dumps(request.response_format, ensure_ascii=False, separators=(",", ":"))
    tokens = sum(count_shared(message["content"]) + MESSAGE_TOKENS for message in shared)
    tokens += count(own["content"]) + MESSAGE_TOKENS
    return tokens + (count_shared(form) if request.response_format else 0)
