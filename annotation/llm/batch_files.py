"""The files of a Batch API: rows of requests, rows of answers; and what is remembered of batches under way."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from annotation.llm.messages import AnswerStore, ChatRequest
from annotation.llm.options import LlmOptions
from schemas.identity import sha256

ENDPOINT: Final = "/v1/chat/completions"
MOST_ROWS = 50_000
MOST_BYTES = 190 * 10**6
"""OpenAI takes 50,000 requests and 200 MB in one file."""


@dataclass(frozen=True)
class Row:
    """One row of an output or error file."""

    key: str
    status: int
    """Of HTTP; 0 where the row was never tried."""
    code: str | None
    """The provider's code of an error."""
    body: Any


@dataclass(frozen=True)
class Batch:
    """A batch that was, or was about to be, submitted."""

    token: str
    """Our name for it, which the endpoint keeps as metadata: how a batch is found again whose id never arrived."""
    keys: tuple[str, ...]
    """Of the requests whose answers are not in the store yet."""
    id: str | None = None
    """The endpoint's; None until its reply arrived."""


class Batches:
    """The batches under way at one endpoint, kept in the store so that no kill loses one.

    Args:
        store: keeps them, beside the answers.
        options: of the endpoint and model.
    """

    def __init__(self, store: AnswerStore, options: LlmOptions) -> None:
        self._store = store
        self._index = f"batches:{sha256(options.base_url, options.model or '')}"

    def all(self) -> list[Batch]:
        """In the order in which they were added."""
        tokens: list[str] = self._store.get_many([self._index]).get(self._index, [])
        known = self._store.get_many(f"batch:{token}" for token in tokens)
        values = [known[f"batch:{token}"] for token in tokens if f"batch:{token}" in known]
        return [Batch(value["token"], tuple(value["keys"]), value["id"]) for value in values]

    def save(self, batch: Batch) -> None:
        """Remember a batch; one of whom every answer is in the store is forgotten."""
        others = [other.token for other in self.all() if other.token != batch.token]
        self._store.put(f"batch:{batch.token}", asdict(batch) | {"keys": list(batch.keys)})
        self._store.put(self._index, [*others, batch.token] if batch.keys else others)

    def forget(self, batch: Batch) -> None:
        """It will never give an answer any more."""
        self.save(replace(batch, keys=()))


def lines_of(requests: Mapping[str, ChatRequest], options: LlmOptions) -> Iterator[tuple[str, bytes]]:
    """Each request's key and its row of the input file."""
    for key, request in requests.items():
        body = request.body(options) | options.extra_body
        row = {"custom_id": key, "method": "POST", "url": ENDPOINT, "body": body}
        yield key, json.dumps(row, ensure_ascii=False, default=dict).encode() + b"\n"


def rows_of(files: Iterable[bytes], wanted: Sequence[str]) -> dict[str, Row]:
    """The answered rows among those wanted, by key; the first of each counts, what is no row is passed over."""
    known, found = set(wanted), dict[str, Row]()
    for data in files:
        for line in data.splitlines():
            row = _row(line)
            if row is not None and row.key in known:
                found.setdefault(row.key, row)
    return found


def _row(line: bytes) -> Row | None:
    try:
        said = json.loads(line)
        response, error = said.get("response") or {}, said.get("error") or {}
        body = response.get("body")
        inner = (body.get("error") or {}) if isinstance(body, dict) else {}
        code = error.get("code") or inner.get("code")
        return Row(str(said["custom_id"]), int(response.get("status_code") or 0), code, body)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
