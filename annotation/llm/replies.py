"""Reading a chat completion's JSON: what of it is kept, and what makes it unusable."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from annotation.llm.budget import paid
from annotation.llm.messages import (
    Answer,
    BadAnswerError,
    ChatRequest,
    Message,
    Outcome,
    Reason,
    Usage,
    Waste,
)
from annotation.llm.options import LlmOptions

Completion = Mapping[str, Any]
"""A chat completion as the endpoint sent it: plain JSON, because endpoints take liberties with the form."""
_HARMONY_END = re.compile(r"<\|(?:return|end|call)\|>.*", re.DOTALL)
_SECRET = re.compile(r"\b(?:sk|key|Bearer)[-_ ][\w-]{6,}")
"""Something like a key, which providers quote in their errors: `Incorrect API key provided: sk-abc…`."""
_ENDS = {"tool_calls", "function_call", "eos", "stop_sequence"}
"""Other names of a whole answer's end."""
_MOST_TOKENS = 10**8
"""More tokens than any request has: an endpoint that says so is mistaken."""


def words(completion: object, options: LlmOptions, most: int = 160) -> str:
    """The start of what an endpoint said, in one line, for messages on the screen; never the key."""
    text = said(completion) if is_whole(completion) and isinstance(completion, dict) else ""
    text = text or (
        completion if isinstance(completion, str) else json.dumps(completion, ensure_ascii=False, default=str)
    )
    key = options.api_key()
    text = _SECRET.sub("…", text.replace(key, "…") if key else text)
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return text[:most] + ("…" if len(text) > most else "")


def stored_value(completion: Completion, usage: Usage, request: ChatRequest) -> dict[str, Any]:
    """What is stored of a good answer.

    Raises:
        BadAnswerError: it is not one.
    """
    choice = completion["choices"][0]
    text = said(completion, elsewhere=not request.keep_unfinished)
    finished = choice.get("finish_reason") or "stop"
    finished = "stop" if finished in _ENDS else finished
    refused = bool(choice["message"].get("refusal")) or finished == "content_filter"
    finish = "refusal" if refused else finished
    if not request.keep_unfinished:
        if refused:
            raise BadAnswerError(Reason.REFUSED, "the model refused the question")
        if finish == "length":
            raise BadAnswerError(Reason.TRUNCATED, "the answer was cut off at max_tokens")
        if not text.strip():
            raise BadAnswerError(Reason.EMPTY, "the answer is empty")
    if request.check is not None and finish == "stop":
        request.check(text)
    value = {
        "text": text,
        "finish_reason": finish,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
    }
    if request.keep_unfinished:
        # An evaluation tells which model answered: endpoints map one name to changing versions.
        value["model"] = str(completion.get("model") or "")[:200] or None
    logprobs = _logprobs(choice, text) if request.logprobs else None
    return value | ({"logprobs": logprobs} if logprobs else {})


def is_whole(completion: object) -> bool:
    """Whether it has a message: endpoints send all kinds of JSON with status 200."""
    if not isinstance(completion, dict) or not isinstance(completion.get("choices"), list):
        return False
    choice = completion["choices"][0] if completion["choices"] else None
    message = choice.get("message") if isinstance(choice, dict) else None
    return isinstance(message, dict) and isinstance(message.get("content"), str | list | None)


def said(completion: Completion, *, elsewhere: bool = True) -> str:
    """The text of the message; half of a surrogate pair, which no file can hold, becomes a question mark.

    Args:
        completion: a whole one.
        elsewhere: where the message has no text, take the arguments of its tool call, or its reasoning if that
            holds JSON: servers put answers there that were asked for in a schema.
    """
    message = completion["choices"][0]["message"]
    text = _text(message.get("content"))
    if not text.strip() and elsewhere:
        reasoning = _text(message.get("reasoning_content") or message.get("reasoning"))
        text = _arguments(message) or (reasoning if "{" in reasoning else text)
    return text.encode("utf-8", "replace").decode()


def final_part(text: str) -> str:
    """What a model says after thinking.

    Thoughts end in `</think>`, also without an opening, which some servers' templates hold; in Harmony (gpt-oss), where
    the server passes channels on, the answer is in the channel `final`.
    """
    bare = text.rpartition("</think>")[2]
    return _HARMONY_END.sub("", bare.rpartition("<|channel|>final<|message|>")[2])


def _text(content: object) -> str:
    """The text of a message's content, which is a string or a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return "".join(text for text in texts if isinstance(text, str))


def _arguments(message: Mapping[str, Any]) -> str:
    """The arguments of the first tool call."""
    try:
        arguments = message["tool_calls"][0]["function"]["arguments"]
    except (KeyError, IndexError, TypeError):
        return ""
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def billed(completion: object) -> Usage:
    """The tokens of a completion; None where the endpoint says nothing, or nothing that can be."""
    usage = completion.get("usage") if isinstance(completion, dict) else None
    if not isinstance(usage, dict):
        return Usage(None, None)
    return Usage(_tokens(usage.get("prompt_tokens")), _tokens(usage.get("completion_tokens")))


def _tokens(value: object) -> int | None:
    return value if isinstance(value, int) and 0 <= value <= _MOST_TOKENS else None


def _logprobs(choice: Mapping[str, Any], text: str) -> list[list[float]] | None:
    """Length in bytes and log-probability of each token of the text; None where its tokens are not given.

    Some servers trim the text: tokens before and after it, and what of them lies outside, are left out.
    """
    try:
        pieces = [(_bytes(token), float(token["logprob"])) for token in choice["logprobs"]["content"]]
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    said = text.encode()
    start = b"".join(piece for piece, _ in pieces).find(said)
    if start < 0 or any(math.isnan(logprob) for _, logprob in pieces):
        return None
    found, at = [], -start
    for piece, logprob in pieces:
        inside = min(at + len(piece), len(said)) - max(at, 0)
        if inside > 0:
            found.append([inside, round(logprob, 4)])
        at += len(piece)
    return found


def _bytes(token: Mapping[str, Any]) -> bytes:
    # A Chinese character may be split between tokens, which then have no text of their own, only bytes.
    given = token.get("bytes")
    return bytes(given) if given is not None else str(token["token"]).encode()


def answer_of(request: ChatRequest, value: Mapping[str, Any], options: LlmOptions, *, stored: bool) -> Answer:
    """The answer that a stored value is."""
    usage = Usage(value["prompt_tokens"], value["completion_tokens"])
    logprobs = [(int(length), logprob) for length, logprob in value.get("logprobs") or ()] or None
    return Answer(
        request,
        value["text"],
        value["finish_reason"],
        usage,
        paid(value, options),
        stored,
        logprobs,
        model=value.get("model"),
    )


def with_hint(request: ChatRequest, completion: Completion, hint: str) -> ChatRequest:
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
            shared.append(
                replace(outcome, request=request, usage=Usage(), cost=cost, shared=True, waste=Waste())
            )
        else:
            shared.append(replace(outcome, request=request, waste=Waste()))
    return [outcome, *shared]
