"""Options in another order ask the same question."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from build_dataset.pipeline.evaluate.metrics import metric, score_items
from build_dataset.pipeline.evaluate.prompting import shufflable, shuffle_options
from build_dataset.pipeline.evaluate.scoring import OVERALL, Graded, Versions, accepted_answers
from build_dataset.schemas.evaluation import Outcome
from build_dataset.schemas.questions import Option
from tests.pipeline.evaluate.conftest import make_question


@given(st.integers(1, 20), st.integers(0, 2**32), st.sampled_from(["A", "BD", "ABC"]))
def test_another_order_keeps_labels_texts_and_the_right_ones(number, seed, key):
    printed = make_question(3, key, accepted_answers=[list(key), ["C"]])
    shown = shuffle_options(printed, number, seed)
    texts = {option.label: option.text for option in shown.question.options}
    was = {option.label: option.text for option in printed.options}
    assert [option.label for option in shown.question.options] == list("ABCD")
    assert sorted(texts.values()) == sorted(was.values())
    assert list(texts.values()) != list(was.values())
    assert {texts[letter] for letter in shown.question.answer} == {was[letter] for letter in key}
    assert shown.as_printed(shown.question.answer) == tuple(key)
    assert {shown.as_printed(sorted(answer)) for answer in accepted_answers(shown.question)} == {tuple(key), ("C",)}


def test_the_same_number_gives_the_same_order_and_another_seed_another():
    question = make_question(3, options="ABCDEFGH")
    assert shuffle_options(question, 1, 7) == shuffle_options(question, 1, 7)
    assert len({str(shuffle_options(question, 1, seed).printed) for seed in range(5)}) > 1


@pytest.mark.parametrize("text", ["以上都是", "上述均不对", "A和B", "A、C、D", "B+C", "①②③", "选项A错误"])
def test_options_that_speak_of_others_stay_where_they_are(text):
    question = make_question(3)
    options = [*question.options[:-1], Option(label="D", text=text)]
    assert not shufflable(question.model_copy(update={"options": options}))


@pytest.mark.parametrize("text", ["维生素A", "A型血", "C反应蛋白升高", "AIDS", "青霉素"])
def test_letters_inside_words_are_no_reference(text):
    question = make_question(3)
    options = [*question.options[:-1], Option(label="D", text=text)]
    assert shufflable(question.model_copy(update={"options": options}))


def said(number: int, order: int, letters: str | None) -> Graded:
    variant = f"order {order}" if order else None
    outcome = Outcome.ANSWERED if letters else Outcome.NO_ANSWER
    return Graded(make_question(number), outcome, tuple(letters) if letters else None, variant=variant)


def test_consistency_counts_questions_answered_alike_in_every_order():
    questions = [
        Versions((said(1, 0, "A"), said(1, 1, "A"))),
        Versions((said(2, 0, "A"), said(2, 1, "B"))),
        Versions((said(3, 0, "C"),)),
    ]
    found = metric("shuffle_consistency").measure
    assert [each.alike("order") for each in questions] == [True, False, None]
    assert found.value(questions) == 0.5
    assert found.interval(questions).method == "wilson"


def test_consistency_is_absent_without_other_orders():
    assert score_items("m", OVERALL, [Versions((said(1, 0, "A"),))], "versions") == []
