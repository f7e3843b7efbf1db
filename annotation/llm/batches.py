"""Asks many things at once through an endpoint's Batch API: half the price, within a day."""

import io
import json
import time
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, chain, islice
from typing import Any, Final, NamedTuple

import openai

from build_dataset.annotation.llm import messages as wire
from build_dataset.annotation.llm.limits import CostAccount, Fault, classify, fault_of_status, over_cap, worst_cost
from build_dataset.annotation.llm.options import LlmOptions, openai_client
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.identity import sha256

_ENDED = {"completed", "failed", "expired", "cancelled"}  # states of a batch that change no more
_QUEUE_IS_FULL = "token_limit_exceeded"  # OpenAI bounds the tokens of all batches under way
_NOT_ANSWERED = Fault(wire.Reason.TIMEOUT, "the batch ended without answering it", retry=True)
_UNREADABLE = Fault(wire.Reason.MALFORMED_JSON, "the batch's row is not a chat completion", retry=True)


ENDPOINT: Final = "/v1/chat/completions"  # the same for every row
MOST_ROWS = 50_000  # requests of one file
MOST_BYTES = 190 * 10**6  # OpenAI takes 50,000 requests and 200 MB in one file


class BatchRow(NamedTuple):
    """One row of an output or error file."""

    status: int  # of HTTP; 0 where the row was never tried
    code: str | None  # the provider's code of an error
    body: Any


@dataclass(frozen=True)
class Batch:
    """A batch that was submitted, or was about to be."""

    token: str  # our name, which the endpoint keeps as metadata: it finds a batch whose id never arrived
    keys: tuple[str, ...]  # of the requests whose answers are not in the store yet
    id: str | None = None  # the endpoint's; None until its reply arrived


@dataclass
class BatchRun:
    """Asks for what is missing with one file of requests in place of one request at a time.

    Killed at any moment, the next call goes on with the batches that are under way: each is remembered before it
    is submitted, under a token that the endpoint keeps as metadata, so that nothing is submitted twice.
    """

    options: LlmOptions
    store: wire.AnswerStore
    bills: CostAccount
    missing: Mapping[str, wire.ChatRequest]

    def __post_init__(self) -> None:
        self._sdk = openai_client(self.options)
        # Looking twice costs nothing.
        self._reads = self._sdk.with_options(max_retries=self.options.max_retries)
        self._index = f"under way:{sha256(self.options.base_url, self.options.model or '')}"
        known = self.store.get_many([self._index]).get(self._index, {})
        self._batches = {token: Batch(token, tuple(keys), name) for token, (keys, name) in known.items()}
        """By token, in the order in which they were added; kept in the store so that no kill loses one."""
        self._asked = dict(self.missing)  # open requests as they are sent: the second time with a hint
        self._attempts: Counter[str] = Counter()
        self._queue_is_full = False
        self._useful = 0
        self._useless: list[tuple[str, object]] = []  # paid answers of no use: why, and what was said

    def ended(self) -> Iterator[wire.Ended]:
        """Yield outcomes, batch by batch."""
        with self._sdk:
            while self._asked:
                under_way = self._submit()
                if not under_way:
                    yield [(key, over_cap(self.missing[key], self.options)) for key in self._asked]
                    return
                batch, state = self._wait(under_way)
                yield self._collect(batch, state)

    def _submit(self) -> list[Batch]:
        """Submit all that is not under way yet and fits under the cap; returns what is under way."""
        # Others are of another prompt or another time: their answers stay at the endpoint for then.
        own = [each for each in self._batches.values() if not self._asked.keys().isdisjoint(each.keys)]
        under_way = [each if each.id else self._adopt(each) or self._create(each) for each in own]
        if not (self._queue_is_full and under_way):
            for keys in self._files(self._affordable({key for batch in under_way for key in batch.keys})):
                under_way.append(self._create(self._save(Batch(uuid.uuid4().hex, keys))))
        return under_way

    def _save(self, batch: Batch) -> Batch:
        """Remember a batch; one of whom every answer is in the store is forgotten."""
        self._batches.pop(batch.token, None)
        if batch.keys:
            self._batches[batch.token] = batch
        self.store.put(self._index, {b.token: (b.keys, b.id) for b in self._batches.values()})
        return batch

    def _affordable(self, open_keys: set[str]) -> dict[str, wire.ChatRequest]:
        """Return requests not yet submitted, as many as the cap allows if every open request costs its maximum."""
        waiting = {key: request for key, request in self._asked.items() if key not in open_keys}
        if self.options.max_cost is None:
            return waiting
        worst = partial(worst_cost, options=self.options, batched=True)
        left = self.options.max_cost - self.bills.spent()
        left -= sum(worst(self._asked[key]) for key in open_keys & self._asked.keys())
        totals = accumulate(map(worst, waiting.values()))
        return dict(islice(waiting.items(), sum(total <= left for total in totals)))

    def _files(self, waiting: Mapping[str, wire.ChatRequest]) -> Iterator[tuple[str, ...]]:
        keys, size = list[str](), 0
        for key, line in input_lines(waiting, self.options):
            if keys and (len(keys) == MOST_ROWS or size + len(line) > MOST_BYTES):
                yield tuple(keys)
                keys, size = [], 0
            keys.append(key)
            size += len(line)
        yield from [tuple(keys)] if keys else ()

    def _adopt(self, batch: Batch) -> Batch | None:
        """Find a batch whose id never arrived by the token that the endpoint keeps."""
        with self._errors():
            for found in self._reads.batches.list(limit=100):
                if (found.metadata or {}).get("token") == batch.token:
                    return self._save(replace(batch, id=found.id))
        return None

    def _create(self, batch: Batch) -> Batch:
        """Submit a batch that is remembered already."""
        rows = {key: self._asked[key] for key in batch.keys if key in self._asked}
        data = b"".join(line for _, line in input_lines(rows, self.options))
        with self._errors():
            file = self._sdk.files.create(file=(f"{batch.token}.jsonl", io.BytesIO(data)), purpose="batch")
            told: Any = {"completion_window": "24h", "metadata": {"token": batch.token}}
            created = self._sdk.batches.create(input_file_id=file.id, endpoint=ENDPOINT, **told)
        return self._save(Batch(batch.token, tuple(rows), created.id))

    def _wait(self, under_way: Sequence[Batch]) -> tuple[Batch, Any]:
        """The first batch that ended, and what the endpoint says of it."""
        while True:
            for batch in under_way:
                assert batch.id is not None
                with self._errors():
                    state = self._reads.batches.retrieve(batch.id)
                if state.status in _ENDED:
                    return batch, state
            time.sleep(self.options.poll)

    def _collect(self, batch: Batch, ended: Any) -> wire.Ended:
        """Store every good answer of a batch, then forget the batch; failed rows worth a retry stay open."""
        if ended.status == "failed":
            self._save(replace(batch, keys=()))  # it will never give an answer any more
            self._refused(ended)
            return []
        self._queue_is_full = False
        files = [name for name in (ended.output_file_id, ended.error_file_id) if name]
        with self._errors():
            rows = answered_rows([self._reads.files.content(name).content for name in files], batch.keys)
        others = tuple(key for key in batch.keys if key not in self._asked)
        outcomes: wire.Ended = []
        hopeless: UserError | None = None
        for key in [key for key in batch.keys if key in self._asked]:
            try:
                outcomes += self._settle(key, rows.get(key))
            except UserError as error:  # no credit, say: told once the other answers are safe
                hopeless = error
        self._save(replace(batch, keys=others))
        if hopeless is not None:
            raise hopeless
        if len(self._useless) >= wire.UNUSABLE_AFTER and not self._useful:
            raise wire.no_usable_answer_error(len(self._useless), *self._useless[-1], self.options)
        return outcomes

    def _refused(self, ended: Any) -> None:
        """A batch that was refused as a whole cost nothing; where the queue was full, it goes again later."""
        found = getattr(ended, "errors", None)
        codes = sorted({str(error.code) for error in (found.data if found else None) or []})
        others = any(not self.missing.keys().isdisjoint(batch.keys) for batch in self._batches.values())
        self._queue_is_full = _QUEUE_IS_FULL in codes and others
        if not self._queue_is_full:
            told = f"{self.options.base_url} refused the batch ({', '.join(codes) or 'without a reason'})"
            raise UserError(f"{told}: run without --batch, or put it right")

    def _settle(self, key: str, row: BatchRow | None) -> wire.Ended:
        """Return the outcome of a row; none where the request is worth another attempt."""
        self._attempts[key] += 1
        request, found = self.missing[key], self._read(key, row)
        if isinstance(found, Fault):
            if found.retry and self._attempts[key] <= self.options.max_retries:
                return []
            outcome: wire.Outcome = wire.Failed(request, found.reason, found.detail)
        else:
            self.store.put(key, found)
            self._useful += 1
            outcome = wire.answer_of(request, found, self.options)
        del self._asked[key]
        return [(key, outcome)]

    def _read(self, key: str, row: BatchRow | None) -> dict[str, Any] | Fault:
        """Return the value to store of a row, or the fault that makes it unusable."""
        if row is None or row.status == 0:  # expired or cancelled before its turn
            return _NOT_ANSWERED
        if row.status != 200:
            return fault_of_status(row.status, row.code, self.options)
        request, usage = self.missing[key], wire.billed_tokens(row.body)
        if not wire.has_message(row.body):
            self.bills.unusable(key, usage, self._asked[key])
            self._useless.append((_UNREADABLE.detail, row.body))
            return _UNREADABLE
        try:
            return wire.stored_value(row.body, usage, request) | {"batched": True}
        except wire.BadAnswerError as bad:
            self.bills.unusable(key, usage, self._asked[key])
            if bad.reason is not wire.Reason.REFUSED:
                self._useless.append((bad.detail, row.body))
            if bad.hint is None or self._asked[key] is not request:
                return Fault(bad.reason, bad.detail, retry=False)
            self._asked[key] = wire.with_hint(request, row.body, bad.hint)
            return Fault(bad.reason, bad.detail, retry=True)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn errors on the way into one line: run again, and the same batches go on."""
        url = self.options.base_url
        try:
            yield
        except openai.NotFoundError:
            raise UserError(f"{url} has no Batch API: run without --batch") from None
        except openai.APIError as error:
            why = classify(error, self.options).detail
            raise UserError(f"{why if url in why else f'{url}: {why}'}: run again to go on") from None


def input_lines(requests: Mapping[str, wire.ChatRequest], options: LlmOptions) -> Iterator[tuple[str, bytes]]:
    """Each request's key and its row of the input file."""
    for key, request in requests.items():
        body = request.body(options) | options.extra_body
        row = {"custom_id": key, "method": "POST", "url": ENDPOINT, "body": body}
        yield key, json.dumps(row, ensure_ascii=False, default=dict).encode() + b"\n"


def answered_rows(files: Iterable[bytes], wanted: Sequence[str]) -> dict[str, BatchRow]:
    """The answered rows among those wanted, by key; the first of each counts, what is no row is passed over."""
    known, found = set(wanted), dict[str, BatchRow]()
    for line in chain.from_iterable(data.splitlines() for data in files):
        with suppress(ValueError, KeyError, TypeError, AttributeError):
            said = json.loads(line)
            response, error = said.get("response") or {}, said.get("error") or {}
            body = response.get("body")
            inner = (body.get("error") or {}) if isinstance(body, dict) else {}
            status, code = int(response.get("status_code") or 0), error.get("code") or inner.get("code")
            if (key := str(said["custom_id"])) in known:
                found.setdefault(key, BatchRow(status, code, body))
    return found
