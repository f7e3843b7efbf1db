"""The classifiers of all dimensions, fitted to one set of reviewed questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from annotation.annotator import Verdict
from annotation.learned import LEAST
from annotation.learned.features import Matrix, TextFeatures, lexicon_features
from annotation.learned.model import MOST_ALIKE, DimensionModel, Views, folds_of, log_shares
from annotation.lexicon.terms import lexicon
from annotation.lexicon_annotator import SCORED
from annotation.reviewed import Reviewed
from schemas.questions import Question
from schemas.taxonomy import Dimension, dimensions

_AT_ONCE = 2000  # questions labelled together


class Classifier:
    """Learns every dimension but difficulty.

    Args:
        reviewed: questions with labels, in an order that does not depend on where they came from.
    """

    def __init__(self, reviewed: Sequence[Reviewed]) -> None:
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        self._seen = {item.question.content_hash: row for row, item in enumerate(reviewed)}
        self.accuracy: dict[str, float] = {}
        """By dimension, the share of reviewed questions that models which had not seen them got right."""
        self._models: dict[str, DimensionModel] = {}
        self._rows: dict[str, dict[int, int]] = {}
        self._text: TextFeatures | None = None
        if not reviewed:
            return
        questions = [item.question for item in reviewed]
        with threadpool_limits(1):  # sums in one order: the same labels on every run
            self._text = TextFeatures(questions)
            views = self._views(questions)
            folds = folds_of([question.group_id or question.content_hash for question in questions])
            for name in SCORED:
                self._learn(name, views[name], folds, reviewed)

    def label(self, questions: Sequence[Question]) -> Iterator[dict[str, Verdict]]:
        """Verdicts on each question in the dimensions that can be learned."""
        from threadpoolctl import threadpool_limits

        for at in range(0, len(questions), _AT_ONCE):
            some = questions[at : at + _AT_ONCE]
            with threadpool_limits(1):
                views = self._views(some)
                found = {name: self._probabilities(name, some, views[name]) for name in SCORED}
            for row in range(len(some)):
                yield {name: _verdict(dimensions()[name], found[name][row]) for name in SCORED}

    def _learn(self, name: str, views: Views, folds: NDArray[np.intp], reviewed: Sequence[Reviewed]) -> None:
        dimension = dimensions()[name]
        rows = [row for row, item in enumerate(reviewed) if name in item.labels]
        counts = Counter(reviewed[row].labels[name] for row in rows)
        if len(rows) < LEAST or max(counts.values()) > MOST_ALIKE * len(rows):
            return
        at = np.array(rows, dtype=np.intp)
        labels = np.array([dimension.labels.index(reviewed[row].labels[name]) for row in rows], dtype=np.intp)
        model = DimensionModel(views[at], labels, folds[at], len(dimension.labels))
        self._models[name] = model
        self._rows[name] = {row: place for place, row in enumerate(rows)}
        self.accuracy[name] = round(float((model.out_of_fold.argmax(axis=1) == labels).mean()), 4)

    def _probabilities(self, name: str, questions: Sequence[Question], views: Views) -> Matrix:
        model = self._models.get(name)
        if model is None:
            return np.asarray(np.exp(log_shares(views.own)))
        found = model(views)
        for place, question in enumerate(questions):
            row = self._rows[name].get(self._seen.get(question.content_hash, -1))
            if row is not None:
                found[place] = model.out_of_fold[row]
        return found

    def _views(self, questions: Sequence[Question]) -> dict[str, Views]:
        text = self._text(questions) if self._text is not None else np.zeros((len(questions), 0))
        shares = lexicon_features(questions)
        together = np.hstack([*shares.values()])
        return {name: Views(text, together, _own(dimensions()[name], shares[name])) for name in shares}


def _own(dimension: Dimension, shares: Matrix) -> Matrix:
    """The lexicon's shares in the taxonomy's order; labels without a term list have none."""
    order = {label.zh: place for place, label in enumerate(dimension.labels)}
    found = np.zeros((len(shares), len(dimension.labels)))
    for column, item in enumerate(lexicon(dimension.name).labels):
        found[:, order[item.name]] = shares[:, column]
    return found


def _verdict(dimension: Dimension, probabilities: Matrix) -> Verdict:
    best = int(probabilities.argmax())
    return Verdict(dimension.labels[best], round(float(probabilities[best]), 3), estimate=False)
