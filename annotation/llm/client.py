"""Asks an OpenAI-compatible endpoint many things at once, and pays for none of them twice."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Coroutine, Generator, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from annotation.llm.asking import Client, Groups
from annotation.llm.budget import Budget, paid_before, remember_waste, worst_cost
from annotation.llm.messages import (
    AnswerStore,
    BadAnswerError,
    ChatRequest,
    Failed,
    Outcome,
    Reason,
    Usage,
)
from annotation.llm.options import LlmOptions
from annotation.llm.pace import Pace
from annotation.llm.replies import (
    Completion,
    answer_of,
    billed,
    is_whole,
    spread,
    stored_value,
    with_hint,
)
from schemas.errors import UserError

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_DEAD_AFTER = 20
"""Failed requests in a row, retries included, after which an endpoint counts as down."""
_WRONG_FORM_AFTER = 5
"""Requests refused for their form, with none accepted, after which the form is to blame."""
_OUTAGES = {Reason.RATE_LIMITED, Reason.SERVER_ERROR, Reason.TIMEOUT, Reason.CONNECTION}


class LlmClient(Client):
    """Asks one request at a time, many at once."""

    def _ask(
        self, missing: Sequence[str], groups: Groups, store: AnswerStore
    ) -> Generator[list[Outcome], None, None]:
        outcomes = _Run(self._options, store, groups).outcomes(missing)
        # Not runner.run: it looks up the handler of SIGINT each time, and on Python 3.11 that writes out the last
        # task with its result, for half of our CPU time.
        with asyncio.Runner() as runner:
            loop = runner.get_loop()
            try:
                while batch := loop.run_until_complete(_next(outcomes)):
                    yield batch
            finally:
                loop.run_until_complete(_close(outcomes))


class _Run:
    """One call of ``complete_many``."""

    def __init__(self, options: LlmOptions, store: AnswerStore, groups: Groups) -> None:
        self._options = options
        self._store = store
        self._groups = groups
        self._pace = Pace(options.concurrency, options.max_retries)
        spent = paid_before(groups, store, options) if options.max_cost is not None else 0.0
        self._budget = Budget(options.max_cost, spent)
        self._outages = 0
        self._wrong_form = 0
        self._answered = 0

    async def outcomes(self, missing: Sequence[str]) -> AsyncIterator[list[Outcome]]:
        """What has just ended, batch by batch: entering and leaving the event loop costs more than an item."""
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient

        ended: asyncio.Queue[list[Outcome] | BaseException] = asyncio.Queue()
        waiting = iter(missing)
        async with AsyncOpenAI(
            api_key=self._options.api_key() or "none",
            base_url=self._options.base_url,
            timeout=self._options.timeout,
            max_retries=0,
            http_client=DefaultAsyncHttpxClient(
                follow_redirects=False,  # the key is for this address alone
                event_hooks={"response": [self._hear]},
            ),
        ) as sdk:
            count = min(self._options.concurrency, len(missing))
            workers = [asyncio.create_task(self._work(sdk, waiting, ended)) for _ in range(count)]
            try:
                left = len(missing)
                while left:
                    groups_ended = [await ended.get()]
                    while not ended.empty():
                        groups_ended.append(ended.get_nowait())
                    left -= len(groups_ended)
                    yield _flat(groups_ended)
            finally:
                for worker in workers:
                    worker.cancel()
                await asyncio.gather(*workers, return_exceptions=True)

    async def _work(
        self, sdk: AsyncOpenAI, waiting: Iterator[str], ended: asyncio.Queue[list[Outcome] | BaseException]
    ) -> None:
        try:
            for key in waiting:
                outcome = await self._ask(sdk, key, self._groups[key][0])
                self._watch(outcome)
                ended.put_nowait(spread(outcome, self._groups[key]))
        except Exception as error:
            ended.put_nowait(error)

    async def _ask(self, sdk: AsyncOpenAI, key: str, request: ChatRequest) -> Outcome:
        """Ask, check, ask once more where the check gave a hint; store what is good."""
        if self._outages >= max(_DEAD_AFTER, 2 * self._options.concurrency):
            return Failed(request, Reason.NOT_ASKED, f"{self._options.base_url} does not answer")
        asked, usage, repaired = request, Usage(), False
        while True:
            completion = await self._complete(sdk, asked)
            if isinstance(completion, Failed):
                failure = replace(completion, request=request, usage=usage)
                break
            usage += billed(completion)
            try:
                value = stored_value(completion, usage, request)
            except BadAnswerError as bad:
                if bad.hint is None or repaired:
                    failure = Failed(request, bad.reason, bad.detail, usage)
                    break
                asked, repaired = with_hint(request, completion, bad.hint), True
                continue
            self._store.put(key, value)
            return answer_of(request, value, self._options, stored=False)
        remember_waste(key, usage, self._store)
        return failure

    async def _complete(self, sdk: AsyncOpenAI, request: ChatRequest) -> Completion | Failed:
        """One completion, with as many attempts as help."""
        from annotation.llm.faults import classify

        body = request.body(self._options)
        worst = worst_cost(request, self._options)
        attempt = 0
        while True:
            if not await self._budget.reserve(worst):
                cap = f"{self._options.max_cost:g} {self._options.currency}"
                return Failed(request, Reason.SPENDING_CAP, f"not asked: it could break max_cost of {cap}")
            await self._pace.turn()
            cost = worst
            try:
                completion = await self._create(sdk, body)
            except Exception as error:
                fault = classify(error, self._options)
                cost = worst if fault.maybe_billed else 0.0
            else:
                usage = billed(completion)
                cost = self._options.cost(usage.prompt_tokens, usage.completion_tokens) or worst
                return completion
            finally:
                self._pace.leave()
                await self._budget.settle(worst, cost)
            if not await self._pace.again(fault, attempt):
                return Failed(request, fault.reason, f"{fault.detail}; {attempt + 1} attempts")
            attempt += 1

    async def _create(self, sdk: AsyncOpenAI, body: dict[str, Any]) -> Completion:
        # As plain JSON: walking the body through the SDK's types and back took half of a request's CPU time
        # (1.28 ms, this way 0.65), and checks nothing.
        began = time.monotonic()
        completion: Any = await sdk.post(
            "/chat/completions", body=body | self._options.extra_body, cast_to=object
        )
        if not is_whole(completion):
            raise ValueError("not a chat completion")
        self._pace.took(billed(completion).total(), time.monotonic() - began)
        return dict(completion)

    async def _hear(self, response: Any) -> None:
        """Take in a response's headers, before its body is read."""
        if response.is_success:
            self._pace.heard(response.headers)

    def _watch(self, outcome: Outcome) -> None:
        """Notice an endpoint that is down, or that refuses the form of every request."""
        reason = outcome.reason if isinstance(outcome, Failed) else None
        self._answered += reason is None
        self._outages = self._outages + 1 if reason in _OUTAGES else 0 if reason is None else self._outages
        self._wrong_form += reason is Reason.BAD_REQUEST
        if self._wrong_form >= _WRONG_FORM_AFTER and not self._answered:
            raise UserError(
                f"{self._options.base_url} refused the first {self._wrong_form} requests as malformed (HTTP 4xx): "
                "it may not support response_format, temperature, seed or max_tokens_field as configured"
            )


def _flat(ended: Sequence[list[Outcome] | BaseException]) -> list[Outcome]:
    """The outcomes of groups that ended; a worker's error is raised."""
    outcomes: list[Outcome] = []
    for group in ended:
        if isinstance(group, BaseException):
            raise group
        outcomes.extend(group)
    return outcomes


async def _next(outcomes: AsyncIterator[list[Outcome]]) -> list[Outcome] | None:
    return await anext(outcomes, None)


def _close(outcomes: AsyncIterator[list[Outcome]]) -> Coroutine[Any, Any, None]:
    async def close() -> None:
        await outcomes.aclose()  # type: ignore[attr-defined]

    return close()
