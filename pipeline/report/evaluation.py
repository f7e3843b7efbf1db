"""The section on the evaluation, and the page of every model's answers: searchable, disagreements first."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import PurePosixPath
from statistics import mean
from typing import Any

import polars as pl

from build_dataset.annotation.rubric import aspects
from build_dataset.pipeline.evaluate import grading, scoring
from build_dataset.pipeline.evaluate.extraction import visible_output
from build_dataset.pipeline.evaluate.judging.scores import EXPERT
from build_dataset.pipeline.evaluate.results.build import NOTES, Evaluated, plots, table_groups, unreviewed_warning
from build_dataset.pipeline.evaluate.results.papers import REFERENCES, View, run_name, table_name, value
from build_dataset.pipeline.rendering import markup
from build_dataset.pipeline.report.build import WORDS, Build, Section, notice
from build_dataset.pipeline.report.texts import unfold
from build_dataset.schemas import evaluation as records, grouping, release

PAGE = "answers.html"
_FEW = 100  # questions below which the interval of an accuracy is wider than 20 points
_RATES = ("no_answer_rate", "refused_rate", "truncated_rate")  # all count as not right
_MUCH = 0.05
"""Share of questions without a readable answer from which a model's accuracy says more about its form than its
knowledge."""

_KINDS = _MIXED, _WRONG, _RIGHT = "disagree", "all-wrong", "all-right"
_BUDGET = 250_000  # Characters of all answers on the page: three bytes each in Chinese, so that it stays below 2 MB.
_ANSWERS = 3000  # answers on the page: each takes 250 bytes beside its text


def evaluation(build: Build) -> Section | None:
    """Scores of all runs with tables and plots; None where nothing was evaluated."""
    if (frame := build.filled("evaluate/scores")) is None:
        return None
    settings = build.stage("evaluate").facts.get("asked", {}).items()
    known = grading.RunSettings.__dataclass_fields__  # an earlier evaluation may have told more
    results = Evaluated(
        list(records.Score.from_frame(frame)),
        build.records("evaluate/comparisons", records.Comparison),
        build.records("evaluate/judge_agreement", records.JudgeAgreement),
        {run: grading.RunSettings(**{name: about[name] for name in known}) for run, about in settings},
    )
    drawn = plots(results) if build.params.figures else {}
    page = answers_page(build)
    values = {
        "split": build.stage("evaluate").params.get("split", ""),
        "groups": table_groups(results),
        "plots": {  # that stand with each table, by the table's name
            table_name(plot.stem.removeprefix("accuracy_by_")): markup.inline(drawn[str(plot)])
            for plot in map(PurePosixPath, drawn)
            if plot.suffix == ".svg"
        },
        "notes": NOTES,
        "page": PAGE if page else None,
    }
    view = View(results.scores)
    notices = []
    runs = [run for run in view.runs if view.accuracy(run)]
    asked = max((view.sizes[run] for run in runs), default=0)
    if runs and asked < _FEW:
        notices.append(notice("few_asked", n=asked))
    lost = {run: sum(value(view.overall(run, name)) or 0.0 for name in _RATES) for run in runs}
    if much := [f"{run_name(run)} {100 * share:.0f} %" for run, share in lost.items() if share > _MUCH]:
        notices.append(notice("no_answers", runs=", ".join(much)))
    if doubt := unreviewed_warning(results.scores):
        notices.append(doubt)
    return Section(values, notices, {**drawn, **({PAGE: page} if page else {})})


def answers_page(build: Build) -> bytes | None:
    """Render up to ``report.answers`` questions with first answers, disagreements first; None where none was given."""
    frame = build.table("evaluate/predictions")
    if frame is None or not build.params.answers:
        return None
    first = frame.filter(pl.col("repeat") == 0)
    cards, kinds = _cards(build, first.filter(pl.col("task") == records.Task.ANSWER.value))
    texts, asked = _open_cards(build, first.filter(pl.col("task") != records.Task.ANSWER.value))
    if not cards and not texts:
        return None
    counts = {kind: kinds.count(kind) for kind in _KINDS if kinds}
    counts |= Counter(card["task"] for card in texts)
    # Scores of a run's first answer by judge: the mean and each aspect; experts are taken together.
    scores: dict[tuple[str, str, str], dict[str, dict[str, list[int]]]] = {}
    for row in build.records("evaluate/judgements", records.Judgement):
        if not row.repeat:
            who = "专家 experts" if row.judge.startswith(EXPERT) else row.judge  # people unnamed
            by_judge = scores.setdefault((row.run, row.task, row.question_id), {})
            by_judge.setdefault(who, defaultdict(list))[row.aspect].append(row.score)
    grades: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for key, by_judge in scores.items():
        for who, of_one in by_judge.items():
            parts = [(item.zh, item.en, mean(of_one[item.name])) for item in aspects() if item.name in of_one]
            grades.setdefault(key, []).append({"who": who, "mean": mean(map(mean, of_one.values())), "parts": parts})
    return markup.html_page(
        "build_dataset.pipeline.report:answers.html",
        cards=cards,
        of=len(kinds),
        texts=texts,
        texts_of=asked,
        grades=grades,
        run_name=run_name,
        aspects=aspects(),
        kinds=[(name, WORDS["kinds"][name], count) for name, count in counts.items()],
    )


def _lengths(build: Build, texts: int) -> tuple[int, int]:
    """Return the characters shown of a text at a glance and unfolded, when the page has so many texts."""
    limit, room = build.params.characters, _BUDGET // max(texts, 1)  # of each text
    return (limit, min(4000, room - limit)) if room >= 2 * limit else (min(limit, room), 0)


def _cards(build: Build, kept: pl.DataFrame) -> tuple[list[dict[str, Any]], Sequence[str]]:
    """Return the cards to show, and of all questions how far models agree on them."""
    models = kept.filter(~pl.col("run").is_in(REFERENCES))  # guesses would disagree with every model
    right = pl.col("correct").fill_null(value=False)  # no answer is not right
    groups = (kept if models.is_empty() else models).group_by("question_id", maintain_order=True)
    verdicts = groups.agg(everyone=right.all(), anyone=right.any()).iter_rows()
    kinds = {name: _RIGHT if everyone else _MIXED if anyone else _WRONG for name, everyone, anyone in verdicts}
    rows = pl.concat([release.ReleaseRow.to_frame([]), *build.splits.values()])
    known = set(rows.filter(pl.col("question_id").is_in(list(kinds)))["question_id"])
    ordered = sorted((name for name in kinds if name in known), key=lambda name: _KINDS.index(kinds[name]))
    shown = ordered[: min(build.params.answers, _ANSWERS // max(1, kept["run"].n_unique()))]
    is_shown = pl.col("question_id").is_in(shown)
    asked = {row.question_id: row for row in release.ReleaseRow.from_frame(rows.filter(is_shown))}
    predictions = records.Prediction.from_frame(kept.filter(is_shown))
    by_question = grouping.group_values((prediction.question_id, prediction) for prediction in predictions)
    limit, whole = _lengths(build, sum(map(len, by_question.values())))
    cards = []
    for name in shown:
        texts = ((row, row.raw_output) for row in by_question[name])
        keys = scoring.accepted_answers(asked[name])  # several where a key was contested
        card = {
            "question": asked[name],
            "kind": kinds[name],
            "right": frozenset().union(*keys) if keys else frozenset(),
            "key": " / ".join(sorted("".join(sorted(key)) for key in keys)),
            "answers": [(row, None if text is None else unfold(text, limit, whole, row.span)) for row, text in texts],
        }
        cards.append(card)
    return cards, [kinds[name] for name in ordered]


def _open_cards(build: Build, predictions: pl.DataFrame) -> tuple[list[dict[str, Any]], int]:
    """Return questions answered in free text with every model's answer, and how many there are in all."""
    table = build.table("evaluate/open_questions")
    if table is None or predictions.is_empty():
        return [], 0
    asked = table.join(predictions, on=["task", "question_id"], how="semi", maintain_order="left")
    kept = asked.head(build.params.answers)
    shown = records.Prediction.from_frame(predictions.join(kept, on=["task", "question_id"], how="semi"))
    given = grouping.group_values(((prediction.task, prediction.question_id), prediction) for prediction in shown)
    limit, whole = _lengths(build, kept.height + sum(map(len, given.values())))
    cards = [
        {
            "question": question,
            "task": question.task.value,
            "case": unfold(question.case, limit, whole),
            "reference": unfold(question.reference, limit, whole),
            "answers": [
                (one, unfold(visible_output(one.raw_output or ""), limit, whole))
                for one in given[question.task, question.question_id]
            ],
        }
        for question in records.OpenQuestion.from_frame(kept)
    ]
    return cards, asked.height
