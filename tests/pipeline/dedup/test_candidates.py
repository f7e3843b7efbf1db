"""The candidate search misses next to nothing that brute force finds."""

from __future__ import annotations

import numpy as np
import polars as pl
from rapidfuzz import fuzz, process

from pipeline.dedup.grams import bigrams
from pipeline.dedup.minhash import Banding, candidate_pairs


def test_equal_texts_are_always_paired() -> None:
    pairs = candidate_pairs(bigrams(["痛风的治疗", "肺炎", "痛风的治疗", "痛风的治疗"]), Banding(4, 4), 0)
    assert pairs.tolist() == [[0, 2], [0, 3], [2, 3]]


def test_texts_too_short_for_bigrams_have_no_pairs() -> None:
    assert candidate_pairs(bigrams(["", "甲", "甲"]), Banding(4, 4), 0).tolist() == []
    assert candidate_pairs(bigrams([]), Banding(4, 4), 0).shape == (0, 2)


def test_a_crowded_bucket_stays_connected_with_few_pairs() -> None:
    pairs = candidate_pairs(bigrams(["痛风的治疗"] * 500), Banding(4, 4), 0)
    assert len(pairs) < 500 * 25
    assert set(np.unique(pairs)) == set(range(500))


def test_bigrams_stay_within_their_text() -> None:
    grams = bigrams(["ab", "", "c", "de\U00020000"])
    assert grams.rows.tolist() == [0, 3, 3]
    assert grams.codes.tolist() == [
        ord("a") << 21 | ord("b"),
        ord("d") << 21 | ord("e"),
        ord("e") << 21 | 0x20000,
    ]


def test_brute_force_finds_little_more_on_real_questions(shared_data) -> None:
    rows = pl.read_ndjson(shared_data / "cmexam" / "val_dev.jsonl")
    texts = [f"{stem}\x1f{options}" for stem, options in rows.select("Question", "Options").iter_rows()]
    scores = process.cdist(texts, texts, scorer=fuzz.ratio, score_cutoff=80, dtype=np.uint8, workers=2)
    brute = {(int(a), int(b)) for a, b in np.argwhere(scores) if a < b}
    found = {(int(a), int(b)) for a, b in candidate_pairs(bigrams(texts), Banding(30, 4), 0)}
    assert len(brute) > 20
    assert len(found & brute) >= 0.95 * len(brute)
