"""Questions that models answered in free text, with the references and what judges gave."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from statistics import mean
from typing import Any

import polars as pl

from annotation.rubric.aspects import aspects
from pipeline.evaluate.extraction import shown
from pipeline.evaluate.judging.scores import EXPERT
from pipeline.evaluate.results.names import run_name
from pipeline.report.build import Build
from pipeline.report.params import ReportParams
from pipeline.report.shown import unfolding
from schemas.evaluation import Judgement, OpenQuestion, Outcome, Prediction


def open_cards(
    build: Build, predictions: pl.DataFrame, params: ReportParams
) -> tuple[list[dict[str, Any]], int]:
    """Questions that are answered in free text with every model's answer, and how many there are in all."""
    table = build.table("evaluate/open_questions")
    if table is None or predictions.is_empty():
        return [], 0
    asked = table.join(predictions, on=["task", "question_id"], how="semi", maintain_order="left")
    kept = asked.head(params.answers)
    given: dict[tuple[str, str], list[Prediction]] = defaultdict(list)
    for one in Prediction.from_frame(predictions.join(kept, on=["task", "question_id"], how="semi")):
        given[one.task, one.question_id].append(one)
    grades = _grades(build)
    cards = [
        {
            "question_id": question.question_id,
            "task": question.task.value,
            "case": unfolding(question.case, params.characters),
            "conversation": question.conversation,
            "question": question.question,
            "reference": unfolding(question.reference, params.characters),
            "answers": [
                _answer(one, grades, params.characters) for one in given[question.task, question.question_id]
            ],
        }
        for question in OpenQuestion.from_frame(kept)
    ]
    return cards, asked.height


def _answer(
    prediction: Prediction, grades: Mapping[tuple[str, str, str], list[dict[str, Any]]], limit: int
) -> dict[str, Any]:
    text = shown(prediction.raw_output or "")
    return {
        "run": run_name(prediction.run),
        "outcome": None
        if prediction.outcome is Outcome.ANSWERED
        else prediction.outcome.value.replace("_", " "),
        "text": unfolding(text, limit) if text else None,
        "grades": grades.get((prediction.run, prediction.task, prediction.question_id), []),
    }


def _grades(build: Build) -> Mapping[tuple[str, str, str], list[dict[str, Any]]]:
    """What each judge gave a run's first answer: the mean, and aspect by aspect; experts taken together."""
    table = build.table("evaluate/judgements")
    scores: dict[tuple[str, str, str], dict[str, dict[str, list[int]]]] = {}
    for row in () if table is None else Judgement.from_frame(table.filter(pl.col("repeat") == 0)):
        who = "专家 experts" if row.judge.startswith(EXPERT) else row.judge
        own = scores.setdefault((row.run, row.task, row.question_id), {}).setdefault(who, defaultdict(list))
        own[row.aspect].append(row.score)
    return {
        key: [
            {
                "who": who,
                "mean": mean(mean(values) for values in own.values()),
                "parts": [
                    (aspect.zh, aspect.en, mean(own[aspect.name]))
                    for aspect in aspects()
                    if aspect.name in own
                ],
            }
            for who, own in by_judge.items()
        ]
        for key, by_judge in scores.items()
    }
