"""Scores of answers: exact set, partial credit, F1. Pure functions over graded questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import mean, stdev

from pipeline.evaluate.intervals import Interval, Unit, interval_of_share
from schemas.evaluation import Outcome, Score, Task
from schemas.release import ReleaseRow

HUMAN = "human"
"""The run that stands for the people who sat the exam."""
_UNANSWERED = (Outcome.NO_ANSWER, Outcome.REFUSED, Outcome.TRUNCATED)


@dataclass(frozen=True)
class Graded:
    """A question and what a run made of it."""

    question: ReleaseRow
    outcome: Outcome
    letters: tuple[str, ...] | None
    expected: float | None = None
    """Probability of a right answer where the run guesses."""
    repeat: int = 0
    shuffle: int = 0

    @cached_property
    def correct(self) -> bool:
        """Whether the set of letters is exactly one that earns the mark."""
        return self.letters is not None and frozenset(self.letters) in accepted(self.question)


@dataclass(frozen=True, order=True)
class Slice:
    """A part of the split that is scored by itself."""

    dimension: str
    label: str
    label_en: str | None


def accepted(question: ReleaseRow) -> frozenset[frozenset[str]]:
    """Every set of letters that earns the mark: those of the corrected key if there is one, else the key."""
    answers = [answer for answer in question.accepted_answers or [question.answer] if answer]
    return frozenset(frozenset(answer) for answer in answers)


def partial_credit(letters: Iterable[str] | None, question: ReleaseRow) -> float:
    """Credit for an incomplete answer, as Chinese examinations give it.

    One wrong letter loses all (0); otherwise the share of the key's letters that were named. With one right letter
    that is the same as the exact match. Where several answers are accepted, the best counts.
    """
    named = frozenset(letters or ())
    return max((len(named) / len(key) for key in accepted(question) if named <= key), default=0.0)


def cluster(question: ReleaseRow) -> str:
    """What a question is not independent of: the case it shares with others, or itself."""
    return question.group_id or question.question_id


def score_slice(run: str, part: Slice, items: Sequence[Graded]) -> list[Score]:
    """All metrics of a run over the questions of a slice; failed requests are not among ``items``.

    Where questions were asked repeatedly, a value is the mean over the repetitions.
    """
    rounds: dict[int, list[Graded]] = {}
    for item in items:
        rounds.setdefault(item.repeat, []).append(item)
    values: dict[str, list[float]] = {}
    for _, asked in sorted(rounds.items()):
        for metric, value in _metrics(asked).items():
            values.setdefault(metric, []).append(value)
    made = Maker(run, part, questions=len({item.question.question_id for item in items}))
    intervals = _intervals(items)
    return [made.score(metric, found, intervals.get(metric)) for metric, found in values.items()]


def _metrics(items: Sequence[Graded]) -> dict[str, float]:
    """One round's metrics; what has no value is absent."""
    weighted, macro = f1(items)
    answered = [item for item in items if item.letters is not None]
    guesses = [item.expected for item in items if item.expected is not None]
    found = {
        "accuracy": mean(item.correct for item in items),
        "partial_credit": mean(partial_credit(item.letters, item.question) for item in items),
        "weighted_f1": weighted,
        "macro_f1": macro,
    }
    for outcome in _UNANSWERED:
        found[f"{outcome.value}_rate"] = mean(item.outcome is outcome for item in items)
    if answered:
        found["accuracy_when_answered"] = mean(item.correct for item in answered)
    if guesses:
        found["expected_accuracy"] = mean(guesses)
    return found


def _intervals(items: Sequence[Graded]) -> dict[str, Interval | None]:
    """The intervals of those metrics that are shares."""
    answered = [item for item in items if item.letters is not None]
    return {
        "accuracy": interval_of_share(Unit(cluster(item.question), item.correct) for item in items),
        "accuracy_when_answered": interval_of_share(
            Unit(cluster(item.question), item.correct) for item in answered
        ),
        **{
            f"{outcome.value}_rate": interval_of_share(
                Unit(cluster(item.question), item.outcome is outcome) for item in items
            )
            for outcome in _UNANSWERED
        },
    }


def f1(items: Sequence[Graded]) -> tuple[float, float]:
    """Weighted and macro F1 with the answer string as the class, as CMExam reports them (section 4, table 3).

    The macro mean is over answer strings of the key. An answer that an appeal accepted counts as the key; no answer
    is a class of its own that is never right.
    """
    truth, said = [], []
    for item in items:
        given = "".join(sorted(item.letters)) if item.letters is not None else ""
        truth.append(
            given if item.correct else "".join(sorted(item.question.answer)) or _first_accepted(item.question)
        )
        said.append(given)
    # Counted here, as scikit-learn takes 16 ms a slice: a third of scoring 13 runs of 900 questions.
    support, predicted = Counter(truth), Counter(said)
    right = Counter(key for key, given in zip(truth, said, strict=True) if key == given)
    values = {key: 2 * right[key] / (support[key] + predicted[key]) for key in support}
    weighted = sum(values[key] * count for key, count in support.items()) / len(truth)
    return weighted, sum(values.values()) / len(values)


def human_scores(part: Slice, questions: Sequence[ReleaseRow]) -> list[Score]:
    """The human line of a slice: accuracy of the people who answered.

    ``accuracy`` weights every respondent equally (questions with a known number of respondents only);
    ``mean_accuracy`` weights every question equally. A metric without data is absent.
    """
    known = [row for row in questions if row.human_accuracy is not None]
    counted = [row for row in known if row.respondents]
    scores = []
    if counted:
        people = sum(row.respondents or 0 for row in counted)
        right = sum((row.human_accuracy or 0.0) * (row.respondents or 0) for row in counted)
        scores.append(Maker(HUMAN, part, len(counted)).score("accuracy", [right / people]))
    if known:
        shares = [row.human_accuracy or 0.0 for row in known]
        scores.append(Maker(HUMAN, part, len(known)).score("mean_accuracy", [mean(shares)]))
    return scores


@dataclass(frozen=True)
class Maker:
    """Makes the scores of one run and slice."""

    run: str
    part: Slice
    questions: int
    task: Task = Task.ANSWER

    def score(self, metric: str, values: Sequence[float], interval: Interval | None = None) -> Score:
        """The score of a metric from its value in every repetition, at least one."""
        return Score(
            run=self.run,
            task=self.task,
            dimension=self.part.dimension,
            label=self.part.label,
            label_en=self.part.label_en,
            metric=metric,
            value=mean(values),
            questions=self.questions,
            low=interval.low if interval else None,
            high=interval.high if interval else None,
            interval=interval.method if interval else None,
            sd=stdev(values) if len(values) > 1 else None,
            repeats=len(values),
        )


def _first_accepted(question: ReleaseRow) -> str:
    return min("".join(sorted(answer)) for answer in accepted(question))
