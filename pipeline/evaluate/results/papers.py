"""CMExam's tables 3 to 8 (Liu et al. 2023) and CMB's 3 to 8 (Wang et al. 2023), of any dataset and any models."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import mean as mean_of

import polars as pl

from build_dataset.annotation.rubric import aspects
from build_dataset.pipeline.evaluate import grading, scoring
from build_dataset.pipeline.evaluate.judging.scores import AVERAGE
from build_dataset.pipeline.evaluate.metrics import Over, metric, shown_in
from build_dataset.pipeline.evaluate.results import view as views
from build_dataset.pipeline.rendering.markup import number
from build_dataset.pipeline.rendering.tables import Cell, Table
from build_dataset.pipeline.stats import ranking
from build_dataset.schemas.evaluation import Comparison, JudgeAgreement, Score, Task
from build_dataset.schemas.wording import counted

LABELLED: Mapping[str, int] = views.WORDS["cmexam_tables"]  # Number of the table that each dimension has in the paper.


def by_metric(view: views.View, table: Over, name: str) -> Table | None:
    """Table 3: a row a run, a column a metric of a table; None where no question was asked."""
    wanted = shown_in(table)
    runs = [run for run in view.runs if any(view.overall(run, each.name) for each in wanted)]
    metrics = [each for each in wanted if any(view.overall(run, each.name) for run in runs)]
    if not runs:
        return None
    rows: list[list[str | views.Rival]] = []
    for run in runs:
        row: list[str | views.Rival] = [view.name(run), number(view.sizes[run])]
        for each in metrics:
            score = view.overall(run, each.name)
            text = views.cell(score, view.sizes[run]) if each.brackets else views.mean(score)
            merit = views.value(score)
            if merit is not None and not each.higher:
                merit = -merit  # fewer is better
            row.append(text if each.higher is None else views.Rival(text, each.name, run, merit))
        rows.append(row)
    data = view.data(["overall"], [each.name for each in metrics])
    return views.ranked_table(name, data, [each.title for each in metrics], rows, apart=view.incomplete)


def by_dimension(view: views.View, dimension: str, more_than: int = 0) -> Table | None:
    """Tables 4 to 8, and the like for any other dimension: a row a label, a column a run; None without labels."""
    labels, runs = view.labels(dimension), view.runs_of(dimension)
    if not labels:
        return None
    kept = {label: en for label, en in labels.items() if view.asked(dimension, label) > more_than} or labels
    rows: list[list[str | views.Rival]] = []
    for label, english in kept.items():
        asked = view.asked(dimension, label)
        scored = ((run, view.accuracy(run, dimension, label)) for run in runs)
        cells = (views.Rival(views.cell(score, asked), label, run, views.value(score)) for run, score in scored)
        rows.append([views.label_name(label, english), number(asked), *cells])
    head = [views.title(dimension), "题数 n", *map(view.name, runs)]
    models = [run for run in runs if run not in (*views.REFERENCES, *view.incomplete)]
    if len(models) > 1:  # one model is its own average
        head.append("平均 Average of models")
        for row in rows:
            rivals = (each for each in row if isinstance(each, views.Rival) and each.run in models)
            row.append(_average([each.value for each in rivals if each.value is not None], 1))
    paper = f" (CMExam's table {LABELLED[dimension]})" if dimension in LABELLED else ""
    caption = f"Accuracy by {views.title(dimension)}{paper}."
    if left_out := len(labels) - len(kept):
        count = counted(left_out, "label")
        caption += f" Left out, with {more_than} questions or fewer: {count}; see the data beside this table."
    if scoring.HUMAN in runs:
        caption += " People are those who sat the exam."
    shared = view.data([dimension], ["accuracy"])
    return views.ranked_table(table_name(dimension), shared, head, rows, caption=caption, apart=view.incomplete)


def _average(shares: Sequence[float], places: int) -> str:
    return f"{100 * mean_of(shares):.{places}f}" if shares else "–"


def table_name(dimension: str) -> str:
    """Return the name of the files of a dimension's table."""
    return f"cmexam_table{LABELLED[dimension]}" if dimension in LABELLED else f"by_{dimension}"


def categories(view: views.View) -> Table | None:
    """Tables 3 and 4: a row a run, a column a category; None where no exam is stated."""
    labels = view.labels("exam_type")
    if not labels:
        return None
    rows: list[list[str | views.Rival]] = []
    for run in view.runs_of("exam_type"):
        scores = [view.accuracy(run, "exam_type", label) for label in labels]
        known = [share for score in scores if (share := views.value(score)) is not None]
        # An average over fewer categories would describe another exam than the other rows.
        known = known if len(known) == len(labels) else []
        *parts, whole = ((views.mean(score, 2), views.value(score)) for score in (*scores, view.accuracy(run)))
        cells = [*parts, (_average(known, 2), mean_of(known) if known else None), whole]
        rivals = (views.Rival(text, column, run, merit) for column, (text, merit) in enumerate(cells))
        rows.append([view.name(run), *rivals])
    names = [views.label_name(label, english) for label, english in labels.items()]
    head = [*names, "平均 Average", "全部题目 All questions"]
    data = view.data(["exam_type", "overall"], ["accuracy"])
    return views.ranked_table("cmb_table3", data, head, rows, apart=view.incomplete)


def pairs(comparisons: Sequence[Comparison]) -> Table | None:
    """Every two runs on the questions both were asked: the difference, and its test."""
    rows = [
        (
            *map(views.run_name, (row.run_a, row.run_b)),
            *map(number, (row.questions, row.only_a_right, row.only_b_right)),
            views.bracketed(f"{100 * row.difference:+.1f}", row, "+.1f"),
            *map(views.p_value, (row.p_value, row.p_adjusted)),
        )
        for row in comparisons
    ]
    # the column of the difference
    sure = frozenset((at, 5) for at, row in enumerate(comparisons) if row.p_adjusted < 0.05)
    return _table("pairs", Comparison.to_frame(comparisons), rows, left=2, best=sure)


def settings(scores: Sequence[Score], askings: Mapping[str, grading.RunSettings]) -> Table | None:
    """CMB's table 7: whether models come in the same order however they are asked; None with fewer than three."""
    rows = []
    measures: dict[str, dict[str, dict[str, float]]] = {}  # that rank models: by name, setting and model
    for score in scores:
        judged = score.metric.startswith("judged (")
        ranks = score.dimension == "overall" and (judged or score.metric == "accuracy")
        if not ranks or score.run in views.REFERENCES or score.value is None:
            continue
        called = f"平均评分 Mean score{score.metric.removeprefix('judged')}" if judged else metric("accuracy").title
        asked = askings[score.run]
        measures.setdefault(called, {}).setdefault(asked.setting, {}).setdefault(asked.model, score.value)
    for name, by_setting in measures.items():
        for one, other in combinations(by_setting, 2):
            shared = [model for model in by_setting[one] if model in by_setting[other]]
            correlation = ranking(*([by_setting[each][model] for model in shared] for each in (one, other)))
            if correlation is not None:
                rows.append((name, one, other, len(shared), correlation))
    names = ("score", "setting_a", "setting_b", "models", "rank_correlation")
    cells = [(*texts, number(models), number(correlation, 3)) for *texts, models, correlation in rows]
    return _table("cmb_table7", pl.DataFrame(rows, schema=names, orient="row"), cells)


def aspect_titles(average: str) -> dict[str, str]:
    """Return the titles of CMB's aspects by name, and that of their average."""
    return {aspect.name: f"{aspect.zh} {aspect.en}" for aspect in aspects()} | {average: "平均 Average"}


def judged(scores: Sequence[Score], task: Task, name: str) -> Table | None:
    """Tables 5, 6 and 8: what a judge gave, from 1 to 5, an aspect a column; None where nothing was judged."""
    columns = aspect_titles("judged")
    by_run: dict[tuple[str, str], dict[str, Score]] = {}
    for score in scores:
        metric, _, who = score.metric.partition(" (")
        if score.task is task and who and metric in columns:
            by_run.setdefault((who.rstrip(")"), score.run), {})[metric] = score
    rows: list[list[str | views.Rival]] = []
    for (who, run), given in by_run.items():
        asked = max(score.questions for score in given.values())
        scored = ((part, given.get(part)) for part in columns)
        grades = (views.Rival(views.cell(s, places=2, scale=1), (who, part), run, views.value(s)) for part, s in scored)
        rows.append([views.run_name(run), "专家 experts" if who == "experts" else who, number(asked), *grades])
    data = Score.to_frame([score for given_scores in by_run.values() for score in given_scores.values()])
    return views.ranked_table(name, data, list(columns.values()), rows, left=2) if rows else None


def _table(
    name: str, frame: pl.DataFrame, rows: Sequence[tuple[str, ...]], left: int = 3, best: frozenset[Cell] = frozenset()
) -> Table | None:
    """Return a table with its words from ``tables.toml``; None without rows."""
    words = views.WORDS[name]
    return Table(name, words["caption"], frame, words["head"], rows, left=left, best=best) if rows else None


def agreement(agreements: Sequence[JudgeAgreement]) -> Table | None:
    """Return the agreement of judges with experts by aspect (the paper's section 5.3)."""
    names = aspect_titles(AVERAGE)
    rows = [
        (
            *(row.judge, names.get(row.aspect, row.aspect), number(row.answers)),
            *(number(figure, 3) for figure in (row.pearson, row.spearman, row.alpha)),
            *(number(row.models), number(row.ranking, 3)),
        )
        for row in agreements
    ]
    return _table("judge_agreement", JudgeAgreement.to_frame(agreements), rows)
