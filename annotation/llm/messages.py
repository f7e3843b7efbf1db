"""What is asked of a model, and what becomes of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from annotation.llm.options import LlmOptions
from schemas.identity import sha256

Message = Mapping[str, Any]


class Reason(StrEnum):
    """Why a request gave no usable answer."""

    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    TIMEOUT = "timeout"
    CONNECTION = "connection"
    BAD_REQUEST = "bad_request"
    TOO_LONG = "too_long"
    """The question does not fit the model's context."""
    REFUSED = "refused"
    TRUNCATED = "truncated"
    EMPTY = "empty"
    MALFORMED_JSON = "malformed_json"
    INVALID_LABEL = "invalid_label"
    SPENDING_CAP = "spending_cap"
    NOT_ASKED = "not_asked"
    """The endpoint failed so often in a row that the rest was not asked."""
    ERROR = "error"


class BadAnswerError(Exception):
    """An answer that arrived whole but cannot be used; raised by ``ChatRequest.check``.

    Attributes:
        reason: its class.
        detail: one sentence for people.
        hint: what to tell the model for one second try; None for none.
    """

    def __init__(self, reason: Reason, detail: str, hint: str | None = None) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail
        self.hint = hint


class AnswerStore(Protocol):
    """Where answers are kept: JSON values by key, durable when ``put`` returns."""

    def get_many(self, keys: Iterable[str]) -> dict[str, Any]:
        """The values of those ``keys`` that are there."""

    def put(self, key: str, value: Any) -> None:
        """Store a value; the same key again replaces it."""


@dataclass(frozen=True)
class ChatRequest:
    """One chat completion to ask for."""

    id: str
    """The caller's name for it; not sent, not part of the key."""
    messages: Sequence[Message]
    """``{"role": …, "content": …}``, the parts that all requests share first, so that providers can cache them."""
    response_format: Mapping[str, Any] | None = None
    check: Callable[[str], object] | None = field(default=None, compare=False)
    """Raises ``BadAnswerError`` for a text that cannot be used; such an answer is not stored."""
    keep_unfinished: bool = False
    """Whether truncated and refused answers are answers (evaluation) and not failures (annotation)."""
    part: int = 0
    """Number among the caller's requests of that id; not sent, not part of the key."""
    sample: int = 0
    """Number of the sample, where the same is asked several times on purpose."""
    logprobs: bool = False
    """Whether to ask how probable the model found each token of its answer."""

    def body(self, options: LlmOptions) -> dict[str, Any]:
        """The JSON fields of the request as they are sent, without ``options.extra_body``."""
        body: dict[str, Any] = {
            "model": options.model,
            "messages": list(self.messages),
            options.max_tokens_field: options.max_tokens,
        }
        optional = {
            "temperature": options.temperature if options.send_temperature else None,
            "seed": None if options.seed is None else options.seed + self.sample,
            "response_format": self.response_format,
            "logprobs": self.logprobs or None,
        }
        return body | {name: value for name, value in optional.items() if value is not None}

    def key(self, options: LlmOptions) -> str:
        """Hash of everything that can change the answer; not of prices, timeouts or concurrency."""
        asked = {
            "url": options.base_url,
            "body": self.body(options),
            "extra": options.extra_body,
            "unfinished": self.keep_unfinished,
            "sample": self.sample,
        }
        return sha256(json.dumps(asked, sort_keys=True, ensure_ascii=False, default=dict))


@dataclass(frozen=True)
class Usage:
    """Tokens that were billed; None where the endpoint does not say."""

    prompt_tokens: int | None = 0
    completion_tokens: int | None = 0

    def total(self) -> int | None:
        """Of both kinds; None where one is unknown."""
        return _sum(self.prompt_tokens, self.completion_tokens)

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            _sum(self.prompt_tokens, other.prompt_tokens),
            _sum(self.completion_tokens, other.completion_tokens),
        )


@dataclass(frozen=True)
class Waste:
    """What calls for one request cost, or may have cost, in all runs, that gave no usable answer."""

    calls: int = 0
    """Whose bill is known: the answer came and could not be used."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    unseen: int = 0
    """Calls whose bill never came: timeouts, broken connections, replies without a count of tokens."""
    most_prompt: int = 0
    most_completion: int = 0
    """Most tokens that those can have had."""

    def __add__(self, other: Waste) -> Waste:
        return Waste(*(one + two for one, two in zip(astuple(self), astuple(other), strict=True)))


@dataclass(frozen=True)
class Answer:
    """A model's answer, fresh or stored."""

    request: ChatRequest
    text: str
    """Empty where the model only refused."""
    finish_reason: str
    """``stop``; ``length`` or ``refusal`` only with ``keep_unfinished``."""
    usage: Usage
    cost: float | None
    """At the prices of the options; zero where ``shared``; None where unknown."""
    stored: bool
    """Whether it was there before: nothing was asked."""
    logprobs: Sequence[tuple[int, float]] | None = None
    """Length in bytes and log-probability of each token of ``text``; None where not asked for or not given."""
    shared: bool = False
    """Whether an earlier request of this call is the same to the letter and bears tokens and cost."""
    waste: Waste = Waste()
    """What was paid beside ``usage``."""
    model: str | None = None
    """The model's name as the endpoint reports it; kept with ``keep_unfinished``."""


@dataclass(frozen=True)
class Failed:
    """A request without a usable answer; it is asked again on the next run."""

    request: ChatRequest
    reason: Reason
    detail: str
    """One sentence of ours; never the provider's error text."""
    waste: Waste = Waste()
    """What was billed all the same, or may have been."""


Outcome = Answer | Failed


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other
