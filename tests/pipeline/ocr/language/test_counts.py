"""Probabilities of characters between their neighbours."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from build_dataset.pipeline.ocr.language.counts import BREAK, DIGIT, LETTER, Language, NgramCounts, codes_of

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


def test_what_the_folder_says_often_becomes_likely():
    text = "甲乙丙丁戊己庚辛"
    assert fit(Language([text] * 3, NOTHING), text) > fit(Language([], NOTHING), text) + 10


@given(st.lists(st.text("甲乙丙，1a", max_size=9), max_size=5), st.text("甲乙丙，1a", min_size=1, max_size=9))
def test_probabilities_are_none_above_one_whatever_was_read(texts, text):
    codes = np.pad(codes_of(text), 2)[:-2]
    assert (Language(texts, NOTHING).logs(codes[:-2], codes[1:-1], codes[2:]) <= 1e-6).all()
