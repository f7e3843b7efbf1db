"""Estimate of requests, tokens, cost and time of annotating, before anything is asked."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

from build_dataset.annotation.llm.messages import AnswerStore, ChatRequest
from build_dataset.annotation.llm_annotator import choose_shots, example, prompts, requests_for
from build_dataset.annotation.params import AnnotateParams
from build_dataset.annotation.reviewed import Reviewed
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
    counted: str = ""  # the encoding that counted the tokens
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
    asked = prompts(options, choose_shots(reviewed, options.shots))
    requests = {request.key(options): request for request in requests_for(questions, options, asked)}
    stored = store.get_many(requests) if store is not None else {}
    missing = [request for key, request in requests.items() if key not in stored]
    count, counted = token_counter(options.model)
    count_shared = cache(count)  # what requests share is counted once
    tokens = sum(_tokens(request, count, count_shared) for request in missing)
    answers = [count(example(one.dimensions, "10")) for one in asked]
    completion = sum(answers[request.part] for request in missing)
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


CJK_TOKENS = 0.8  # tokens a Chinese character: Gemma 3 took 1,051 to 1,099 where this reckons 1,035
OTHER_TOKENS = 0.3  # tokens of any other character, about: some three to four characters a token

_OLDER = re.compile(r"gpt-3\.5|gpt-4(-|$)")  # models before gpt-4o

Counter = Callable[[str], int]


@cache
def token_counter(model: str | None) -> tuple[Counter, str]:
    """Return a function that counts tokens for a model, and its name.

    OpenAI's own encodings where the package ``bpe-openai`` is installed, which ships them: tiktoken gives the
    same counts but downloads its encodings, and an estimate asks nobody. Other models are counted with OpenAI's
    latest encoding, which is near those of Qwen and Llama; without the package, by kinds of characters.
    """
    try:
        import bpe_openai  # type: ignore[import-untyped]
    except ImportError:
        return approximate_tokens, "by characters; the extra `tokens` counts"
    name = "cl100k_base" if _OLDER.match(model or "") else "o200k_base"
    encoding = bpe_openai.get_encoding(name)
    return (lambda text: len(encoding.encode_ordinary(text))), name


def approximate_tokens(text: str) -> int:
    """About how many tokens a text has, by kinds of characters."""
    chinese = sum("\u3400" <= letter <= "\u9fff" for letter in text)
    return math.ceil(chinese * CJK_TOKENS + (len(text) - chinese) * OTHER_TOKENS)
