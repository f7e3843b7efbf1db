"""Intervals of shares hold where questions stand alone and where they share a case."""

import json
import random

import pytest
from hypothesis import given, strategies as st

from build_dataset.pipeline.stats import Unit, interval_of_mean, interval_of_share, wilson


def cases(count, size, right):
    """Questions in cases: all of a case right or all wrong."""
    return [Unit(f"case{case}", case < right) for case in range(count) for _ in range(size)]


def test_questions_that_stand_alone_get_wilsons_interval():
    units = [Unit(str(index), index < 81) for index in range(263)]
    found = interval_of_share(units)
    assert (found.low, found.high, found.method) == (*wilson(81, 263), "wilson")


def test_questions_that_share_a_case_get_the_interval_of_the_number_of_cases():
    found = interval_of_share(cases(60, 5, 30))
    assert found.method == "cluster_wilson"
    assert (found.low, found.high) == pytest.approx(wilson(30, 60), abs=0.02)


def test_asking_one_question_often_makes_the_interval_no_narrower():
    once = interval_of_share([Unit(str(index), index % 2) for index in range(80)])
    often = interval_of_share([Unit(str(index), index % 2) for index in range(80) for _ in range(10)])
    assert often.high - often.low == pytest.approx(once.high - once.low, abs=0.02)


def test_a_perfect_share_of_few_cases_is_not_certain():
    found = interval_of_share(cases(5, 4, 5))
    assert (found.low, found.high) == wilson(5, 5)


def test_few_cases_get_a_wider_interval_than_so_many_questions():
    found = interval_of_share(cases(4, 2, 1))
    low, high = wilson(1, 4)
    assert found.low < low < high < found.high


def test_one_case_alone_has_no_interval():
    assert interval_of_share([Unit("one", 1), Unit("one", 1)]) is None
    assert interval_of_share([]) is None
    assert interval_of_mean([Unit("one", 1)]) is None


def test_the_bootstrap_gives_the_same_interval_in_any_order():
    units = cases(20, 3, 7) + [Unit(f"alone{index}", index % 3 == 0) for index in range(40)]
    shuffled = random.Random(1).sample(units, len(units))
    assert interval_of_share(units) == interval_of_share(shuffled)


@pytest.mark.parametrize("alike", [0.0, 0.3])
def test_intervals_hold_their_level_with_few_cases_and_with_many(alike):
    """No number of cases at which the method changes: coverage and width go on evenly from 10 cases to 60."""
    draw = random.Random(7)
    widths = {}
    for count in (10, 29, 30, 31, 60):
        held, width = 0, 0.0
        for _ in range(200):
            units = []
            for case in range(count):
                shared = draw.random() < 0.6
                for _ in range(draw.randint(1, 5)):
                    hit = shared if draw.random() < alike else draw.random() < 0.6
                    units.append(Unit(str(case), hit))
            found = interval_of_share(units)
            held += found.low <= 0.6 <= found.high
            width += found.high - found.low
        assert 181 <= held <= 199, count  # 95 % of 200, and three standard errors
        widths[count] = width / 200
    assert widths[29] == pytest.approx(widths[30], rel=0.05)
    assert widths[30] == pytest.approx(widths[31], rel=0.05)
    assert widths[10] > widths[29] > widths[60]


def test_the_bootstrap_holds_its_level_with_few_cases():
    draw = random.Random(7)
    held = 0
    for _ in range(200):
        units = [Unit(str(case), draw.gauss(3, 1)) for case in range(8)]
        found = interval_of_mean(units)
        held += found.low <= 3 <= found.high
    assert held >= 178  # plain percentiles of 8 cases hold 88 %


def test_a_difference_between_equal_runs_spans_nothing_but_zero():
    found = interval_of_mean([Unit(str(index), 0.0) for index in range(30)])
    assert (found.low, found.high) == (0.0, 0.0)


def test_wilson_intervals_equal_published_ones(shared_data):
    reference = json.loads((shared_data / "agreement" / "reference_values.json").read_text(encoding="utf-8"))
    rows = reference["proportion_ci_checks"]["rows"]
    assert len(rows) == 6
    for row in rows:
        # Some are rounded to four places, the others were made with z = 1.96 in place of 1.95996.
        places = 5e-7 if len(str(row["ci"][0])) > 10 else 5.1e-5
        assert wilson(row["correct"], row["n"]) == pytest.approx(tuple(row["ci"]), abs=places)


def test_wilson_intervals_equal_textbook_values():
    # Newcombe 1998, table I: 81/263 and 15/148 with the score method.
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(15, 148) == pytest.approx((0.0624, 0.1605), abs=5e-5)
    assert wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_intervals_hold_the_proportion_and_stay_within_0_and_1(counts):
    successes, total = counts
    low, high = wilson(successes, total)
    assert 0 <= low <= successes / total <= high <= 1
    assert wilson(total - successes, total) == pytest.approx((1 - high, 1 - low))


@pytest.mark.parametrize(("successes", "total"), [(0, 0), (-1, 3), (4, 3)])
def test_wilson_refuses_what_is_no_proportion(successes, total):
    with pytest.raises(ValueError, match="no proportion"):
        wilson(successes, total)


def test_one_observation_alone_has_wilsons_interval() -> None:
    found = interval_of_share([Unit("one", 1)])
    assert found is not None
    assert (found.low, found.high, found.method) == (*wilson(1, 1), "wilson")


def test_a_sum_that_is_off_by_rounding_is_still_a_proportion() -> None:
    assert wilson(1e-10, 5)[0] == 0.0
    assert wilson(5 + 5e-10, 5) == (pytest.approx(0.565518, abs=1e-6), 1.0)
    assert wilson(5 - 1e-7, 5)[1] < 1.0
    with pytest.raises(ValueError, match="no proportion"):
        wilson(5 + 2e-9, 5)
