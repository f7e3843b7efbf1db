"""CMB's tables 3 to 6 and 8 (Wang et al. 2023, sections 4 and 5, appendix), of any dataset and any models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean as mean_of

import polars as pl

from annotation.rubric.aspects import aspects
from pipeline.evaluate.results.names import REFERENCES, label_name, run_name
from pipeline.evaluate.results.settings import Asking
from pipeline.evaluate.results.view import View, cell, mean, ranked, value
from pipeline.tables import Table, number
from schemas.evaluation import Comparison, JudgeAgreement, Preference, Score, Winner
from schemas.taxonomy import cmb_catalogue

_PROMPTS = {"answer_only": "answer-only 直接作答", "chain_of_thought": "chain of thought 思维链"}


@dataclass(frozen=True)
class _Row:
    """A model and prompt: its run without examples, and with them."""

    name: str
    zero: str | None
    several: str | None


def categories(view: View, askings: Mapping[str, Asking]) -> Table | None:
    """Tables 3 and 4: a row a model and prompt, a column a category; with examples in parentheses.

    The average is over categories, as in the paper; the last column is over questions.
    """
    labels = view.labels("exam_type")
    if not labels:
        return None
    rows, lines = [], [[] for _ in range(len(labels) + 2)]  # type: ignore[var-annotated]
    pairs = _pairs(view.runs_of("exam_type"), askings)
    for at, row in enumerate(pairs):
        cells = []
        for column in range(len(labels) + 2):
            both = [_column(view, run, list(labels), column) for run in (row.zero, row.several)]
            cells.append(_together(*both))
            values = [found for _, found in both if found is not None]
            lines[column].append(((at, column + 1), row.zero or row.several or "", max(values, default=None)))
        rows.append((row.name, *cells))
    best, second = ranked(lines)
    shots = sorted({askings[run].shots for run in askings if askings[run].shots})
    told = f" In parentheses with {' or '.join(map(str, shots))} examples." if shots else ""
    head = (label_name(label, english) for label, english in labels.items())
    return Table(
        "cmb_table3",
        f"Accuracy by exam category, in percent (CMB's tables 3 and 4).{told} Average: over the categories.",
        view.data(["exam_type", "overall"], ["accuracy", "mean_accuracy"]),
        ("模型 Model", *head, "平均 Average", "全部题目 All questions"),
        rows,
        best=best,
        second=second,
    )


def _column(view: View, run: str | None, labels: Sequence[str], column: int) -> tuple[str, float | None]:
    """A category, the average over categories, or everything: as text and as number."""
    if run is None:
        return "", None
    if column < len(labels):
        score = view.accuracy(run, "exam_type", labels[column])
        return mean(score, 2), value(score)
    if column > len(labels):
        score = view.overall(run, "accuracy") or view.overall(run, "mean_accuracy")
        return mean(score, 2), value(score)
    found = [value(view.accuracy(run, "exam_type", label)) for label in labels]
    known = [share for share in found if share is not None]
    # An average over fewer categories than another row's would be of another exam.
    average = mean_of(known) if len(known) == len(labels) else None
    return ("–" if average is None else f"{100 * average:.2f}"), average


def _together(zero: tuple[str, float | None], several: tuple[str, float | None]) -> str:
    if not several[0]:
        return zero[0]
    return f"{zero[0] or '–'} ({several[0]})"


def _pairs(runs: Iterable[str], askings: Mapping[str, Asking]) -> list[_Row]:
    """Runs that differ in their examples alone share a row, if there is one number of examples for the model."""
    groups: dict[tuple[str, str], list[str]] = {}
    for run in runs:
        key = (run, "") if run in REFERENCES else (askings[run].model, askings[run].prompt)
        groups.setdefault(key, []).append(run)
    rows = []
    for (model, prompt), members in groups.items():
        zero = [run for run in members if model == run or not askings[run].shots]
        several = [run for run in members if run not in zero]
        if len(zero) > 1 or len(several) > 1:
            rows += [_Row(run_name(run), run, None) for run in members]
            continue
        name = run_name(model) if not prompt else f"{model} · {_PROMPTS.get(prompt, prompt)}"
        rows.append(_Row(name, zero[0] if zero else None, several[0] if several else None))
    return rows


def subcategories(view: View) -> Table | None:
    """Accuracy by subcategory, in the catalogue's order: a row a subcategory, a column a run."""
    found = view.labels("exam_class")
    if not found:
        return None
    runs = view.runs_of("exam_class")
    category = {
        subcategory.zh: label_name(part.zh, part.en)
        for part in cmb_catalogue()
        for subcategory in part.subcategories
    }
    rows, lines = [], []
    for at, (label, english) in enumerate(found.items()):
        asked = view.asked("exam_class", label)
        scores = [view.accuracy(run, "exam_class", label) for run in runs]
        shown = (cell(score, asked) for score in scores)
        rows.append((category.get(label, "–"), label_name(label, english), number(asked), *shown))
        lines.append(
            [
                ((at, column + 3), run, value(score))
                for column, (run, score) in enumerate(zip(runs, scores, strict=True))
            ]
        )
    best, second = ranked(lines)
    return Table(
        "cmb_subcategories",
        "Accuracy by exam subcategory 按考试.",
        view.data(["exam_class"], ["accuracy", "mean_accuracy"]),
        ("类别 Category", "考试 Exam", "题数 n", *map(run_name, runs)),
        rows,
        left=2,
        best=best,
        second=second,
    )


def judged(scores: Sequence[Score], task: str, name: str) -> Table | None:
    """Tables 5, 6 and 8: what a judge gave, from 1 to 5, an aspect a column; None where nothing was judged."""
    columns = [
        *((aspect.name, aspect.zh, aspect.en) for aspect in aspects()),
        ("judged", "平均", "Average"),
    ]
    own: dict[tuple[str, str], dict[str, Score]] = {}
    for score in scores:
        metric, _, who = score.metric.partition(" (")
        if score.task.value == task and who and metric in {aspect for aspect, _, _ in columns}:
            own.setdefault((who.rstrip(")"), score.run), {})[metric] = score
    if not own:
        return None
    rows, lines = [], {}  # type: ignore[var-annotated]
    for at, ((who, run), found) in enumerate(own.items()):
        cells = [_grade(found.get(aspect)) for aspect, _, _ in columns]
        asked = max(score.questions for score in found.values())
        rows.append((run_name(run), "专家 experts" if who == "experts" else who, number(asked), *cells))
        for column, (aspect, _, _) in enumerate(columns):
            lines.setdefault((who, aspect), []).append(((at, column + 3), run, value(found.get(aspect))))
    best, second = ranked(lines.values())
    return Table(
        name,
        f"Scores from 1 to 5 of the task {task} (CMB's tables 5, 6 and 8).",
        Score.to_frame([score for found in own.values() for score in found.values()]),
        ("模型 Model", "评分者 Judge", "答案数 n", *(f"{zh} {en}" for _, zh, en in columns)),
        rows,
        left=2,
        best=best,
        second=second,
    )


def _grade(score: Score | None) -> str:
    if score is None or score.value is None:
        return "–"
    spread = "" if score.sd is None else f" ± {score.sd:.2f}"
    return f"{score.value:.2f}{spread}"


def agreement(found: Sequence[JudgeAgreement]) -> Table | None:
    """How far judges agree with experts, aspect by aspect (the paper's section 5.3 and figure 5)."""
    names = {aspect.name: f"{aspect.zh} {aspect.en}" for aspect in aspects()}
    rows = [
        (
            row.judge,
            row.against,
            names.get(row.aspect, row.aspect),
            number(row.answers),
            *(number(each, 3) for each in (row.pearson, row.spearman, row.alpha)),
        )
        for row in found
    ]
    head = (
        "评分者 Judge",
        "对照 Against",
        "方面 Aspect",
        "答案数 n",
        "Pearson",
        "Spearman",
        "Krippendorff α",
    )
    caption = "Agreement of judges with experts 评分一致性; a dash where it is undefined."
    return (
        Table("judge_agreement", caption, JudgeAgreement.to_frame(found), head, rows, left=3)
        if rows
        else None
    )


def preferences(found: Sequence[Preference]) -> Table | None:
    """Whom a judge prefers, pair by pair, each asked in both orders."""
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
    head = (
        "A",
        "B",
        "评分者 Judge",
        "答案数 n",
        "A 胜 wins",
        "B 胜 wins",
        "平 ties",
        "换序一致 same in both orders, %",
    )
    caption = "Preferences 优选: which of two answers is better; a contradiction of the two orders is a tie."
    return Table("preferences", caption, Preference.to_frame(found), head, rows, left=3) if rows else None


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
            _p(row.p_value),
            _p(row.p_adjusted),
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
    data: pl.DataFrame = Comparison.to_frame(found)
    return Table("pairs", caption, data, head, rows, left=2, best=sure) if rows else None


def _difference(row: Comparison) -> str:
    text = f"{100 * row.difference:+.1f}"
    return (
        text
        if row.low is None or row.high is None
        else f"{text} [{100 * row.low:+.1f}, {100 * row.high:+.1f}]"
    )


def _p(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
