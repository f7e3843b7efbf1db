"""What judges and experts gave, as scores of runs, and how far the two agree."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from statistics import mean

import numpy as np
from numpy.typing import NDArray

from annotation.rubric.aspects import LEAST, MOST, aspects
from pipeline.evaluate.scoring import Maker
from pipeline.evaluate.slices import OVERALL
from schemas.errors import UserError
from schemas.evaluation import JudgeAgreement, Judgement, Score, Task

EXPERT = "expert:"
"""What the name of a judge who is a person begins with."""
_COLUMNS = {"run", "task", "question_id", "aspect", "expert", "score"}
_Key = tuple[str, str, str]
"""Run, question and repeat of an answer."""


def load_expert_scores(path: Path) -> list[Judgement]:
    """Scores that experts gave, from a CSV with the columns run, task, question_id, aspect, expert, score.

    Raises:
        UserError: it cannot be read, or a row is wrong.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file)
            if missing := sorted(_COLUMNS - set(rows.fieldnames or ())):
                raise UserError(
                    f"{path}: has no column {missing[0]!r}; it needs {', '.join(sorted(_COLUMNS))}"
                )
            return [_expert_row(path, number, row) for number, row in enumerate(rows, start=2)]
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read as a CSV in UTF-8 ({error})") from None


def _expert_row(path: Path, number: int, row: Mapping[str, str]) -> Judgement:
    known = {aspect.name for aspect in aspects()}
    score = (row["score"] or "").strip()
    if row["aspect"] not in known:
        raise UserError(
            f"{path}, line {number}: no aspect {row['aspect']!r}; there are {', '.join(sorted(known))}"
        )
    if score not in {str(value) for value in range(LEAST, MOST + 1)}:
        raise UserError(f"{path}, line {number}: score {score!r} is no whole number from {LEAST} to {MOST}")
    if row["task"] not in set(Task):
        raise UserError(f"{path}, line {number}: no task {row['task']!r}; there are {', '.join(Task)}")
    return Judgement(
        run=row["run"],
        task=Task(row["task"]),
        question_id=row["question_id"],
        judge=EXPERT + row["expert"],
        aspect=row["aspect"],
        score=int(score),
    )


def judged_scores(judgements: Sequence[Judgement]) -> list[Score]:
    """Every run's mean in each aspect and over all, by each judge, experts taken together."""
    found: dict[tuple[str, Task, str], dict[str, list[tuple[int, str, int]]]] = {}
    for row in judgements:
        who = "experts" if row.judge.startswith(EXPERT) else row.judge
        given = found.setdefault((row.run, row.task, who), defaultdict(list))
        given[row.aspect].append((row.repeat, row.question_id, row.score))
    names = [aspect.name for aspect in aspects()]
    scores = []
    for (run, task, who), given in found.items():
        questions = len({question for rows in given.values() for _, question, _ in rows})
        made = Maker(run, OVERALL, questions, task)
        means = {name: _means(given[name]) for name in names if given[name]}
        scores += [made.score(f"{name} ({who})", values) for name, values in means.items()]
        if len(means) == len(names):
            overall = [mean(values) for values in zip(*means.values(), strict=False)]
            scores.append(made.score(f"judged ({who})", overall))
    return scores


def _means(rows: Iterable[tuple[int, str, int]]) -> list[float]:
    rounds: dict[int, list[int]] = defaultdict(list)
    for repeat, _, score in rows:
        rounds[repeat].append(score)
    return [mean(rounds[repeat]) for repeat in sorted(rounds)]


def judge_agreement(judgements: Sequence[Judgement]) -> list[JudgeAgreement]:
    """How far each judge agrees with the experts' mean, aspect by aspect, and the experts among themselves.

    Pearson's and Spearman's correlation as CMB reports them (section 5.3, figure 5), and Krippendorff's alpha for
    interval data over the answers that both scored; null where undefined.
    """
    given: dict[str, dict[str, dict[_Key, list[int]]]] = {}
    for row in judgements:
        key = (row.run, row.question_id, str(row.repeat))
        given.setdefault(row.judge, {}).setdefault(row.aspect, {}).setdefault(key, []).append(row.score)
    experts = [who for who in given if who.startswith(EXPERT)]
    found = []
    for aspect in (aspect.name for aspect in aspects()):
        people = [given[who].get(aspect, {}) for who in experts]
        if len(people) > 1:
            found.append(_agreement("experts", "experts", aspect, people))
        together = {key: _mean_of(people, key) for key in chain.from_iterable(people)}
        for who in given:
            if together and who not in experts:
                own = {key: mean(values) for key, values in given[who].get(aspect, {}).items()}
                found.append(_pair(who, aspect, own, together))
    return found


def _mean_of(people: Sequence[Mapping[_Key, list[int]]], key: _Key) -> float:
    return mean(mean(one[key]) for one in people if key in one)


def _pair(who: str, aspect: str, own: Mapping[_Key, float], together: Mapping[_Key, float]) -> JudgeAgreement:
    from scipy.stats import pearsonr, spearmanr

    shared = sorted(key for key in own if key in together)
    one, other = [own[key] for key in shared], [together[key] for key in shared]
    varied = len(set(one)) > 1 and len(set(other)) > 1
    return JudgeAgreement(
        judge=who,
        against="experts",
        aspect=aspect,
        answers=len(shared),
        pearson=float(pearsonr(one, other).statistic) if varied else None,
        spearman=float(spearmanr(one, other).statistic) if varied else None,
        alpha=interval_alpha([list(pair) for pair in zip(one, other, strict=True)]),
    )


def _agreement(
    judge: str, against: str, aspect: str, people: Sequence[Mapping[_Key, list[int]]]
) -> JudgeAgreement:
    keys = sorted(set(chain.from_iterable(people)))
    units = [[mean(one[key]) for one in people if key in one] for key in keys]
    shared = [unit for unit in units if len(unit) > 1]
    return JudgeAgreement(
        judge=judge,
        against=against,
        aspect=aspect,
        answers=len(shared),
        pearson=None,
        spearman=None,
        alpha=interval_alpha(shared),
    )


def interval_alpha(units: Sequence[Sequence[float]]) -> float | None:
    """Krippendorff's alpha for interval data (Krippendorff 2011), of units that two or more scored.

    None where no two values differ, as then nothing is expected by chance.
    """
    kept = [np.asarray(unit, dtype=float) for unit in units if len(unit) > 1]
    if not kept:
        return None
    values = np.concatenate(kept)
    observed = sum(_spread(unit) / (len(unit) - 1) for unit in kept) / len(values)
    expected = _spread(values) / (len(values) * (len(values) - 1))
    return float(1 - observed / expected) if expected > 0 else None


def _spread(values: NDArray[np.float64]) -> float:
    """The sum of squared differences over all ordered pairs."""
    return float(2 * len(values) * (values**2).sum() - 2 * values.sum() ** 2)
