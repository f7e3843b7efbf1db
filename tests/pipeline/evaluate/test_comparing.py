"""Two runs are compared on the same questions, and chance is told from skill."""

from collections import Counter
from itertools import product
from math import comb

import pytest
from hypothesis import given, strategies as st

from build_dataset.pipeline.evaluate.scoring import Graded, compare_runs
from build_dataset.pipeline.stats import paired_p, ranking
from build_dataset.schemas.evaluation import Outcome
from tests.pipeline.evaluate.conftest import make_question


def answers(said: str, of_a_case: int = 1) -> list[Graded]:
    """Answers to questions with the key A, so many of them in each case."""
    asked = (make_question(number, "A", group_id=f"case{number // of_a_case}") for number in range(len(said)))
    return [Graded(question, Outcome.ANSWERED, (letter,)) for question, letter in zip(asked, said, strict=True)]


def mcnemar(only_one: int, only_other: int) -> float:
    return paired_p((str(at), 1 if at < only_one else -1) for at in range(only_one + only_other))


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
    said = "AAAABBBB" * 5
    (alone,) = compare_runs({"one": answers(said), "other": answers("B" * 40)})
    (cases,) = compare_runs({"one": answers(said, 4), "other": answers("B" * 40, 4)})
    assert cases.high - cases.low > 1.5 * (alone.high - alone.low)


COUNTS = st.tuples(st.integers(0, 60), st.integers(0, 60))


@given(COUNTS)
def test_mcnemar_is_the_binomial_test_of_the_discordant_questions(counts):
    one, other = counts
    total = one + other
    weights = [comb(total, count) / 2**total for count in range(total + 1)]
    tail = sum(weight for weight in weights if weight <= weights[one] * (1 + 1e-9))
    assert mcnemar(one, other) == pytest.approx(min(1.0, tail), abs=1e-9)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([1, 2, 3], [10, 20, 30], 1.0),
        ([1, 2, 3], [30, 20, 10], -1.0),
        ([1, 2, 3, 4], [1, 2, 4, 3], 0.8),
        ([1, 2], [1, 2], None),
        ([1, 1, 1], [1, 2, 3], None),
        ([], [], None),
    ],
)
def test_two_orders_of_models_are_compared_from_three_models_on(one, other, expected):
    found = ranking(one, other)
    assert found == (None if expected is None else pytest.approx(expected))


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-1, 1)), max_size=12))
def test_the_test_over_cases_counts_every_choice_of_signs(pairs):
    sums = Counter()
    for case, difference in pairs:
        sums[case] += difference
    totals = [abs(sum(signs)) for signs in product(*({-each, each} if each else {0} for each in sums.values()))]
    weight = sum(total >= abs(sums.total()) for total in totals) / len(totals)
    assert paired_p((str(case), difference) for case, difference in pairs) == pytest.approx(weight)


def test_what_a_case_decides_at_once_is_weighed_as_one():
    said = "A" * 12
    (alone,) = compare_runs({"one": answers(said), "other": answers("B" * 12)})
    (cases,) = compare_runs({"one": answers(said, 4), "other": answers("B" * 12, 4)})
    assert alone.p_value == pytest.approx(2 / 2**12)
    assert cases.p_value == pytest.approx(2 / 2**3)
