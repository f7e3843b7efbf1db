"""A spending cap that holds also with many requests in flight."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from annotation.llm.options import LlmOptions


class Budget:
    """Lets a request go only when its worst case still fits under the cap.

    What is in flight is reserved at its worst case; a request that would fit only if those turn out cheaper
    waits for them. Once one request did not fit, none goes any more.
    """

    def __init__(self, cap: float | None, spent: float) -> None:
        self.spent = spent
        self.exhausted = False
        self._cap = cap
        self._reserved: list[float] = []
        self._changed = asyncio.Condition()

    async def reserve(self, worst: float) -> bool:
        """Whether a request that costs at most ``worst`` may go; its amount is reserved then."""
        if self._cap is None:
            return True
        async with self._changed:
            while not self.exhausted and self.spent + sum(self._reserved) + worst > self._cap:
                if not self._reserved:
                    self.exhausted = True
                    break
                await self._changed.wait()
            if self.exhausted:
                self._changed.notify_all()
                return False
            self._reserved.append(worst)
            return True

    async def settle(self, worst: float, cost: float) -> None:
        """Replace a reservation by what the request did cost."""
        if self._cap is None:
            return
        async with self._changed:
            self._reserved.remove(worst)
            self.spent += cost
            self._changed.notify_all()


def worst_cost(body: Mapping[str, Any], options: LlmOptions) -> float:
    """Most that one request can cost: no tokenizer makes more than a token of a byte of UTF-8."""
    prompt = len(json.dumps(body, ensure_ascii=False, default=dict).encode())
    return options.cost(prompt, options.max_tokens) or 0.0
