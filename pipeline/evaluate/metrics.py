"""Every metric of an evaluation, one row each: its name, what it computes, where it is shown."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from build_dataset.pipeline import stats
from build_dataset.pipeline.evaluate import scoring
from build_dataset.schemas.evaluation import Outcome, Score, Sureness, Task

Item = scoring.Graded | scoring.GradedText
Over = Literal["answers", "texts"]


@dataclass(frozen=True)
class Mean:
    """The mean of a number that each item has; ``of`` returns None for an item that does not count."""

    of: Callable[[Any], float | None]
    spread: Callable[[list[stats.Unit]], stats.Interval | None] = stats.interval_of_mean

    def value(self, items: Sequence[Any]) -> float | None:
        """Return the metric of one repetition; None where it is not defined."""
        values = [value for item in items if (value := self.of(item)) is not None]
        return sum(values) / len(values) if values else None

    def interval(self, items: Sequence[Any]) -> stats.Interval | None:
        """Return its 95 % interval."""
        values = ((item.cluster, self.of(item)) for item in items)
        return self.spread([stats.Unit(cluster, value) for cluster, value in values if value is not None])


def share(of: Callable[[Any], bool | None]) -> Mean:
    """Return the measure of how many items have a property; ``of`` returns None for those that do not count."""
    return Mean(of, stats.interval_of_share)


@dataclass(frozen=True)
class Total:
    """A figure that is computed from sums over the items, such as F1 and BLEU."""

    rows: Callable[[Sequence[Any]], stats.Floats]  # the summands of each item: items × columns
    of: Callable[[stats.Floats], stats.Floats]  # the figure, from sums of the shape (…, columns)

    def value(self, items: Sequence[Any]) -> float | None:
        """Return the metric of one repetition; None where it is not defined."""
        return float(self.of(self.rows(items).sum(axis=0)))

    def interval(self, items: Sequence[Any]) -> stats.Interval | None:
        """Return the 95 % interval of its mean over the repetitions, each with sums of its own."""
        rows = self.rows(items)
        rounds = {repeat: at for at, repeat in enumerate(sorted({item.repeat for item in items}))}
        apart = np.zeros((len(items), len(rounds), rows.shape[1]))  # items × repetitions × columns
        apart[range(len(items)), [rounds[item.repeat] for item in items]] = rows
        return stats.bootstrap(
            [item.cluster for item in items],
            apart.reshape(len(items), -1),
            lambda sums: self.of(sums.reshape(*sums.shape[:-1], *apart.shape[1:])).mean(axis=-1),
        )


def _f1_rows(items: Sequence[scoring.Graded]) -> stats.Floats:
    """Return by answer string of keys: whether it is the item's key (an accepted answer is), its answer, and both."""
    answers = ["".join(sorted(item.letters or ())) for item in items]
    truth = [
        given
        if item.correct
        else "".join(sorted(item.question.answer))
        or min("".join(sorted(answer)) for answer in scoring.accepted_answers(item.question))
        for item, given in zip(items, answers, strict=True)
    ]
    # Counted here: scikit-learn takes 16 ms a slice and would be called a thousand times for an interval.
    place = {key: number for number, key in enumerate(sorted(set(truth)))}
    rows = np.zeros((len(items), 3, len(place)))
    for row, key, given in zip(rows, truth, answers, strict=True):
        row[0, place[key]] = 1
        if given in place:  # another answer string is a false positive of no class
            row[1, place[given]] = 1
        row[2, place[key]] = key == given
    return rows.reshape(len(items), -1)


def _class_f1(sums: stats.Floats, *, weighted: bool) -> stats.Floats:
    """Return F1 with the answer string as the class (CMExam, table 3): by its number of items, or all alike."""
    support, predicted, right = np.split(sums, 3, axis=-1)  # columns of _f1_rows, class by class
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.nan_to_num(2 * right / (support + predicted))  # 0 for a class that was neither key nor answer
    weights = support if weighted else support > 0  # macro: every class that is some key counts once
    mean: stats.Floats = (values * weights).sum(axis=-1) / weights.sum(axis=-1)
    return mean


def _rouge(column: int) -> Mean:
    return Mean(lambda item: item.counts.rouge[column])


def _bleu(orders: int) -> Total:
    return Total(lambda items: np.array([item.counts.sums for item in items]), lambda sums: scoring.bleu(sums, orders))


@dataclass(frozen=True)
class Metric:
    """A row: everything that the pipeline, its tables and the report know of a metric."""

    name: str
    title: str  # in Chinese and English: ``准确率 Accuracy``
    measure: Mean | Total
    over: tuple[Over, ...] = ("answers",)
    """The items it is computed over, and the tables with a column for it: graded answers, free texts."""
    higher: bool | None = None  # True if a higher value is better; None where runs do not compete in it
    brackets: bool = False  # True if tables print its interval; their data always hold it


def _rate(name: str, title: str, outcome: Outcome) -> Metric:
    return Metric(name, title, share(lambda item: item.outcome is outcome), ("answers", "texts"))


def _of_texts(name: str, title: str, measure: Mean | Total, *, brackets: bool = False) -> Metric:
    return Metric(name, title, measure, ("texts",), higher=True, brackets=brackets)


METRICS: tuple[Metric, ...] = (
    Metric("accuracy", "准确率 Accuracy", share(lambda item: item.correct), higher=True, brackets=True),
    Metric(
        "accuracy_without_weak",
        "不计弱读 Accuracy without weak readings",
        share(lambda item: item.correct and item.sureness is not Sureness.WEAK),
        higher=True,
    ),
    Metric(
        "partial_credit",
        "部分得分 Partial credit",
        Mean(lambda item: scoring.partial_credit(item.letters, item.question)),
        higher=True,
    ),
    Metric(
        "weighted_f1",
        "加权F1 Weighted F1",
        Total(_f1_rows, partial(_class_f1, weighted=True)),
        higher=True,
        brackets=True,
    ),
    Metric("macro_f1", "宏平均F1 Macro F1", Total(_f1_rows, partial(_class_f1, weighted=False)), higher=True),
    _rate("no_answer_rate", "未作答 No answer", Outcome.NO_ANSWER),
    _rate("refused_rate", "拒答 Refused", Outcome.REFUSED),
    _rate("truncated_rate", "截断 Truncated", Outcome.TRUNCATED),
    _of_texts("bleu_1", "BLEU-1", _bleu(1)),
    _of_texts("bleu_4", "BLEU-4", _bleu(4), brackets=True),
    _of_texts("rouge_1", "ROUGE-1", _rouge(0)),
    _of_texts("rouge_2", "ROUGE-2", _rouge(1)),
    _of_texts("rouge_l", "ROUGE-L", _rouge(2), brackets=True),
)
"""In the order of columns. All are on a scale of 0 to 1."""


def metric(name: str) -> Metric:
    """Return the row of that name."""
    return {row.name: row for row in METRICS}[name]


def shown_in(table: Over) -> list[Metric]:
    """Return the metrics with a column in a table."""
    return [row for row in METRICS if table in row.over]


def score_items(
    run: str, part: scoring.Slice, items: Sequence[Item], over: Over = "answers", task: Task = Task.ANSWER
) -> list[Score]:
    """Return all metrics of a run over the items of a slice, each the mean over the repetitions."""
    rounds = [[item for item in items if item.repeat == repeat] for repeat in sorted({item.repeat for item in items})]
    about = {"run": run, "task": task, "questions": len({item.item_id for item in items})}
    scores = []
    for row in shown_in(over):
        values = [row.measure.value(asked) for asked in rounds]
        if known := [value for value in values if value is not None]:  # a repetition may have no such item
            scores.append(scoring.mean_score(known, row.measure.interval(items), part=part, metric=row.name, **about))
    return scores
