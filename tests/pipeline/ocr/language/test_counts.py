"""Probabilities of characters between their neighbours."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from build_dataset.pipeline.ocr.language.counts import (
    BREAK,
    DIGIT,
    LETTER,
    Language,
    NgramCounts,
    as_likely,
    codes_of,
    keys_of,
)

NOTHING = NgramCounts(np.zeros(0, np.uint32), np.zeros(0, np.float32))


def fit(language: Language, text: str) -> float:
    codes = np.pad(codes_of(text), 2)[:-2]
    return float(language.logs(codes[:-2], codes[1:-1], codes[2:]).sum())


def test_forms_of_a_character_in_two_scripts_have_one_code():
    assert codes_of("糞便瘻").tolist() == codes_of("粪便瘘").tolist()


def test_digits_letters_and_marks_have_one_code_each():
    assert codes_of("1aα，").tolist() == [DIGIT, LETTER, LETTER, BREAK]


@pytest.mark.parametrize(
    ("right", "wrong"), [("大便潜血", "大使潜血"), ("下列敘述何者", "下列救述何者"), ("气管痉挛", "气管痉孪")]
)
def test_the_shipped_counts_prefer_what_is_written_in_chinese(right, wrong):
    assert fit(Language(), right) > fit(Language(), wrong) + 3


@pytest.mark.parametrize(
    ("right", "wrong"), [("列敘述，", "列救述，"), ("廓清率，", "廓情率，"), ("皮膚乾癟，", "皮膚乾瘍，")]
)
def test_a_pair_that_the_table_leaves_out_is_rare_and_not_impossible(right, wrong):
    assert fit(Language(), right) > max(fit(Language(), wrong), -15 * len(right))


def test_a_text_is_as_likely_after_nothing_as_its_pairs_say():
    codes = np.pad(codes_of("甲乙"), 2)
    logs = Language(["甲乙", "丙乙"], NOTHING).logs(codes[:-2], codes[1:-1], codes[2:])
    alone = Language(["甲乙", "丙乙"], NOTHING).logs(*(np.array([one]) for one in (0, ord("甲"), ord("乙"))))
    assert logs[1] == pytest.approx(alone[0])


@given(st.lists(st.sampled_from("甲乙丙丁戊己庚辛"), min_size=3, max_size=8, unique=True))
def test_a_recognised_place_is_no_evidence_of_itself(chars):
    codes = np.pad(codes_of("".join(chars)), 2)[:-2]
    parts = codes[:-2], codes[1:-1], codes[2:]
    once, twice = (Language((), NOTHING, ["".join(chars)] * times) for times in (1, 2))
    assert once.logs(*parts, besides=1)[2:].mean() < -10
    assert twice.logs(*parts, besides=1)[2:].mean() > -3


def test_what_the_folder_says_often_becomes_likely():
    text = "甲乙丙丁戊己庚辛"
    assert fit(Language([text] * 3, NOTHING), text) > fit(Language([], NOTHING), text) + 10


@given(st.lists(st.text("甲乙丙，1a", max_size=9), max_size=5), st.text("甲乙丙，1a", min_size=1, max_size=9))
def test_probabilities_are_none_above_one_whatever_was_read(texts, text):
    codes = np.pad(codes_of(text), 2)[:-2]
    assert (Language(texts, NOTHING).logs(codes[:-2], codes[1:-1], codes[2:]) <= 1e-6).all()


def test_three_characters_are_no_more_frequent_than_the_first_two_and_the_last_two_of_them():
    codes = [np.array([ord(char)]) for char in "甲乙丙"]
    none = np.zeros(1, np.int64)
    pairs = [(none, none, none), *((none, none, one) for one in codes), (none, *codes[:2]), tuple(codes)]
    keys = np.concatenate([keys_of(*three) for three in pairs])
    order = np.argsort(keys)
    counts = NgramCounts(keys[order], np.full(len(keys), 9.0, np.float32)[order])
    without = NgramCounts(keys[:-1][np.argsort(keys[:-1])], np.full(len(keys) - 1, 9.0, np.float32))
    assert Language([], counts).logs(*codes) == Language([], without).logs(*codes)


def test_another_character_is_as_likely_where_its_neighbours_bear_it_out():
    asked = [(0, 2, "探"), (0, 2, "揉"), (1, 2, "伴"), (1, 2, "佚")]
    assert list(as_likely(["手術採全身", "神經件行"], asked, Language())) == [(0, 2), (1, 2)]
