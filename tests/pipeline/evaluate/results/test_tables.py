"""The papers' tables of scores made for the purpose."""

import io
import json
from dataclasses import asdict

import polars as pl
import pytest

from build_dataset.pipeline.evaluate.grading import RunSettings
from build_dataset.pipeline.evaluate.results.build import Evaluated, files, headlines, markdown, tables
from build_dataset.pipeline.rendering.tables import Table
from build_dataset.schemas.evaluation import Comparison, JudgeAgreement, Score, Task


def score(run: str, value: float, dimension: str = "overall", label: str = "全部", **more) -> Score:
    plain = {
        "label_en": "all" if dimension == "overall" else None,
        "metric": "accuracy",
        "questions": 200,
        "low": value - 0.05,
        "high": value + 0.05,
    }
    return Score(run=run, dimension=dimension, label=label, value=value, **(plain | more))


def named(found: Evaluated) -> dict[str, Table]:
    return {table.name: table for _, table in tables(found)}


def asking(model: str, prompt: str = "answer_only", shots: int = 0) -> RunSettings:
    return RunSettings(model, prompt, shots)


def test_the_overall_table_bolds_the_best_model_and_never_a_baseline_or_people():
    found = [score("human", 0.9), score("random", 0.8), score("one", 0.5), score("two", 0.7), score("three", 0.6)]
    table = named(Evaluated(found))["cmexam_table3"]
    assert table.best == {(3, 2)}
    assert "| two | 200 | **70.0 [65.0, 75.0]** |" in table.markdown()
    latex = table.files()["tables/cmexam_table3.tex"].decode()
    assert r"\textbf{70.0 {[}65.0, 75.0]}" in latex


def test_deviations_over_repetitions_stand_beside_the_mean():
    table = named(Evaluated([score("one", 0.616, sd=0.001, repeats=3)]))["cmexam_table3"]
    assert table.rows[0][2] == "61.6 ± 0.1 [56.6, 66.6]"


@pytest.mark.parametrize(("questions", "shown"), [(100, False), (101, True)])
def test_a_disease_group_needs_more_than_a_hundred_questions(questions, shown):
    found = [score("one", 0.5, "disease_group", "感染", questions=500)]
    found.append(score("one", 0.5, "disease_group", "肿瘤", questions=questions))
    table = named(Evaluated(found))["cmexam_table4"]
    assert ("肿瘤" in [row[0] for row in table.rows]) is shown
    assert sorted(table.data["label"].to_list()) == sorted(["感染", "肿瘤"])
    if not shown:
        assert "Left out, with 100 questions or fewer: 1 label;" in table.caption


def test_a_small_set_has_no_table_without_rows():
    table = named(Evaluated([score("one", 0.5, "disease_group", "肿瘤", questions=5)]))["cmexam_table4"]
    assert [row[0] for row in table.rows] == ["肿瘤"]
    assert "Left out" not in table.caption


@pytest.mark.parametrize("name", ["cmexam_table3", "cmb_table3"])
def test_an_incomplete_run_stands_below_the_others_and_does_not_compete(name):
    found = [score("part", 0.9, questions=8), score("one", 0.5, questions=10), score("two", 0.4, questions=10)]
    found += [each.model_copy(update={"dimension": "exam_type", "label": "医师考试"}) for each in found]
    table = named(Evaluated(found))[name]
    assert [row[0] for row in table.rows] == ["one", "two", "part · 未完成 incomplete, of 10"]
    assert {row for row, _ in table.best} == {0}


def test_an_incomplete_run_is_the_last_column_of_a_label_and_in_no_average():
    found = [score("part", 0.9, questions=8), score("one", 0.5, questions=10), score("two", 0.4, questions=10)]
    found += [each.model_copy(update={"dimension": "difficulty", "label": "易"}) for each in found]
    table = named(Evaluated(found))["cmexam_table8"]
    assert table.head[2:] == ["one", "two", "part · 未完成 incomplete, of 10", "平均 Average of models"]
    assert table.rows[0][-1] == "45.0"
    assert table.best == {(0, 2)}


def test_a_department_needs_more_than_fifty_and_other_dimensions_nothing():
    found = [
        score("one", 0.5, name, label, questions=questions)
        for name in ("clinical_department", "medical_discipline", "competency", "difficulty")
        for label, questions in (("x", 50), ("y", 51))
    ]
    made = named(Evaluated(found))
    assert [len(made[f"cmexam_table{number}"].rows) for number in (5, 6, 7, 8)] == [1, 2, 2, 2]


def test_labels_stand_in_both_languages_and_models_are_averaged_without_baselines():
    found = [
        score(run, value, "disease_group", "肿瘤", label_en="Neoplasms")
        for run, value in (("one", 0.4), ("two", 0.6), ("random", 0.0), ("human", 1.0))
    ]
    table = named(Evaluated(found))["cmexam_table4"]
    assert table.rows[0][0] == "肿瘤 Neoplasms"
    assert table.rows[0][-1] == "50.0"
    assert table.head[-1] == "平均 Average of models"


def test_people_without_known_numbers_are_shown_by_the_mean_over_questions():
    found = [
        score("one", 0.4, "difficulty", "易"),
        score("human", 0.8, "difficulty", "易", low=None, high=None, questions=120),
    ]
    assert named(Evaluated(found))["cmexam_table8"].rows[0][3] == "80.0 (n = 120)"


def test_an_average_over_categories_needs_all_of_them():
    found = [score("one", 0.4, "exam_type", "医师考试"), score("one", 0.6, "exam_type", "护理考试")]
    found.append(score("two", 0.4, "exam_type", "医师考试", label_en="Physician"))
    table = named(Evaluated(found))["cmb_table3"]
    assert table.head[:2] == ["模型 Model", "医师考试 Physician"]
    assert table.rows[0] == ("one", "40.00", "60.00", "50.00", "–")
    assert [row[3] for row in table.rows] == ["50.00", "–"]


def test_subcategories_have_a_row_each():
    found = [score("one", 0.4, "exam_class", "护理学"), score("one", 0.4, "exam_class", "自编考试")]
    assert [row[0] for row in named(Evaluated(found))["by_exam_class"].rows] == ["护理学", "自编考试"]


def test_judges_scores_are_on_their_own_scale_and_by_judge():
    found = [
        score(run, value, metric=f"{aspect} ({who})", task=Task.CLINICAL, low=None, high=None)
        for run, who, value in (("one", "llm:j", 4.5), ("two", "llm:j", 3.0), ("one", "experts", 4.0))
        for aspect in ("fluency", "judged")
    ]
    table = named(Evaluated(found))["cmb_table5"]
    assert [row[:2] for row in table.rows] == [("one", "llm:j"), ("two", "llm:j"), ("one", "专家 experts")]
    assert table.rows[0][3] == "4.50"
    assert table.rows[0][4] == "–"
    assert (0, 3) in table.best
    assert (2, 3) not in table.best, "one run of a judge is best of nothing"


def test_explanations_have_a_table_of_their_own():
    found = [
        score("one", value, metric=metric, task=Task.EXPLANATION, low=None, high=None)
        for metric, value in (("bleu_1", 0.2), ("rouge_l", 0.3))
    ]
    made = named(Evaluated(found))
    assert set(made) == {"cmexam_table3_explanations"}
    assert made["cmexam_table3_explanations"].rows == [("one", "200", "20.0", "30.0")]


def test_pairs_show_the_difference_and_are_bold_where_it_is_more_than_luck():
    pair = Comparison(
        run_a="one",
        run_b="two",
        questions=100,
        both_right=50,
        only_a_right=20,
        only_b_right=5,
        neither_right=25,
        difference=0.15,
        low=0.05,
        high=0.25,
        p_value=0.004,
        p_adjusted=0.008,
    )
    luck = pair.model_copy(update={"run_b": "three", "p_value": 0.04, "p_adjusted": 0.08})
    table = named(Evaluated([score("one", 0.5)], [pair, luck]))["pairs"]
    assert table.rows[0][5:] == ("+15.0 [+5.0, +25.0]", "0.004", "0.008")
    assert table.best == {(0, 5)}


def test_agreement_that_is_undefined_is_a_dash():
    row = JudgeAgreement(
        judge="llm:j", aspect="fluency", answers=9, pearson=0.81, spearman=None, alpha=0.7, models=4, ranking=0.8
    )
    table = named(Evaluated([score("one", 0.5)], agreement=[row]))["judge_agreement"]
    assert table.rows[0][2:] == ("9", "0.810", "–", "0.700", "4", "0.800")


def test_every_table_is_written_in_four_forms_and_its_numbers_are_read_back():
    found = Evaluated([score("one", 0.123456), score("two", 0.5)])
    written = files(found)
    assert set(written) == {f"tables/cmexam_table3.{kind}" for kind in ("parquet", "csv", "md", "tex")}
    frame = pl.read_parquet(io.BytesIO(written["tables/cmexam_table3.parquet"]))
    assert frame["value"].to_list() == [0.123456, 0.5]
    assert frame["questions"].to_list() == [200, 200]


def test_names_that_are_markup_stay_names():
    name = r"a|b & <c> $x$ 100% \end{table} _d_"
    found = Evaluated([score(name, 0.5), score("two", 0.4)])
    text = markdown(found, "t")
    assert "<c>" not in text
    rows = [line for line in text.splitlines() if line.startswith("| a")]
    assert rows[0].replace("\\|", "").count("|") == 4
    latex = files(found)["tables/cmexam_table3.tex"].decode()
    assert r"\textbackslash{}end\{table\}" in latex
    assert latex.count(r"\end{table}") == 1


def test_how_runs_were_asked_survives_the_manifest():
    askings = {"m 3": asking("m", shots=3)}
    assert {run: RunSettings(**json.loads(json.dumps(asdict(one)))) for run, one in askings.items()} == askings
    assert Evaluated([score("x", 0.5)]).askings["x"].model == "x", "a run without further facts is a model of its own"


def test_a_line_a_run_for_the_terminal():
    assert headlines([score("random", 0.2)]) == ["random: accuracy 20.0 [15.0, 25.0] % of 200 questions"]


def test_the_order_of_models_is_compared_between_settings():
    values = {"a": (0.7, 0.6), "b": (0.5, 0.5), "c": (0.4, 0.55)}
    askings = {
        **{f"{model} {shots}": asking(model, shots=shots) for model in values for shots in (0, 3)},
        "random": asking("random"),
    }
    found = [
        score(f"{model} {shots}", value)
        for model, both in values.items()
        for shots, value in zip((0, 3), both, strict=True)
    ]
    table = named(Evaluated([*found, score("random", 0.2)], askings=askings))["cmb_table7"]
    assert table.rows == [
        (
            "准确率 Accuracy",
            "answer-only 直接作答 · 0-shot · T = 0",
            "answer-only 直接作答 · 3-shot · T = 0",
            "3",
            "0.500",
        )
    ]
    assert "cmb_table7" not in named(Evaluated(found[:4], askings=askings)), "two models have no order"


def test_judges_scores_have_their_interval():
    found = [score("one", 3.5, metric="fluency (llm:j)", task=Task.CLINICAL, low=3.25, high=3.75)]
    assert named(Evaluated(found))["cmb_table5"].rows[0][3] == "3.50 [3.25, 3.75]"
