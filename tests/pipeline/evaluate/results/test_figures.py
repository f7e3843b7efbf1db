"""Plots show what there is and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from build_dataset.annotation.rubric import aspects
from build_dataset.pipeline.evaluate.grading import RunSettings
from build_dataset.pipeline.evaluate.results import figures
from build_dataset.pipeline.evaluate.results.build import Evaluated
from build_dataset.pipeline.evaluate.results.figures import _drawn, judge_plots, plots
from build_dataset.pipeline.evaluate.results.view import View
from build_dataset.pipeline.rendering.figures import COLOURS
from build_dataset.schemas.evaluation import Judgement, Task

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
    names = ("accuracy_by_difficulty", "accuracy_by_length", "accuracy_by_subcategory")
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
        askings={run: RunSettings(run.split()[0], "answer", "answer_only", 0, 1, 0) for run in runs},
    )
    assert _drawn(View(found.scores), found) == ["m 3-shot", "n"]


def judgements(*runs: str) -> list[Judgement]:
    return [
        Judgement(
            run=run,
            task=Task.CLINICAL,
            question_id=f"clin-{number}-1",
            judge=judge,
            aspect=aspect.name,
            score=1 + (place + number) % 5,
        )
        for place, run in enumerate(runs)
        for number in range(4)
        for judge in ("llm:$j", "expert:a")
        for aspect in aspects()
    ]


def test_a_judge_is_drawn_beside_experts():
    made = judge_plots(judgements("a", "b", "c"))
    assert set(made) == {
        f"figures/{name}.{kind}" for name in ("rankings", "judge_and_experts") for kind in ("svg", "png")
    }


def test_too_few_models_have_no_ranking_and_without_experts_there_is_nothing_to_draw():
    assert {name.partition(".")[0] for name in judge_plots(judgements("a", "b"))} == {"figures/judge_and_experts"}
    assert judge_plots([row for row in judgements("a", "b", "c") if row.judge == "llm:$j"]) == {}


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Figures by name as they are drawn, before any is rendered."""
    found: dict[str, Any] = {}

    def keep(name: str, drawn: Any) -> dict[str, bytes]:
        found[name] = drawn
        return {f"figures/{name}.svg": b""}

    monkeypatch.setattr(figures, "both_formats", keep)
    return found


def size(drawn: Any) -> tuple[float, float]:
    width, height = drawn.get_size_inches()
    return round(float(width), 3), round(float(height), 3)


@pytest.mark.parametrize(("more", "drawn"), [(0, True), (1, False)])
def test_as_many_models_as_there_are_colours_are_ranked(kept: dict[str, Any], more: int, drawn: bool) -> None:
    judge_plots(judgements(*(f"m{number}" for number in range(len(COLOURS) + more))))
    assert ("rankings" in kept) is drawn


def test_models_are_ranked_where_each_has_scores_in_every_aspect(kept: dict[str, Any]) -> None:
    last = aspects()[-1].name
    judge_plots([row for row in judgements("a", "b", "c") if (row.run, row.aspect) != ("c", last)])
    assert list(kept) == ["judge_and_experts"]


def test_a_scatter_shares_its_scale_and_needs_two_answers(kept: dict[str, Any]) -> None:
    rows = judgements("a")
    judge_plots([row for row in rows if row.question_id == "clin-0-1"])
    assert not kept
    judge_plots([row for row in rows if row.question_id in ("clin-0-1", "clin-1-1")])
    drawn = kept["judge_and_experts"]
    assert (len(drawn.axes), size(drawn)) == (len(aspects()), (2.4 * len(aspects()) + 0.4, 2.9))
    assert [axes.get_ylabel() for axes in drawn.axes] == [r"llm:\$j", *[""] * (len(aspects()) - 1)]
    assert not drawn.axes[1].yaxis.get_tick_params()["labelleft"]
