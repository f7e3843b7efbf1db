"""The state of a question's review."""

from __future__ import annotations

import pytest

from build_dataset.annotation.adjudication import Rules, State, final_labels, question_statuses, review_status
from build_dataset.schemas.annotations import ExpertReview, LabelStatus
from build_dataset.schemas.taxonomy import dimensions
from tests.annotation.records import review

FIRST = {name: dimension.zh_names()[0] for name, dimension in dimensions().items()}
RULES = Rules(frozenset({"judge"}))


def reviewed(
    reviewer: str, question: str = "q", flags=(), note=None, only=tuple(FIRST), **labels
) -> list[ExpertReview]:
    return [
        review(
            reviewer, labels.get(name, FIRST[name]), question_id=question, dimension=name, flags=list(flags), note=note
        )
        for name in only
    ]


def standing(*reviews: list[ExpertReview]):
    flat = [each for group in reviews for each in group]
    [found] = question_statuses(final_labels(["q"], [], flat, RULES), flat, RULES)
    return found


@pytest.mark.parametrize(
    ("reviews", "state"),
    [
        ([], State.UNREVIEWED),
        ([reviewed("a")], State.ONE_OF_TWO),
        ([reviewed("a"), reviewed("b")], State.DONE),
        ([reviewed("a"), reviewed("b", competency="疾病治疗")], State.DISPUTED),
        ([reviewed("a"), reviewed("b", flags=["wrong_key"])], State.FLAGGED),
        ([reviewed("a", flags=["wrong_key"]), reviewed("b", difficulty="极难")], State.DISPUTED),
        ([reviewed("a"), reviewed("b", only=["difficulty"])], State.ONE_OF_TWO),
        ([reviewed("a"), reviewed("b", difficulty="极难"), reviewed("judge", difficulty="较难")], State.DONE),
    ],
)
def test_a_question_has_one_state(reviews, state):
    assert standing(*reviews).state is state


def test_the_detail_names_who_said_what_in_one_line():
    found = standing(reviewed("a", note="应为 B，\n见教材"), reviewed("b", competency="疾病治疗", flags=["wrong_key"]))
    assert found.detail() == (
        "competency: a = 疾病诊断和鉴别诊断 / b = 疾病治疗; wrong_key by b; note by a: 应为 B， 见教材"
    )
    assert standing(reviewed("a")).detail() == "reviewed by a"


def test_the_status_adds_up():
    reviews = [*reviewed("a", "q1"), *reviewed("b", "q1", difficulty="极难"), *reviewed("a", "q2", ["out_of_scope"])]
    labels = final_labels(["q1", "q2", "q3"], [], reviews, RULES)
    status = review_status(question_statuses(labels, reviews, RULES))
    assert status.questions == sum(status.states.values()) == 3
    assert (status.states[State.DISPUTED], status.states[State.FLAGGED], status.states[State.UNREVIEWED]) == (1, 1, 1)
    assert all(sum(counts.values()) == 3 for counts in status.dimensions.values())
    assert status.dimensions["difficulty"][LabelStatus.DISPUTED] == 1
    assert status.experts == {"a": 2, "b": 1}
    assert status.flags == {"out_of_scope": 1}
    assert status.last_review == "2026-01-01T00:00:00.000000Z"


def test_a_flag_that_an_accepted_correction_answered_stands_no_more():
    flat = [*reviewed("a", flags=["wrong_key"]), *reviewed("b")]
    labels = final_labels(["q"], [], flat, RULES)
    states = [
        question_statuses(labels, flat, RULES, answered)[0].state
        for answered in ({}, {"q": {"wrong_stem"}}, {"q": {"wrong_key"}})
    ]
    assert states == [State.FLAGGED, State.FLAGGED, State.DONE]
