"""The candidate search misses next to nothing that brute force finds."""

import random

import numpy as np
import polars as pl
import pytest
from rapidfuzz import fuzz, process

from build_dataset.pipeline.dedup import candidates
from build_dataset.pipeline.dedup.grams import Banding, bigrams, candidate_pairs, equal_pairs, similarities
from build_dataset.pipeline.dedup.keys import with_keys
from build_dataset.schemas.questions import Question


def test_equal_texts_are_always_paired() -> None:
    pairs = candidate_pairs([["痛风的治疗", "肺炎"], ["痛风的治疗", "痛风的治疗"]], Banding(4, 4), 0)
    assert pairs.tolist() == [[0, 2], [0, 3], [2, 3]]


def test_the_same_texts_and_seed_make_the_same_pairs_however_they_are_cut() -> None:
    rng = random.Random(1)
    base = ["".join(rng.choice("肝心脾肺肾胃胆肠") for _ in range(14)) for _ in range(12)]
    texts = base + [f"{text}皮肤" for text in base]
    pairs = candidate_pairs([texts[:20], texts[20:]], Banding(20, 3), 5).tolist()
    assert pairs == candidate_pairs([texts], Banding(20, 3), 5).tolist() == sorted(pairs)
    assert [pair for pair in pairs if pair[1] - pair[0] == 12] == [[at, at + 12] for at in range(12)]


@pytest.mark.parametrize(("least", "found"), [(75.0, [75, 0]), (75.1, [0, 0]), (0, [75, 50])])
def test_similarity_is_a_ratio_from_a_least_value_on(least: float, found: list[float]) -> None:
    texts = pl.Series(["甲乙丙丁", "甲乙丙戊", "甲乙己庚"])
    assert similarities(np.array([[0, 1], [1, 2]]), texts, least).tolist() == found


def test_rows_of_a_bucket_are_paired_with_those_that_follow() -> None:
    keys, rows = np.array([1, 1, 1, 2, 3, 3], np.uint64), np.array([5, 6, 7, 8, 2, 9])
    pairs = [sorted(zip(one.tolist(), other.tolist(), strict=True)) for one, other in equal_pairs(keys, rows, 2)]
    assert pairs == [[(2, 9), (5, 6), (6, 7)], [(5, 7)]]
    assert len(list(equal_pairs(keys, rows, 1))) == 1


ASKED = "A man presents to the clinic with chest pain and a fever for days"


@pytest.mark.parametrize(
    ("stem", "found"),
    [
        ("In a woman seen at the ward with stress and headaches after years", False),
        (ASKED.replace("days", "years"), True),
    ],
)
def test_stems_in_letters_need_more_than_letters_in_common(make, stem: str, found: bool) -> None:
    frame = Question.to_frame([make("a", ASKED), make("b", stem)])
    pairs, _ = candidates._hopeful(np.array([[0, 1]]), with_keys(frame))
    assert len(pairs) == found


@pytest.mark.parametrize(
    ("stem", "found"), [("甲乙丙丁戊己庚辛壬癸", True), ("甲乙丙丁子丑寅卯辰巳", False), ("甲乙丙丁戊子丑寅卯辰", True)]
)
def test_stems_of_less_than_half_in_common_are_not_compared(make, stem: str, found: bool) -> None:
    frame = Question.to_frame([make("a", "甲乙丙丁戊己庚辛壬癸"), make("b", stem)])
    pairs, scores = candidates._hopeful(np.array([[0, 1]]), with_keys(frame))
    assert (len(pairs), len(scores)) == (int(found), int(found))


def test_texts_too_short_for_bigrams_have_no_pairs() -> None:
    assert candidate_pairs([["", "甲"], ["甲"]], Banding(4, 4), 0).tolist() == []
    assert candidate_pairs([[]], Banding(4, 4), 0).shape == (0, 2)


def test_a_crowded_bucket_stays_connected_with_few_pairs() -> None:
    pairs = candidate_pairs([["痛风的治疗"] * 500], Banding(4, 4), 0)
    assert len(pairs) == sum(500 - distance for distance in range(1, 25))
    assert set(np.unique(pairs)) == set(range(500))


def test_bigrams_stay_within_their_text() -> None:
    grams = bigrams(["ab", "", "c", "de\U00020000"])
    assert grams.rows.tolist() == [0, 3, 3]
    assert grams.codes.tolist() == [ord("a") << 21 | ord("b"), ord("d") << 21 | ord("e"), ord("e") << 21 | 0x20000]


@pytest.mark.slow
def test_brute_force_finds_little_more_on_real_questions(shared_data) -> None:
    rows = pl.read_ndjson(shared_data / "cmexam" / "val_dev.jsonl")
    texts = [f"{stem}\x1f{options}" for stem, options in rows.select("Question", "Options").iter_rows()]
    scores = process.cdist(texts, texts, scorer=fuzz.ratio, score_cutoff=80, dtype=np.uint8, workers=2)
    brute = {(int(a), int(b)) for a, b in np.argwhere(scores) if a < b}
    found = {(int(a), int(b)) for a, b in candidate_pairs([texts], Banding(30, 4), 0)}
    assert len(brute) > 20
    assert len(found & brute) >= 0.95 * len(brute)


@pytest.mark.parametrize("size", [1, 7, 50])
def test_small_slices_come_to_the_same(make, dedup, crowd, monkeypatch, size: int) -> None:
    stems = [f"{item.stem}的正确说法是" for item in crowd[:40]]
    copies = [
        make(f"{kind}{n:02d}", stem.replace("正确", word), answer=answer)
        for n, stem in enumerate(stems)
        for kind, word, answer in (("a", "正确", "A"), ("b", "正确", "AB"[n % 2]), ("c", "错误", "A"))
    ]
    whole = dedup([*copies, *crowd])
    monkeypatch.setattr(candidates, "_CHUNK", 10 * size)
    parts = dedup([*copies, *crowd])
    assert whole.counts.merged == whole.counts.waiting / 2 == 20
    assert all(whole.tables[name].equals(parts.tables[name]) for name in whole.tables)
    assert whole.review == parts.review


def test_a_crowd_of_like_questions_costs_linear_time_and_stays_one_cluster(make, dedup) -> None:
    """第1种…, 第2种…: each is compared with its most alike, and what is left out is said."""
    questions = [make(f"q{n:04}", f"第{n}种病人应首先使用的治疗药物是什么") for n in range(400)]
    copy = make("r", "第77种病人应首先使用的治疗药物是什么?", "别嘌醇 秋水仙碱 丙磺舒 苯溴马隆 泼尼松", "B")
    frame = Question.to_frame([*questions, copy])
    pairs, left_out = candidates.find_candidates(with_keys(frame), 0)
    assert len(pairs) <= 401 * (candidates.MOST_ALIKE + 1)
    assert left_out > 1000
    result = dedup([*questions, copy])
    assert result.tables["merges"].select("question_id", "survivor_id").rows() in ([("r", "q0077")], [("q0077", "r")])
    assert result.tables["clusters"]["cluster_id"].n_unique() == 1
    assert any(f"{left_out:,} pairs" in note for note in result.notes)
