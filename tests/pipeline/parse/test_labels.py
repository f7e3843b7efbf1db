"""Labels of options: one alphabet, and all signs that stand for its letters."""

import pytest

from build_dataset.pipeline.parse.labels import LABELS, are_labels, ascend, folded, labels_in, run_from_a


@pytest.mark.parametrize("signs", ["ⒶⒷⒸⒹⒺⒻⒼⒽⒾⒿⓀ", "⒜⒝⒞⒟⒠⒡⒢⒣⒤⒥⒦", "🄐🄑🄒🄓🄔🄕🄖🄗🄘🄙🄚", "🅐🅑🅒🅓🅔🅕🅖🅗🅘🅙🅚", LABELS])
def test_every_sign_for_a_label_is_folded_to_its_letter(signs: str) -> None:
    assert [folded(sign) for sign in signs] == [*LABELS]


def test_a_circled_number_is_folded_to_its_number_and_a_small_letter_stays() -> None:
    assert [folded(sign) for sign in "①⑨a"] == ["1", "9", "a"]


def test_letters_beyond_the_alphabet_are_no_labels() -> None:
    assert labels_in("A和C，L") == ["A", "C"]
    assert [are_labels(text) for text in ("ACD", "AL", "")] == [True, False, False]


def test_letters_of_one_answer_ascend_and_those_of_options_begin_at_a() -> None:
    assert [ascend(text) for text in ("ACD", "CBD", "AAB")] == [True, False, False]
    assert [run_from_a(text) for text in ("ABC", "ACD", "BCD")] == [True, False, False]
