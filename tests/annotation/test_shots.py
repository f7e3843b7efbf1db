"""Examples of a prompt: how many, which, how long; and the probability of the tokens of a value."""

from __future__ import annotations

from math import log
from types import SimpleNamespace

import pytest

from build_dataset.annotation.llm_annotator import choose_shots, label_prompt, render, value_probability
from build_dataset.annotation.params import AnnotateLlmOptions
from build_dataset.annotation.reviewed import Reviewed
from build_dataset.schemas.taxonomy import dimensions
from tests.annotation.test_lexicon_annotator import question


def reviewed(number: int, label: int = 0, size: int = 10) -> Reviewed:
    """A question of so many characters, labelled in all dimensions by the label at one place."""
    asked = question("题" * size).model_copy(update={"content_hash": f"h{number}"})
    labels = {name: each.labels[label % len(each.labels)] for name, each in dimensions().items()}
    return Reviewed(asked, labels)


@pytest.mark.parametrize(("count", "chosen"), [(0, 0), (1, 2), (2, 3), (4, 5), (5, 6), (6, 6)])
def test_one_example_more_than_asked_for_is_in_reserve(count, chosen):
    assert len(choose_shots([reviewed(number) for number in range(6)], count)) == chosen


def test_the_next_example_shows_most_labels_that_no_earlier_one_shows():
    items = [reviewed(0), reviewed(1), reviewed(2, 1), reviewed(3, 2)]
    assert [item.question.content_hash for item in choose_shots(items, 2)] == ["h0", "h2", "h3"]


@pytest.mark.parametrize(("size", "chosen"), [(400, 1), (401, 0)])
def test_an_example_has_400_characters_at_most(size, chosen):
    assert len(choose_shots([reviewed(0, size=size)], 1)) == chosen


def test_400_characters_of_an_explanation_are_shown():
    asked = question("题").model_copy(update={"explanation": "解" * 399 + "甲乙"})
    assert render(asked).endswith("\n解析：" + "解" * 399 + "甲")


@pytest.mark.parametrize(("number", "shown"), [(9, "01"), (0, "12"), (1, "02"), (2, "01")])
def test_no_question_is_shown_itself_and_all_are_shown_as_many(number, shown):
    items = [reviewed(each, each, size=5 + each) for each in range(3)]
    prompt = label_prompt(AnnotateLlmOptions(model="m"), items)
    said = prompt.messages(reviewed(number, size=5 + number).question)
    assert [turn["role"] for turn in said] == ["system", *["user", "assistant"] * 2, "user"]
    asked = [turn["content"].count("题") - 2 for turn in said[1::2]]  # two stand in the tags
    assert asked[:2] == [5 + int(each) for each in shown]


@pytest.mark.parametrize(
    ("pieces", "keys", "expected"),
    [
        ([('{"难度":"', -1.0), ("3", log(0.5)), ('"}', -1.0)], ["难度"], 0.5),
        ([('{"难度": ', -1.0), ("1", log(0.5)), ("2", log(0.5)), ("}", -1.0)], ["难度"], 0.25),
        ([('{"难度":"3', log(0.25)), ('"}', -1.0)], ["难度"], 0.25),
        ([('{"难度":"', -1.0), ("3", 0.1), ('"}', -1.0)], ["难度"], 1.0),
        ([('{"a":1}', -1.0)], ["难度"], None),
        ([('{"a":"', -1), ("3", log(0.5)), ('","难度":"', -1), ("2", log(0.125)), ('"}', -1)], ["难度", "a"], 0.125),
        ([('{"a":"', -1), ("3", log(0.5)), ('"} {"a":"', -1), ("2", log(0.125)), ('"}', -1)], ["难度", "a"], 0.125),
    ],
)
def test_a_value_is_as_probable_as_the_tokens_that_it_touches(pieces, keys, expected):
    text = "".join(piece for piece, _ in pieces)
    logprobs = [(len(piece.encode()), logprob) for piece, logprob in pieces]
    answer = SimpleNamespace(text=text, logprobs=logprobs)
    found = value_probability(answer, keys)
    assert found == (None if expected is None else pytest.approx(expected))
    assert value_probability(SimpleNamespace(text=text, logprobs=[]), keys) is None
