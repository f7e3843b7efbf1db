"""A spending cap that holds also with many requests in flight."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from typing import Any

from annotation.llm.messages import AnswerStore, ChatRequest, Usage
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


def worst_cost(request: ChatRequest, options: LlmOptions, *, batched: bool = False) -> float:
    """Most that one request can cost: no tokenizer makes more than a token of a byte of UTF-8."""
    if options.price_in is None:
        return 0.0
    body = request.body(options) | options.extra_body
    prompt = len(json.dumps(body, ensure_ascii=False, default=dict).encode())
    return options.cost(prompt, options.max_tokens, batched=batched) or 0.0


def paid(value: Mapping[str, Any], options: LlmOptions) -> float | None:
    """What a stored value did cost, at the prices of the options; None where unknown."""
    batched = bool(value.get("batched", False))
    return options.cost(value["prompt_tokens"], value["completion_tokens"], batched=batched)


def paid_before(keys: Iterable[str], store: AnswerStore, options: LlmOptions) -> float:
    """What requests of those keys did cost in earlier runs, unusable answers included."""
    keys = list(keys)
    values = store.get_many([name for key in keys for name in (key, *_wasted(key))])
    return sum(paid(value, options) or 0.0 for value in values.values())


def remember_waste(key: str, usage: Usage, store: AnswerStore, *, batched: bool = False) -> None:
    """Keep what a failure did cost, so that the cap counts it on the next run too."""
    if usage == Usage():
        return
    name = _wasted(key)[batched]
    before = store.get_many([name]).get(name, {})
    total = usage + Usage(before.get("prompt_tokens", 0), before.get("completion_tokens", 0))
    tokens = {"prompt_tokens": total.prompt_tokens, "completion_tokens": total.completion_tokens}
    store.put(name, tokens | ({"batched": True} if batched else {}))


def _wasted(key: str) -> tuple[str, str]:
    """Where waste is kept: of single requests, of batches."""
    return f"wasted:{key}", f"wasted:batch:{key}"
