"""Scores are found by run and slice, and written as cells."""

import pytest

from build_dataset.pipeline.evaluate.results.papers import (
    Rival,
    View,
    bracketed,
    cell,
    label_name,
    mean,
    p_value,
    plot_name,
    prompt_name,
    ranked_table,
    value,
)
from build_dataset.schemas.evaluation import Score, Task

from .test_tables import score


@pytest.mark.parametrize(
    ("changes", "arguments", "expected"),
    [
        ({}, {}, "61.6 [56.6, 66.6]"),
        ({}, {"questions": 200}, "61.6 [56.6, 66.6]"),
        ({}, {"questions": 201}, "61.6 [56.6, 66.6] (n = 200)"),
        ({"questions": 1200}, {"questions": 200}, "61.6 [56.6, 66.6] (n = 1,200)"),
        ({}, {"places": 2}, "61.60 [56.60, 66.60]"),
        ({}, {"places": 2, "scale": 1}, "0.62 [0.57, 0.67]"),
        ({"low": None}, {}, "61.6"),
        ({"high": None}, {}, "61.6"),
        ({"low": 0.0}, {}, "61.6 [0.0, 66.6]"),
        ({"sd": 0.0}, {}, "61.6 ± 0.0 [56.6, 66.6]"),
        ({"sd": 0.0123}, {}, "61.6 ± 1.2 [56.6, 66.6]"),
        ({"sd": 0.0123}, {"places": 3, "scale": 1}, "0.616 ± 0.012 [0.566, 0.666]"),
        ({"value": None}, {}, "–"),
    ],
)
def test_a_cell_holds_a_share_in_percent_with_what_belongs_to_it(
    changes: dict[str, float | None], arguments: dict[str, int], expected: str
) -> None:
    assert cell(score("one", 0.616).model_copy(update=changes), **arguments) == expected


def test_a_score_that_is_missing_is_a_dash() -> None:
    nothing = score("one", 0.5).model_copy(update={"value": None})
    assert [cell(None), mean(None), mean(nothing)] == ["–", "–", "–"]
    assert (value(None), value(nothing), value(score("one", 0.0))) == (None, None, 0.0)


def test_a_mean_has_one_place_of_a_percentage_where_nothing_is_said() -> None:
    found = score("one", 0.12345).model_copy(update={"sd": 0.00678})
    assert [mean(found), mean(found, 2), mean(found, 3, 1)] == ["12.3 ± 0.7", "12.35 ± 0.68", "0.123 ± 0.007"]
    assert bracketed("x", found, "+.1f") == "x [+7.3, +17.3]"


@pytest.mark.parametrize(
    ("p", "expected"), [(0.0, "< 0.001"), (0.000999, "< 0.001"), (0.001, "0.001"), (0.0014, "0.001"), (1.0, "1.000")]
)
def test_a_p_value_is_told_down_to_a_thousandth(p: float, expected: str) -> None:
    assert p_value(p) == expected


def test_names_are_shown_without_what_is_no_name() -> None:
    assert plot_name("$a$") == r"\$a\$"
    assert prompt_name("my/own/prompt.toml") == "prompt.toml"
    assert [label_name("甲", None), label_name("A1", "A1"), label_name("甲", "First")] == ["甲", "A1", "甲 First"]


def test_a_label_was_asked_as_often_as_the_run_that_was_asked_most() -> None:
    found = View(
        [
            score("one", 0.5, "length", "0–9", questions=7),
            score("two", 0.5, "length", "0–9", questions=9),
            score("three", 0.5, "length", "0–9", questions=8),
            score("three", 0.5, "length", "0–9", questions=99, metric="macro_f1"),
            score("four", 0.5, task=Task.CLINICAL),
        ]
    )
    assert (found.asked("length", "0–9"), found.asked("length", "10–19"), found.asked("x", "0–9")) == (9, 0, 0)
    assert found.runs == ["one", "two", "three"]
    assert (found.runs_of("length"), found.runs_of("x")) == (["one", "two", "three"], [])
    assert (found.labels("length"), found.labels("x")) == ({"0–9": None}, {})


def test_scores_are_found_by_run_slice_and_metric() -> None:
    both = [score("one", 0.4, metric="partial_credit"), score("one", 0.5)]
    found = View(both)
    assert (found.accuracy("one"), found.accuracy("x"), found.overall("one", "partial_credit")) == (
        both[1],
        None,
        both[0],
    )
    assert found.data(["overall"], ["accuracy"]).height == 1
    assert found.data(["length"], ["accuracy"]).height == 0


def table(*values: tuple[str, float | None]) -> set[tuple[int, int]]:
    rows = [[run, Rival("x", "line", run, number)] for run, number in values]
    made = ranked_table("none", Score.to_frame([]), ["run", "share"], rows, caption="c")
    assert (made.left, made.head, made.caption) == (1, ["run", "share"], "c")
    assert made.rows == [(run, "x") for run, _ in values]
    return set(made.best)


def test_the_best_of_a_line_is_marked() -> None:
    assert table(("a", 0.1), ("b", 0.3), ("c", 0.2)) == {(1, 1)}
    assert table(("a", 0.3), ("b", 0.3), ("c", 0.2)) == {(0, 1), (1, 1)}
    assert table(("a", 0.0), ("b", None), ("c", -0.2)) == {(0, 1)}


def test_one_model_or_models_that_are_alike_have_no_best() -> None:
    assert table(("a", 0.1)) == set()
    assert table(("a", 0.1), ("b", 0.1)) == set()
    assert table(("a", 0.1), ("human", 0.9), ("random", 0.2), ("majority", 0.3)) == set()
