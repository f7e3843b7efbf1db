"""Bounds on likeness: what they put aside is nothing that a comparison would relate."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz import fuzz

from build_dataset.pipeline.dedup.candidates import HOPELESS, Bounds
from build_dataset.pipeline.dedup.grams import Vocabulary
from build_dataset.pipeline.dedup.keys import Compared, with_keys
from build_dataset.pipeline.dedup.params import DedupParams
from build_dataset.pipeline.dedup.relation import relate
from build_dataset.schemas.questions import Question
from tests.making import make_question

WORDS = [
    "patient",
    "presents",
    "fever",
    "renal",
    "artery",
    "Na",
    "140",
    "7.4",
    "mmHg",
    "IgA",
    "%",
    "β",
    "患者",
    "的",
    "-",
]
PAIR = np.array([[0, 1]])
LONG = "A man presents to the clinic with chest pain and a fever for days"
OTHER = "In a woman seen at the ward with stress and headaches after years"


def keys_of(*stems: str) -> pl.DataFrame:
    made = [make_question(stem, "alpha beta gamma", "A", question_id=str(at)) for at, stem in enumerate(stems)]
    return with_keys(Question.to_frame(made))


def compared(keys: pl.DataFrame, *, doubtful: bool) -> list[Compared]:
    rows = keys.select("key", "core", "option_keys").iter_rows()
    return [
        Compared(key, core, tuple("ABC"), tuple(options), (frozenset("A"),), None, doubtful)
        for key, core, options in rows
    ]


@st.composite
def stems_alike(draw: st.DrawFn) -> tuple[str, str]:
    """A stem in letters and another one made of it: words exchanged, letters and signs misread or dropped."""
    words = draw(st.lists(st.sampled_from(WORDS), min_size=12, max_size=40))
    other = list(words)
    for _ in range(draw(st.integers(0, 14))):
        at = draw(st.integers(0, len(other) - 1))
        how = draw(st.sampled_from(("word", "sign", "letter", "digit", "drop")))
        place = draw(st.integers(0, max(0, len(other[at]) - 1)))
        exchanged = {"word": draw(st.sampled_from(WORDS)), "drop": ""}
        signs = {"sign": "、", "letter": draw(st.sampled_from("abc")), "digit": draw(st.sampled_from("0123"))}
        if how in exchanged:
            other[at] = exchanged[how]
        else:
            other[at] = other[at][:place] + signs[how] + other[at][place + 1 :]
    return " ".join(words), " ".join(other) or "x"


@pytest.mark.slow
@given(stems_alike(), st.booleans(), st.sampled_from((0.5, 0.8, 0.95)))
@settings(max_examples=300, deadline=None)
def test_cores_less_alike_than_the_bound_are_not_related(
    stems: tuple[str, str], doubtful: bool, related: float
) -> None:
    keys = keys_of(*stems)
    bounds, score = Bounds(keys), fuzz.ratio(*keys["core"])
    least = bounds.least(PAIR, related)
    vocabulary = Vocabulary([[f"\x1f{text}\x1f" for text in keys["key"]]], enough=1)
    if HOPELESS <= score < least[0]:
        assert relate(*compared(keys, doubtful=doubtful), vocabulary, DedupParams(related=related)) is None


@pytest.mark.slow
@given(stems_alike())
@settings(max_examples=200, deadline=None)
def test_keys_that_are_nearly_one_text_are_seen_by_their_cores(stems: tuple[str, str]) -> None:
    keys = keys_of(*stems)
    if fuzz.ratio(*keys["key"]) >= 88:
        below = np.array([fuzz.ratio(*keys["core"])])
        assert Bounds(keys).may_be_nearly_one(PAIR, below)[0]


@pytest.mark.parametrize(
    ("stem", "other", "is_put_aside"),
    [
        (LONG, OTHER, True),
        (LONG, LONG.replace("days", "years"), False),
        ("患者的肾动脉狭窄最常见的病因是什么", "患者的肾动脉扩张最常见的病因是什么", False),
    ],
)
def test_stems_in_letters_need_more_than_letters_in_common(stem: str, other: str, is_put_aside: bool) -> None:
    keys = keys_of(stem, other)
    score = fuzz.ratio(*keys["core"])
    assert (score < Bounds(keys).least(PAIR, 0.8)[0]) == is_put_aside


def test_a_part_of_a_vocabulary_says_the_same_of_its_texts() -> None:
    vocabulary = Vocabulary([["\x1f慢性胃炎\x1f", "\x1f急性胃炎的治疗\x1f", "\x1fNa+ 内流\x1f"]], enough=2)
    texts = ["\x1f慢性胃炎\x1f", "\x1f胃癌\x1f"]
    part = vocabulary.of(texts)
    assert part.is_evidence
    for text in texts:
        for one, other in pairwise(text):
            assert part.count(one, other) == vocabulary.count(one, other)
            assert part.by_chance(one, other) == vocabulary.by_chance(one, other)


def test_questions_without_cores_have_bounds() -> None:
    keys = pl.DataFrame({"key": ["是", ""], "core": ["", ""]})
    assert Bounds(keys).least(PAIR, 0.8).tolist() == [HOPELESS]
    assert Bounds(keys).least(PAIR[:0], 0.8).tolist() == []
