"""Limits of an endpoint and of its bill: the pace of requests, errors after which one is tried again, spending."""

import asyncio
import json
import math
import random
import re
import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import NamedTuple

import httpx
import openai

from build_dataset.annotation.llm.messages import AnswerStore, ChatRequest, Failed, Reason, Usage, Waste, stored_cost
from build_dataset.annotation.llm.options import LlmOptions
from build_dataset.schemas import data, errors, identity

LONGEST_WAIT = 300.0  # longest wait in seconds; an endpoint that asks for more counts as failed
_FIRST_BACKOFF = 0.5  # seconds; doubles with every attempt
_LONGEST_BACKOFF = 30.0  # seconds, from the seventh attempt on
_LOOK = 0.02  # seconds between looks for money that is free again


class Fault(NamedTuple):
    """A failed attempt."""

    reason: Reason
    detail: str
    retry: bool  # True where another attempt may help
    wait: float | None = None  # seconds the endpoint asked to wait
    maybe_billed: bool = False  # True where the endpoint may have worked, and charged, unseen by us


class Pace:
    """Holds all requests back while the endpoint asks to wait, and says whether a failed one is tried again."""

    def __init__(self, max_retries: int) -> None:
        self._max_retries = max_retries
        self._resume = 0.0

    async def wait_for_turn(self) -> None:
        """Wait until a request may go."""
        while (wait := self._resume - time.monotonic()) > 0:
            # Spread over a tenth more, so that held-back requests do not all arrive in one instant.
            await asyncio.sleep(wait * random.uniform(1, 1.1))  # noqa: S311

    async def wait_to_retry(self, fault: Fault, attempt: int) -> bool:
        """Wait before another attempt and say whether to make one."""
        if not fault.retry or attempt >= self._max_retries or (fault.wait or 0) > LONGEST_WAIT:
            return False
        if fault.wait is not None:
            self._resume = max(self._resume, time.monotonic() + fault.wait)
            return True
        backoff = min(_FIRST_BACKOFF * 2**attempt, _LONGEST_BACKOFF)
        await asyncio.sleep(backoff * random.uniform(0.75, 1.25))  # noqa: S311
        return True


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


_FAULTS = data.shipped_toml("build_dataset.annotation.llm", "faults.toml")
_RETRIED_STATUS = {408, 409, 425}  # timeout, conflict, too early
_GATEWAY = {502, 504, 524}  # a gateway gave up on a server that may have worked, and charged, behind it
_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)
"""Errors before a request was sent; after later ones the endpoint may have worked on it."""

NOT_A_COMPLETION = Fault(
    Reason.MALFORMED_JSON, "the endpoint sent something that is not a chat completion", retry=True, maybe_billed=True
)


def classify(error: Exception, options: LlmOptions) -> Fault:
    """The fault behind an exception. Texts of providers stay out of it: they may quote keys and questions.

    Raises ``UserError`` where no request can succeed: wrong key, model, address or certificate, no credit.
    """
    if (untrusted := errors.bad_certificate(error, options.base_url)) is not None:
        raise errors.UserError(untrusted) from None
    never_sent = isinstance(error.__cause__, _NEVER_SENT)
    if isinstance(error, openai.APITimeoutError) and not never_sent:
        return Fault(Reason.TIMEOUT, f"no answer within {options.timeout:g} s", retry=True, maybe_billed=True)
    if isinstance(error, openai.APIConnectionError):
        detail = f"no connection to {options.base_url}" if never_sent else "the connection broke before the answer"
        return Fault(Reason.CONNECTION, detail, retry=True, maybe_billed=not never_sent)
    if isinstance(error, openai.APIStatusError):
        is_html = not isinstance(error.body, dict)
        names = ("retry-after-ms", "retry-after")
        milliseconds, seconds = (_number(error.response.headers.get(name)) for name in names)
        wait = seconds if milliseconds is None else milliseconds / 1000
        return fault_of_status(error.status_code, error.code, options, wait, foreign=is_html)
    if isinstance(error, ValueError | openai.APIResponseValidationError):
        return NOT_A_COMPLETION
    return Fault(Reason.ERROR, f"{type(error).__name__} while asking", retry=False)


def fault_of_status(
    status: int, code: str | None, options: LlmOptions, wait: float | None = None, *, foreign: bool = False
) -> Fault:
    """The fault behind an HTTP status that is not 2xx; ``foreign`` where the reply is no JSON, so no API's."""
    cases = {
        "firewall": status == 403 and foreign,
        "key": status == 401 or (status == 403 and code not in _FAULTS["codes"]["refused"]),
        "model": status == 404,
        "redirect": 300 <= status < 400,
        "credit": status == 402 or code == "insufficient_quota",
    }
    message = next((_FAULTS["hopeless"][name] for name, holds in cases.items() if holds), None)
    known = {"url": options.base_url, "model": options.model, "variable": options.api_key_env}
    if message is not None:
        raise errors.UserError(str(message).format(status=status, **known)) from None
    if code in _FAULTS["codes"]["refused"]:
        return Fault(Reason.REFUSED, f"the endpoint's filter refused the question (HTTP {status})", retry=False)
    if code in _FAULTS["codes"]["too_long"] or status == 413:
        return Fault(Reason.TOO_LONG, f"the question does not fit the model (HTTP {status})", retry=False)
    if status == 429:
        return Fault(Reason.RATE_LIMITED, "rate limit (HTTP 429)", retry=True, wait=wait)
    if status >= 500 or status in _RETRIED_STATUS:
        detail = f"the server failed (HTTP {status})"
        return Fault(Reason.SERVER_ERROR, detail, retry=True, wait=wait, maybe_billed=status in _GATEWAY)
    return Fault(Reason.BAD_REQUEST, f"the endpoint refused the request's form (HTTP {status})", retry=False)


class Budget:
    """Sends a request only if its worst case still fits under the cap.

    Requests in flight are reserved at their worst case; a request that fits only if they turn out cheaper waits for
    them. After one request did not fit, no other is sent.
    """

    def __init__(self, cap: float | None, spent: float) -> None:
        self.spent = spent
        self.exhausted = False
        self._cap = cap
        self._reserved: list[float] = []

    async def reserve(self, worst: float) -> bool:
        """Reserve the most that a request can cost; return whether it may go."""
        if self._cap is None:
            return True
        while not self.exhausted and self.spent + sum(self._reserved) + worst > self._cap:
            self.exhausted = not self._reserved
            await asyncio.sleep(_LOOK)
        if not self.exhausted:
            self._reserved.append(worst)
        return not self.exhausted

    def settle(self, worst: float, cost: float) -> None:
        """Replace a reservation by what the request did cost."""
        if self._cap is not None:
            self._reserved.remove(worst)
            self.spent += cost


def worst_tokens(request: ChatRequest, options: LlmOptions) -> tuple[int, int]:
    """Return the most tokens of a request and its answer: no tokenizer makes two tokens from a byte of UTF-8."""
    body = json.dumps(request.body(options) | options.extra_body, ensure_ascii=False, default=dict)
    text, pictures = _PICTURE.subn("", body)
    return len(text.encode()) + pictures * PICTURE_TOKENS, options.max_tokens


_PICTURE = re.compile(r"data:image/[^\"]+")  # its base64 is no text of the prompt
PICTURE_TOKENS = 16_384
"""Most tokens that a picture of 2,000 pixels counts: the most that Qwen-VL's models make of one; others make fewer."""


def worst_cost(request: ChatRequest, options: LlmOptions, *, batched: bool = False) -> float:
    """Most that one request can cost."""
    if options.price_in is None:
        return 0.0
    return options.cost(*worst_tokens(request, options), batched=batched) or 0.0


def waste_cost(waste: Waste, options: LlmOptions) -> tuple[float, float]:
    """Return the certain cost of calls without a usable answer, and the most, at full price, of those unseen."""
    known = options.cost(waste.prompt_tokens, waste.completion_tokens)
    return known or 0.0, options.cost(waste.most_prompt, waste.most_completion) or 0.0


def over_cap(request: ChatRequest, options: LlmOptions) -> Failed:
    """Return the outcome of a request that is not sent, since it could cost too much."""
    cap = f"{options.max_cost:g} {options.currency}"
    return Failed(request, Reason.SPENDING_CAP, f"not asked: it could break max_cost of {cap}")


_WASTED = ("wasted:", "wasted:batch:")  # begin keys in the store: of single requests, of batches


class CostAccount:
    """Account of the cost of requests beside the answers that are kept, in this run and in earlier ones.

    Written down at once: what was spent before a kill counts after it. ``batched`` requests have prices of their own.
    """

    def __init__(
        self, requests: Mapping[str, ChatRequest], store: AnswerStore, options: LlmOptions, *, batched: bool = False
    ) -> None:
        self._requests, self._store, self._options = requests, store, options
        self._prefix = _WASTED[batched]
        values = store.get_many([prefix + key for key in requests for prefix in _WASTED])
        self._known = {name: Waste(**value) for name, value in values.items()}
        self._note = "wasted:sent:" + identity.sha256(options.base_url, options.model or "")
        self._sent = list(store.get_many([self._note]).get(self._note, ()))
        for key in [key for key in self._sent if key in requests]:  # a killed run sent them and saw no reply
            self.unseen(key, requests[key])
            self.came(key)

    def waste(self, key: str) -> Waste:
        """Of a request."""
        return sum((self._known.get(prefix + key, Waste()) for prefix in _WASTED), Waste())

    def sent(self, key: str) -> None:
        """Note that a call is on its way: if this process is killed, the next one counts it as unseen."""
        self._sent.append(key)
        self._store.put(self._note, self._sent)

    def came(self, key: str) -> None:
        """Take the note back, as the call has ended."""
        self._sent.remove(key)
        self._store.put(self._note, self._sent)

    def unusable(self, key: str, usage: Usage, request: ChatRequest) -> None:
        """Count an answer that could not be used; one without a count of tokens as if it had the most."""
        if usage.prompt_tokens is None or usage.completion_tokens is None:
            self.unseen(key, request)
        else:
            self._add(key, Waste(1, usage.prompt_tokens, usage.completion_tokens))

    def unseen(self, key: str, request: ChatRequest) -> None:
        """Count a call that may have been billed and whose answer never came."""
        self._add(key, Waste(0, 0, 0, 1, *worst_tokens(request, self._options)))

    def spent(self) -> float:
        """Return the cost of all requests so far, answers included; what may have been billed counts as if it was."""
        total = 0.0
        for name, waste in self._known.items():
            share = self._options.batch_share if name.startswith(_WASTED[True]) else 1.0
            total += share * sum(waste_cost(waste, self._options))
        for key, value in self._store.get_many(self._requests).items():
            cost = stored_cost(value, self._options)
            total += worst_cost(self._requests[key], self._options) if cost is None else cost
        return total

    def _add(self, key: str, waste: Waste) -> None:
        name = self._prefix + key
        self._known[name] = self._known.get(name, Waste()) + waste
        self._store.put(name, asdict(self._known[name]))
