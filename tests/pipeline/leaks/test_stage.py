"""Matches become leaks: copies, overlaps, paraphrases, and what is neither."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from build_dataset.pipeline.leaks import overlap
from build_dataset.pipeline.leaks.files import BenchmarkText
from build_dataset.pipeline.leaks.overlap import Index, Meanings
from build_dataset.pipeline.leaks.params import LeaksParams

LETTERS = "".join(chr(0x5000 + place) for place in range(40))
STEM, OPTIONS = LETTERS[:20], (LETTERS[20:25], LETTERS[25:30])


def meanings(monkeypatch, ours: list[list[float]], theirs: list[list[float]], **params) -> Meanings:
    given = {"our": ours, "their": theirs}

    def embed(texts, endpoint, store, option):
        return np.array([given[text.split()[0]][int(text.split()[1])] for text in texts], np.float32)

    monkeypatch.setattr(overlap, "embed", embed)
    settings = LeaksParams(embeddings="http://localhost:9/v1", embedding_model="m", **params)
    return Meanings([3, 5], ["", "", "", "our 0", "", "our 1"], settings, SimpleNamespace())


def records(count: int) -> list[BenchmarkText]:
    return [BenchmarkText(10 + place, f"their {place}") for place in range(count)]


@pytest.mark.parametrize("block", [1, 2, 5_000])
def test_the_nearest_record_of_each_question_is_told_from_the_cosine_on(monkeypatch, block) -> None:
    monkeypatch.setattr(overlap, "_RECORDS", block)
    theirs = [[0.5, 0.0], [0.75, 0.25], [0.875, 0.5], [0.875, 0.0], [1.5, 0.0]]
    found = list(meanings(monkeypatch, [[1, 0], [0, 1]], theirs[:4], paraphrased=0.75).alike(records(4)))
    assert [(one.row, one.share, one.line, one.records, one.first, one.last) for one in found] == [
        (3, 0.875, 12, 3, 0, 0)
    ]
    assert found[0].text == "their 2"
    both = meanings(monkeypatch, [[1, 0], [0, 1]], theirs, paraphrased=0.5).alike(records(5))
    assert [(one.row, one.share, one.line, one.records) for one in both] == [(3, 1.0, 14, 5), (5, 0.5, 12, 1)]


@pytest.mark.parametrize("size", [3, 8, 13])
def test_the_tokens_that_windows_share_are_counted_once(size) -> None:
    index = Index([LETTERS], size, 10)
    [match], seen = index.matches([BenchmarkText(4, f"{LETTERS[:15]}甲{LETTERS[20:35]}")])
    assert seen == 1
    assert (match.row, match.share, match.line, match.records) == (0, 30 / 40, 4, 1)
    assert (match.first, match.last) == (0, 15) if size < 8 else match.last > match.first


@pytest.mark.parametrize("copied", [0.8, 0.81])
def test_a_record_with_the_share_of_lines_is_a_match_without_a_run(copied) -> None:
    lines = ["肝心", "脾肺", "肾胃", "胆肠", "骨血"]
    index = Index(["\n".join(lines)], 13, 10, copied)
    text = "\n".join(["另一", *reversed(lines[:4])])
    found, _ = index.matches([BenchmarkText(5, text, lines=True)])
    told = [(one.row, one.share, one.first, one.last, one.line, one.records) for one in found]
    assert told == ([(0, 0.8, 0, 10, 8, 1)] if copied == 0.8 else [])
