"""A spending cap that also holds with many requests in flight."""

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import asdict

from annotation.llm.messages import AnswerStore, ChatRequest, Failed, Reason, Usage, Waste, stored_cost
from annotation.llm.options import LlmOptions


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
        self._changed = asyncio.Condition()

    async def reserve(self, worst: float) -> bool:
        """Reserve the most that a request can cost; return whether it may go."""
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


def worst_tokens(request: ChatRequest, options: LlmOptions) -> tuple[int, int]:
    """Most tokens of one request and its answer: no tokenizer makes more than one token from a byte of UTF-8."""
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
    """Return the certain cost of calls without a usable answer, and the highest cost that the others may have had.

    The possible cost of a batch counts at the full price.
    """
    known = options.cost(waste.prompt_tokens, waste.completion_tokens)
    unseen = options.cost(waste.most_prompt, waste.most_completion)
    return known or 0.0, unseen or 0.0


def over_cap(request: ChatRequest, options: LlmOptions) -> Failed:
    """Return the outcome of a request that is not sent, since it could cost too much."""
    cap = f"{options.max_cost:g} {options.currency}"
    return Failed(request, Reason.SPENDING_CAP, f"not asked: it could break max_cost of {cap}")


class CostAccount:
    """Account of the cost of requests beside the answers that are kept, in this run and in earlier ones.

    Written down at once: what was spent before a kill counts after it. ``batched`` requests have prices of their own.
    """

    def __init__(
        self,
        requests: Mapping[str, ChatRequest],
        store: AnswerStore,
        options: LlmOptions,
        *,
        batched: bool = False,
    ) -> None:
        self._requests, self._store, self._options = requests, store, options
        self._prefix = "wasted:batch:" if batched else "wasted:"
        self._other = "wasted:" if batched else "wasted:batch:"
        values = store.get_many([prefix + key for key in requests for prefix in (self._prefix, self._other)])
        self._known = {name: Waste(**value) for name, value in values.items()}

    def waste(self, key: str) -> Waste:
        """Of a request."""
        return self._of(self._prefix + key) + self._of(self._other + key)

    def unusable(self, key: str, usage: Usage, request: ChatRequest) -> None:
        """Count an answer that could not be used; one without a count of tokens as if it had the most."""
        if usage.prompt_tokens is None or usage.completion_tokens is None:
            self.unseen(key, request)
        else:
            self._add(key, Waste(1, usage.prompt_tokens, usage.completion_tokens))

    def unseen(self, key: str, request: ChatRequest) -> None:
        """Count a call that may have been billed and whose answer never came."""
        most_prompt, most_completion = worst_tokens(request, self._options)
        self._add(key, Waste(0, 0, 0, 1, most_prompt, most_completion))

    def spent(self) -> float:
        """Return the cost of all requests so far, answers included; what may have been billed counts as if it was."""
        total = 0.0
        for name, waste in self._known.items():
            share = self._options.batch_share if name.startswith("wasted:batch:") else 1.0
            total += share * sum(waste_cost(waste, self._options))
        for key, value in self._store.get_many(self._requests).items():
            cost = stored_cost(value, self._options)
            total += worst_cost(self._requests[key], self._options) if cost is None else cost
        return total

    def _of(self, name: str) -> Waste:
        return self._known.get(name, Waste())

    def _add(self, key: str, waste: Waste) -> None:
        name = self._prefix + key
        self._known[name] = self._of(name) + waste
        self._store.put(name, asdict(self._known[name]))
