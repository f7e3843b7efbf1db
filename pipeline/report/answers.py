"""Every model's answers, question by question, on a page of its own: searchable, disagreements first."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

import polars as pl

from annotation.rubric import aspects
from pipeline.evaluate.extraction import Extraction, extract, shown
from pipeline.evaluate.judging.scores import EXPERT
from pipeline.evaluate.prompting import is_multiple
from pipeline.evaluate.results.view import REFERENCES, run_name
from pipeline.evaluate.scoring import accepted
from pipeline.rendering import html
from pipeline.report.build import Build
from pipeline.report.shown import Unfolding, unfolding
from schemas.evaluation import Judgement, OpenQuestion, Prediction, Task
from schemas.release import ReleaseRow

_RIGHT, _MIXED, _WRONG = "all-right", "disagree", "all-wrong"
_KINDS = {_MIXED: "Models disagree 有分歧", _WRONG: "None right 全错", _RIGHT: "All right 全对"}
_ORDER = tuple(_KINDS)
_BUDGET = 250_000
"""Characters of all answers on the page: three bytes each in Chinese, so that it stays below 2 MB."""
_ANSWERS = 3000
"""Answers on the page: each takes 250 bytes beside its text."""
_TASKS = {Task.EXPLANATION: "Explanations 解析", Task.CLINICAL: "Clinical answers 病例问答"}


def answers_page(build: Build) -> bytes | None:
    """Render the page; None where no model answered, or nothing is to be shown.

    Of questions with options those on which models disagree come first, then those that none got right, then the rest,
    each in the order of the split; then questions that are answered in free text, in their own order. Up to
    ``report.answers`` of either; the page says of how many. Each model's first answer counts.
    """
    frame = build.table("evaluate/predictions")
    if frame is None or not build.params.answers:
        return None
    first = frame.filter((pl.col("repeat") == 0) & pl.col("variant").is_null())
    cards, kinds = _cards(build, first.filter(pl.col("task") == Task.ANSWER.value))
    texts, asked = _open_cards(build, first.filter(pl.col("task") != Task.ANSWER.value))
    if not cards and not texts:
        return None
    return html.render(
        "pipeline.report:answers.html",
        cards=cards,
        of=len(kinds),
        texts=texts,
        texts_of=asked,
        grades=_grades(build),
        run_name=run_name,
        aspects=aspects(),
        kinds=_filters(Counter(kinds), Counter(card["task"] for card in texts)),
    )


def _lengths(build: Build, texts: int) -> tuple[int, int]:
    """Return the characters shown of a text at a glance and unfolded, when the page has so many texts."""
    limit, room = build.params.characters, _BUDGET // max(texts, 1)
    return (limit, min(4000, room - limit)) if room >= 2 * limit else (min(limit, room), 0)


def _filters(kinds: Counter[str], tasks: Counter[str]) -> list[tuple[str, str, int]]:
    """Filters of the page: the value in the page, the name for people, and the number of cards."""
    found = [(kind, _KINDS[kind], kinds[kind]) for kind in _ORDER] if kinds else []
    return found + [(task, _TASKS[Task(task)], count) for task, count in tasks.items()]


def _cards(build: Build, kept: pl.DataFrame) -> tuple[list[dict[str, Any]], Sequence[str]]:
    """Return the cards to show, and of all questions how far models agree on them."""
    kinds = _kinds(kept)
    rows = pl.concat([*(build.splits or {}).values()]) if build.splits else ReleaseRow.to_frame([])
    known = set(rows.filter(pl.col("question_id").is_in(list(kinds)))["question_id"])
    ordered = sorted((name for name in kinds if name in known), key=lambda name: _ORDER.index(kinds[name]))
    shown = ordered[: min(build.params.answers, _ANSWERS // max(1, kept["run"].n_unique()))]
    asked = {
        row.question_id: row for row in ReleaseRow.from_frame(rows.filter(pl.col("question_id").is_in(shown)))
    }
    by_question: dict[str, list[Prediction]] = {}
    for prediction in Prediction.from_frame(kept.filter(pl.col("question_id").is_in(shown))):
        by_question.setdefault(prediction.question_id, []).append(prediction)
    limit, whole = _lengths(build, sum(map(len, by_question.values())))
    cards = [_card(asked[name], by_question[name], kinds[name], limit, whole) for name in shown]
    return cards, [kinds[name] for name in ordered]


def _kinds(kept: pl.DataFrame) -> dict[str, str]:
    """Return for each question, in the order asked, how far models agree on it."""
    models = kept.filter(~pl.col("run").is_in(REFERENCES))  # guesses would disagree with every model
    found = (
        (kept if models.is_empty() else models)
        .group_by("question_id", maintain_order=True)
        .agg(
            (pl.col("correct").fill_null(value=False)).all().alias("all"),
            (pl.col("correct").fill_null(value=False)).any().alias("any"),
        )
    )
    return {
        name: _RIGHT if everyone else _MIXED if anyone else _WRONG
        for name, everyone, anyone in found.iter_rows()
    }


def _card(
    question: ReleaseRow, predictions: Sequence[Prediction], kind: str, limit: int, whole: int
) -> dict[str, Any]:
    keys = accepted(question)
    return {
        "question": question,
        "kind": kind,
        "right": frozenset().union(*keys) if keys else frozenset(),
        "key": " / ".join(sorted("".join(sorted(key)) for key in keys)),
        "answers": [(one, _answer(one, question, limit, whole)) for one in predictions],
    }


def _answer(prediction: Prediction, question: ReleaseRow, limit: int, whole: int) -> Unfolding | None:
    """Return a model's output with the place marked from which its answer was read."""
    if prediction.raw_output is None:
        return None
    found = _read_again(prediction, question)
    return unfolding(prediction.raw_output, limit, whole, found.span if found else None)


def _read_again(prediction: Prediction, question: ReleaseRow) -> Extraction | None:
    """The reading that gave what was stored: its span is not stored, as it follows from the text."""
    options: Mapping[str, str] = {option.label: option.text for option in question.options}
    for answer_first in (None, True, False):
        found = extract(prediction.raw_output or "", options, is_multiple(question), answer_first)
        if found.rule == prediction.rule and list(found.letters or ()) == (prediction.extracted or []):
            return found
    return None


def _open_cards(build: Build, predictions: pl.DataFrame) -> tuple[list[dict[str, Any]], int]:
    """Return questions answered in free text with every model's answer, and how many there are in all."""
    table = build.table("evaluate/open_questions")
    if table is None or predictions.is_empty():
        return [], 0
    asked = table.join(predictions, on=["task", "question_id"], how="semi", maintain_order="left")
    kept = asked.head(build.params.answers)
    given: dict[tuple[str, str], list[Prediction]] = defaultdict(list)
    for one in Prediction.from_frame(predictions.join(kept, on=["task", "question_id"], how="semi")):
        given[one.task, one.question_id].append(one)
    limit, whole = _lengths(build, kept.height + sum(map(len, given.values())))
    cards = [
        {
            "question": question,
            "task": question.task.value,
            "case": unfolding(question.case, limit, whole),
            "reference": unfolding(question.reference, limit, whole),
            "answers": [
                (one, unfolding(shown(one.raw_output or ""), limit, whole))
                for one in given[question.task, question.question_id]
            ],
        }
        for question in OpenQuestion.from_frame(kept)
    ]
    return cards, asked.height


def _grades(build: Build) -> Mapping[tuple[str, str, str], list[dict[str, Any]]]:
    """Scores of a run's first answer by judge: the mean and each aspect; experts are taken together."""
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
