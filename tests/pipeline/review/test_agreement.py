"""Agreement equals published values, and behaves where it is undefined."""

import csv
import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from build_dataset.pipeline import stats as coefficients
from build_dataset.pipeline.review.stage import agreement, agreement_by_part, agreement_with_annotators, draws_of
from build_dataset.pipeline.stats import Resampling, count_labels, interval, pair_table, value_of
from tests.annotation.records import annotation

# Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, section C: four observers, twelve units.
KRIPPENDORFF_2011 = (
    "1 2 3 3 2 1 4 1 2 * * *",
    "1 2 3 3 2 2 4 1 2 5 * 3",
    "* 3 3 3 2 3 4 2 2 5 1 *",
    "1 2 3 3 2 4 4 1 2 5 1 *",
)


def cohen_kappa(first, second):
    return value_of(coefficients.cohen_kappa, pair_table(list(zip(first, second, strict=True))))


def raw_agreement(counts):
    return value_of(coefficients.raw_agreement, counts)


def krippendorff_alpha(counts):
    return value_of(coefficients.krippendorff_alpha, counts)


def alpha_interval(counts, *, resamples, seed):
    return interval(coefficients.krippendorff_alpha, counts, Resampling(resamples, seed))


ratings = st.lists(st.tuples(st.sampled_from("ABCD"), st.sampled_from("ABCD")), min_size=1, max_size=60)


def units(*observers: str) -> list[list[str]]:
    return [[value for value in unit if value != "*"] for unit in zip(*(o.split() for o in observers), strict=True)]


@pytest.fixture(scope="module")
def published(shared_data) -> dict:
    return json.loads((shared_data / "agreement" / "reference_values.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def vsrp(shared_data) -> list[tuple[str, str]]:
    with (shared_data / "agreement" / "VSRP_two_annotators.csv").open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.reader(stream))[1:]
    return [(first, second) for first, second in rows]


def test_kappa_and_alpha_of_two_annotators_equal_the_published_values(vsrp, published):
    reference = published["vsrp_two_annotators"]
    assert len(vsrp) == reference["n"]
    kappa = cohen_kappa([a for a, _ in vsrp], [b for _, b in vsrp])
    counts = count_labels(vsrp)
    assert kappa == pytest.approx(reference["recomputed_cohen_kappa"], abs=5e-5)
    assert krippendorff_alpha(counts) == pytest.approx(reference["recomputed_krippendorff_alpha_nominal"], abs=5e-5)
    assert raw_agreement(counts) == pytest.approx(reference["percent_agreement"])


def test_kappa_equals_that_of_r_and_sas(published):
    table = published["statsmodels_sas_cohen"]
    pairs = [(i, j) for i, row in enumerate(table["table"]) for j, n in enumerate(row) for _ in range(n)]
    assert cohen_kappa([a for a, _ in pairs], [b for _, b in pairs]) == pytest.approx(table["kappa"], abs=5e-5)
    anxiety = published["irr_anxiety_raters_2_3"]
    columns = np.array(anxiety["anxiety_F_order_20x3"]).reshape((20, 3), order="F")
    second, third = columns[:, 1].tolist(), columns[:, 2].tolist()
    assert cohen_kappa(second, third) == pytest.approx(anxiety["kappa_unweighted"], abs=5e-5)


def test_alpha_with_missing_ratings_equals_the_published_values(published):
    assert krippendorff_alpha(count_labels(units(*KRIPPENDORFF_2011))) == pytest.approx(0.743, abs=5e-4)
    observers = published["krippendorff_wikipedia"]
    found = krippendorff_alpha(count_labels(units(observers["A"], observers["B"], observers["C"])))
    assert found == pytest.approx(0.691, abs=5e-4)


def test_fleiss_data_give_alpha_close_to_fleiss_kappa(published):
    reference = published["fleiss_1971_diagnoses"]
    n = reference["raters"] * reference["subjects"]
    # Alpha corrects Fleiss' kappa for the size of the sample: alpha = kappa + (1 - kappa) / n.
    expected = reference["fleiss_kappa"] + (1 - reference["fleiss_kappa"]) / n
    assert krippendorff_alpha(count_labels(reference["ratings"])) == pytest.approx(expected, abs=5e-5)


def test_agreement_is_undefined_with_a_single_label_or_without_pairs():
    same = [("A", "A")] * 5
    assert cohen_kappa(["A"] * 5, ["A"] * 5) is None
    assert krippendorff_alpha(count_labels(same)) is None
    assert alpha_interval(count_labels(same), resamples=100, seed=1) is None
    assert raw_agreement(count_labels(same)) == 1
    assert cohen_kappa([], []) is None
    assert raw_agreement(count_labels([("A",), ()])) is None
    assert krippendorff_alpha(count_labels([])) is None


@settings(deadline=None)
@given(ratings)
def test_alpha_is_one_exactly_when_all_agree(pairs):
    counts = count_labels(pairs)
    alpha = krippendorff_alpha(counts)
    if len({label for pair in pairs for label in pair}) == 1:
        assert alpha is None
    else:
        assert alpha is not None
        assert (alpha == 1) == all(a == b for a, b in pairs)
        assert alpha <= 1


@settings(deadline=None)
@given(ratings, st.randoms(use_true_random=False))
def test_order_of_units_and_names_of_labels_change_nothing(pairs, random):
    shuffled = random.sample(pairs, len(pairs))
    renamed = [tuple("疾病诊断"["ABCD".index(label)] for label in pair) for pair in shuffled]
    first, second = krippendorff_alpha(count_labels(pairs)), krippendorff_alpha(count_labels(renamed))
    assert first == (None if second is None else pytest.approx(second))


def test_kappa_equals_scikit_learns(vsrp):
    from sklearn.metrics import cohen_kappa_score

    first, second = zip(*vsrp, strict=True)
    assert cohen_kappa(first, second) == pytest.approx(cohen_kappa_score(first, second))


@pytest.mark.parametrize("name", ["alpha", "kappa"])
def test_the_interval_equals_a_plain_bootstrap_over_units(vsrp, name):
    coefficient, table_of = {
        "alpha": (coefficients.krippendorff_alpha, count_labels),
        "kappa": (coefficients.cohen_kappa, pair_table),
    }[name]
    low, high = interval(coefficient, table_of(vsrp), Resampling(4000, 7))
    generator = np.random.default_rng(11)
    draws = [generator.integers(0, len(vsrp), len(vsrp)) for _ in range(2000)]
    plain = [value_of(coefficient, table_of([vsrp[place] for place in draw])) for draw in draws]
    assert [low, high] == pytest.approx(np.quantile(plain, [0.025, 0.975]).tolist(), abs=0.012)
    assert low < value_of(coefficient, table_of(vsrp)) < high


def test_the_interval_depends_on_the_seed_alone(vsrp):
    counts = count_labels(vsrp)
    assert alpha_interval(counts, resamples=500, seed=3) == alpha_interval(counts, resamples=500, seed=3)
    assert alpha_interval(counts, resamples=500, seed=3) != alpha_interval(counts, resamples=500, seed=4)


def reviews(rows: list[tuple[str, str, str]]) -> pl.DataFrame:
    columns = ["question_id", "reviewer", "label"]
    return pl.DataFrame(rows, columns, orient="row").with_columns(dimension=pl.lit("difficulty"))


def test_every_dimension_has_a_row_for_all_and_one_for_each_pair_that_shares_questions():
    rows = [("q1", "b", "易"), ("q1", "a", "易"), ("q2", "a", "易"), ("q2", "c", "中等"), ("q3", "b", "易")]
    found = agreement(reviews(rows), draws_of(["difficulty", "competency"], 100, 1))
    assert [(row.dimension, row.reviewers, row.items, row.raw) for row in found] == [
        ("difficulty", "all", 2, 0.5),
        ("difficulty", "a & b", 1, 1.0),
        ("difficulty", "a & c", 1, 0.0),
        ("competency", "all", 0, None),
    ]


def test_another_expert_does_not_change_the_rows_of_a_pair():
    pairs = [
        (f"q{n}", who, "易" if (n * step) % 3 else "中等") for n in range(30) for who, step in (("a", 1), ("b", 2))
    ]
    pairs += [("q3", "a2", "易")]
    before = agreement(reviews(pairs[:-1]), draws_of(["difficulty"], 200, 5))
    after = agreement(reviews(pairs), draws_of(["difficulty"], 200, 5))
    assert [row for row in before if row.reviewers == "a & b"] == [row for row in after if row.reviewers == "a & b"]


def part(question: str, who: str, label: str, *, batch=1, blind=False, origin="prediction", day=1) -> dict:
    told = {"origin": origin, "batch": batch, "blind": blind, "updated_at": f"2026-01-{day:02}T00:00:00.000000Z"}
    return {"question_id": question, "dimension": "difficulty", "reviewer": who, "label": label, **told}


def test_agreement_is_told_by_batch_week_and_anchoring_where_there_is_more_than_one():
    rows = [part("q1", who, "易") for who in "ab"]
    rows += [part("q2", "a", "易", batch=2, blind=True, day=9), part("q2", "b", "中等", batch=2, blind=True, day=9)]
    found = agreement_by_part(pl.DataFrame(rows), draws_of(["difficulty"], 100, 1))
    raw = {row.slice: row.raw for row in found if row.reviewers == "all"}
    expected = {"batch 1": 1.0, "batch 2": 0.0, "week 2026-W01": 1.0, "week 2026-W02": 0.0}
    assert raw == expected | {"blind": 0.0, "prefilled": 1.0}
    assert agreement_by_part(pl.DataFrame(rows[:2]), draws_of(["difficulty"], 100, 1)) == []


def test_experts_against_an_annotator_are_told_by_what_they_did_with_its_label():
    rows = [
        part("q1", "a", "易"),
        part("q1", "b", "中等", origin="prediction-changed"),
        part("q2", "a", "中等", blind=True, origin="manual"),
        part("q3", "a", "易", origin="manual"),
    ]
    said = [annotation("difficulty", "易", "llm:m", question_id=name) for name in ("q1", "q2", "q3")]
    found = agreement_with_annotators(pl.DataFrame(rows), said, draws_of(["difficulty"], 100, 1))
    assert {row.reviewers for row in found} == {"experts & llm:m"}
    assert {row.slice: (row.items, row.raw) for row in found} == {
        None: (4, 0.5),
        "accepted": (1, 1.0),
        "changed": (1, 0.0),
        "manual": (1, 1.0),
        "blind": (1, 0.0),
        "prefilled": (3, pytest.approx(2 / 3)),
    }


def test_a_labels_agreement_is_how_often_a_second_expert_chose_it_too():
    labels = [("易", "易"), ("易", "中等"), ("中等", "中等"), ("难", "中等")]
    rows = [(f"q{n}", who, label) for n, pair in enumerate(labels) for who, label in zip("ab", pair, strict=True)]
    found = agreement(reviews(rows), draws_of(["difficulty"], 100, 1), labels=True)
    by_label = {row.label: (row.items, row.raw) for row in found if row.label}
    assert by_label == {"易": (2, pytest.approx(2 / 3)), "中等": (3, pytest.approx(0.5)), "难": (1, 0.0)}
    easy = next(row for row in found if row.label == "易")
    assert easy.kappa == pytest.approx(cohen_kappa([1, 1, 0, 0], [1, 0, 0, 0]))


def test_ac1_is_that_of_the_worked_example():
    """Two raters with a prevailing label: Gwet 2008's effect."""
    skewed = count_labels([("y", "y")] * 118 + [("y", "n")] * 5 + [("n", "y")] * 2)
    assert value_of(coefficients.gwet_ac1, skewed) == pytest.approx(0.9408, abs=1e-4)
    assert krippendorff_alpha(skewed) < 0
    low, high = interval(coefficients.gwet_ac1, skewed, Resampling(500, 1))
    assert low < 0.9408 < high <= 1
    assert value_of(coefficients.gwet_ac1, count_labels([("y", "y")] * 3)) is None


def test_what_experts_accepted_is_held_against_the_label_that_was_shown():
    today = [annotation("difficulty", "难", "llm:m", question_id="q1")]
    rows = [
        part("q1", "a", "易") | {"shown": "易", "shown_by": "lexicon"},
        part("q1", "b", "中等", origin="prediction-changed") | {"shown": "易", "shown_by": "lexicon"},
    ]
    found = agreement_with_annotators(pl.DataFrame(rows), today, draws_of(["difficulty"], 100, 1))
    by_slice = {(row.reviewers, row.slice): row.raw for row in found}
    assert by_slice["experts & lexicon", "accepted"] == 1.0
    assert by_slice["experts & lexicon", "changed"] == 0.0
    assert by_slice["experts & llm:m", None] == 0.0
    assert ("experts & llm:m", "accepted") not in by_slice
