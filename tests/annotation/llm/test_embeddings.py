"""Vectors of texts, each asked for once."""

from __future__ import annotations

import numpy as np
import pytest

from build_dataset.annotation.llm import embeddings
from build_dataset.annotation.llm.embeddings import embed
from build_dataset.annotation.llm.options import Endpoint
from tests.conftest import MemoryStore

ENDPOINT = Endpoint(base_url="http://127.0.0.1:1/v1", model="m")


@pytest.fixture
def asked(monkeypatch) -> list[list[str]]:
    found: list[list[str]] = []

    def ask(texts, endpoint, option):
        found.append(list(texts))
        return [[0.0, 0.0] if text == "zero" else [3.0, 4.0] for text in texts]

    monkeypatch.setattr(embeddings, "_ask", ask)
    return found


def test_texts_are_embedded_once_sixty_four_at_a_time(asked):
    store, texts = MemoryStore(), [*(f"t{n}" for n in range(129)), "t0"]
    found = embed(texts, ENDPOINT, store, "o")
    assert [len(batch) for batch in asked] == [64, 64, 1]
    assert found == pytest.approx(np.tile([0.6, 0.8], (130, 1)), abs=1e-3)
    assert np.array_equal(embed(texts, ENDPOINT, store, "o"), found)
    assert len(asked) == 3
    embed(["t0"], ENDPOINT.model_copy(update={"model": "other"}), store, "o")
    assert asked[3:] == [["t0"]]


def test_long_texts_are_cut_and_empty_ones_are_a_space(asked):
    found = embed(["x" * 2000, "x" * 2001, "", "zero"], ENDPOINT, MemoryStore(), "o")
    assert asked == [["x" * 2000, " ", "zero"]]
    assert found[3].tolist() == [0.0, 0.0]
