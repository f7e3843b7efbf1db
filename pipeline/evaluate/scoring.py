"""Scores of answers: exact set, partial credit, F1, and intervals. Pure functions over graded questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt

from schemas.evaluation import Outcome, Score
from schemas.release import ReleaseRow

_Z95 = 1.959963984540054
"""Two-sided 95 % quantile of the normal distribution."""
HUMAN = "human"
"""The run that stands for the people who sat the exam."""


@dataclass(frozen=True)
class Graded:
    """A question and what a run made of it."""

    question: ReleaseRow
    outcome: Outcome
    letters: tuple[str, ...] | None
    expected: float | None = None
    """Probability of a right answer where the run guesses."""

    @property
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


def wilson(successes: int, total: int) -> tuple[float, float]:
    """The 95 % score interval of a proportion (Wilson 1927), which holds its level near 0 and 1 too.

    Raises:
        ValueError: ``total`` is not positive or ``successes`` is outside 0..total.
    """
    if total <= 0 or not 0 <= successes <= total:
        raise ValueError(f"no proportion: {successes} of {total}")
    share, spread = successes / total, _Z95**2 / total
    centre = (share + spread / 2) / (1 + spread)
    half = _Z95 * sqrt(share * (1 - share) / total + spread / (4 * total)) / (1 + spread)
    low = 0.0 if successes == 0 else centre - half
    high = 1.0 if successes == total else centre + half
    return max(low, 0.0), min(high, 1.0)


def score_slice(run: str, part: Slice, items: Sequence[Graded]) -> list[Score]:
    """All metrics of a run over the questions of a slice; failed requests are not among ``items``."""
    made = _Maker(run, part, len(items))
    right = sum(item.correct for item in items)
    answered = sum(item.letters is not None for item in items)
    weighted, macro = f1(items)
    scores = [
        made.share("accuracy", right),
        made.plain("partial_credit", _mean([partial_credit(item.letters, item.question) for item in items])),
        made.plain("weighted_f1", weighted),
        made.plain("macro_f1", macro),
        *(
            made.share(f"{outcome.value}_rate", sum(item.outcome is outcome for item in items))
            for outcome in (Outcome.NO_ANSWER, Outcome.REFUSED, Outcome.TRUNCATED)
        ),
    ]
    if answered:
        scores.append(_Maker(run, part, answered).share("accuracy_when_answered", right))
    guesses = [item.expected for item in items if item.expected is not None]
    if guesses:
        scores.append(made.plain("expected_accuracy", _mean(guesses)))
    return scores


def f1(items: Sequence[Graded]) -> tuple[float, float]:
    """Weighted and macro F1 with the answer string as the class, as CMExam reports them (section 4, table 3).

    The macro mean is over answer strings of the key. An answer that an appeal accepted counts as the key; no answer
    is a class of its own that is never right.
    """
    from sklearn.metrics import f1_score

    truth, said = [], []
    for item in items:
        given = "".join(sorted(item.letters)) if item.letters is not None else ""
        truth.append(
            given if item.correct else "".join(sorted(item.question.answer)) or _first_accepted(item.question)
        )
        said.append(given)
    support = Counter(truth)
    classes = sorted(support)
    values = f1_score(truth, said, labels=classes, average=None, zero_division=0.0)
    weighted = sum(value * support[name] for name, value in zip(classes, values, strict=True)) / len(truth)
    return float(weighted), float(sum(values) / len(classes))


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
        scores.append(_Maker(HUMAN, part, len(counted)).plain("accuracy", right / people))
    if known:
        shares = [row.human_accuracy or 0.0 for row in known]
        scores.append(_Maker(HUMAN, part, len(known)).plain("mean_accuracy", _mean(shares)))
    return scores


@dataclass(frozen=True)
class _Maker:
    """Makes the scores of one run and slice."""

    run: str
    part: Slice
    questions: int

    def share(self, metric: str, count: int) -> Score:
        return self._score(metric, count / self.questions, *wilson(count, self.questions))

    def plain(self, metric: str, value: float) -> Score:
        return self._score(metric, value, None, None)

    def _score(self, metric: str, value: float, low: float | None, high: float | None) -> Score:
        return Score(
            run=self.run,
            dimension=self.part.dimension,
            label=self.part.label,
            label_en=self.part.label_en,
            metric=metric,
            value=value,
            questions=self.questions,
            low=low,
            high=high,
        )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _first_accepted(question: ReleaseRow) -> str:
    return min("".join(sorted(answer)) for answer in accepted(question))
