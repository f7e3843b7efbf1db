"""Paraphrases and translations of questions in public benchmarks, by the meaning that an embedding model sees.

Any endpoint of OpenAI's form serves, a local one (llama.cpp, Ollama, vLLM) as well. Questions and records meet block by
block.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice

import numpy as np

from annotation.llm.embeddings import embed
from pipeline.leaks.files import BenchmarkText
from pipeline.leaks.overlap import BenchmarkMatch
from pipeline.leaks.params import LeaksParams
from pipeline.stage import Store

_BLOCK = 4096
"""Records that are compared at a time."""


class Meanings:
    """The meanings of questions, by the endpoint of ``[leaks]``."""

    def __init__(self, rows: Sequence[int], texts: Sequence[str], params: LeaksParams, store: Store) -> None:
        """Embed the questions of some ``rows``; vectors are kept in the store."""
        self._params, self._rows = params, rows
        self._embed = partial(embed, endpoint=params.endpoint(), store=store, option="leaks.embeddings")
        self._ours = self._embed([texts[row] for row in rows])

    def alike(self, records: Iterable[BenchmarkText]) -> Iterator[BenchmarkMatch]:
        """The record whose meaning is nearest, for each question that has one near enough (cosine)."""
        least, count = self._params.paraphrased, len(self._rows)
        best = np.full(count, -1.0, np.float32)
        nearest: dict[int, BenchmarkText] = {}
        many = np.zeros(count, np.int64)
        waiting = iter(records)
        while block := list(islice(waiting, _BLOCK)):
            cosines = self._ours @ self._embed([record.text for record in block]).T
            many += (cosines >= least).sum(axis=1)
            places = cosines.argmax(axis=1)
            scores = cosines[np.arange(count), places]
            for place in np.flatnonzero((scores > best) & (scores >= least)).tolist():
                nearest[place] = block[int(places[place])]
            best = np.maximum(best, scores)
        for place, record in sorted(nearest.items()):
            share = min(float(best[place]), 1.0)
            yield BenchmarkMatch(self._rows[place], share, 0, 0, record.line, int(many[place]), record.text)
