"""Estimate of the tokens and cost of requests, before anything is asked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from build_dataset.annotation.llm.messages import AnswerStore, ChatRequest
from build_dataset.annotation.llm.options import LlmOptions
from build_dataset.annotation.llm_annotator import choose_shots, example, label_prompt, requests_for
from build_dataset.annotation.params import AnnotateParams
from build_dataset.annotation.reviewed import Reviewed
from build_dataset.schemas.questions import Question
from build_dataset.schemas.wording import counted

_TOKEN = re.compile(r"[A-Za-z]{1,6}|\d{1,3}|[^\sA-Za-z0-9]")
"""About a token: an ideograph, a mark, up to six letters, three digits; ``penici|llin``."""
_MESSAGE_TOKENS = 4  # tokens that frame each message, as OpenAI counts them


def about_tokens(text: str) -> int:
    """Return about how many tokens a text has: within a fifth of ``o200k_base`` on exam questions."""
    return len(_TOKEN.findall(text))


def estimate_requests(
    options: LlmOptions,
    asked: Iterable[ChatRequest],
    store: AnswerStore,
    what: str,
    answer: int,
    *,
    batched: bool = False,
) -> str:
    """Return tokens and cost of the requests that are not stored, in one line; asks nobody and needs no key.

    ``answer`` are the tokens of one answer.
    """
    requests = {request.key(options): request for request in asked}
    stored = store.get_many(requests)
    missing = [request for key, request in requests.items() if key not in stored]
    tokens = sum(map(_tokens, missing))
    told = f"{len(missing):,} {what} ({len(stored):,} answered before)" if stored else f"{len(missing):,} {what}"
    return options.told(told, tokens, len(missing) * answer, digits=4, batched=batched)


def estimate(
    questions: Sequence[Question], params: AnnotateParams, store: AnswerStore, reviewed: Sequence[Reviewed] = ()
) -> str:
    """Return what annotating takes, in one line; asks nobody and needs no key."""
    options, chosen = params.llm, params.chosen(len(reviewed))
    if chosen != "llm":
        return f"{counted(len(questions), 'question')} by {chosen}: no requests, no cost"
    prompt = label_prompt(options, choose_shots(reviewed, options.shots))
    requests = requests_for(questions, options, prompt)
    answer = about_tokens(example(prompt.dimensions, "10"))
    return estimate_requests(options, requests, store, "requests to make", answer, batched=params.batch)


def _tokens(request: ChatRequest) -> int:
    form = json.dumps(request.response_format, ensure_ascii=False) if request.response_format else ""
    return about_tokens(form) + sum(about_tokens(each["content"]) + _MESSAGE_TOKENS for each in request.messages)
