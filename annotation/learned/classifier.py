"""The classifiers of all dimensions, fitted to one set of reviewed questions."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from annotation.annotator import Annotator, Identity, Labelled, Unlabelled, Verdict
from annotation.learned import LEAST
from annotation.learned.model import (
    MOST_ALIKE,
    DimensionModel,
    Embed,
    Matrix,
    TextFeatures,
    Views,
    fold_rows,
    folds_of,
    log_shares,
    nearest_similarity,
)
from annotation.lexicon_annotator import estimated_difficulty, shares_of
from annotation.reviewed import Reviewed, digest
from schemas.questions import Question
from schemas.taxonomy import Dimension, dimensions

_AT_ONCE = 2000  # questions labelled together


class Classifier:
    """Learns every dimension but difficulty from questions in an order that does not depend on their origin."""

    def __init__(self, reviewed: Sequence[Reviewed], embed: Embed | None = None) -> None:
        self._seen = {item.question.content_hash: row for row, item in enumerate(reviewed)}
        self.accuracy: dict[str, float] = {}
        """Cross-validated accuracy by dimension."""
        self._models: dict[str, DimensionModel] = {}
        self._rows: dict[str, dict[int, int]] = {}
        self._text: TextFeatures | None = None
        self._learned: Matrix = np.zeros((0, 0))
        if not reviewed:
            return
        questions = [item.question for item in reviewed]
        with threadpool_limits(1):  # sums in one order: the same labels on every run
            self._text = TextFeatures(questions, embed)
            self._learned = self._text(questions)
            folds = folds_of([question.group_id or question.content_hash for question in questions])
            near = np.zeros(len(questions))
            for others, own in fold_rows(folds):
                near[own] = nearest_similarity(self._learned[own], self._learned[others])
            views = _views(questions, self._learned, near)
            for name, view in views.items():
                self._learn(name, view, folds, reviewed)

    def label(self, questions: Sequence[Question]) -> Iterator[dict[str, Verdict]]:
        """Verdicts on each question in the dimensions that can be learned, as far as anything speaks for a label."""
        for at in range(0, len(questions), _AT_ONCE):
            some = questions[at : at + _AT_ONCE]
            with threadpool_limits(1):
                text = self._text(some) if self._text is not None else np.zeros((len(some), 0))
                views = _views(some, text, nearest_similarity(text, self._learned))
                found = {name: self._probabilities(name, some, view) for name, view in views.items()}
            for row in range(len(some)):
                said = {name: _verdict(dimensions()[name], shares[row]) for name, shares in found.items()}
                yield {name: verdict for name, verdict in said.items() if verdict is not None}

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
        if (model := self._models.get(name)) is None:
            return np.asarray(np.exp(log_shares(views.own)))
        found = model(views)
        for place, question in enumerate(questions):
            row = self._rows[name].get(self._seen.get(question.content_hash, -1))
            if row is not None:
                found[place] = model.out_of_fold[row]
        return found


def _views(questions: Sequence[Question], text: Matrix, near: Matrix) -> dict[str, Views]:
    """Return the features of the questions by dimension; the lexicon gives labels without a term list no share."""
    rows = list(shares_of(questions))
    together = np.array([[share for shares in row.values() for share in shares.values()] for row in rows])
    own = {
        name: np.array([[row[name].get(zh, 0.0) for zh in dimensions()[name].zh_names()] for row in rows])
        for name in rows[0]
    }
    return {name: Views(text, together, shares, near) for name, shares in own.items()}


def _verdict(dimension: Dimension, probabilities: Matrix) -> Verdict | None:
    """Return the likeliest label; None if all are equally likely."""
    best = int(probabilities.argmax())
    if len(probabilities) > 1 and probabilities[best] == probabilities.min():
        return None
    return Verdict(dimension.labels[best], round(float(probabilities[best]), 3), estimate=False)


NAME = "learned"


class LearnedAnnotator(Annotator):
    """A classifier of each dimension but difficulty, which the text does not tell (.35, always saying easy: .35).

    A question that it learned from is labelled by a model that had not seen it: so its labels of reviewed questions
    are as good as those of other questions, and no echo of the experts.
    """

    def __init__(self, reviewed: Sequence[Reviewed], embed: Embed | None = None, name: str = NAME) -> None:
        self._embed, self._name = embed, name
        self._reviewed = sorted(reviewed, key=lambda item: item.question.content_hash)
        self._classifier: Classifier | None = None

    @property
    def identity(self) -> Identity:
        """``learned`` or ``embeddings:MODEL``, and what from."""
        how = "offline" if self._embed is None else "with embeddings"
        notes = [
            f"labelled {how} by a classifier that learned from {len(self._reviewed)} reviewed questions; "
            "[annotate.llm] model = … asks a language model"
        ]
        facts: dict[str, object] = {"reviewed": len(self._reviewed), "reviewed_hash": digest(self._reviewed)}
        if self._classifier is not None:
            facts["out_of_fold_accuracy"] = self._classifier.accuracy
            told = ", ".join(f"{name} {value:.2f}" for name, value in self._classifier.accuracy.items())
            notes.append(f"right about reviewed questions it had not seen: {told}")
        return Identity(self._name, notes=tuple(notes), facts=facts)

    def annotate(
        self, questions: Sequence[Question], progress: Callable[[int], None]
    ) -> Iterator[Labelled | Unlabelled]:
        """One result a question, in their order."""
        self._classifier = Classifier(self._reviewed, self._embed)
        for question, verdicts in zip(questions, self._classifier.label(questions), strict=True):
            known = {**verdicts, **estimated_difficulty()}
            in_order = {name: known[name] for name in dimensions() if name in known}
            yield Labelled(question.question_id, in_order)
            progress(1)
