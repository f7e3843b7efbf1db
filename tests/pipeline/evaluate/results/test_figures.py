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


def rounded(values: Any) -> list[float]:
    return [round(float(value), 3) for value in values]


def legend(drawn: Any) -> tuple[int, float, list[str]]:
    (found,) = drawn.legends
    return found._ncols, found.get_texts()[0].get_fontsize(), [text.get_text() for text in found.get_texts()]


def test_bars_of_a_label_stand_side_by_side_with_their_intervals(kept: dict[str, Any]) -> None:
    found = [score("one", 0.5), score("human", 0.7, low=None, high=None)]
    for label, questions in (("易", 1200), ("难", 300)):
        found.append(score("one", 0.5, "difficulty", label, questions=questions))
        found.append(score("human", 0.7, "difficulty", label, low=None, high=None, questions=questions))
    plots(Evaluated(found))
    drawn = kept["accuracy_by_difficulty"]
    (axes,) = drawn.axes
    assert size(drawn) == (8.0, 2.32)
    bars = [(bar.get_y(), bar.get_height(), bar.get_x(), bar.get_width()) for bar in axes.patches]
    assert [tuple(rounded(bar)) for bar in bars] == [
        (-0.399, 0.378, 0.0, 50.0),
        (0.601, 0.378, 0.0, 50.0),
        (0.021, 0.378, 0.0, 70.0),
        (1.021, 0.378, 0.0, 70.0),
    ]
    lines = [(rounded(line.get_xdata()), rounded(line.get_ydata()), line.get_linewidth()) for line in axes.lines]
    assert lines == [([45.0, 55.0], [-0.21, -0.21], 1.1), ([45.0, 55.0], [0.79, 0.79], 1.1)]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["易 Easy  n = 1,200", "难  n = 300"]
    assert (axes.get_xlim(), rounded(axes.get_ylim())) == ((0.0, 100.0), [1.6, -0.6])
    assert not any(line.get_visible() for line in axes.get_ygridlines())
    assert legend(drawn) == (3, 8.0, ["one", "考生 human"])


@pytest.mark.parametrize(("most", "drawn"), [(100, True), (101, False)])
def test_bars_need_more_questions_than_the_tables(kept: dict[str, Any], most: int, drawn: bool) -> None:
    found = [score("one", 0.5), score("one", 0.5, "disease_group", "肿瘤", questions=101)]
    plots(Evaluated(found, more_than={"disease_group": most}))
    assert list(kept) == (["accuracy_by_disease_group"] if drawn else [])


def test_a_label_without_a_limit_needs_one_question(kept: dict[str, Any]) -> None:
    found = [score("one", 0.5), score("one", 0.5, "disease_group", "肿瘤", questions=1)]
    assert plots(Evaluated(found, more_than={}))


def test_lengths_are_lines_with_their_intervals_as_bands(kept: dict[str, Any]) -> None:
    labels = ("0–9", "10–19", "20–29")
    plots(Evaluated([score("one", 0.5), *(score("one", 0.5, "length", label) for label in labels)]))
    drawn = kept["accuracy_by_length"]
    (axes,) = drawn.axes
    ((line,), (band,)) = axes.lines, axes.collections
    assert size(drawn) == (7.6, 4.2)
    assert (rounded(line.get_xdata()), rounded(line.get_ydata())) == ([0, 1, 2], [50, 50, 50])
    assert (line.get_marker(), line.get_markersize()) == ("o", 3.5)
    (shape,) = band.get_paths()
    assert (rounded(shape.vertices.min(axis=0)), rounded(shape.vertices.max(axis=0))) == ([0, 45], [2, 55])
    assert (band.get_alpha(), band.get_linewidth().tolist()) == (0.13, [0.0])
    ticks = axes.get_xticklabels()
    assert [text.get_text() for text in ticks] == [f"{label}\nn = 200" for label in labels]
    assert {text.get_fontsize() for text in ticks} == {7.5}
    assert axes.get_ylim() == (0.0, 100.0)


def test_the_heat_map_writes_black_on_its_light_fields(kept: dict[str, Any]) -> None:
    shares = {("one", "护理学"): 0.5499999999, ("one", "执业医师"): 0.5501, ("human", "护理学"): 0.2}
    found = [score("one", 0.5), score("human", 0.5)]
    found += [score(run, share, "exam_class", label) for (run, label), share in shares.items()]
    plots(Evaluated(found))
    drawn = kept["accuracy_by_subcategory"]
    axes, bar = drawn.axes
    assert size(drawn) == (3.44, 3.2)
    (image,) = axes.images
    assert (image.get_clim(), image.get_cmap().name) == ((0.0, 100.0), "cividis")
    told = [(*text.get_position(), text.get_text(), text.get_color(), text.get_fontsize()) for text in axes.texts]
    assert told == [(0, 0, "55", "white", 6.5), (1, 0, "55", "black", 6.5), (0, 1, "20", "white", 6.5)]
    ticks = axes.get_xticklabels()
    assert {(text.get_rotation(), text.get_fontsize(), text.get_ha()) for text in ticks} == {(55.0, 7.0, "right")}
    assert [text.get_text() for text in ticks] == ["护理学 (200)", "执业医师 (200)"]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["one", "考生 human"]
    assert not any(line.get_visible() for line in [*axes.get_xgridlines(), *axes.get_ygridlines()])
    assert (bar._colorbar_info["fraction"], bar._colorbar_info["pad"]) == (0.03, 0.01)


def test_a_heat_map_has_two_columns_at_least_and_forty_rows_at_most(kept: dict[str, Any]) -> None:
    runs = [f"m{number}" for number in range(41)]
    found = [score(run, 0.5) for run in runs]
    one = [score(run, 0.5, "exam_class", "护理学") for run in runs]
    plots(Evaluated([*found, *one]))
    assert not kept
    plots(Evaluated([*found, *one, *(score(run, 0.5, "exam_class", "执业医师") for run in runs)]))
    assert len(kept["accuracy_by_subcategory"].axes[0].get_yticklabels()) == 40


def test_six_models_are_drawn_the_best_first_and_people_beside_them() -> None:
    found = Evaluated([*(score(f"m{number}", number / 10) for number in range(1, 8)), score("human", 0.1)])
    assert _drawn(View(found.scores), found) == ["m7", "m6", "m5", "m4", "m3", "m2", "human"]


def test_a_model_whose_accuracy_is_not_known_stands_last() -> None:
    unknown = score("none", 0.5).model_copy(update={"value": None})
    found = Evaluated([unknown, score("low", 0.05)])
    assert _drawn(View(found.scores), found) == ["low", "none"]


def test_baselines_are_drawn_where_there_are_no_models() -> None:
    found = Evaluated([score("random", 0.2), score("majority", 0.3)])
    assert _drawn(View(found.scores), found) == ["majority", "random"]
    found = Evaluated([score("random", 0.2), score("one", 0.1)])
    assert _drawn(View(found.scores), found) == ["one"]


@pytest.mark.parametrize(("length", "shown"), [(40, "m" * 40), (41, "m" * 39 + "…")])
def test_a_name_of_forty_characters_is_shown_whole(kept: dict[str, Any], length: int, shown: str) -> None:
    run = "m" * length
    plots(Evaluated([score(run, 0.5), score(run, 0.5, "difficulty", "易")]))
    assert legend(kept["accuracy_by_difficulty"])[2] == [shown]


def ranks(drawn: Any) -> list[tuple[str, list[float]]]:
    (axes,) = drawn.axes
    return [(line.get_linestyle(), rounded(line.get_ydata())) for line in axes.lines]


def test_ranks_by_the_judge_stand_a_little_above_those_by_experts(kept: dict[str, Any]) -> None:
    judge = [row for row in judgements("a", "b", "c") if row.judge == "llm:$j"]
    given = {"llm:$j": {"a": 1, "b": 3, "c": 2}, "expert:a": {"a": 4, "b": 5, "c": 5}}
    rows = [
        row.model_copy(update={"judge": who, "score": by_run[row.run]})
        for who, by_run in given.items()
        for row in judge
    ]
    judge_plots(rows)
    drawn = kept["rankings"]
    (axes,) = drawn.axes
    assert size(drawn) == (7.6, 3.06)
    assert ranks(drawn) == [
        ("-", [0.95] * 5),
        ("-", [1.95] * 5),
        ("-", [2.95] * 5),
        ("--", [1.55] * 5),
        ("--", [1.55] * 5),
        ("--", [3.05] * 5),
    ]
    assert {(line.get_marker(), line.get_markersize()) for line in axes.lines} == {("o", 3.5)}
    assert (rounded(axes.get_ylim()), axes.get_yticks().tolist()) == ([3.4, 0.6], [1, 2, 3])
    assert axes.get_xticklabels()[-1].get_text() == "平均\nAverage"
    assert axes.title.get_fontsize() == 9.0
    assert legend(drawn)[2] == ["b", "c", "a"]


@pytest.mark.parametrize(("more", "drawn"), [(0, True), (1, False)])
def test_as_many_models_as_there_are_colours_are_ranked(kept: dict[str, Any], more: int, drawn: bool) -> None:
    judge_plots(judgements(*(f"m{number}" for number in range(len(COLOURS) + more))))
    assert ("rankings" in kept) is drawn


def test_models_are_ranked_where_each_has_scores_in_every_aspect(kept: dict[str, Any]) -> None:
    last = aspects()[-1].name
    judge_plots([row for row in judgements("a", "b", "c") if (row.run, row.aspect) != ("c", last)])
    assert list(kept) == ["judge_and_experts"]


def test_the_area_of_a_point_is_its_share_of_the_most_answers(kept: dict[str, Any]) -> None:
    given = [(1, 2), (1, 2), (1, 2), (1, 2), (5, 4)]
    rows = [
        Judgement(
            run="a", task=Task.CLINICAL, question_id=f"clin-{number}-1", judge=judge, aspect="fluency", score=points
        )
        for number, both in enumerate(given)
        for judge, points in zip(("expert:a", "llm:j"), both, strict=True)
    ]
    judge_plots(rows)
    drawn = kept["judge_and_experts"]
    (axes,) = drawn.axes
    assert size(drawn) == (2.8, 2.9)
    (points,) = axes.collections
    assert (points.get_offsets().tolist(), points.get_sizes().tolist()) == ([[1, 2], [5, 4]], [260.0, 65.0])
    assert (points.get_alpha(), points.get_linewidths().tolist()) == (0.45, [0.0])
    (line,) = axes.lines
    assert (rounded(line.get_xdata()), rounded(line.get_ydata()), line.get_linewidth()) == ([1, 5], [1, 5], 0.7)
    assert (rounded(axes.get_xlim()), rounded(axes.get_ylim())) == ([0.7, 5.3], [0.7, 5.3])
    assert axes.get_xticks().tolist() == [1, 2, 3, 4, 5]
    assert (axes.title.get_text().split("\n")[1], axes.title.get_fontsize()) == ("r = 1.00, n = 5", 8.0)
    assert axes.get_ylabel() == "llm:j"


def test_a_scatter_shares_its_scale_and_needs_two_answers(kept: dict[str, Any]) -> None:
    rows = judgements("a")
    judge_plots([row for row in rows if row.question_id == "clin-0-1"])
    assert not kept
    judge_plots([row for row in rows if row.question_id in ("clin-0-1", "clin-1-1")])
    drawn = kept["judge_and_experts"]
    assert (len(drawn.axes), size(drawn)) == (len(aspects()), (2.4 * len(aspects()) + 0.4, 2.9))
    assert [axes.get_ylabel() for axes in drawn.axes] == [r"llm:\$j", *[""] * (len(aspects()) - 1)]
    assert not drawn.axes[1].yaxis.get_tick_params()["labelleft"]


def test_every_judge_after_the_first_has_its_number(kept: dict[str, Any]) -> None:
    rows = judgements("a", "b", "c")
    again = [row.model_copy(update={"judge": "llm:k"}) for row in rows if row.judge == "llm:$j"]
    judge_plots([*rows, *again])
    assert list(kept) == ["rankings", "judge_and_experts", "rankings_2", "judge_and_experts_2"]
