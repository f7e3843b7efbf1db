"""Runs against each other, and judges against experts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import polars as pl

from annotation.rubric import aspects
from pipeline.evaluate.comparing import ranking
from pipeline.evaluate.grading import Asking
from pipeline.evaluate.judging.scores import AVERAGE
from pipeline.evaluate.metrics import metric
from pipeline.evaluate.results.view import (
    REFERENCES,
    WORDS,
    Rival,
    bracketed,
    compared,
    p_value,
    run_name,
    value,
)
from pipeline.rendering.tables import Cell, Table, number
from schemas.evaluation import Comparison, JudgeAgreement, Preference, Score, Task, Winner

_JUDGED = "judged ("


def pairs(found: Sequence[Comparison]) -> Table | None:
    """Every two runs on the questions both were asked: the difference, and McNemar's test."""
    rows = [
        (
            run_name(row.run_a),
            run_name(row.run_b),
            number(row.questions),
            number(row.only_a_right),
            number(row.only_b_right),
            bracketed(f"{100 * row.difference:+.1f}", row, "+.1f"),
            p_value(row.p_value),
            p_value(row.p_adjusted),
        )
        for row in found
    ]
    sure = frozenset((at, 5) for at, row in enumerate(found) if row.p_adjusted < 0.05)
    return _table("pairs", Comparison.to_frame(found), rows, left=2, best=sure)


def settings(scores: Sequence[Score], askings: Mapping[str, Asking]) -> Table | None:
    """CMB's table 7: whether models come in the same order however they are asked; None with fewer than three."""
    rows = []
    for name, by_setting in _measured(scores, askings).items():
        for one, other in combinations(by_setting, 2):
            shared = [model for model in by_setting[one] if model in by_setting[other]]
            found = ranking(*([by_setting[each][model] for model in shared] for each in (one, other)))
            if found is not None:
                rows.append((name, one, other, len(shared), found))
    names = ("score", "setting_a", "setting_b", "models", "rank_correlation")
    cells = [(*texts, number(models), number(found, 3)) for *texts, models, found in rows]
    return _table("cmb_table7", pl.DataFrame(rows, schema=names, orient="row"), cells)


def _measured(
    scores: Sequence[Score], askings: Mapping[str, Asking]
) -> dict[str, dict[str, dict[str, float]]]:
    """Return the measures that rank models: by name, setting and model."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for score in scores:
        judged = score.metric.startswith(_JUDGED)
        if score.dimension != "overall" or not (judged or score.metric == "accuracy"):
            continue
        if score.run in REFERENCES or score.value is None:
            continue
        name = (
            f"平均评分 Mean score{score.metric.removeprefix('judged')}"
            if judged
            else metric("accuracy").title
        )
        asked = askings[score.run]
        found.setdefault(name, {}).setdefault(asked.setting, {}).setdefault(asked.model, score.value)
    return found


def judged(scores: Sequence[Score], task: Task, name: str) -> Table | None:
    """Tables 5, 6 and 8: what a judge gave, from 1 to 5, an aspect a column; None where nothing was judged."""
    columns = [
        *((aspect.name, aspect.zh, aspect.en) for aspect in aspects()),
        ("judged", "平均", "Average"),
    ]
    own: dict[tuple[str, str], dict[str, Score]] = {}
    for score in scores:
        metric, _, who = score.metric.partition(" (")
        if score.task is task and who and metric in {aspect for aspect, _, _ in columns}:
            own.setdefault((who.rstrip(")"), score.run), {})[metric] = score
    if not own:
        return None
    rows: list[list[str | Rival]] = []
    for (who, run), found in own.items():
        asked = max(score.questions for score in found.values())
        grades = [
            Rival(_grade(found.get(aspect)), (who, aspect), run, value(found.get(aspect)))
            for aspect, _, _ in columns
        ]
        rows.append([run_name(run), "专家 experts" if who == "experts" else who, number(asked), *grades])
    return compared(
        name,
        WORDS[name]["caption"],
        Score.to_frame([score for found in own.values() for score in found.values()]),
        (*WORDS[name]["head"], *(f"{zh} {en}" for _, zh, en in columns)),
        rows,
        left=2,
    )


def _grade(score: Score | None) -> str:
    if score is None or score.value is None:
        return "–"
    text = f"{score.value:.2f}" if score.sd is None else f"{score.value:.2f} ± {score.sd:.2f}"
    return bracketed(text, score, ".2f", scale=1)


def _table(
    name: str,
    frame: pl.DataFrame,
    rows: Sequence[tuple[str, ...]],
    left: int = 3,
    best: frozenset[Cell] = frozenset(),
) -> Table | None:
    """Return a table with its words from ``tables.toml``; None without rows."""
    words = WORDS[name]
    return Table(name, words["caption"], frame, words["head"], rows, left=left, best=best) if rows else None


def agreement(found: Sequence[JudgeAgreement]) -> Table | None:
    """Return the agreement of judges with experts and each other by aspect (the paper's section 5.3)."""
    names = {aspect.name: f"{aspect.zh} {aspect.en}" for aspect in aspects()} | {AVERAGE: "平均 Average"}
    rows = [
        (
            row.judge,
            row.against,
            names.get(row.aspect, row.aspect),
            number(row.answers),
            *(number(each, 3) for each in (row.pearson, row.spearman, row.alpha, row.kappa)),
            *(number(each, 3) for each in (row.length, row.self_preference)),
            number(row.models),
            number(row.ranking, 3),
        )
        for row in found
    ]
    return _table("judge_agreement", JudgeAgreement.to_frame(found), rows)


def preferences(found: Sequence[Preference]) -> Table | None:
    """Return a judge's preferences pair by pair, each asked in both orders."""
    pairs: dict[tuple[str, str, str], list[Preference]] = {}
    for row in found:
        pairs.setdefault((row.run_a, row.run_b, row.judge), []).append(row)
    rows = []
    for (one, other, judge), given in pairs.items():
        tally = [
            sum(row.better is winner for row in given) for winner in (Winner.FIRST, Winner.SECOND, Winner.TIE)
        ]
        steady = sum(row.consistent for row in given) / len(given)
        rows.append((one, other, judge, number(len(given)), *map(number, tally), f"{100 * steady:.1f}"))
    return _table("preferences", Preference.to_frame(found), rows)
