from __future__ import annotations

import numpy as np
import pytest

from build_dataset.pipeline.audit import weighing as module
from build_dataset.pipeline.audit.weighing import consensus


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
