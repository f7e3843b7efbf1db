"""Pace of all requests to an endpoint, and the errors after which a request is tried again."""

from __future__ import annotations

import asyncio
import math
import random
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass

import httpx
import openai

from annotation.llm.messages import Reason
from annotation.llm.options import LlmOptions
from schemas.errors import UserError, bad_certificate

LONGEST_WAIT = 300.0
"""Longest wait in seconds; an endpoint that asks for more counts as failed."""
_FIRST_BACKOFF = 0.5
_LONGEST_BACKOFF = 30.0
_LOOK = 0.02
"""Seconds between looks for a free place."""
_UNITS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_UNKNOWN_RESET = 1.0
_SAME_LIMIT = 1.0
"""Seconds within which several rate-limit errors count as one: they hit all requests in flight."""


class Pace:
    """Sends requests as fast as the endpoint takes them, and holds all of them back while it asks to wait.

    At most ``most`` are in flight; a rate limit halves that, and each round of answers adds one again
    (additive increase, multiplicative decrease, as in TCP: Chiu and Jain 1989). Where the endpoint tells what
    is left (``x-ratelimit-remaining-*``), no more go than that until its reset.
    """

    def __init__(self, most: int, max_retries: int) -> None:
        self._most = most
        self._max_retries = max_retries
        self._limit = float(most)
        self._left = math.inf
        self._reset = 0.0
        self._resume = 0.0
        self._slowed = 0.0
        self._tokens: int | None = None
        self._in_flight = 0

    @property
    def limit(self) -> int:
        """The number of requests that may be in flight now."""
        return int(self._limit)

    async def wait_for_turn(self) -> None:
        """Wait until one more request may go; ``leave`` must follow."""
        while True:
            if (wait := self._resume - time.monotonic()) > 0:
                # Spread over a tenth more, so that held-back requests do not all arrive in one instant.
                await asyncio.sleep(wait * random.uniform(1, 1.1))  # noqa: S311
            elif self._left < 1:
                self._resume, self._left = max(self._resume, self._reset), math.inf
            elif self._in_flight >= self.limit:
                await asyncio.sleep(_LOOK)  # after a rate limit alone: no more ask than may be in flight
            else:
                self._in_flight += 1
                self._left -= 1
                return

    def leave(self) -> None:
        """Note that a request ended, in whatever way."""
        self._in_flight -= 1

    def record_tokens(self, tokens: int | None) -> None:
        """Remember the tokens of an answered request: what is left of a limit of tokens is divided by them."""
        self._tokens = tokens

    def update_limits(self, headers: Mapping[str, str]) -> None:
        """Record an answered request and the remaining quota in the response's headers."""
        self._limit = min(self._most, self._limit + 1 / self._limit)
        self._left = math.inf
        for kind, each in (("requests", 1), ("tokens", self._tokens)):
            remaining = _number(headers.get(f"x-ratelimit-remaining-{kind}"))
            if remaining is None or not each or remaining // each >= self._left:
                continue
            wait = duration(headers.get(f"x-ratelimit-reset-{kind}"))
            self._left, self._reset = remaining // each, time.monotonic() + min(wait, LONGEST_WAIT)

    async def wait_to_retry(self, fault: Fault, attempt: int) -> bool:
        """Wait before another attempt and say whether to make one."""
        if fault.reason is Reason.RATE_LIMITED:
            self._slow_down()
        if not fault.retry or attempt >= self._max_retries or (fault.wait or 0) > LONGEST_WAIT:
            return False
        if fault.wait is not None:
            self._resume = max(self._resume, time.monotonic() + fault.wait)
            return True
        backoff = min(_FIRST_BACKOFF * 2**attempt, _LONGEST_BACKOFF)
        await asyncio.sleep(backoff * random.uniform(0.75, 1.25))  # noqa: S311
        return True

    def _slow_down(self) -> None:
        """Halve the limit, once for all requests that met the same rate limit."""
        now = time.monotonic()
        if now - self._slowed > _SAME_LIMIT:
            self._limit, self._slowed = max(1.0, self._limit / 2), now


def duration(value: str | None) -> float:
    """Seconds that a reset header names: ``1s``, ``6m0s``, ``20ms``, ``12.5``; a second where it names none."""
    if value is None:
        return _UNKNOWN_RESET
    if (plain := _number(value)) is not None:
        return plain
    parts = _DURATION.findall(value)
    return sum(float(amount) * _UNITS[unit] for amount, unit in parts) if parts else _UNKNOWN_RESET


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


_REFUSED_CODES = {
    "content_filter",
    "content_policy_violation",
    "moderation_blocked",
    "data_inspection_failed",
}
_TOO_LONG_CODES = {"context_length_exceeded", "string_above_max_length"}
_RETRIED_STATUS = {408, 409, 425}
_GATEWAY = {502, 504, 524}
"""A gateway gave up on a server that may have worked, and charged, behind it."""
_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)
"""Errors before a request was sent; after later ones the endpoint may have worked on it."""


@dataclass(frozen=True)
class Fault:
    """A failed attempt."""

    reason: Reason
    detail: str
    retry: bool
    """True where another attempt may help."""
    wait: float | None = None
    """Seconds the endpoint asked to wait."""
    maybe_billed: bool = False
    """True where the endpoint may have worked, and charged, without our seeing the answer."""


NOT_A_COMPLETION = Fault(
    Reason.MALFORMED_JSON,
    "the endpoint sent something that is not a chat completion",
    retry=True,
    maybe_billed=True,
)


def classify(error: Exception, options: LlmOptions) -> Fault:
    """The fault behind an exception. Texts of providers stay out of it: they may quote keys and questions.

    Raises:
        UserError: no request can succeed: the key is wrong, the model or address does not exist, no credit, the
            endpoint's certificate cannot be verified.
    """
    if (untrusted := bad_certificate(error, options.base_url)) is not None:
        raise UserError(untrusted) from None
    never_sent = isinstance(error.__cause__, _NEVER_SENT)
    if isinstance(error, openai.APITimeoutError) and not never_sent:
        detail = f"no answer within {options.timeout:g} s"
        return Fault(Reason.TIMEOUT, detail, retry=True, maybe_billed=True)
    if isinstance(error, openai.APIConnectionError):
        broke = "the connection broke before the answer"
        detail = f"no connection to {options.base_url}" if never_sent else broke
        return Fault(Reason.CONNECTION, detail, retry=True, maybe_billed=not never_sent)
    if isinstance(error, openai.APIStatusError):
        is_html = not isinstance(error.body, dict)
        return fault_of_status(error.status_code, error.code, options, _asked_wait(error), foreign=is_html)
    if isinstance(error, ValueError | openai.APIResponseValidationError):
        return NOT_A_COMPLETION
    return Fault(Reason.ERROR, f"{type(error).__name__} while asking", retry=False)


def fault_of_status(
    status: int, code: str | None, options: LlmOptions, wait: float | None = None, *, foreign: bool = False
) -> Fault:
    """The fault behind an HTTP status that is not 2xx; ``foreign`` where the reply is no JSON, so no API's.

    Raises:
        UserError: no request can succeed.
    """
    if (why := _hopeless(status, code, options, foreign=foreign)) is not None:
        raise UserError(why) from None
    if code in _REFUSED_CODES:
        return Fault(
            Reason.REFUSED, f"the endpoint's filter refused the question (HTTP {status})", retry=False
        )
    if code in _TOO_LONG_CODES or status == 413:
        return Fault(Reason.TOO_LONG, f"the question does not fit the model (HTTP {status})", retry=False)
    if status == 429:
        return Fault(Reason.RATE_LIMITED, "rate limit (HTTP 429)", retry=True, wait=wait)
    if status >= 500 or status in _RETRIED_STATUS:
        detail = f"the server failed (HTTP {status})"
        return Fault(Reason.SERVER_ERROR, detail, retry=True, wait=wait, maybe_billed=status in _GATEWAY)
    return Fault(Reason.BAD_REQUEST, f"the endpoint refused the request's form (HTTP {status})", retry=False)


def _hopeless(status: int, code: str | None, options: LlmOptions, *, foreign: bool) -> str | None:
    """Return why no request can succeed; None where one may."""
    url = options.base_url
    if status == 403 and foreign:
        return (
            f"something before {url} refuses access (HTTP 403; a firewall or a proxy, since the reply is no API's):"
            " ask who runs it, or set another base_url"
        )
    if status == 401 or (status == 403 and code not in _REFUSED_CODES):
        return (
            f"{url} does not accept the key (HTTP {status}): "
            f"put a valid one into the environment variable {options.api_key_env}"
        )
    if status == 404:
        return f"{url} knows no model {options.model!r} (HTTP 404): check model and base_url"
    if 300 <= status < 400:
        return f"{url} redirects elsewhere (HTTP {status}): put the address it leads to into base_url"
    if status == 402 or code == "insufficient_quota":
        return f"the account at {url} has no credit left (HTTP {status})"
    return None


def _asked_wait(error: openai.APIStatusError) -> float | None:
    """Seconds from ``retry-after-ms`` or ``retry-after``; None where absent or a date."""
    headers = error.response.headers
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            return max(0.0, float(headers[name]) / unit)
        except (KeyError, ValueError):
            continue
    return None
