"""What judges and experts gave: CMB's tables 5, 6 and 8 and the agreement of its section 5.3, of any models."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.rubric.aspects import aspects
from pipeline.evaluate.judging.scores import AVERAGE
from pipeline.evaluate.results.names import run_name
from pipeline.evaluate.results.view import ranked, value
from pipeline.rendering.tables import Table, number
from schemas.evaluation import JudgeAgreement, Preference, Score, Task, Winner

_JUDGED = {Task.CLINICAL: "Clinical answers 病例问答", Task.EXPLANATION: "Explanations 解析"}


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
        f"{_JUDGED[task]} scored from 1 to 5 (CMB's tables 5, 6 and 8), with 95 % intervals over cases.",
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
    text = f"{score.value:.2f}" if score.sd is None else f"{score.value:.2f} ± {score.sd:.2f}"
    if score.low is None or score.high is None:
        return text
    return f"{text} [{score.low:.2f}, {score.high:.2f}]"


def agreement(found: Sequence[JudgeAgreement]) -> Table | None:
    """How far judges agree with experts, aspect by aspect (the paper's section 5.3, figures 3 and 5)."""
    names = {aspect.name: f"{aspect.zh} {aspect.en}" for aspect in aspects()} | {AVERAGE: "平均 Average"}
    rows = [
        (
            row.judge,
            row.against,
            names.get(row.aspect, row.aspect),
            number(row.answers),
            *(number(each, 3) for each in (row.pearson, row.spearman, row.alpha)),
            number(row.models),
            number(row.ranking, 3),
        )
        for row in found
    ]
    head = (
        "评分者 Judge",
        "对照 Against",
        "方面 Aspect",
        "答案数 Answers",
        "Pearson",
        "Spearman",
        "Krippendorff α",
        "模型数 Models",
        "排名相关 Rank correlation",
    )
    caption = (
        "Agreement of judges with experts 评分一致性, answer by answer; rank correlation: Spearman's, of the order in "
        "which both put the models (CMB's figures 3 and 5). A dash where it is undefined."
    )
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
