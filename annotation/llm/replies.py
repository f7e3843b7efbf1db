"""Reading a chat completion: what of it is kept, and what makes it unusable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from annotation.llm.messages import Answer, BadAnswerError, ChatRequest, Message, Outcome, Reason, Usage

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletion

_MOST_TOKENS = 10**8
"""More tokens than any request has: an endpoint that says so is mistaken."""


def stored_value(completion: ChatCompletion, usage: Usage, request: ChatRequest) -> dict[str, Any]:
    """What is stored of a good answer.

    Raises:
        BadAnswerError: it is not one.
    """
    choice = completion.choices[0]
    text = said(completion)
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


def is_whole(completion: ChatCompletion) -> bool:
    """Whether it has a message: the SDK passes on any JSON that came with status 200, unchecked."""
    message = completion.choices[0].message if completion.choices else None
    return message is not None and isinstance(message.content, str | None)


def said(completion: ChatCompletion) -> str:
    """The text of the message; half of a surrogate pair, which no file can hold, becomes a question mark."""
    return (completion.choices[0].message.content or "").encode("utf-8", "replace").decode()


def billed(completion: ChatCompletion) -> Usage:
    """The tokens of a completion; None where the endpoint says nothing, or nothing that can be."""
    usage = completion.usage
    return Usage(
        _tokens(getattr(usage, "prompt_tokens", None)), _tokens(getattr(usage, "completion_tokens", None))
    )


def _tokens(value: object) -> int | None:
    return value if isinstance(value, int) and 0 <= value <= _MOST_TOKENS else None


def with_hint(request: ChatRequest, completion: ChatCompletion, hint: str) -> ChatRequest:
    """The request again, with what the model said and what is wrong with it."""
    more: list[Message] = [
        {"role": "assistant", "content": said(completion)},
        {"role": "user", "content": hint},
    ]
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
