"""Texts on a page are bounded, visible, and marked where they differ."""

import json

import pytest
from hypothesis import given, strategies as st

from build_dataset.pipeline.report.texts import clip, item_text, mark_differences, unfold

PLAIN = st.text(alphabet="甲乙丙丁不的是，。0123 ab<>&\"'", max_size=60)


def text(shown, *, unmarked=False):
    return "".join(run for run, marked in shown.pieces if not (unmarked and marked))


@given(PLAIN, PLAIN)
def test_what_is_not_marked_stands_in_both_texts(one, other):
    left, right = mark_differences(one, other, 400)
    assert text(left, unmarked=True) == text(right, unmarked=True)


@given(PLAIN, PLAIN)
def test_no_character_is_lost_or_added_but_for_signs_of_blanks(one, other):
    for shown, said in zip(mark_differences(one, other, 400), (one, other), strict=True):
        assert text(shown).replace("␣", " ") == said
        assert shown.more == 0


@given(st.text(max_size=300), st.text(max_size=300), st.integers(40, 80))
def test_a_text_is_cut_and_says_by_how_much(one, other, limit):
    for shown, said in ((clip(one, limit), one), (mark_differences(one, other, limit)[0], one)):
        assert shown.more == max(0, len(said) - limit)


def test_only_the_difference_is_marked():
    left, right = mark_differences("下列叙述正确的是", "下列叙述不正确的是", 400)
    assert [run for run, marked in left.pieces if marked] == []
    assert [run for run, marked in right.pieces if marked] == ["不"]


def test_texts_that_share_a_few_characters_by_chance_are_marked_whole():
    left, right = mark_differences("四联方案中可以不用质子泵抑制剂", "停药后四周复查", 400)
    assert all(marked for shown in (left, right) for _, marked in shown.pieces)


def test_a_blank_that_differs_can_be_seen():
    left, _ = mark_differences("80 mmHg", "80mmHg", 400)
    assert ("␣", True) in left.pieces


def test_an_item_without_a_question_is_shown_as_it_is():
    assert text(item_text("not JSON <b>", 400).stem) == "not JSON <b>"
    assert text(item_text(json.dumps({"rows": [1, 2]}), 400).stem) == '{"rows": [1, 2]}'
    assert item_text(None, 400) is None


def test_an_item_in_the_words_of_its_source_is_shown_too():
    shown = item_text(json.dumps({"题目": "题干", "答案": "A"}), 400)
    assert text(shown.stem) == "题干"
    assert shown.options == []


def test_options_that_are_no_list_do_no_harm():
    assert item_text(json.dumps({"stem": "s", "options": {"A": "x"}, "answer": "B"}), 400).options == []


@pytest.mark.parametrize(
    ("span", "limit", "kept"),
    [
        ((2, 4), 10, [("ab", False), ("cd", True), ("efghij", False)]),
        (None, 4, [("abcd", False)]),
        ((8, 10), 4, [("…", False), ("gh", False), ("ij", True)]),
        ((0, 10), 4, [("abcd", True)]),
    ],
)
def test_a_long_output_is_cut_around_what_was_read(span, limit, kept):
    found = unfold("abcdefghij", limit, 4000, span)
    assert list(found.pieces) == kept
    assert found.more == 10 - min(10, limit)


def test_a_text_that_was_cut_can_be_unfolded_up_to_a_bound():
    assert unfold("短", 4, 4000).whole is None
    whole = unfold("长" * 9000, 4, 4000, (8990, 9000)).whole
    assert whole is not None
    assert whole.more == 5000
    assert whole.pieces[-1] == ("长" * 10, True)
