"""When to try again: one pace for all requests to an endpoint."""

from __future__ import annotations

import asyncio
import random
import time

from annotation.llm.faults import Fault

LONGEST_WAIT = 300.0
"""Seconds; an endpoint that asks for more is taken as failed for now."""
_FIRST_BACKOFF = 0.5
_LONGEST_BACKOFF = 30.0


class Pace:
    """Holds back all requests while the endpoint asked to wait, not only the one that was told."""

    def __init__(self, max_retries: int) -> None:
        self._max_retries = max_retries
        self._resume = 0.0

    async def turn(self) -> None:
        """Wait until the endpoint takes requests again."""
        while (wait := self._resume - time.monotonic()) > 0:
            # Spread over a tenth more, so that held-back requests do not all arrive in one instant.
            await asyncio.sleep(wait * random.uniform(1, 1.1))  # noqa: S311

    async def again(self, fault: Fault, attempt: int) -> bool:
        """Wait before another attempt and say whether to make one.

        Args:
            fault: of the attempt that just failed.
            attempt: its number, from 0.
        """
        if not fault.retry or attempt >= self._max_retries or (fault.wait or 0) > LONGEST_WAIT:
            return False
        if fault.wait is not None:
            self._resume = max(self._resume, time.monotonic() + fault.wait)
            return True
        backoff = min(_FIRST_BACKOFF * 2**attempt, _LONGEST_BACKOFF)
        await asyncio.sleep(backoff * random.uniform(0.75, 1.25))  # noqa: S311
        return True
