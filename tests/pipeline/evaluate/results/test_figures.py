"""Plots show what there is and nothing else."""

import pytest

from build_dataset.pipeline.evaluate.grading import RunSettings
from build_dataset.pipeline.evaluate.results.build import Evaluated, _drawn, plots
from build_dataset.pipeline.evaluate.results.papers import View

from .test_tables import score

LENGTHS = [score("one", 0.5), *(score("one", 0.5, "length", label) for label in ("0–9", "10–19"))]


def test_a_plot_needs_something_to_show():
    assert plots(Evaluated([])) == {}
    assert plots(Evaluated([score("one", 0.5)])) == {}
    assert plots(Evaluated([score("one", 0.5), score("one", 0.5, "length", "0–9")])) == {}


def test_each_plot_is_a_vector_and_a_picture():
    found = [
        *LENGTHS,
        score("human", 0.7, low=None, high=None),
        score("one", 0.5, "difficulty", "易", label_en="Easy"),
        *(score(run, 0.5, "exam_class", label) for run in ("one", "human") for label in ("护理学", "执业医师")),
    ]
    made = plots(Evaluated(found))
    names = ("accuracy_by_difficulty", "accuracy_by_length")
    assert set(made) == {f"figures/{name}.{kind}" for name in names for kind in ("svg", "png")}
    assert all(data.startswith(b"\x89PNG") for name, data in made.items() if name.endswith(".png"))


def test_a_name_that_begins_a_formula_is_drawn_as_it_is():
    hostile = [item.model_copy(update={"run": "$\\frac{"}) for item in LENGTHS]
    assert plots(Evaluated(hostile))


def test_a_label_with_too_few_questions_is_not_drawn():
    found = [score("one", 0.5), score("one", 0.5, "disease_group", "肿瘤", questions=100)]
    assert plots(Evaluated(found)) == {}


@pytest.mark.parametrize("value", [None, 0.0, 1.0])
def test_values_at_the_edges_and_absent_ones_are_drawn(value):
    found = [LENGTHS[0], *(item.model_copy(update={"value": value, "low": None, "high": None}) for item in LENGTHS[1:])]
    assert plots(Evaluated(found))


def test_the_best_run_of_each_model_is_drawn():
    runs = {"m": 0.5, "m 3-shot": 0.6, "n": 0.4}
    found = Evaluated(
        [score(run, value) for run, value in runs.items()],
        askings={run: RunSettings(run.split()[0], "answer_only") for run in runs},
    )
    assert _drawn(View(found.scores), found) == ["m 3-shot", "n"]
