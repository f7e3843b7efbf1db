"""Sends many requests to an OpenAI-compatible endpoint at once, and pays for none of them twice."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from openai import AsyncOpenAI

from build_dataset.annotation.llm import limits, messages as wire
from build_dataset.annotation.llm.batches import BatchRun
from build_dataset.annotation.llm.options import LlmOptions, openai_client
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.grouping import group_values

_DEAD_AFTER = 20  # failed requests in a row, retries included, after which an endpoint counts as down
_WRONG_FORM_AFTER = 5  # refusals without any acceptance after which the form of requests is at fault
_UNUSABLE_LATER = 60  # the same after some usable replies: up to one in four fails, but not so many in a row
_OUTAGES = {wire.Reason.RATE_LIMITED, wire.Reason.SERVER_ERROR, wire.Reason.TIMEOUT, wire.Reason.CONNECTION}


class LlmClient:
    """A client of one model at one endpoint; with ``batch`` through its Batch API, which has its own prices.

    Making one raises ``UserError`` where no model is named, or its key is missing.
    """

    def __init__(self, options: LlmOptions, *, batch: bool = False) -> None:
        if (missing := options.missing()) is not None:
            raise UserError(missing)
        self._options, self._batch = options, batch

    def complete_many(
        self, requests: Sequence[wire.ChatRequest], store: wire.AnswerStore, progress: Callable[[int], object] = int
    ) -> Iterator[wire.Outcome]:
        """Yield an outcome of every request: stored answers first, then the others as the endpoint gives them.

        Requests that are the same to the letter are asked once. The store gets every good answer before it is
        yielded; failures are never stored as answers. ``progress`` hears how many requests have just ended. Raises
        ``UserError`` where the endpoint refuses the key, the model or the form of all requests.
        """
        groups = group_values((request.key(self._options), request) for request in requests)
        distinct = {key: group[0] for key, group in groups.items()}
        bills = limits.CostAccount(distinct, store, self._options, batched=self._batch)
        with closing(self._ended(distinct, store, bills)) as batches:
            for batch in batches:
                outcomes: list[wire.Outcome] = []
                for key, outcome in batch:
                    outcomes += wire.share_outcome(replace(outcome, waste=bills.waste(key)), groups[key])
                progress(len(outcomes))
                yield from outcomes

    def _ended(
        self, requests: Mapping[str, wire.ChatRequest], store: wire.AnswerStore, bills: limits.CostAccount
    ) -> Generator[wire.Ended, None, None]:
        if stored := store.get_many(requests):
            yield [(key, wire.answer_of(requests[key], value, self._options)) for key, value in stored.items()]
        missing = {key: request for key, request in requests.items() if key not in stored}
        if self._batch and missing:
            yield from BatchRun(self._options, store, bills, missing).ended()
        if self._batch or not missing:
            return
        ended = _ClientRun(self._options, store, bills).ended(missing)  # many at once

        async def next_batch() -> wire.Ended | None:
            return await anext(ended, None)

        # Not runner.run: it looks up the handler of SIGINT each time, and on Python 3.11 that writes out the last
        # task with its result, for half of our CPU time.
        with asyncio.Runner() as runner:
            loop = runner.get_loop()
            # Leaving the runner closes what is still open, also where Ctrl-C came while it was waiting.
            while batch := loop.run_until_complete(next_batch()):
                yield batch


@dataclass
class _ClientRun:
    """One call of ``complete_many``."""

    options: LlmOptions
    store: wire.AnswerStore
    bills: limits.CostAccount
    outages: int = 0
    wrong_form: int = 0
    answered: int = 0
    unusable: int = 0
    refusal: str = ""

    def __post_init__(self) -> None:
        cap = self.options.max_cost
        self._pace = limits.Pace(self.options.max_retries)
        self._budget = limits.Budget(cap, self.bills.spent() if cap is not None else 0.0)

    async def ended(self, missing: Mapping[str, wire.ChatRequest]) -> AsyncGenerator[wire.Ended, None]:
        """Yield outcomes as they end, many at once: entering and leaving the event loop costs more than an item."""
        arrived: asyncio.Queue[tuple[str, wire.Outcome] | Exception] = asyncio.Queue()
        waiting = iter(missing.items())
        async with openai_client(self.options, "Async") as sdk:
            most = min(self.options.concurrency, len(missing))
            workers = [asyncio.create_task(self._work(sdk, waiting, arrived)) for _ in range(most)]
            try:
                left = len(missing)
                while left:
                    arrivals = [await arrived.get()]
                    while not arrived.empty():
                        arrivals.append(arrived.get_nowait())
                    if errors := [each for each in arrivals if isinstance(each, Exception)]:
                        raise errors[0]
                    left -= len(arrivals)
                    yield [each for each in arrivals if not isinstance(each, Exception)]
            finally:
                for worker in workers:
                    worker.cancel()
                await asyncio.gather(*workers, return_exceptions=True)

    async def _work(
        self,
        sdk: AsyncOpenAI,
        waiting: Iterator[tuple[str, wire.ChatRequest]],
        arrived: asyncio.Queue[tuple[str, wire.Outcome] | Exception],
    ) -> None:
        try:
            for key, request in waiting:
                outcome = await self._ask(sdk, key, request)
                self._watch(outcome)
                arrived.put_nowait((key, outcome))
        except Exception as error:
            arrived.put_nowait(error)

    async def _ask(self, sdk: AsyncOpenAI, key: str, request: wire.ChatRequest) -> wire.Outcome:
        """Ask, check, store what is good."""
        if self.outages >= max(_DEAD_AFTER, 2 * self.options.concurrency):
            return wire.Failed(request, wire.Reason.NOT_ASKED, f"{self.options.base_url} does not answer")
        completion = await self._complete(sdk, key, request)
        if isinstance(completion, wire.Failed):
            return completion
        usage = wire.billed_tokens(completion)
        try:
            value = wire.stored_value(completion, usage, request)
        except wire.BadAnswerError as bad:
            self.bills.unusable(key, usage, request)
            self._count_unusable(bad, completion)
            return wire.Failed(request, bad.reason, bad.detail)
        self.store.put(key, value)
        self.unusable = 0
        return wire.answer_of(request, value, self.options)

    def _count_unusable(self, bad: wire.BadAnswerError | limits.Fault, completion: object) -> None:
        """Stop if no paid reply is usable. Refusals do not count: some subjects cause them."""
        self.unusable += bad.reason is not wire.Reason.REFUSED
        if self.unusable >= (_UNUSABLE_LATER if self.answered else wire.UNUSABLE_AFTER):
            raise wire.no_usable_answer_error(self.unusable, bad.detail, completion, self.options)

    async def _complete(self, sdk: AsyncOpenAI, key: str, request: wire.ChatRequest) -> wire.Completion | wire.Failed:
        """Ask for one completion, with retries as long as they may help."""
        worst = limits.worst_cost(request, self.options)
        for attempt in count():
            if not await self._budget.reserve(worst):
                break
            cost = 0.0
            try:
                await self._pace.wait_for_turn()
                cost = worst
                completion, cost = await self._attempt(sdk, key, request, worst)
            finally:
                self._budget.settle(worst, cost)
            if not isinstance(completion, limits.Fault):
                return completion
            if not await self._pace.wait_to_retry(completion, attempt):
                return wire.Failed(request, completion.reason, f"{completion.detail}; {attempt + 1} attempts")
        return limits.over_cap(request, self.options)

    async def _attempt(
        self, sdk: AsyncOpenAI, key: str, request: wire.ChatRequest, worst: float
    ) -> tuple[wire.Completion | limits.Fault, float]:
        """Ask once; return also what that cost, at most ``worst``."""
        self.bills.sent(key)
        try:
            completion = await self._create(sdk, request.body(self.options))
        except (asyncio.CancelledError, KeyboardInterrupt):
            self.bills.unseen(key, request)  # it goes on at the endpoint
            raise
        except Exception as error:
            fault = limits.classify(error, self.options)
            if fault.reason is wire.Reason.BAD_REQUEST:
                body = getattr(error, "body", None)
                message = body.get("message") if isinstance(body, dict) else None
                self.refusal = wire.error_excerpt(message or body or str(error), self.options)
            if fault.maybe_billed:
                self.bills.unseen(key, request)
            if fault is limits.NOT_A_COMPLETION:
                self._count_unusable(limits.NOT_A_COMPLETION, getattr(error, "doc", ""))
            return fault, worst if fault.maybe_billed else 0.0
        finally:
            self.bills.came(key)
        usage = wire.billed_tokens(completion)
        cost = self.options.cost(usage.prompt_tokens, usage.completion_tokens)
        is_whole = wire.has_message(completion)
        if not is_whole:
            self.bills.unusable(key, usage, request)
            self._count_unusable(limits.NOT_A_COMPLETION, completion)
        return completion if is_whole else limits.NOT_A_COMPLETION, worst if cost is None else cost

    async def _create(self, sdk: AsyncOpenAI, body: dict[str, Any]) -> Any:
        # As plain JSON: walking the body through the SDK's types and back took half of a request's CPU time
        # (1.28 ms, this way 0.65), and checks nothing.
        body |= self.options.extra_body
        completion: Any = await sdk.post("/chat/completions", body=body, cast_to=object)
        # A string is JSON that says it is text.
        return json.loads(completion) if isinstance(completion, str) else completion

    def _watch(self, outcome: wire.Outcome) -> None:
        """Notice an endpoint that is down, or that refuses the form of every request."""
        reason = outcome.reason if isinstance(outcome, wire.Failed) else None
        self.answered += reason is None
        self.outages = self.outages + 1 if reason in _OUTAGES else 0 if reason is None else self.outages
        self.wrong_form += reason is wire.Reason.BAD_REQUEST
        if self.wrong_form >= _WRONG_FORM_AFTER and not self.answered:
            refusal = f"{self.options.base_url} refused the first {self.wrong_form} requests as malformed (HTTP 4xx)"
            fields = "response_format, logprobs, temperature, seed or max_tokens_field"
            raise UserError(f"{refusal}: it may not support {fields} as configured; it says: {self.refusal}")
