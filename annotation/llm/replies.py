"""Reading a chat completion: what of it is kept, and what makes it unusable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from annotation.llm.messages import Answer, BadAnswerError, ChatRequest, Message, Outcome, Reason, Usage

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletion


def stored_value(completion: ChatCompletion, usage: Usage, request: ChatRequest) -> dict[str, Any]:
    """What is stored of a good answer.

    Raises:
        BadAnswerError: it is not one.
    """
    choice = completion.choices[0]
    text = choice.message.content or ""
    refused = bool(choice.message.refusal) or choice.finish_reason == "content_filter"
    finish = "refusal" if refused else choice.finish_reason or "stop"
    if not request.keep_unfinished:
        if refused:
            raise BadAnswerError(Reason.REFUSED, "the model refused the question")
        if finish == "length":
            raise BadAnswerError(Reason.TRUNCATED, "the answer was cut off at max_tokens")
        if not text.strip():
            raise BadAnswerError(Reason.EMPTY, "the answer is empty")
    if request.check is not None and finish == "stop":
        request.check(text)
    return {
        "text": text,
        "finish_reason": finish,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
    }


def billed(completion: ChatCompletion) -> Usage:
    """The tokens of a completion."""
    usage = completion.usage
    return Usage(None, None) if usage is None else Usage(usage.prompt_tokens, usage.completion_tokens)


def with_hint(request: ChatRequest, completion: ChatCompletion, hint: str) -> ChatRequest:
    """The request again, with what the model said and what is wrong with it."""
    said = completion.choices[0].message.content or ""
    more: list[Message] = [{"role": "assistant", "content": said}, {"role": "user", "content": hint}]
    return replace(request, messages=[*request.messages, *more])


def spread(outcome: Outcome, group: Sequence[ChatRequest]) -> list[Outcome]:
    """The outcome for every request of a group; all but the first share what the first paid for."""
    shared: list[Outcome] = []
    for request in group[1:]:
        if isinstance(outcome, Answer):
            cost = None if outcome.cost is None else 0.0
            shared.append(replace(outcome, request=request, usage=Usage(), cost=cost, shared=True))
        else:
            shared.append(replace(outcome, request=request, usage=Usage()))
    return [outcome, *shared]
