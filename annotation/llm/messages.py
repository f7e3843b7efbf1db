"""Requests to a model, and reading of its answers: endpoints deviate from the form of a completion."""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from enum import StrEnum
from typing import Any, NamedTuple, Protocol, Self

from build_dataset.annotation.llm.options import LlmOptions
from build_dataset.schemas import errors, identity

Message = Mapping[str, Any]  # role and content


class Reason(StrEnum):
    """Reason for which a request gave no usable answer."""

    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    TIMEOUT = "timeout"
    CONNECTION = "connection"
    BAD_REQUEST = "bad_request"
    TOO_LONG = "too_long"  # the question does not fit the model's context
    REFUSED = "refused"
    TRUNCATED = "truncated"
    EMPTY = "empty"
    MALFORMED_JSON = "malformed_json"
    INVALID_LABEL = "invalid_label"
    SPENDING_CAP = "spending_cap"
    NOT_ASKED = "not_asked"  # the endpoint failed so often in a row that the rest was not asked
    ERROR = "error"


@dataclass(eq=False)
class BadAnswerError(Exception):
    """An answer that arrived whole but cannot be used; raised by ``ChatRequest.check``."""

    reason: Reason
    detail: str  # one sentence for people

    def __str__(self) -> str:
        return f"{self.reason}: {self.detail}"


class AnswerStore(Protocol):
    """Store of answers: JSON values by key, durable when ``put`` returns."""

    def get_many(self, keys: Iterable[str]) -> dict[str, Any]:
        """The values of those ``keys`` that are there."""

    def put(self, key: str, value: Any) -> None:
        """Store a value; the same key again replaces it."""


@dataclass(frozen=True)
class ChatRequest:
    """One chat completion to ask for."""

    id: str  # the caller's name for it; not sent, not part of the key
    messages: Sequence[Message]
    """``{"role": …, "content": …}``, the parts that all requests share first, so that providers can cache them."""
    response_format: Mapping[str, Any] | None = None
    check: Callable[[str], object] | None = field(default=None, compare=False)
    """Raises ``BadAnswerError`` for a text that cannot be used; such an answer is not stored."""
    keep_unfinished: bool = False  # True where truncated and refused answers are answers (evaluation)
    sample: int = 0  # number of the sample, where the same is asked several times on purpose
    logprobs: bool = False  # True to ask how probable the model found each token of its answer

    def body(self, options: LlmOptions) -> dict[str, Any]:
        """The JSON fields of the request as they are sent, without ``options.extra_body``."""
        body: dict[str, Any] = {"model": options.model, "messages": list(self.messages)}
        body[options.max_tokens_field] = options.max_tokens
        optional = {
            "temperature": options.temperature if options.send_temperature else None,
            "seed": None if options.seed is None else options.seed + self.sample,
            "response_format": self.response_format,
            "logprobs": self.logprobs or None,
        }
        return body | {name: value for name, value in optional.items() if value is not None}

    def key(self, options: LlmOptions) -> str:
        """Hash of everything that can change the answer; not of prices, timeouts or concurrency."""
        asked: dict[str, Any] = {"url": options.base_url, "body": self.body(options), "extra": options.extra_body}
        asked |= {"unfinished": self.keep_unfinished, "sample": self.sample}
        return identity.sha256(json.dumps(asked, sort_keys=True, ensure_ascii=False, default=dict))


class Usage(NamedTuple):
    """Tokens that were billed; None where the endpoint does not say."""

    prompt_tokens: int | None = 0
    completion_tokens: int | None = 0


@dataclass(frozen=True)
class Waste:
    """Calls for one request, in all runs, that gave no usable answer, and their cost."""

    calls: int = 0  # calls with a known bill: the answer came and could not be used
    prompt_tokens: int = 0
    completion_tokens: int = 0
    unseen: int = 0  # calls whose bill never came: timeouts, broken connections, no count of tokens
    most_prompt: int = 0
    most_completion: int = 0  # most tokens that those can have had

    def __add__(self, other: Self) -> Self:
        return type(self)(*(first + two for first, two in zip(astuple(self), astuple(other), strict=True)))


@dataclass(frozen=True)
class Answer:
    """A model's answer, fresh or stored."""

    request: ChatRequest
    text: str  # empty where the model only refused
    finish_reason: str  # `stop`; `length` or `refusal` only with `keep_unfinished`
    usage: Usage
    cost: float | None  # at the options' prices; None where unknown; 0 where an earlier request is the same
    logprobs: Sequence[tuple[int, float]] | None = None
    """Length in bytes and log-probability of each token of ``text``; None where not asked for or not given."""
    waste: Waste = Waste()  # cost beside `usage`
    model: str | None = None  # the model's name as the endpoint reports it


@dataclass(frozen=True)
class Failed:
    """A request without a usable answer; it is asked again on the next run."""

    request: ChatRequest
    reason: Reason
    detail: str  # one sentence of ours; never the provider's error text
    waste: Waste = Waste()  # cost that was billed all the same, or may have been


Outcome = Answer | Failed  # of one request
Ended = list[tuple[str, Outcome]]  # outcomes of requests that have just ended, by key

Completion = Mapping[str, Any]
"""A chat completion as the endpoint sent it: plain JSON, because endpoints take liberties with the form."""
_HARMONY_END = re.compile(r"<\|(?:return|end|call)\|>.*", re.DOTALL)  # 甲<|return|>
_SECRET = re.compile(r"\b(?:sk|key|Bearer)[-_ ][\w-]{6,}")
"""Something like a key, which providers quote in their errors: `Incorrect API key provided: sk-abc…`."""
_ENDS = {"tool_calls", "function_call", "eos", "stop_sequence"}  # other names of a whole answer's end
_MOST_TOKENS = 10**8  # upper bound on plausible token counts; an endpoint that reports more is wrong


def error_excerpt(completion: object, options: LlmOptions) -> str:
    """The start of what an endpoint said, in one line, for messages on the screen; never the key."""
    text = message_text(completion) if has_message(completion) and isinstance(completion, dict) else ""
    if not text:
        is_text = isinstance(completion, str)
        text = str(completion) if is_text else json.dumps(completion, ensure_ascii=False, default=str)
    key = options.api_key()
    text = _SECRET.sub("…", text.replace(key, "…") if key else text)
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return text[:160] + ("…" if len(text) > 160 else "")


UNUSABLE_AFTER = 10
"""Number of paid but unusable replies in a row, without a usable one before, after which the rest is not sent:
endpoint, model and options do not fit together."""


def no_usable_answer_error(count: int, why: str, completion: object, options: LlmOptions) -> errors.UserError:
    """Return the error that ends a run in which no paid answer is usable."""
    problem = f"{count} answers of {options.model} in a row are of no use ({why}), and the rest was not asked"
    return errors.UserError(f"{problem}; it says: {error_excerpt(completion, options)}")


def stored_value(completion: Completion, usage: Usage, request: ChatRequest) -> dict[str, Any]:
    """Return the value that is stored of a good answer; raise ``BadAnswerError`` for any other."""
    choice = completion["choices"][0]
    text = message_text(completion, elsewhere=not request.keep_unfinished)
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
    # Which model answered: endpoints map one name to changing versions, and some to another model.
    named = str(completion.get("model") or "")[:200] or None
    value = {"text": text, "finish_reason": finish, **usage._asdict(), "model": named}
    logprobs = _logprobs(choice, text) if request.logprobs else None
    return value | ({"logprobs": logprobs} if logprobs else {})


def has_message(completion: object) -> bool:
    """Return whether it has a message: endpoints send all kinds of JSON with status 200."""
    if not isinstance(completion, dict) or not isinstance(completion.get("choices"), list):
        return False
    choice = completion["choices"][0] if completion["choices"] else None
    message = choice.get("message") if isinstance(choice, dict) else None
    return isinstance(message, dict) and isinstance(message.get("content"), str | list | None)


def message_text(completion: Completion, *, elsewhere: bool = True) -> str:
    """The text of the message; half of a surrogate pair, which no file can hold, becomes a question mark.

    With ``elsewhere``, a message without text gives the arguments of its tool call, or its reasoning if that holds
    JSON: servers put answers there that were asked for in a schema.
    """
    message = completion["choices"][0]["message"]
    text = _text(message.get("content"))
    if not text.strip() and elsewhere:
        reasoning = _text(message.get("reasoning_content") or message.get("reasoning"))
        try:
            arguments = message["tool_calls"][0]["function"]["arguments"]
            called = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        except (KeyError, IndexError, TypeError):
            called = ""
        text = called or (reasoning if "{" in reasoning else text)
    return text.encode("utf-8", "replace").decode()


def final_part(text: str) -> str:
    """Return the part of an answer that follows the model's thoughts.

    Thoughts end in `</think>`, also without an opening, which some servers' templates hold; in Harmony (gpt-oss), where
    the server passes channels on, the answer is in the channel `final`.
    """
    return _HARMONY_END.sub("", text.rpartition("</think>")[2].rpartition("<|channel|>final<|message|>")[2])


def _text(content: object) -> str:
    """The text of a message's content, which is a string or a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return "".join(text for text in texts if isinstance(text, str))


def billed_tokens(completion: object) -> Usage:
    """The tokens of a completion; None where the endpoint says nothing, or nothing that can be."""
    usage = completion.get("usage") if isinstance(completion, dict) else None
    if not isinstance(usage, dict):
        return Usage(None, None)
    return Usage(_tokens(usage.get("prompt_tokens")), _tokens(usage.get("completion_tokens")))


def _tokens(value: object) -> int | None:
    return value if isinstance(value, int) and 0 <= value <= _MOST_TOKENS else None


def _logprobs(choice: Mapping[str, Any], text: str) -> list[list[float]] | None:
    """Length in bytes and log-probability of each token of the text; None where its tokens are not given."""
    try:
        pieces = []
        for token in choice["logprobs"]["content"]:
            # A Chinese character may be split between tokens, which then have no text of their own, only bytes.
            given = token.get("bytes")
            piece = str(token["token"]).encode() if given is None else bytes(given)
            pieces.append((piece, float(token["logprob"])))
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    content = text.encode()
    # Some servers trim the text: tokens before and after it, and what of them lies outside, are left out.
    start = b"".join(piece for piece, _ in pieces).find(content)
    if start < 0 or any(math.isnan(logprob) for _, logprob in pieces):
        return None
    tokens, at = [], -start
    for piece, logprob in pieces:
        inside = min(at + len(piece), len(content)) - max(at, 0)
        if inside > 0:
            tokens.append([inside, round(logprob, 4)])
        at += len(piece)
    return tokens


def stored_cost(value: Mapping[str, Any], options: LlmOptions) -> float | None:
    """Return what a stored value cost, at the prices of the options; None where unknown."""
    return options.cost(value["prompt_tokens"], value["completion_tokens"], batched=bool(value.get("batched", False)))


def answer_of(request: ChatRequest, value: Mapping[str, Any], options: LlmOptions) -> Answer:
    """The answer that a stored value is."""
    usage = Usage(value["prompt_tokens"], value["completion_tokens"])
    logprobs = [(int(length), logprob) for length, logprob in value.get("logprobs") or ()] or None
    text, finish, cost = value["text"], value["finish_reason"], stored_cost(value, options)
    return Answer(request, text, finish, usage, cost, logprobs, model=value.get("model"))


_SNAPSHOT = re.compile(r"(?:[-@:]\d{2,8}|[-:](?:latest|preview))+$")
"""End of the name of a version: gpt-4o-2024-08-06, llama3:latest."""


def is_another_model(asked: str | None, told: str | None) -> bool:
    """Return whether a reply names a model that is not the one asked for, nor a dated version of it."""
    if not asked or not told:
        return False
    wanted, other = (name.rpartition("/")[2].casefold() for name in (asked, told))
    return wanted not in (other, _SNAPSHOT.sub("", other)) and other != _SNAPSHOT.sub("", wanted)


def other_models(asked: str | None, told: Iterable[str | None]) -> dict[str, int]:
    """Return how many replies name another model than was asked for, by that name."""
    return dict(sorted(Counter(name for name in told if name and is_another_model(asked, name)).items()))


def share_outcome(outcome: Outcome, group: Sequence[ChatRequest]) -> list[Outcome]:
    """The outcome for every request of a group; all but the first share what the first paid for."""
    shared = replace(outcome, waste=Waste())
    if isinstance(shared, Answer):
        shared = replace(shared, usage=Usage(), cost=None if shared.cost is None else 0.0)
    return [outcome, *(replace(shared, request=request) for request in group[1:])]


def strict_object(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The strict JSON schema of an object whose properties are all required."""
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def answer_form(how: str, name: str, properties: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the ``response_format`` to send: the strict schema for ``json_schema``, nothing for ``none``."""
    if how == "json_schema":
        return {"type": how, "json_schema": {"name": name, "strict": True, "schema": strict_object(properties)}}
    return None if how == "none" else {"type": how}


def json_object(text: str) -> dict[str, Any]:
    """Return the JSON object of a reply; raise ``BadAnswerError`` where there is none."""
    try:
        content = json.loads(text[text.find("{") : text.rfind("}") + 1])
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise BadAnswerError(Reason.MALFORMED_JSON, "the answer is not a JSON object")
    return content
