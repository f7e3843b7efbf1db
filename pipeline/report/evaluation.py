"""The section on the evaluation: scores of models, the papers' tables, plots, and a page of answers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

import polars as pl
from markupsafe import Markup

from pipeline.evaluate.grading import from_facts
from pipeline.evaluate.results.build import NOTES, Evaluated, groups, unreviewed
from pipeline.evaluate.results.figures import judge_plots, plots
from pipeline.evaluate.results.papers import table_name
from pipeline.evaluate.results.view import run_name
from pipeline.rendering.html import inline
from pipeline.report.answers import answers_page
from pipeline.report.build import Build, Section
from pipeline.report.words import notice
from schemas.evaluation import Comparison, JudgeAgreement, Judgement, Preference, Score, Task
from schemas.wording import Notice

PAGE = "answers.html"
_OVERALL = "overall"
_FEW = 100
"""Questions below which the interval of an accuracy is wider than 20 points."""
_RATES = ("no_answer_rate", "refused_rate", "truncated_rate")
_MUCH = 0.05
"""Share of questions without a readable answer from which a model's accuracy says more about its form than its
knowledge."""

_TABLES = {"subcategory": "cmb_subcategories"}
"""Of the plots that are no dimension's."""
_CAPTIONS = {
    "rankings": "The order of models, by a judge and by the experts 模型排名 (CMB's figure 3).",
    "judge_and_experts": "Each answer's score, by a judge and by the experts 逐题评分 (CMB's figure 5).",
}


def evaluation(build: Build) -> Section | None:
    """Scores of all runs with tables and plots; None where nothing was evaluated."""
    frame = build.table("evaluate/scores")
    if frame is None or frame.is_empty():
        return None
    found = _evaluated(build, frame)
    rows = _runs(frame.filter((pl.col("dimension") == _OVERALL) & (pl.col("task") == Task.ANSWER.value)))
    drawn = plots(found) | judge_plots(found.judgements) if build.params.figures else {}
    page = answers_page(build)
    values = {
        "rows": rows,
        "split": build.stage("evaluate").params.get("split", ""),
        "groups": groups(found),
        "plots": _plots(drawn),
        "notes": NOTES,
        "page": PAGE if page else None,
    }
    files = {**drawn, **({PAGE: page} if page else {})}
    return Section("evaluation", "Evaluation", "模型评测", values, _notices(rows, found), files)


def _evaluated(build: Build, frame: pl.DataFrame) -> Evaluated:
    ran = build.stage("evaluate")
    scores = list(Score.from_frame(frame))
    runs = list(dict.fromkeys(score.run for score in scores))
    pairs, preferred, agreed, judged = (
        build.table(f"evaluate/{name}")
        for name in ("comparisons", "preferences", "judge_agreement", "judgements")
    )
    more_than = ran.facts.get("more_than")
    return Evaluated(
        scores,
        () if pairs is None else list(Comparison.from_frame(pairs)),
        () if preferred is None else list(Preference.from_frame(preferred)),
        () if agreed is None else list(JudgeAgreement.from_frame(agreed)),
        () if judged is None else list(Judgement.from_frame(judged)),
        from_facts(ran.facts.get("asked", {}), runs),
        **({} if more_than is None else {"more_than": more_than}),
    )


def _plots(drawn: Mapping[str, bytes]) -> dict[str, list[tuple[str, Markup]]]:
    """The plots that stand with each table, by its name: what else is to be said of each, and it."""
    found: dict[str, list[tuple[str, Markup]]] = {}
    for name, data in drawn.items():
        plot = PurePosixPath(name)
        if plot.suffix == ".svg":
            kind, _, dimension = plot.stem.partition("accuracy_by_")
            table = "judge_agreement" if kind else _TABLES.get(dimension) or table_name(dimension)
            found.setdefault(table, []).append((_CAPTIONS.get(kind.rstrip("_0123456789"), ""), inline(data)))
    return found


def _notices(rows: list[dict[str, Any]], found: Evaluated) -> list[Notice]:
    notices = []
    asked = max((row["questions"] for row in rows), default=0)
    if rows and asked < _FEW:
        notices.append(notice("few_asked", n=asked))
    lost = {row["run"]: sum(share or 0.0 for share in row["rates"].values()) for row in rows}
    if much := [f"{run} {100 * share:.0f} %" for run, share in lost.items() if share > _MUCH]:
        notices.append(notice("no_answers", runs=", ".join(much)))
    if doubt := unreviewed(found.scores):
        notices.append(doubt)
    return notices


def _runs(overall: pl.DataFrame) -> list[dict[str, Any]]:
    """One row a run, in the table's order."""
    found: dict[str, dict[str, Any]] = {}
    for row in overall.iter_rows(named=True):
        run = found.setdefault(
            row["run"], {"run": run_name(row["run"]), "questions": 0, "expected": None, "rates": {}}
        )
        if row["metric"] in ("accuracy", "mean_accuracy") and "accuracy" not in run:
            run |= {
                "accuracy": row["value"],
                "low": row["low"],
                "high": row["high"],
                "questions": row["questions"],
            }
        elif row["metric"] == "expected_accuracy":
            run["expected"] = row["value"]
        elif row["metric"] in _RATES:
            run["rates"][row["metric"]] = row["value"]
    return [run for run in found.values() if run.get("accuracy") is not None]
