"""Each kind of evidence has the weight that it says."""

import numpy as np
import pytest

from build_dataset.pipeline.audit import weighing as module
from build_dataset.pipeline.audit.weighing import (
    AuditCase,
    consensus,
    weigh_answers,
    weigh_experts,
    weigh_explanations,
    weigh_options,
    weigh_people,
)
from build_dataset.pipeline.claims.explanations import Stated
from tests.making import make_question

A, B = frozenset("A"), frozenset("B")


def case(name: str = "q", key: str = "A", options: int = 4, **fields) -> AuditCase:
    texts = [f"选项{place}" for place in range(options)]
    return AuditCase(make_question("肺炎首选", texts, key, question_id=name, **fields), frozenset(key))


def told(found: AuditCase) -> list[tuple[str, str, list[str] | None, float]]:
    return [(each.kind, each.source, each.answer, each.weight) for each in found.evidence]


@pytest.mark.parametrize(("key", "options", "others"), [("A", 4, 3), ("A", 1, 1), ("AB", 4, 14), ("AB", 5, 30)])
def test_the_answers_that_are_not_the_key(key: str, options: int, others: int) -> None:
    assert case(key=key, options=options).alternatives == others


def test_an_explanation_speaks_for_its_answer_the_louder_the_surer_its_kind_is() -> None:
    weights = []
    for rule in ("all judged", "marked", "stated", "slipped", "quoted"):
        for_key, against = case(), case()
        assert weigh_explanations([for_key], {"q": Stated(A, rule, "said")}, 0.03) == {rule: (1, 1)}
        assert weigh_explanations([against], {"q": Stated(B, rule, "said")}, 0.03) == {rule: (1, 0)}
        assert for_key.scores[A] > 0 > for_key.evidence[0].weight
        weights.append(against.scores[B])
    assert weights == sorted(weights, reverse=True)
    assert weights[-1] > 0


def test_an_explanation_that_calls_several_right_is_evidence_for_no_answer() -> None:
    found = case()
    weigh_explanations([found], {"q": Stated(None, "stated", "said")}, 0.03)
    assert told(found) == [("explanation", "stated", None, 2.0)]
    assert found.scores == {None: 2.0}


@pytest.mark.parametrize(
    ("share", "people", "weight"), [(0.25, 1000, None), (0.24, 100, 0.7), (0.1, 1000, 2.5), (None, 5, None)]
)
def test_people_who_do_no_better_than_guessing_speak_against_the_key(share, people, weight) -> None:
    found = case(human_accuracy=share, respondents=people)
    weigh_people(found)
    assert told(found) == ([("people", "accuracy", None, weight)] if weight else [])
    assert found.scores[A] == -(weight or 0)


@pytest.mark.parametrize(
    ("keys", "weights"), [("甲乙丙丁", []), ("甲甲丙丁", [3.0]), ("甲乙丙丙", [0.7]), (["", "", "丙", "丁"], [])]
)
def test_two_options_that_say_the_same_weigh_more_where_one_is_the_key(keys, weights) -> None:
    found = case()
    weigh_options(found, keys)
    assert [weight for *_, weight in told(found)] == weights


def test_an_expert_speaks_for_the_key() -> None:
    found = case()
    weigh_experts(found, ["陈"])
    assert (told(found), found.scores) == ([("expert", "陈", ["A"], -8.0)], {A: 8.0})


def test_without_evidence_a_key_is_as_suspicious_as_keys_are() -> None:
    found = case()
    assert weigh_answers([found], {}, 0.03) == {}
    assert found.suspicion == pytest.approx(0.03, abs=1e-6)
    assert (found.suggested, found.evidence) == (None, [])


def test_evidence_for_an_answer_suggests_it() -> None:
    found = case()
    found.add("copies", "x", "said", B, 4.0)
    found.add("expert", "y", "said", A, 1.0)
    weigh_answers([found], {}, 0.03)
    right, other, none = 0.97 * 2.718281828, 0.0075 * 54.59815, 0.0225
    assert found.suspicion == pytest.approx((other + none) / (right + other + none), abs=1e-5)
    assert found.suggested == B
    assert [each.kind for each in found.evidence] == ["copies", "expert"]


def test_models_that_agree_are_told_with_their_votes() -> None:
    cases = [case(f"q{number}") for number in range(30)]
    answers = {each.question.question_id: {"m": A, "n": A} for each in cases}
    answers["q0"] = {"m": B, "n": B}
    reliability = weigh_answers(cases, answers, 0.03)
    assert list(reliability) == ["m", "n"]
    assert told(cases[0])[0][:3] == ("models", "m, n", ["B"])
    assert cases[0].evidence[0].detail == "2 models answered: B 2"
    assert told(cases[1])[0][:3] == ("models", "m, n", ["A"])
    assert cases[0].suspicion > 0.2 > 0.01 > cases[1].suspicion


def votes(*rows: str, letters: str = "ABCDE"):
    """Rows of letters, a column a respondent; the first letter is the key, a dot is no answer."""
    said = np.array([[[float(given == letter) for letter in letters] for given in row] for row in rows])
    prior = np.log(np.tile([0.97, *[0.03 / 4] * 4], (len(rows), 1)))
    return said, np.full(len(rows), 4), prior


EASY = ["AAAA"] * 40 + ["AAAB"] * 20 + ["AABC"] * 20
"""Two able respondents, one fair, one poor."""


def against(row: str) -> float:
    evidence = consensus(*votes(*EASY, row))[0][-1]
    return float(evidence[1:].max() - evidence[0])


def test_agreement_on_another_answer_speaks_against_the_key():
    assert against("BBBB") > 0 > against("AAAA")


def test_the_able_weigh_more():
    assert against("BBAA") > against("AABB")


def test_votes_for_one_wrong_answer_say_more_than_scattered_ones():
    assert against("BBBB") > against("BCDE")


def test_who_was_not_asked_says_nothing():
    assert against("BB..") > against("B...") > 0
    assert against("....") == pytest.approx(0)


def test_reliability_is_the_share_that_is_right_by_all():
    found = consensus(*votes(*EASY))[1]
    assert found[0] > found[2] > found[3]


def test_respondents_that_err_together_count_for_less():
    """Five copies of one respondent and four others; the same five with errors of their own."""
    draw = np.random.default_rng(4)
    split = "BBBBBAAAA"

    def weight(together: bool) -> float:
        wrong = draw.random((400, 9)) < 0.2
        letters = np.where(wrong, draw.choice(list("BCDE"), wrong.shape), "A")
        if together:
            letters[:, :5] = letters[:, :1]
        found = consensus(*votes(*map("".join, letters), split))[0][-1]
        return float(found[1] - found[0])

    assert weight(together=True) < weight(together=False) - 1


def test_a_key_that_all_others_gave_needs_no_other_answer():
    evidence = consensus(*votes(*["AAAAAAAA"] * 30, "BBBBBBBB"))[0]
    assert np.isfinite(evidence).all()
    assert evidence[-1, 1] - evidence[-1, 0] > 0 > evidence[0, 1] - evidence[0, 0]


def given(questions: int, respondents: int, answers: int, pattern) -> np.ndarray:
    said = np.zeros((questions, respondents, answers))
    for row in range(questions):
        for column in range(respondents):
            if (answer := pattern(row, column)) is not None:
                said[row, column, answer] = 1
    return said


@pytest.mark.parametrize(("respondents", "learned"), [(7, False), (8, True)])
def test_from_eight_respondents_on_a_regression_is_heard_too(respondents: int, learned: bool):
    said = given(12, 9, 3, lambda i, j: (0 if i * j % 4 and i != 5 else 1 + (i + j) % 2) if (i + j) % 7 else None)
    prior = np.log(np.full((12, 3), 0.02))
    prior[:, 0] = np.log(0.96)
    args = said[:, :respondents], np.full(12, 3), prior
    evidence, _ = consensus(*args)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "FEWEST", 99)
        alone, _ = consensus(*args)
    assert bool(abs(evidence - alone).max() > 0.1) is learned
    assert evidence[:, 1:] == pytest.approx(alone[:, 1:])


def test_the_share_of_who_answered_one_question_is_how_probable_that_answer_is() -> None:
    assert 0.97 < consensus(*votes("A"))[1][0] < 1
    assert consensus(*votes("."))[1].tolist() == [0.0]
