"""Slips and misreadings are believed where everything else vouches for them, and not elsewhere."""

from __future__ import annotations

import pytest

from build_dataset.pipeline.dedup.grams import Vocabulary, bigrams
from build_dataset.pipeline.dedup.keys import Compared
from build_dataset.pipeline.dedup.params import DedupParams
from build_dataset.pipeline.dedup.relation import compare_stems, keys_agree, match_options, relate

TERMS = (
    "胃炎的病因是 胃炎的病是 病因 急性胃炎 亚急性胃炎 室上性心动过速 室性心动过速 薄束楔束 楔束与薄束 薄束",
    "束缚 束 红核 红核脊髓束 皮质脊髓束 位于后索内侧部的是",
)
CORPUS = [term for line in TERMS for term in line.split()] * 3


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    made = Vocabulary(enough=10)
    made.add(bigrams([f"\x1f{text}\x1f" for text in CORPUS]))
    return made


def item(key: str, options: str = "出生前 出生后 半岁", answer: str | None = "A") -> Compared:
    texts = tuple(options.split(" "))
    keys = (frozenset(answer),) if answer else ()
    return Compared(key, key, tuple("ABCDEF"[: len(texts)]), texts, keys, None)


CASE = "患者长期饮酒后反复上腹部疼痛伴恶心呕吐最可能的胃炎的病因是"
SLIPPED = CASE.replace("疼痛伴", "疼伴")


@pytest.mark.parametrize(
    ("first", "second", "agreed", "kind"),
    [
        (CASE, SLIPPED, True, "same"),
        (CASE, SLIPPED, False, "term"),
        ("胃炎的病因是", "胃炎的因是", True, "term"),  # in a short stem it may be another term
    ],
)
def test_a_dropped_character_in_a_long_stem_is_a_slip_where_options_and_answers_agree(
    vocabulary, first: str, second: str, agreed: bool, kind: str
) -> None:
    vocabulary.add(bigrams([f"\x1f{CASE}\x1f"] * 3))
    found = compare_stems(item(first), item(second), vocabulary, DedupParams(), agreed=agreed)
    assert found.kind == kind


@pytest.mark.parametrize(("first", "second"), [("急性胃炎", "亚急性胃炎"), ("室上性心动过速", "室性心动过速")])
def test_a_character_that_makes_another_term_is_no_slip(vocabulary, first: str, second: str) -> None:
    assert compare_stems(item(first), item(second), vocabulary, DedupParams(), agreed=True).kind != "same"


@pytest.mark.parametrize(("answer", "kind"), [("A", "same_question"), ("B", "term"), (None, "term")])
def test_slips_need_the_same_answer(vocabulary, answer: str | None, kind: str) -> None:
    vocabulary.add(bigrams([f"\x1f{CASE}\x1f"] * 3))
    first, second = item(CASE), item(SLIPPED, answer=answer)
    relation = relate(first, second, vocabulary, DedupParams())
    assert relation is not None
    assert relation.kind == kind


def test_answers_agree_when_one_is_right_by_both() -> None:
    one, other = frozenset("A"), frozenset("B")
    assert keys_agree([one], [one, other])
    assert not keys_agree([one], [other])
    assert not keys_agree([], [])


TRACTS = "薄束 红核脊髓束 皮质脊髓束"


@pytest.mark.parametrize(
    ("first", "second", "complete"),
    [
        (f"{TRACTS} 室上性心动过速", f"{TRACTS} 室上性心过速", True),  # three others vouch for it
        (f"{TRACTS} 楔束", f"{TRACTS} 束", False),  # the first character of a term
        (f"{TRACTS} 楔束 红核", f"{TRACTS} 束 病因", False),  # two are left over
        (f"{TRACTS} 楔束", f"{TRACTS} 红核", False),  # a word, not a slip
        (f"{TRACTS} 5mg", f"{TRACTS} 50mg", False),  # a number
        (f"{TRACTS} 楔束", TRACTS, False),  # it is missing
    ],
)
def test_the_others_vouch_for_the_only_option_that_is_left(vocabulary, first: str, second: str, complete: bool) -> None:
    found = match_options(item("后索", first), item("后索", second), vocabulary, least=0.75)
    assert found.complete is complete


def test_what_is_met_no_more_often_than_by_chance_is_no_word() -> None:
    vocabulary = Vocabulary(enough=1)
    texts = ["的甲"] * 50 + ["乙是"] * 50 + ["甲是"] * 2 + ["胃炎"] * 2
    vocabulary.add(bigrams([f"\x1f{text}\x1f" for text in texts]))
    assert vocabulary.by_chance("甲", "是")
    assert not vocabulary.by_chance("胃", "炎")
    assert not vocabulary.by_chance("的", "甲")


def test_texts_with_what_is_met_nowhere_else_are_the_worse_copies() -> None:
    vocabulary = Vocabulary(enough=1)
    texts = ["慢性胃炎", "慢性胃炎", "慢性胄炎"]
    vocabulary.add(bigrams(texts))
    assert vocabulary.rarities(bigrams(texts)).tolist() == [0, 0, 2]
    assert Vocabulary().rarities(bigrams(texts)).tolist() == [0, 0, 0]


@pytest.mark.parametrize(("place", "kind"), [(0, "variant"), (1, "same_question")])
def test_another_wording_of_the_right_option_may_be_another_answer(vocabulary, place: int, kind: str) -> None:
    texts = ["硝苯地平控释制剂", "氨氯地平普通片剂", "卡托普利普通片剂"]
    reworded = list(texts)
    reworded[place] = ["硝苯地平缓释制剂", "氨氯地平一般片剂"][place]
    stem = "老年高血压患者首选的药物是"
    relation = relate(item(stem, " ".join(texts)), item(stem, " ".join(reworded)), vocabulary, DedupParams())
    assert relation is not None
    assert relation.kind == kind
