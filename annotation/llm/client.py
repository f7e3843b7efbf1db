"""Asks an OpenAI-compatible endpoint many things at once, and pays for none of them twice."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Coroutine, Generator, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from annotation.llm.asking import Client, Groups, connected
from annotation.llm.budget import Bills, Budget, worst_cost
from annotation.llm.messages import (
    AnswerStore,
    BadAnswerError,
    ChatRequest,
    Failed,
    Outcome,
    Reason,
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
    words,
)
from schemas.errors import UserError

if TYPE_CHECKING:
    from openai import AsyncOpenAI

    from annotation.llm.faults import Fault

_NO_COMPLETION = BadAnswerError(Reason.MALFORMED_JSON, "not a chat completion")

_DEAD_AFTER = 20
"""Failed requests in a row, retries included, after which an endpoint counts as down."""
_WRONG_FORM_AFTER = 5
"""Requests refused for their form, with none accepted, after which the form is to blame."""
_UNUSABLE_AFTER = 10
"""Replies in a row that are paid and of no use, with none of use before, after which the rest is not asked: the
endpoint, the model and the options do not fit together."""
_UNUSABLE_LATER = 60
"""The same after some were of use: one question in four then fails by itself, and so many in a row do not."""
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
        self._bills = Bills(groups, store, options)
        spent = self._bills.spent() if options.max_cost is not None else 0.0
        self._budget = Budget(options.max_cost, spent)
        self._outages = 0
        self._wrong_form = 0
        self._answered = 0
        self._unusable = 0
        self._refusal = ""

    async def outcomes(self, missing: Sequence[str]) -> AsyncIterator[list[Outcome]]:
        """What has just ended, batch by batch: entering and leaving the event loop costs more than an item."""
        from openai import DefaultAsyncHttpxClient

        ended: asyncio.Queue[list[Outcome] | BaseException] = asyncio.Queue()
        waiting = iter(missing)
        http = DefaultAsyncHttpxClient(
            follow_redirects=False,  # the key is for this address alone
            event_hooks={"response": [self._hear]},
        )
        async with connected(self._options, "Async", http) as sdk:
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
        asked, repaired = request, False
        while True:
            completion = await self._complete(sdk, key, asked)
            if isinstance(completion, Failed):
                failure = replace(completion, request=request)
                break
            usage = billed(completion)
            try:
                value = stored_value(completion, usage, request)
            except BadAnswerError as bad:
                self._bills.unusable(key, usage, asked)
                self._count_unusable(bad, completion)
                if bad.hint is None or repaired:
                    failure = Failed(request, bad.reason, bad.detail)
                    break
                asked, repaired = with_hint(request, completion, bad.hint), True
                continue
            self._store.put(key, value)
            self._unusable = 0
            answer = answer_of(request, value, self._options, stored=False)
            return replace(answer, waste=self._bills.waste(key))
        return replace(failure, waste=self._bills.waste(key))

    def _count_unusable(self, bad: BadAnswerError, completion: object) -> None:
        """Stop where nothing that is paid is of use. Refusals do not count: they come with the subject.

        Raises:
            UserError: it is so.
        """
        self._unusable += bad.reason is not Reason.REFUSED
        if self._unusable >= (_UNUSABLE_LATER if self._answered else _UNUSABLE_AFTER):
            raise UserError(
                f"{self._unusable} answers of {self._options.model} in a row are of no use ({bad.detail}), and the rest"
                f" was not asked; it says: {words(completion, self._options)}"
            )

    async def _complete(self, sdk: AsyncOpenAI, key: str, request: ChatRequest) -> Completion | Failed:
        """One completion, with as many attempts as help."""
        from annotation.llm.faults import NOT_A_COMPLETION, classify

        body = request.body(self._options)
        worst = worst_cost(request, self._options)
        attempt = 0
        while True:
            if not await self._budget.reserve(worst):
                cap = f"{self._options.max_cost:g} {self._options.currency}"
                return Failed(request, Reason.SPENDING_CAP, f"not asked: it could break max_cost of {cap}")
            cost = 0.0
            try:
                await self._pace.turn()
                try:
                    cost = worst
                    completion: Completion = await self._create(sdk, body)
                    usage = billed(completion)
                    cost = _or(self._options.cost(usage.prompt_tokens, usage.completion_tokens), worst)
                    if is_whole(completion):
                        return completion
                    self._bills.unusable(key, usage, request)
                    self._count_unusable(_NO_COMPLETION, completion)
                    fault = NOT_A_COMPLETION
                except asyncio.CancelledError:
                    self._bills.unseen(key, request)  # it goes on at the endpoint
                    raise
                except UserError:
                    raise
                except Exception as error:
                    fault = classify(error, self._options)
                    self._hear_refusal(error, fault)
                    if not fault.maybe_billed:
                        cost = 0.0
                    else:
                        self._bills.unseen(key, request)
                    if fault is NOT_A_COMPLETION:
                        self._count_unusable(_NO_COMPLETION, getattr(error, "doc", ""))
                finally:
                    self._pace.leave()
            finally:
                await self._budget.settle(worst, cost)
            if not await self._pace.again(fault, attempt):
                return Failed(request, fault.reason, f"{fault.detail}; {attempt + 1} attempts")
            attempt += 1

    async def _create(self, sdk: AsyncOpenAI, body: dict[str, Any]) -> Any:
        # As plain JSON: walking the body through the SDK's types and back took half of a request's CPU time
        # (1.28 ms, this way 0.65), and checks nothing.
        began = time.monotonic()
        completion: Any = await sdk.post(
            "/chat/completions", body=body | self._options.extra_body, cast_to=object
        )
        if isinstance(completion, str):  # JSON that says it is text
            completion = json.loads(completion)
        self._pace.took(billed(completion).total(), time.monotonic() - began)
        return completion

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
                "it may not support response_format, logprobs, temperature, seed or max_tokens_field as configured; "
                f"it says: {self._refusal}"
            )

    def _hear_refusal(self, error: Exception, fault: Fault) -> None:
        """Keep what the endpoint says is wrong with a request's form, for the message that ends the run."""
        if fault.reason is Reason.BAD_REQUEST:
            body = getattr(error, "body", None)
            said = body.get("message") if isinstance(body, dict) else None
            self._refusal = words(said or body or str(error), self._options)


def _or(cost: float | None, otherwise: float) -> float:
    return otherwise if cost is None else cost


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
