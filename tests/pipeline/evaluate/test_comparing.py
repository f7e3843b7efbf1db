"""Two runs are compared on the same questions, and chance is told from skill."""

from __future__ import annotations

import pytest

from pipeline.evaluate.comparing import compare_runs, mcnemar
from pipeline.evaluate.scoring import Graded
from schemas.evaluation import Outcome
from tests.pipeline.evaluate.conftest import make_question


def answers(said: str, **changes) -> list[Graded]:
    return [
        Graded(make_question(number, "A", **changes), Outcome.ANSWERED, (letter,))
        for number, letter in enumerate(said)
    ]


def test_mcnemar_equals_published_values():
    # Fay 2011, "Exact McNemar's Test and Matching Confidence Intervals": 2 against 9.
    assert mcnemar(2, 9) == pytest.approx(0.06543, abs=5e-6)
    assert mcnemar(5, 5) == 1.0
    assert mcnemar(0, 0) == 1.0


def test_every_pair_of_runs_is_counted_question_by_question():
    (found,) = compare_runs({"one": answers("AAAB"), "other": answers("ABBB")})
    assert (found.run_a, found.run_b, found.questions) == ("one", "other", 4)
    assert (found.both_right, found.only_a_right, found.only_b_right, found.neither_right) == (1, 2, 0, 1)
    assert found.difference == 0.5
    assert found.p_value == 0.5


def test_only_questions_that_both_were_asked_are_compared():
    (found,) = compare_runs({"one": answers("AAAB"), "other": answers("AA")})
    assert found.questions == 2
    assert compare_runs({"one": answers("A"), "other": []}) == []


def test_p_values_are_corrected_for_the_number_of_pairs():
    runs = {"good": answers("A" * 30), "bad": answers("B" * 30), "half": answers("AB" * 15)}
    found = {(row.run_a, row.run_b): row for row in compare_runs(runs)}
    assert found["good", "bad"].p_adjusted == pytest.approx(3 * found["good", "bad"].p_value)
    assert found["good", "half"].p_adjusted == pytest.approx(2 * found["good", "half"].p_value)
    assert all(row.p_adjusted >= row.p_value for row in found.values())


def test_questions_of_one_case_widen_the_interval_of_the_difference():
    def run(said, size):
        return [
            Graded(make_question(number, "A", group_id=f"case{number // size}"), Outcome.ANSWERED, (letter,))
            for number, letter in enumerate(said)
        ]

    said = "AAAABBBB" * 5
    (alone,) = compare_runs({"one": run(said, 1), "other": run("B" * 40, 1)})
    (cases,) = compare_runs({"one": run(said, 4), "other": run("B" * 40, 4)})
    assert cases.high - cases.low > 1.5 * (alone.high - alone.low)
