"""Paraphrases and translations of questions in public benchmarks, by the meaning that an embedding model sees.

Any endpoint of OpenAI's form serves, a local one (llama.cpp, Ollama, vLLM) as well. Every text is embedded once, under
a hash of the model and the text; questions and records meet block by block.
"""

from __future__ import annotations

import os
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.leaks.files import BenchmarkText
from pipeline.leaks.overlap import BenchmarkMatch
from pipeline.leaks.params import LeaksParams
from pipeline.stage import Store
from schemas.errors import UserError
from schemas.identity import sha256

_BATCH = 64
"""Texts of one request."""
_BLOCK = 4096
"""Records that are compared at a time."""
_CHARACTERS = 2000
"""Characters of a text that are embedded: models cut longer ones themselves, each in its own way."""

Vectors = NDArray[np.float32]


class Meanings:
    """The meanings of questions, by the endpoint of ``[leaks]``."""

    def __init__(self, rows: Sequence[int], texts: Sequence[str], params: LeaksParams, store: Store) -> None:
        """Embed the questions of some ``rows``; vectors are kept in the store."""
        self._params, self._store, self._rows = params, store, rows
        self._ours = self._vectors([texts[row] for row in rows])

    def _vectors(self, texts: Sequence[str]) -> Vectors:
        """A vector of length 1 for each text.

        Raises:
            UserError: the endpoint does not answer, or not with a vector for each text.
        """
        cut = [text[:_CHARACTERS] for text in texts]
        keys = [sha256("embedding", self._params.embedding_model or "", text) for text in cut]
        found = {key: kept for key in keys if (kept := self._store.get(key)) is not None}
        missing = iter({key: text for key, text in zip(keys, cut, strict=True) if key not in found}.items())
        while batch := list(islice(missing, _BATCH)):
            made = self._ask([text or " " for _, text in batch])
            for (key, _), vector in zip(batch, made, strict=True):
                found[key] = b64encode(np.asarray(vector, "<f2").tobytes()).decode()
                self._store.put(key, found[key])
        matrix = np.stack([np.frombuffer(b64decode(found[key]), "<f2") for key in keys]).astype(np.float32)
        matrix /= np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-9)
        return matrix

    def _ask(self, texts: list[str]) -> list[list[float]]:
        import openai

        address, key = self._params.embeddings, os.environ.get(self._params.embedding_key_env, "none")
        client = openai.OpenAI(
            base_url=address,
            api_key=key or "none",
            max_retries=3,
            timeout=120,
            http_client=openai.DefaultHttpxClient(
                follow_redirects=False
            ),  # the key is for this address alone
        )
        body: dict[str, Any] = {"model": self._params.embedding_model or "default", "input": texts}
        try:
            rows = client.embeddings.create(**body, encoding_format="float").data
            found = {row.index: row.embedding for row in rows}
            return [found[place] for place in range(len(texts))]
        except (openai.OpenAIError, LookupError, ValueError, AttributeError, TypeError) as error:
            said = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
            raise UserError(
                f"leaks.embeddings = {address}: no embeddings came ({said}): start the server, put the address, "
                "embedding_model or the key right, or leave leaks.embeddings out"
            ) from None

    def alike(self, records: Iterable[BenchmarkText]) -> Iterator[BenchmarkMatch]:
        """The record whose meaning is nearest, for each question that has one near enough (cosine)."""
        least, count = self._params.paraphrased, len(self._rows)
        best = np.full(count, -1.0, np.float32)
        nearest: dict[int, BenchmarkText] = {}
        many = np.zeros(count, np.int64)
        waiting = iter(records)
        while block := list(islice(waiting, _BLOCK)):
            cosines = self._ours @ self._vectors([record.text for record in block]).T
            many += (cosines >= least).sum(axis=1)
            places = cosines.argmax(axis=1)
            scores = cosines[np.arange(count), places]
            for place in np.flatnonzero((scores > best) & (scores >= least)).tolist():
                nearest[place] = block[int(places[place])]
            best = np.maximum(best, scores)
        for place, record in sorted(nearest.items()):
            share = min(float(best[place]), 1.0)
            yield BenchmarkMatch(self._rows[place], share, 0, 0, record.line, int(many[place]), record.text)
