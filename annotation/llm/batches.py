"""Asks many things at once through an endpoint's Batch API: half the price, within a day."""

import io
import json
import math
import time
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final, NamedTuple

import openai

from build_dataset.annotation.llm import messages as wire
from build_dataset.annotation.llm.limits import CostAccount, Fault, classify, fault_of_status, over_cap, worst_cost
from build_dataset.annotation.llm.options import LlmOptions, openai_client
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.identity import sha256

_ENDED = {"completed", "failed", "expired", "cancelled"}  # states of a batch that change no more
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
    """Asks for what is missing with files of requests, one after the other, in place of one request at a time.

    Killed at any moment, the next call goes on with the batch that is under way: each is remembered before it is
    submitted, under a token that the endpoint keeps as metadata, so that nothing is submitted twice.
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
        """By token; kept in the store so that no kill loses one."""
        self._asked = dict(self.missing)  # requests that are open
        self._attempts: Counter[str] = Counter()
        self._useful = 0
        self._useless: list[tuple[str, object]] = []  # paid answers of no use: why, and what was said

    def ended(self) -> Iterator[wire.Ended]:
        """Yield outcomes, batch by batch."""
        with self._sdk:
            while self._asked:
                batch = self._under_way()
                if batch is None:
                    yield [(key, over_cap(self.missing[key], self.options)) for key in self._asked]
                    return
                yield self._collect(batch, self._wait(batch))

    def _under_way(self) -> Batch | None:
        """Return the batch to wait for: one of an earlier run, else a new one; None where the cap allows none."""
        for batch in list(self._batches.values()):
            # Others are of another prompt or another time: their answers stay at the endpoint for then.
            if not self._asked.keys().isdisjoint(batch.keys):
                return batch if batch.id else self._adopt(batch) or self._create(batch)
        # As many requests as a file holds, and as the cap allows if every one costs its maximum.
        cap = self.options.max_cost
        left = math.inf if cap is None else cap - self.bills.spent()
        keys, size = list[str](), 0
        for key, line in input_lines(self._asked, self.options):
            left -= worst_cost(self._asked[key], self.options, batched=True)
            size += len(line)
            if left < 0 or (keys and (len(keys) == MOST_ROWS or size > MOST_BYTES)):
                break
            keys.append(key)
        return self._create(self._save(Batch(uuid.uuid4().hex, tuple(keys)))) if keys else None

    def _save(self, batch: Batch) -> Batch:
        """Remember a batch; one of whom every answer is in the store is forgotten."""
        self._batches.pop(batch.token, None)
        if batch.keys:
            self._batches[batch.token] = batch
        self.store.put(self._index, {b.token: (b.keys, b.id) for b in self._batches.values()})
        return batch

    def _adopt(self, batch: Batch) -> Batch | None:
        """Find a batch whose id never arrived by the token that the endpoint keeps."""
        with self._errors():
            for listed in self._reads.batches.list(limit=100):
                if (listed.metadata or {}).get("token") == batch.token:
                    return self._save(replace(batch, id=listed.id))
        return None

    def _create(self, batch: Batch) -> Batch:
        """Submit a batch that is remembered already."""
        rows = {key: self._asked[key] for key in batch.keys if key in self._asked}
        data = b"".join(line for _, line in input_lines(rows, self.options))
        with self._errors():
            file = self._sdk.files.create(file=(f"{batch.token}.jsonl", io.BytesIO(data)), purpose="batch")
            terms: Any = {"completion_window": "24h", "metadata": {"token": batch.token}}
            created = self._sdk.batches.create(input_file_id=file.id, endpoint=ENDPOINT, **terms)
        return self._save(Batch(batch.token, tuple(rows), created.id))

    def _wait(self, batch: Batch) -> Any:
        """Return what the endpoint says of a batch once it has ended."""
        assert batch.id is not None
        while True:
            with self._errors():
                state = self._reads.batches.retrieve(batch.id)
            if state.status in _ENDED:
                return state
            time.sleep(self.options.poll)

    def _collect(self, batch: Batch, ended: Any) -> wire.Ended:
        """Store every good answer of a batch, then forget the batch; failed rows worth a retry stay open."""
        if ended.status == "failed":  # as a whole, which costs nothing
            self._save(replace(batch, keys=()))
            errors = getattr(ended, "errors", None)
            codes = ", ".join(sorted({str(error.code) for error in (errors.data if errors else None) or []}))
            refusal = f"{self.options.base_url} refused the batch ({codes or 'without a reason'})"
            raise UserError(f"{refusal}: run without --batch, or put it right")
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

    def _settle(self, key: str, row: BatchRow | None) -> wire.Ended:
        """Return the outcome of a row; none where the request is worth another attempt."""
        self._attempts[key] += 1
        request, value = self.missing[key], self._read(key, row)
        if isinstance(value, Fault):
            if value.retry and self._attempts[key] <= self.options.max_retries:
                return []
            outcome: wire.Outcome = wire.Failed(request, value.reason, value.detail)
        else:
            self.store.put(key, value)
            self._useful += 1
            outcome = wire.answer_of(request, value, self.options)
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
            self.bills.unusable(key, usage, request)
            self._useless.append((_UNREADABLE.detail, row.body))
            return _UNREADABLE
        try:
            return wire.stored_value(row.body, usage, request) | {"batched": True}
        except wire.BadAnswerError as bad:
            self.bills.unusable(key, usage, request)
            if bad.reason is not wire.Reason.REFUSED:
                self._useless.append((bad.detail, row.body))
            return Fault(bad.reason, bad.detail, retry=False)

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
    known, answered = set(wanted), dict[str, BatchRow]()
    for line in chain.from_iterable(data.splitlines() for data in files):
        with suppress(ValueError, KeyError, TypeError, AttributeError):
            row = json.loads(line)
            response, error = row.get("response") or {}, row.get("error") or {}
            body = response.get("body")
            inner = (body.get("error") or {}) if isinstance(body, dict) else {}
            status, code = int(response.get("status_code") or 0), error.get("code") or inner.get("code")
            if (key := str(row["custom_id"])) in known:
                answered.setdefault(key, BatchRow(status, code, body))
    return answered
