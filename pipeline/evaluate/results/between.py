"""Runs against each other: pair by pair, and whether different settings put models in the same order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import polars as pl

from pipeline.evaluate.comparing import ranking
from pipeline.evaluate.metrics import metric
from pipeline.evaluate.results.names import REFERENCES, run_name
from pipeline.evaluate.results.settings import Asking
from pipeline.evaluate.results.view import p_value
from pipeline.rendering.tables import Table, number
from schemas.evaluation import Comparison, Score

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
            _difference(row),
            p_value(row.p_value),
            p_value(row.p_adjusted),
        )
        for row in found
    ]
    head = (
        "A",
        "B",
        "题数 n",
        "仅A对 only A right",
        "仅B对 only B right",
        "差 A − B, points",
        "p",
        "p (Holm)",
    )
    caption = (
        "Pairs of runs 两两比较: McNemar's exact test; p (Holm) is corrected for the number of pairs, and "
        "where it is below 0.05 the difference is in bold."
    )
    sure = frozenset((at, 5) for at, row in enumerate(found) if row.p_adjusted < 0.05)
    return (
        Table("pairs", caption, Comparison.to_frame(found), head, rows, left=2, best=sure) if rows else None
    )


def _difference(row: Comparison) -> str:
    text = f"{100 * row.difference:+.1f}"
    return (
        text
        if row.low is None or row.high is None
        else f"{text} [{100 * row.low:+.1f}, {100 * row.high:+.1f}]"
    )


def settings(scores: Sequence[Score], askings: Mapping[str, Asking]) -> Table | None:
    """CMB's table 7: whether models come in the same order however they are asked; None with fewer than three."""
    rows = []
    for name, by_setting in _measured(scores, askings).items():
        for one, other in combinations(by_setting, 2):
            shared = [model for model in by_setting[one] if model in by_setting[other]]
            found = ranking(*([by_setting[each][model] for model in shared] for each in (one, other)))
            if found is not None:
                rows.append((name, one, other, len(shared), found))
    if not rows:
        return None
    names = ("score", "setting_a", "setting_b", "models", "rank_correlation")
    return Table(
        "cmb_table7",
        "Rank correlation 排名相关 (Spearman) of models asked in two ways (CMB's table 7).",
        pl.DataFrame(rows, schema=names, orient="row"),
        ("评分 Score", "设置 Setting A", "设置 Setting B", "模型数 Models", "排名相关 Rank correlation"),
        [(*texts, number(models), number(found, 3)) for *texts, models, found in rows],
        left=3,
    )


def _measured(
    scores: Sequence[Score], askings: Mapping[str, Asking]
) -> dict[str, dict[str, dict[str, float]]]:
    """What ranks models: its name, then a value by setting and model."""
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
