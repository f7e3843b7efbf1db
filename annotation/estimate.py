"""What annotating would take, before anything is asked."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

from annotation.llm.client import AnswerStore
from annotation.llm.messages import ChatRequest
from annotation.llm_annotator import requests_for
from annotation.params import AnnotateParams
from schemas.questions import Question

CJK_TOKENS = 0.8
"""Tokens a Chinese character, about: Gemma 3 took 1,051 to 1,099 for prompts that this reckons at 1,035."""
OTHER_TOKENS = 0.3
"""Tokens of any other character, about: some three to four characters a token."""
ANSWER_TOKENS = 13
"""Tokens of the answer a dimension: its name, a label, punctuation; Gemma 3 took 53 to 66 for five."""
SECONDS_A_REQUEST = 2.0
"""Latency that the time is reckoned with; the endpoint's own is unknown before it is asked."""


@dataclass(frozen=True)
class Estimate:
    """What labelling some questions would take. All but ``questions``, ``stored`` and ``requests`` are estimates."""

    annotator: str
    questions: int
    stored: int
    """Requests whose answers are there already."""
    requests: int
    """Requests still to be made."""
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    """None without prices."""
    currency: str
    seconds: float


def estimate(
    questions: Sequence[Question], params: AnnotateParams, store: AnswerStore | None = None
) -> Estimate:
    """Reckon requests, tokens, cost and time of annotating; asks nobody and needs no key.

    Tokens are counted from characters, as tokenizers differ and their tables are not at hand offline.

    Args:
        questions: to label.
        params: of the stage.
        store: answers there already cost nothing; None to count all.
    """
    options = params.llm
    if params.chosen() == "lexicon":
        return Estimate("lexicon", len(questions), 0, 0, 0, 0, 0.0, options.currency, 0.0)
    asked = {request.key(options): request for request in requests_for(questions, options)}
    stored = store.get_many(asked) if store is not None else {}
    missing = [request for key, request in asked.items() if key not in stored]
    prompt = sum(_prompt_tokens(request) for request in missing)
    completion = sum(ANSWER_TOKENS * _dimensions(options.one_dimension_a_call) for _ in missing)
    return Estimate(
        annotator=f"llm:{options.model}",
        questions=len(questions),
        stored=len(stored),
        requests=len(missing),
        prompt_tokens=prompt,
        completion_tokens=completion,
        cost=options.cost(prompt, completion),
        currency=options.currency,
        seconds=math.ceil(len(missing) / options.concurrency) * SECONDS_A_REQUEST,
    )


def tokens(text: str) -> int:
    """About how many tokens a text has."""
    chinese = sum("\u3400" <= letter <= "\u9fff" for letter in text)
    return math.ceil(chinese * CJK_TOKENS + (len(text) - chinese) * OTHER_TOKENS)


def _prompt_tokens(request: ChatRequest) -> int:
    form = json.dumps(request.response_format, ensure_ascii=False) if request.response_format else ""
    return tokens(form) + sum(tokens(message["content"]) for message in request.messages)


def _dimensions(one_dimension_a_call: bool) -> int:
    return 1 if one_dimension_a_call else 5
