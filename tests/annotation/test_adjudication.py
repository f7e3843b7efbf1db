"""Final labels from experts, a measurement and an annotator."""

import pytest
from hypothesis import given, settings, strategies as st

from build_dataset.annotation.adjudication import (
    Rules,
    State,
    final_labels,
    latest_reviews,
    question_statuses,
    review_status,
    standing_flags,
)
from build_dataset.annotation.annotator import MEASURED
from build_dataset.schemas.annotations import Annotation, ExpertReview, LabelStatus
from build_dataset.schemas.taxonomy import dimensions
from tests.annotation.records import annotation, review

LEVELS = ["易", "较易", "中等", "较难", "极难"]
JUDGE = Rules(adjudicators=frozenset({"judge"}))


def stated(label: str = "易", annotator: str = "lexicon", *, estimate: bool = True) -> Annotation:
    return annotation("difficulty", label, annotator, estimate=estimate)


MEASURED_EASY = stated("易", MEASURED, estimate=False)


def label_of(votes: dict[str, str], said: Annotation | None = None, rules: Rules = JUDGE):
    reviews = [review(who, label, dimension="difficulty") for who, label in votes.items()]
    found = final_labels(["q"], [said] if said else [], reviews, rules)
    return next(label for label in found if label.dimension == "difficulty")


def decided(votes: dict[str, str], said: Annotation | None = None, rules: Rules = JUDGE):
    label = label_of(votes, said, rules)
    return label.label, label.status.value


@pytest.mark.parametrize(
    ("votes", "expected"),
    [
        ({}, ("易", "unreviewed")),
        ({"a": "中等"}, ("中等", "single")),
        ({"a": "中等", "b": "中等"}, ("中等", "agreed")),
        ({"a": "中等", "b": "较难"}, (None, "disputed")),
        ({"a": "中等", "b": "较难", "c": "较难"}, ("较难", "adjudicated")),
        ({"a": "中等", "b": "较难", "c": "极难"}, (None, "disputed")),
        ({"a": "中等", "b": "较难", "c": "较难", "d": "中等"}, (None, "disputed")),
        ({"a": "中等", "b": "较难", "judge": "极难"}, ("极难", "adjudicated")),
        ({"a": "中等", "b": "中等", "judge": "中等"}, ("中等", "agreed")),
        ({"a": "中等", "b": "中等", "judge": "较难"}, ("较难", "adjudicated")),
        ({"judge": "较难"}, ("较难", "adjudicated")),
        ({"a": "较难", "judge": "较难"}, ("较难", "adjudicated")),
    ],
)
def test_experts_and_adjudicator_settle_a_label(votes, expected):
    assert decided(votes, stated()) == expected


def test_two_adjudicators_who_disagree_leave_it_disputed():
    rules = Rules(adjudicators=frozenset({"judge", "other"}))
    assert decided({"judge": "易", "other": "较难"}, rules=rules) == (None, "disputed")


def test_without_the_majority_rule_two_of_three_settle_nothing():
    rules = Rules(majority=False)
    assert decided({"a": "中等", "b": "较难", "c": "较难"}, rules=rules) == (None, "disputed")
    assert decided({"a": "易", "b": "较难"}, MEASURED_EASY, rules) == (None, "disputed")


@pytest.mark.parametrize(
    ("votes", "expected"),
    [
        ({}, ("易", "unreviewed")),
        ({"a": "较难"}, ("易", "single")),
        ({"a": "较难", "b": "较难"}, ("较难", "agreed")),
        ({"a": "较难", "b": "易"}, ("易", "adjudicated")),
        ({"a": "较难", "b": "极难"}, (None, "disputed")),
        ({"a": "较难", "b": "较难", "c": "易"}, ("较难", "adjudicated")),
        ({"a": "易", "b": "易", "judge": "较难"}, ("较难", "adjudicated")),
    ],
)
def test_measured_difficulty_stands_until_the_experts_agree_on_another(votes, expected):
    assert decided(votes, MEASURED_EASY) == expected


def test_a_label_that_was_not_measured_stays_an_estimate_whoever_gives_it():
    def is_estimate(annotation, votes):
        return label_of(votes, annotation).estimate

    assert is_estimate(stated(), {})
    assert is_estimate(stated(), {"a": "中等", "b": "中等"})
    assert not is_estimate(MEASURED_EASY, {"a": "易", "b": "易"})
    assert is_estimate(MEASURED_EASY, {"a": "中等", "b": "中等"})
    assert not is_estimate(stated(), {"a": "中等", "b": "较难"}), "no label, no estimate"


def test_the_annotator_is_named_only_where_no_experts_label_stands():
    def annotator(annotation, votes):
        return label_of(votes, annotation).annotator

    assert annotator(stated(), {}) == "lexicon"
    assert annotator(stated(), {"a": "易"}) is None
    assert annotator(MEASURED_EASY, {"a": "较难"}) == MEASURED
    assert annotator(stated(), {"a": "易", "b": "易"}) is None


def test_every_question_has_a_label_in_every_dimension_in_order():
    labels = final_labels(["q2", "q"], [stated("较易"), MEASURED_EASY], [], Rules())
    assert [(label.question_id, label.dimension) for label in labels] == [
        (question, dimension) for question in ("q2", "q") for dimension in dimensions()
    ]
    assert (labels[-1].label, labels[-1].label_en, labels[-1].annotator) == ("易", "Easy", MEASURED)
    assert all(label.label is None and label.status is LabelStatus.UNREVIEWED for label in labels[:-1])


votes = st.dictionaries(st.sampled_from(["a", "b", "c", "d", "judge"]), st.sampled_from(LEVELS))


@settings(deadline=None)
@given(votes, st.sampled_from([None, stated(), MEASURED_EASY]), st.booleans())
def test_a_label_is_null_exactly_when_it_is_disputed_or_nobody_gave_one(given_votes, annotation, majority):
    rules = Rules(frozenset({"judge"}), majority)
    label = label_of(given_votes, annotation, rules)
    nobody = not given_votes and annotation is None
    assert (label.label is None) == (label.status is LabelStatus.DISPUTED or nobody)
    assert label.label in {None, *given_votes.values(), annotation and annotation.label}
    assert label.reviewers == sorted(given_votes)


def test_of_two_reviews_by_one_expert_the_latest_counts():
    early, late = review("a", "易"), review("a", "较难", at=1)
    assert latest_reviews([late, early, review("b")]) == ([late, review("b")], [early])


def test_a_ruling_does_not_supersede_the_same_person_s_review():
    early = review("a")
    ruling = review("a", "较难", at=1, project="adjudication")
    assert latest_reviews([early, ruling])[1] == []


def test_an_adjudicators_flags_replace_the_experts():
    experts = [review("a", flags=["wrong_key"]), review("b", flags=["wrong_key", "wrong_stem"])]
    assert standing_flags(experts, JUDGE) == {"wrong_key": ["a", "b"], "wrong_stem": ["b"]}
    assert standing_flags([*experts, review("judge")], JUDGE) == {}
    ruled = [*experts, review("judge", flags=["wrong_stem"])]
    assert standing_flags(ruled, JUDGE) == {"wrong_stem": ["judge"]}


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


def test_the_detail_names_the_label_that_one_of_two_did_not_give():
    without = [each for each in reviewed("b") if each.dimension != "difficulty"]
    found = standing(reviewed("a"), without)
    assert found.state is State.ONE_OF_TWO
    assert found.detail() == "reviewed by a, b; difficulty only by a"


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
