"""Judges are compared with experts."""

import pytest

from build_dataset.annotation.rubric import aspects
from build_dataset.pipeline.evaluate.judging.scores import interval_alpha, judge_agreement, judged_scores
from build_dataset.schemas.evaluation import Judgement, Task


def judgement(question: str, judge: str, score: int, aspect: str = "fluency", run: str = "m", repeat: int = 0):
    told = {"judge": judge, "aspect": aspect, "score": score, "repeat": repeat}
    return Judgement(run=run, task=Task.CLINICAL, question_id=question, **told)


def given(judge: str, scores: dict[str, int]) -> list[Judgement]:
    return [judgement(question, judge, score) for question, score in scores.items()]


def by_judge(rows):
    return {row.judge: row for row in judge_agreement(rows) if row.aspect == "fluency"}


def test_alpha_for_interval_data_equals_the_published_example():
    # Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", example C/E: four observers, twelve units.
    reliability = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
    units = [[row[unit] for row in reliability if row[unit] is not None] for unit in range(12)]
    assert interval_alpha(units) == pytest.approx(0.849, abs=5e-4)


def test_alpha_is_undefined_where_nothing_varies():
    assert interval_alpha([[3, 3], [3, 3]]) is None
    assert interval_alpha([[3]]) is None


def test_a_judge_that_ranks_like_the_experts_correlates_fully():
    experts = given("expert:a", {"q1": 1, "q2": 3, "q3": 5}) + given("expert:b", {"q1": 2, "q2": 4, "q3": 5})
    found = by_judge(experts + given("llm:j", {"q1": 2, "q2": 3, "q3": 4, "q4": 1}))
    assert found["llm:j"].spearman == pytest.approx(1.0)
    assert found["llm:j"].answers == 3
    assert 0.5 < found["llm:j"].alpha < 1.0
    assert found["experts"].answers == 3


def test_a_judge_that_gives_one_score_to_all_has_no_correlation():
    experts = given("expert:a", {"q1": 1, "q2": 5})
    found = by_judge(experts + given("llm:j", {"q1": 4, "q2": 4}))
    assert (found["llm:j"].pearson, found["llm:j"].spearman) == (None, None)


def test_without_experts_there_is_nothing_to_agree_with():
    assert judge_agreement(given("llm:j", {"q1": 4})) == []


def test_experts_are_averaged_together():
    rows = given("expert:a", {"q1": 1}) + given("expert:b", {"q1": 4})
    (score,) = judged_scores(rows)
    assert (score.metric, score.value, score.questions) == ("fluency (experts)", 2.5, 1)


def everything(judge: str, by_run: dict[str, int], questions: int = 4) -> list[Judgement]:
    """The same score in every aspect of every answer of a run."""
    return [
        judgement(f"clin-{number}-1", judge, score, aspect.name, run)
        for run, score in by_run.items()
        for number in range(questions)
        for aspect in aspects()
    ]


def test_models_are_ranked_by_judge_and_experts_in_each_aspect_and_on_average():
    experts = everything("expert:a", {"good": 5, "fair": 3, "poor": 2})
    found = judge_agreement(experts + everything("llm:j", {"good": 5, "fair": 2, "poor": 4, "other": 1}))
    assert [row.aspect for row in found] == [*(aspect.name for aspect in aspects()), "average"]
    assert {row.models for row in found} == {3}
    assert [row.ranking for row in found] == [pytest.approx(0.5)] * len(found)


def test_two_models_have_no_ranking():
    experts = everything("expert:a", {"good": 5, "poor": 2})
    found = judge_agreement(experts + everything("llm:j", {"good": 5, "poor": 1}))
    assert {(row.models, row.ranking) for row in found} == {(2, None)}


def test_an_answer_without_all_aspects_is_in_no_average():
    experts = given("expert:a", {"q1": 1, "q2": 5})
    found = judge_agreement(experts + given("llm:j", {"q1": 2, "q2": 4}))
    assert {row.aspect: row.answers for row in found} == {"fluency": 2}


def test_the_mean_of_a_judges_scores_has_an_interval_over_cases():
    rows = [judgement(f"clin-{case}-{turn}", "llm:j", 2 + case % 3) for case in range(30) for turn in (1, 2)]
    (score,) = judged_scores(rows)
    assert score.value == 3.0
    half = 1.96 * (2 / 3) ** 0.5 / 30**0.5  # of 30 cases: the second question of each adds nothing
    assert (score.low, score.high) == (pytest.approx(3 - half, abs=0.05), pytest.approx(3 + half, abs=0.05))


def scores_of(judge: str, scores: list[int], run: str = "a", repeat: int = 0) -> list[Judgement]:
    """Scores of a run's answers about two cases, two questions each."""
    return [
        judgement(f"clin-{number // 2}-{number % 2}", judge, score, run=run, repeat=repeat)
        for number, score in enumerate(scores)
    ]


def test_every_number_of_an_agreement_is_that_of_the_answers_both_scored():
    experts = [
        *scores_of("expert:x", [1, 2, 4, 5]),
        *scores_of("expert:y", [1, 3, 4, 4]),
        *scores_of("expert:x", [2, 2, 3, 5], "b"),
        *scores_of("expert:x", [5, 4, 5, 5], "c"),
    ]
    judge = [
        *scores_of("llm:org/m", [2, 3, 3, 5]),
        *scores_of("llm:org/m", [3, 2, 3, 4], "b"),
        *scores_of("llm:org/m", [4, 4, 5, 4], "c"),
    ]
    found = judge_agreement([*experts, *judge])
    people, model = (row for row in found if row.aspect == "fluency")
    assert (people.answers, people.models, round(people.alpha, 4)) == (4, 1, 0.8906)
    assert (model.answers, model.models) == (12, 3)
    numbers = (model.pearson, model.spearman, model.alpha, model.ranking)
    assert [round(number, 4) for number in numbers] == [0.8597, 0.8552, 0.8138, 0.866]


def test_scores_in_all_aspects_have_a_mean_over_repetitions_and_cases():
    rows = [
        row.model_copy(update={"aspect": aspect.name, "score": min(5, row.score + place)})
        for place, aspect in enumerate(aspects())
        for row in [*scores_of("llm:j", [1, 2, 4, 5]), *scores_of("llm:j", [2, 2, 4, 5], repeat=1)]
    ]
    found = {score.metric: (score.value, round(score.sd, 4), score.low, score.high) for score in judged_scores(rows)}
    assert list(found)[-1] == "judged (llm:j)"
    assert found == {
        "fluency (llm:j)": (3.125, 0.1768, 1.75, 4.5),
        "relevance (llm:j)": (3.875, 0.1768, 2.75, 5.0),
        "completeness (llm:j)": (4.375, 0.1768, 3.75, 5.0),
        "proficiency (llm:j)": (4.875, 0.1768, 4.75, 5.0),
        "judged (llm:j)": (4.0625, 0.1768, 3.25, 4.875),
    }
    assert {(score.questions, score.repeats) for score in judged_scores(rows)} == {(4, 2)}
    assert "judged (llm:j)" not in {score.metric for score in judged_scores(rows[8:])}
