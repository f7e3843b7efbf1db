"""When to ask and when to try again: one pace for all requests to an endpoint."""

from __future__ import annotations

import asyncio
import math
import random
import re
import time
from collections import deque
from collections.abc import Mapping

from annotation.llm.faults import Fault
from annotation.llm.messages import Reason

LONGEST_WAIT = 300.0
"""Seconds; an endpoint that asks for more is taken as failed for now."""
_FIRST_BACKOFF = 0.5
_LONGEST_BACKOFF = 30.0
_APART = 0.002
"""Seconds between the first requests, before an answer tells how long one takes; about the CPU time of one."""
_EVENLY = 0.9
"""Of the distance at which requests would follow each other evenly, what is kept between any two.

An event loop works on all that arrived at once turn by turn, so requests that begin together end and begin together
for ever, in ever larger clumps, each waiting for the work on all of them.
"""
_UNITS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_UNKNOWN_RESET = 1.0
_SAME_LIMIT = 1.0
"""Seconds within which rate limits are one and the same: they meet all requests in flight."""


class Pace:
    """Lets requests go as fast as the endpoint takes them, and holds back all of them while it asks to wait.

    At most ``most`` are in flight; a rate limit halves that, and each round of answers adds one again
    (additive increase, multiplicative decrease, as in TCP: Chiu and Jain 1989). Where the endpoint tells what
    is left (``x-ratelimit-remaining-*``), no more go than that until its reset.

    Args:
        most: requests in flight at once.
        max_retries: further attempts of one request.
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
        self._apart = _APART
        self._fastest = math.inf
        self._next = 0.0
        self._in_flight = 0
        self._queue: deque[asyncio.Future[None]] = deque()

    @property
    def limit(self) -> int:
        """How many requests may be in flight now."""
        return int(self._limit)

    async def turn(self) -> None:
        """Wait until one more request may go; ``leave`` must follow."""
        while True:
            if (wait := self._resume - time.monotonic()) > 0:
                # Spread over a tenth more, so that held-back requests do not all arrive in one instant.
                await asyncio.sleep(wait * random.uniform(1, 1.1))  # noqa: S311
            elif self._left < 1:
                self._resume, self._left = max(self._resume, self._reset), math.inf
            elif self._in_flight >= self.limit:
                self._queue.append(waiter := asyncio.get_running_loop().create_future())
                await waiter
            else:
                self._in_flight += 1
                self._left -= 1
                await self._keep_apart()
                return

    async def _keep_apart(self) -> None:
        """Wait until the request before is far enough ahead."""
        now = time.monotonic()
        at = max(now, self._next)
        self._next = at + self._apart
        if at > now:
            try:
                await asyncio.sleep(at - now)
            except asyncio.CancelledError:
                self.leave()
                raise

    def leave(self) -> None:
        """A request ended, in whatever way: let others go."""
        self._in_flight -= 1
        free = self.limit - self._in_flight
        while free > 0 and self._queue:
            if not (waiter := self._queue.popleft()).done():  # done: cancelled while it waited
                waiter.set_result(None)
                free -= 1

    def took(self, tokens: int | None, seconds: float) -> None:
        """Take in what an answered request took; the fastest says how close requests may follow each other."""
        self._tokens = tokens
        self._fastest = min(self._fastest, seconds)
        self._apart = _EVENLY * self._fastest / self._most

    def heard(self, headers: Mapping[str, str]) -> None:
        """Take in that a request was answered, and what the response's headers say about what is left."""
        self._limit = min(self._most, self._limit + 1 / self._limit)
        self._left = math.inf
        for kind, each in (("requests", 1), ("tokens", self._tokens)):
            remaining = _number(headers.get(f"x-ratelimit-remaining-{kind}"))
            if remaining is None or not each or remaining // each >= self._left:
                continue
            wait = duration(headers.get(f"x-ratelimit-reset-{kind}"))
            self._left, self._reset = remaining // each, time.monotonic() + min(wait, LONGEST_WAIT)

    async def again(self, fault: Fault, attempt: int) -> bool:
        """Wait before another attempt and say whether to make one.

        Args:
            fault: of the attempt that just failed.
            attempt: its number, from 0.
        """
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
