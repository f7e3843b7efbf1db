"""Slips and misreadings are believed where everything else vouches for them, and not elsewhere."""

from dataclasses import replace
from itertools import pairwise

import pytest

from build_dataset.pipeline.dedup.grams import Vocabulary, bigrams
from build_dataset.pipeline.dedup.keys import Compared
from build_dataset.pipeline.dedup.params import DedupParams
from build_dataset.pipeline.dedup.relation import compare_stems, keys_agree, relate

TERMS = (
    "胃炎的病因是 胃炎的病是 病因 急性胃炎 亚急性胃炎 室上性心动过速 室性心动过速 薄束楔束 楔束与薄束 薄束",
    "束缚 束 红核 红核脊髓束 皮质脊髓束 位于后索内侧部的是",
)
CORPUS = [term for line in TERMS for term in line.split()] * 3


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return Vocabulary([[f"\x1f{text}\x1f" for text in CORPUS]], enough=10)


def item(key: str, options: str = "出生前 出生后 半岁", answer: str | None = "A") -> Compared:
    texts = tuple(options.split(" "))
    keys = (frozenset(answer),) if answer else ()
    return Compared(key, key, tuple("ABCDEF"[: len(texts)]), texts, keys, None)


CASE = "患者长期饮酒后反复上腹部疼痛伴恶心呕吐最可能的胃炎的病因是"
SLIPPED = CASE.replace("疼痛伴", "疼伴")


@pytest.mark.parametrize(
    ("unsure", "answer", "kind"), [(True, "A", "same_question"), (True, "B", "term"), (False, "A", "term")]
)
def test_a_dropped_character_is_a_slip_where_recognition_was_unsure_and_options_and_answers_agree(
    vocabulary, unsure: bool, answer: str, kind: str
) -> None:
    slipped = replace(item(SLIPPED, answer=answer), doubtful=unsure)
    relation = relate(item(CASE), slipped, vocabulary, DedupParams())
    assert relation is not None
    assert relation.kind == kind


@pytest.mark.parametrize(("first", "second"), [("急性胃炎", "亚急性胃炎"), ("室上性心动过速", "室性心动过速")])
def test_a_character_that_makes_another_term_is_no_slip(vocabulary, first: str, second: str) -> None:
    assert compare_stems(item(first), item(second), vocabulary, DedupParams(), agreed=True).kind != "same"


def test_answers_agree_when_one_is_right_by_both() -> None:
    one, other = frozenset("A"), frozenset("B")
    assert keys_agree([one], [one, other])
    assert not keys_agree([one], [other])
    assert not keys_agree([], [])


def test_what_is_met_no_more_often_than_by_chance_is_no_word() -> None:
    texts = ["的甲"] * 50 + ["乙是"] * 50 + ["甲是"] * 2 + ["胃炎"] * 2
    vocabulary = Vocabulary([[f"\x1f{text}\x1f" for text in texts]], enough=1)
    assert vocabulary.by_chance("甲", "是")
    assert not vocabulary.by_chance("胃", "炎")
    assert not vocabulary.by_chance("的", "甲")


def test_texts_with_what_is_met_nowhere_else_are_the_worse_copies() -> None:
    texts = ["慢性胃炎", "慢性胃炎", "慢性胄炎"]
    vocabulary = Vocabulary([texts], enough=1)
    assert vocabulary.rarities(bigrams(texts)).tolist() == [0, 0, 2]
    assert Vocabulary().rarities(bigrams(texts)).tolist() == [0, 0, 0]


def test_a_part_of_a_vocabulary_says_the_same_of_its_texts() -> None:
    vocabulary = Vocabulary([["\x1f慢性胃炎\x1f", "\x1f急性胃炎的治疗\x1f", "\x1fNa+ 内流\x1f"]], enough=2)
    texts = ["\x1f慢性胃炎\x1f", "\x1f胃癌\x1f"]
    part = vocabulary.of(texts)
    assert part.is_evidence
    for text in texts:
        for one, other in pairwise(text):
            assert part.count(one, other) == vocabulary.count(one, other)
            assert part.by_chance(one, other) == vocabulary.by_chance(one, other)


@pytest.mark.parametrize(("place", "kind"), [(0, "variant"), (1, "same_question")])
def test_another_wording_of_the_right_option_may_be_another_answer(vocabulary, place: int, kind: str) -> None:
    texts = ["硝苯地平控释制剂", "氨氯地平普通片剂", "卡托普利普通片剂"]
    reworded = list(texts)
    reworded[place] = ["硝苯地平缓释制剂", "氨氯地平一般片剂"][place]
    stem = "老年高血压患者首选的药物是"
    relation = relate(item(stem, " ".join(texts)), item(stem, " ".join(reworded)), vocabulary, DedupParams())
    assert relation is not None
    assert relation.kind == kind
