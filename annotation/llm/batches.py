"""Asks many things at once through an endpoint's Batch API: half the price, within a day."""

from __future__ import annotations

import io
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from annotation.llm.batch_files import ENDPOINT, MOST_BYTES, MOST_ROWS, Batch, Batches, Row, lines_of, rows_of
from annotation.llm.budget import paid_before, remember_waste, worst_cost
from annotation.llm.faults import Fault, of_status
from annotation.llm.messages import (
    AnswerStore,
    BadAnswerError,
    ChatRequest,
    Failed,
    Outcome,
    Reason,
    Usage,
    grouped,
)
from annotation.llm.options import LlmOptions
from annotation.llm.replies import answer_of, billed, is_whole, spread, stored_value, with_hint
from schemas.errors import UserError

if TYPE_CHECKING:
    import openai

_ENDED = {"completed", "failed", "expired", "cancelled"}
_QUEUE_IS_FULL = "token_limit_exceeded"
_NOT_ANSWERED = Fault(Reason.TIMEOUT, "the batch ended without answering it", retry=True)
_UNREADABLE = Fault(Reason.MALFORMED_JSON, "the batch's row is not a chat completion", retry=True)


class BatchClient:
    """Does what ``LlmClient`` does, with one file of requests in place of one request at a time.

    Killed at any moment, the next call goes on with the batches that are under way: each is remembered before it
    is submitted, under a token that the endpoint keeps as metadata, so that nothing is submitted twice.

    Args:
        options: endpoint, model, prices, limits.

    Raises:
        UserError: no model is named, or its key is missing.
    """

    def __init__(self, options: LlmOptions) -> None:
        if (missing := options.missing()) is not None:
            raise UserError(missing)
        self._options = options

    def complete_many(
        self,
        requests: Sequence[ChatRequest],
        store: AnswerStore,
        progress: Callable[[int], None] | None = None,
    ) -> Iterator[Outcome]:
        """See ``LlmClient.complete_many``: the same requests, keys and answers, later and cheaper."""
        run = _Run(self._options, store, grouped(requests, self._options))
        for batch in run.outcomes():
            if progress is not None:
                progress(len(batch))
            yield from batch


class _Run:
    """One call of ``complete_many``."""

    def __init__(
        self, options: LlmOptions, store: AnswerStore, groups: Mapping[str, list[ChatRequest]]
    ) -> None:
        self._options = options
        self._store = store
        self._groups = groups
        self._batches = Batches(store, options)
        self._attempts: Counter[str] = Counter()
        self._wasted: Counter[str] = Counter()
        self._usage: dict[str, Usage] = {}
        self._queue_is_full = False

    def outcomes(self) -> Iterator[list[Outcome]]:
        stored = self._store.get_many(self._groups)
        if stored:
            yield [item for key, value in stored.items() for item in self._answer(key, value, stored=True)]
        asked = {key: group[0] for key, group in self._groups.items() if key not in stored}
        if not asked:
            return
        from openai import DefaultHttpxClient, OpenAI

        with OpenAI(
            api_key=self._options.api_key() or "none",
            base_url=self._options.base_url,
            timeout=self._options.timeout,
            max_retries=0,  # what was sent twice would be paid twice
            http_client=DefaultHttpxClient(follow_redirects=False),
        ) as sdk:
            while asked:
                under_way = self._submit(sdk, asked)
                if not under_way:
                    cap = f"{self._options.max_cost:g} {self._options.currency}"
                    detail = f"not asked: it could break max_cost of {cap}"
                    yield self._fail(asked, Reason.SPENDING_CAP, detail)
                    return
                batch, ended = self._wait(sdk, under_way)
                yield self._collect(sdk, batch, ended, asked)

    def _submit(self, sdk: openai.OpenAI, asked: Mapping[str, ChatRequest]) -> list[Batch]:
        """Submit all that is not under way yet and fits under the cap; returns what is under way."""
        under_way = []
        for batch in self._batches.all():
            if not set(batch.keys) & asked.keys():
                continue  # of another prompt or another time: its answers stay at the endpoint for then
            under_way.append(
                batch if batch.id else self._adopt(sdk, batch) or self._create(sdk, batch, asked)
            )
        if self._queue_is_full and under_way:
            return under_way
        waiting = self._affordable(asked, {key for batch in under_way for key in batch.keys})
        for keys in self._files(waiting):
            batch = Batch(uuid.uuid4().hex, keys)
            self._batches.save(batch)
            under_way.append(self._create(sdk, batch, asked))
        return under_way

    def _affordable(self, asked: Mapping[str, ChatRequest], open_keys: set[str]) -> dict[str, ChatRequest]:
        """Those not under way, as many as can go when all that is under way costs the most it can."""
        waiting = {key: request for key, request in asked.items() if key not in open_keys}
        if self._options.max_cost is None:
            return waiting
        left = self._options.max_cost - paid_before(self._groups, self._store, self._options)
        left -= sum(worst_cost(asked[key], self._options, batched=True) for key in open_keys & asked.keys())
        fitting = {}
        for key, request in waiting.items():
            left -= worst_cost(request, self._options, batched=True)
            if left < 0:
                break
            fitting[key] = request
        return fitting

    def _files(self, waiting: Mapping[str, ChatRequest]) -> Iterator[tuple[str, ...]]:
        """The keys of each input file."""
        keys: list[str] = []
        size = 0
        for key, line in lines_of(waiting, self._options):
            if keys and (len(keys) == MOST_ROWS or size + len(line) > MOST_BYTES):
                yield tuple(keys)
                keys, size = [], 0
            keys.append(key)
            size += len(line)
        if keys:
            yield tuple(keys)

    def _adopt(self, sdk: openai.OpenAI, batch: Batch) -> Batch | None:
        """Find a batch whose id never arrived by the token that the endpoint keeps."""
        with self._errors():
            for found in sdk.batches.list(limit=100):
                if (found.metadata or {}).get("token") == batch.token:
                    adopted = replace(batch, id=found.id)
                    self._batches.save(adopted)
                    return adopted
        return None

    def _create(self, sdk: openai.OpenAI, batch: Batch, asked: Mapping[str, ChatRequest]) -> Batch:
        """Submit a batch that is remembered already."""
        rows = {key: asked[key] for key in batch.keys if key in asked}
        data = b"".join(line for _, line in lines_of(rows, self._options))
        with self._errors():
            file = sdk.files.create(file=(f"{batch.token}.jsonl", io.BytesIO(data)), purpose="batch")
            created = sdk.batches.create(
                input_file_id=file.id,
                endpoint=ENDPOINT,
                completion_window="24h",
                metadata={"token": batch.token},
            )
        submitted = Batch(batch.token, tuple(rows), created.id)
        self._batches.save(submitted)
        return submitted

    def _wait(self, sdk: openai.OpenAI, under_way: Sequence[Batch]) -> tuple[Batch, Any]:
        """The first batch that ended, and what the endpoint says of it."""
        while True:
            for batch in under_way:
                assert batch.id is not None
                with self._errors():
                    state = sdk.batches.retrieve(batch.id)
                if state.status in _ENDED:
                    return batch, state
            time.sleep(self._options.poll)

    def _collect(
        self, sdk: openai.OpenAI, batch: Batch, ended: Any, asked: dict[str, ChatRequest]
    ) -> list[Outcome]:
        """Store every good answer of a batch, then forget what is stored; failed rows stay in ``asked`` or fail."""
        if ended.status == "failed":
            self._batches.forget(batch)
            self._refused(ended)
            return []
        self._queue_is_full = False
        files = [name for name in (ended.output_file_id, ended.error_file_id) if name]
        with self._errors():
            rows = rows_of([sdk.files.content(name).content for name in files], batch.keys)
        outcomes: list[Outcome] = []
        ours = [key for key in batch.keys if key in asked]
        for key in ours:
            outcomes += self._settle(key, rows.get(key), asked)
        self._batches.save(replace(batch, keys=tuple(key for key in batch.keys if key not in set(ours))))
        return outcomes

    def _refused(self, ended: Any) -> None:
        """A batch that was refused as a whole cost nothing; where the queue was full, it goes again later."""
        found = getattr(ended, "errors", None)
        code_names = sorted({str(error.code) for error in (found.data if found else None) or []})
        others = [batch for batch in self._batches.all() if set(batch.keys) & self._groups.keys()]
        if _QUEUE_IS_FULL in code_names and others:
            self._queue_is_full = True
            return
        codes = ", ".join(code_names) or "without a reason"
        raise UserError(
            f"{self._options.base_url} refused the batch ({codes}): run without --batch, or put it right"
        )

    def _settle(self, key: str, row: Row | None, asked: dict[str, ChatRequest]) -> list[Outcome]:
        """What a row comes to; a request that is worth another attempt stays in ``asked``."""
        self._attempts[key] += 1
        original = self._groups[key][0]
        usage = billed(row.body) if row and row.status == 200 and is_whole(row.body) else Usage()
        fault = self._fault(row)
        if fault is None and row is not None:
            try:
                total = self._usage.get(key, Usage()) + usage
                value = stored_value(row.body, usage, original) | {"batched": True}
            except BadAnswerError as bad:
                fault = Fault(bad.reason, bad.detail, retry=bad.hint is not None and asked[key] is original)
                self._usage[key] = total
                remember_waste(key, usage, self._store, batched=True)
                if fault.retry and bad.hint is not None:
                    asked[key] = with_hint(original, row.body, bad.hint)
            else:
                self._store.put(key, value)
                del asked[key]
                return self._answer(key, value, stored=False)
        assert fault is not None
        if fault.retry and self._attempts[key] <= self._options.max_retries:
            return []
        del asked[key]
        failed = Failed(original, fault.reason, fault.detail, self._usage.get(key, Usage()))
        return spread(failed, self._groups[key])

    def _fault(self, row: Row | None) -> Fault | None:
        if row is None:
            return _NOT_ANSWERED
        if row.status == 200:
            return None if is_whole(row.body) else _UNREADABLE
        if row.status == 0:  # expired or cancelled before its turn
            return _NOT_ANSWERED
        return of_status(row.status, row.code, self._options)

    def _answer(self, key: str, value: Mapping[str, Any], *, stored: bool) -> list[Outcome]:
        group = self._groups[key]
        return spread(answer_of(group[0], value, self._options, stored=stored), group)

    def _fail(self, asked: Mapping[str, ChatRequest], reason: Reason, detail: str) -> list[Outcome]:
        failed = [(Failed(self._groups[key][0], reason, detail), self._groups[key]) for key in asked]
        return [outcome for one, group in failed for outcome in spread(one, group)]

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """What goes wrong on the way: run again, and the same batches go on."""
        import openai

        try:
            yield
        except openai.APIStatusError as error:
            if error.status_code == 404:
                raise UserError(f"{self._options.base_url} has no Batch API: run without --batch") from None
            fault = of_status(error.status_code, error.code, self._options)
            raise UserError(f"{self._options.base_url}: {fault.detail}: run again to go on") from None
        except openai.APIConnectionError:
            raise UserError(f"no connection to {self._options.base_url}: run again to go on") from None
