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


class Embedder:
    """Embeds texts by the endpoint of ``[leaks]``."""

    def __init__(self, params: LeaksParams, store: Store) -> None:
        """Take the address, the model, and where vectors are kept."""
        self._params, self._store = params, store

    def vectors(self, texts: Sequence[str]) -> Vectors:
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


def meant_alike(
    rows: Sequence[int], ours: Vectors, records: Iterable[BenchmarkText], embedder: Embedder, least: float
) -> Iterator[BenchmarkMatch]:
    """The record whose meaning is nearest, for each question that has one near enough (cosine)."""
    best = np.full(len(rows), -1.0, np.float32)
    nearest: dict[int, BenchmarkText] = {}
    many = np.zeros(len(rows), np.int64)
    waiting = iter(records)
    while block := list(islice(waiting, _BLOCK)):
        cosines = ours @ embedder.vectors([record.text for record in block]).T
        many += (cosines >= least).sum(axis=1)
        places = cosines.argmax(axis=1)
        scores = cosines[np.arange(len(rows)), places]
        for place in np.flatnonzero((scores > best) & (scores >= least)).tolist():
            nearest[place] = block[int(places[place])]
        best = np.maximum(best, scores)
    for place, record in sorted(nearest.items()):
        yield BenchmarkMatch(
            rows[place], float(best[place]), 0, 0, record.line, int(many[place]), record.text
        )
