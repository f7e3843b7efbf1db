"""Labels by a classifier of each dimension that learned from the questions that experts have reviewed."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from build_dataset.annotation.adjudication import MIN_REVIEWED, Reviewed, digest
from build_dataset.annotation.annotator import Annotator, Identity, Labelled, Labelling, Verdict
from build_dataset.annotation.lexicon_annotator import ASK_A_MODEL, fold, shares_of
from build_dataset.schemas.identity import sha256
from build_dataset.schemas.questions import Question
from build_dataset.schemas.taxonomy import Dimension, dimensions

NAME = "learned"  # of the annotator
Matrix = NDArray[np.float64]  # one row a question
Opinion = Callable[[Matrix], Matrix]  # from features to log-probabilities of all labels of the dimension

TEXT_C, BOTH_C = 100.0, 30.0
"""Inverse strength of regularisation of the two classifiers; benchmarks/annotation has what others gave."""
RARE = 5.0
"""Times a label has to be seen for its probability to come half from what was learned, half from the lexicon, which
knows the terms of labels that no reviewed question has."""
_BALANCE = 0.5  # a label seen half as often weighs 2 ** 0.5 as much in learning
_HELD_BACK, _MOST_HELD_BACK = 45.0, 0.35
"""Power of a label's frequency by which its probability is divided: this over the number of questions learned from, and
its limit. Few examples overstate frequent labels: macro F1 gains .02, accuracy loses less than .01.
"""
FOLDS = 5  # of cross-validation; each model learns from four
MOST_ALIKE = 0.95
"""Share of one label above which the lexicon speaks: reviews of one exam alone teach nothing about others."""
_NEAR = 1.2  # nearness, as a multiple of the usual one, from which the learned opinions are trusted in full
_FLOOR = 1e-6  # probability of a label that a classifier has never met
_LEXICON_FLOOR = 1e-3  # share of a label without any term
_LEAST_FAR = 0.1  # weight of the lexicon on questions unlike all that were reviewed
_PRIOR, _STRENGTH = 0.5, 1e-3  # of the weights: keeps them finite where few questions speak


@dataclass(frozen=True)
class Views:
    """Features that the opinions look at, one row a question."""

    text: Matrix
    lexicon: Matrix  # shares of all labels of all dimensions
    own: Matrix  # shares of this dimension's labels, in the taxonomy's order
    near: Matrix  # likeness to the questions learned from: see ``nearest_similarity``

    def __getitem__(self, rows: NDArray[np.intp]) -> Self:
        return type(self)(self.text[rows], self.lexicon[rows], self.own[rows], self.near[rows])

    def both(self) -> Matrix:
        """Text and lexicon side by side."""
        return np.hstack([self.text, self.lexicon])


class DimensionModel:
    """Reads a dimension's label off a question's text and the lexicon's shares.

    A logistic regression on the text, one on text and lexicon together, and the lexicon itself state
    probabilities; their logarithms are added up with weights (a logarithmic opinion pool: Genest and Zidek
    1986). The weights minimise the log-loss on questions that the classifiers were not fitted to (stacking:
    Wolpert 1992), so they choose how far to trust each and, as their size is a temperature, calibrate the result
    (Guo et al. 2017, section 4.2) in one step.

    The learned opinions count by the square of a question's nearness to the questions learned from, and the lexicon
    gains what it loses: what was learned from dentistry alone says little about other exams.

    It learns from ``views`` of questions, the ``labels`` of each as a number in the taxonomy's order, and its fold.
    """

    def __init__(self, views: Views, labels: NDArray[np.intp], folds: NDArray[np.intp], count: int) -> None:
        self._count, self._learned_from = count, len(labels)
        self._often = np.bincount(labels, minlength=count) + 2.0
        self._usual = float(views.near.mean()) or 1.0  # 1 where no question resembles another
        unseen = np.zeros((4, len(labels), count))
        unseen[2] = log_shares(views.own)  # all there is where every question is of one case
        for inside, outside in fold_rows(folds):
            unseen[:, outside] = self._opinions(self._fit(views[inside], labels[inside]), views[outside])
        self.weights = _weigh(unseen, labels)
        self.out_of_fold = self._level(_pool(self.weights, unseen), views)
        """Probabilities of the questions learned from, by models that had not seen them."""
        self._fitted = self._fit(views, labels)

    def __call__(self, views: Views) -> Matrix:
        """Probabilities of the labels, one row a question."""
        return self._level(_pool(self.weights, self._opinions(self._fitted, views)), views)

    def _fit(self, views: Views, labels: NDArray[np.intp]) -> tuple[Opinion, Opinion, Matrix]:
        """Two classifiers, and how often they saw each label."""
        return (
            _regression(views.text, labels, TEXT_C, self._count),
            _regression(views.both(), labels, BOTH_C, self._count),
            np.bincount(labels, minlength=self._count).astype(float),
        )

    def _trust(self, views: Views) -> Matrix:
        return (np.minimum(views.near / self._usual, _NEAR) / _NEAR)[:, None] ** 2

    def _level(self, probabilities: Matrix, views: Views) -> Matrix:
        level = min(_HELD_BACK / self._learned_from, _MOST_HELD_BACK)
        levelled = probabilities / (self._often / self._often.sum()) ** (level * self._trust(views))
        return np.asarray(levelled / levelled.sum(axis=1, keepdims=True))

    def _opinions(self, fitted: tuple[Opinion, Opinion, Matrix], views: Views) -> Matrix:
        lexicon = log_shares(views.own)
        known = fitted[2] / (fitted[2] + RARE)
        text, both = (
            np.log(known * np.exp(opinion(features)) + (1 - known) * np.exp(lexicon))
            for opinion, features in ((fitted[0], views.text), (fitted[1], views.both()))
        )
        trust = self._trust(views)
        return np.stack([trust * text, trust * both, lexicon, (1 - trust) * lexicon])


def log_shares(shares: Matrix) -> Matrix:
    """The lexicon's shares as log-probabilities, none of them zero."""
    floored = shares + _LEXICON_FLOOR
    return np.asarray(np.log(floored / floored.sum(axis=1, keepdims=True)))


def _regression(features: Matrix, labels: NDArray[np.intp], c: float, count: int) -> Opinion:
    from sklearn.linear_model import LogisticRegression

    known = np.unique(labels)
    weights = np.bincount(labels)[labels] ** -_BALANCE
    model = None
    if len(known) > 1:
        model = LogisticRegression(C=c, max_iter=300, tol=1e-3)
        model.fit(features, labels, sample_weight=weights / weights.mean())

    def opinion(asked: Matrix) -> Matrix:
        probabilities = np.full((len(asked), count), _FLOOR)
        probabilities[:, known] = model.predict_proba(asked) if model is not None else 1.0
        probabilities = np.maximum(probabilities, _FLOOR)
        return np.asarray(np.log(probabilities / probabilities.sum(axis=1, keepdims=True)))

    return opinion


def _weigh(opinions: Matrix, labels: NDArray[np.intp]) -> Matrix:
    """The weights with the least log-loss; opinions are (opinion, question, label) log-probabilities."""
    from scipy.optimize import minimize

    rows = np.arange(len(labels))

    def loss(weights: Matrix) -> tuple[float, Matrix]:
        pooled = _pool(weights, opinions)
        value = -np.log(pooled[rows, labels] + 1e-12).mean() + _STRENGTH * ((weights - _PRIOR) ** 2).sum()
        pooled[rows, labels] -= 1
        slope = (opinions * pooled).sum(axis=(1, 2)) / len(labels) + 2 * _STRENGTH * (weights - _PRIOR)
        return float(value), slope

    # The last one speaks where nothing like a question was reviewed, which reviewed questions cannot tell about.
    bounds = [(0.0, None)] * (len(opinions) - 1) + [(_LEAST_FAR, None)]
    return np.asarray(minimize(loss, np.full(len(opinions), _PRIOR), jac=True, bounds=bounds).x)


def _pool(weights: Matrix, opinions: Matrix) -> Matrix:
    from scipy.special import softmax

    return np.asarray(softmax(np.tensordot(weights, opinions, 1), axis=1))


def fold_rows(folds: NDArray[np.intp]) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Of each fold, the rows outside it, to learn from, and its own; folds without either are left out."""
    for number in range(FOLDS):
        others, inside = np.flatnonzero(folds != number), np.flatnonzero(folds == number)
        if len(others) and len(inside):
            yield others, inside


def folds_of(keys: Sequence[str]) -> NDArray[np.intp]:
    """The fold of each question, by what it belongs to: questions of one case are never split apart."""
    return np.array([int(sha256(key)[:8], 16) % FOLDS for key in keys], dtype=np.intp)


LANDMARKS = 800
"""Largest number of questions that span the text features.

Up to here they are exact: a linear classifier needs no more directions than there are questions to learn from.
"""
_NEIGHBOURS = 3  # nearest reviewed questions whose similarity counts
_AT_ONCE = 2000  # questions labelled together: 800 similarities to landmarks of each are held in memory


class TextFeatures:
    """Character 1–3-grams, TF-IDF weighted, in the coordinates that the landmarks span.

    The Nyström method on a linear kernel (Williams and Seeger 2001): the same classifier as on the n-grams
    themselves, in 800 dense columns in place of tens of thousands of sparse ones. N-grams of one question alone are
    noise.
    """

    def __init__(self, questions: Sequence[Question]) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        landmarks = questions[:: -(-len(questions) // LANDMARKS)]
        rare = 2 if len(landmarks) > 50 else 1
        self._vectorizer = TfidfVectorizer(analyzer="char", ngram_range=(1, 3), sublinear_tf=True, min_df=rare)
        self._landmarks = self._vectorizer.fit_transform([text_of(question) for question in landmarks])
        values, vectors = np.linalg.eigh((self._landmarks @ self._landmarks.T).toarray())
        kept = values > 1e-8 * values[-1]
        self._projection: Matrix = vectors[:, kept] / np.sqrt(values[kept])

    def __call__(self, questions: Sequence[Question]) -> Matrix:
        """Coordinates of questions, one row each."""
        terms = self._vectorizer.transform(map(text_of, questions))
        coordinates: Matrix = (terms @ self._landmarks.T).toarray() @ self._projection
        return coordinates


def nearest_similarity(questions: Matrix, learned: Matrix) -> Matrix:
    """Return the likeness of each question to those learned from: mean cosine with the nearest three."""
    similar = questions @ learned.T
    nearest = min(_NEIGHBOURS, len(learned))
    return np.asarray(np.partition(similar, -nearest, axis=1)[:, -nearest:].mean(axis=1))


def text_of(question: Question) -> str:
    """All that a question says, folded: exam, stem, options, explanation."""
    texts = (option.text for option in question.options)
    parts = (question.exam, question.shared_stem, question.stem, *texts, question.explanation)
    return fold(" ".join(filter(None, parts)))


def _views(questions: Sequence[Question], text: Matrix, near: Matrix) -> dict[str, Views]:
    """Return the features of the questions by dimension; the lexicon gives labels without a term list no share."""
    rows = list(shares_of(questions))
    together = np.array([[share for shares in row.values() for share in shares.values()] for row in rows])
    names = {name: dimensions()[name].zh_names() for name in rows[0]}
    own = {name: np.array([[row[name].get(zh, 0.0) for zh in names[name]] for row in rows]) for name in names}
    return {name: Views(text, together, shares, near) for name, shares in own.items()}


def _verdict(dimension: Dimension, probabilities: Matrix) -> Verdict | None:
    """Return the likeliest label; None if all are equally likely."""
    best = int(probabilities.argmax())
    if len(probabilities) > 1 and probabilities[best] == probabilities.min():
        return None
    return Verdict(dimension.labels[best], round(float(probabilities[best]), 3), estimate=False)


class LearnedAnnotator(Annotator):
    """A classifier of each dimension but difficulty, which the text does not tell (.35, always saying easy: .35).

    A question that it learned from is labelled by a model that had not seen it: so its labels of reviewed questions
    are as good as those of other questions, and no echo of the experts.
    """

    def __init__(self, reviewed: Sequence[Reviewed]) -> None:
        self._reviewed = sorted(reviewed, key=lambda item: item.question.content_hash)
        self._accuracy: dict[str, float] = {}  # cross-validated, by dimension
        self._models: dict[str, DimensionModel] = {}  # by dimension, once it has learned
        self._unseen: dict[str, dict[str, Matrix]] = {}
        """By dimension and content hash, what a model says that had not seen the question."""

    @property
    def identity(self) -> Identity:
        """``learned``, and what from."""
        count = len(self._reviewed)
        notes = [f"labelled offline by a classifier that learned from {count} reviewed questions; {ASK_A_MODEL}"]
        facts: dict[str, object] = {"reviewed": count, "reviewed_hash": digest(self._reviewed)}
        if self._models:
            facts["out_of_fold_accuracy"] = self._accuracy
            accuracies = ", ".join(f"{name} {value:.2f}" for name, value in self._accuracy.items())
            notes.append(f"right about reviewed questions it had not seen: {accuracies}")
        return Identity(NAME, notes=tuple(notes), facts=facts)

    def annotate(self, questions: Sequence[Question], progress: Callable[[int], None]) -> Iterator[Labelling]:
        """One result a question, in their order."""
        self._fit()
        for question, verdicts in zip(questions, self._label(questions), strict=True):
            yield Labelled(question.question_id, {name: verdicts[name] for name in dimensions() if name in verdicts})
            progress(1)

    def _fit(self) -> None:
        questions = [item.question for item in self._reviewed]
        with threadpool_limits(1):  # sums in one order: the same labels on every run
            self._text = TextFeatures(questions)
            self._learned = self._text(questions)
            folds = folds_of([question.group_id or question.content_hash for question in questions])
            near = np.zeros(len(questions))
            for others, inside in fold_rows(folds):
                near[inside] = nearest_similarity(self._learned[inside], self._learned[others])
            for name, views in _views(questions, self._learned, near).items():
                known = dimensions()[name].labels
                mine = [(row, item) for row, item in enumerate(self._reviewed) if name in item.labels]
                rows = np.array([row for row, _ in mine], dtype=np.intp)
                labels = np.array([known.index(item.labels[name]) for _, item in mine], dtype=np.intp)
                if len(rows) < MIN_REVIEWED or np.bincount(labels).max() > MOST_ALIKE * len(rows):
                    continue
                model = self._models[name] = DimensionModel(views[rows], labels, folds[rows], len(known))
                hashes = (item.question.content_hash for _, item in mine)
                self._unseen[name] = dict(zip(hashes, model.out_of_fold, strict=True))
                self._accuracy[name] = round(float((model.out_of_fold.argmax(axis=1) == labels).mean()), 4)

    def _label(self, questions: Sequence[Question]) -> Iterator[dict[str, Verdict]]:
        # In the dimensions that can be learned, as far as anything speaks for a label.
        for at in range(0, len(questions), _AT_ONCE):
            some = questions[at : at + _AT_ONCE]
            with threadpool_limits(1):
                text = self._text(some)
                views = _views(some, text, nearest_similarity(text, self._learned))
                probabilities = []
                for name, view in views.items():
                    model, unseen = self._models.get(name), self._unseen.get(name, {})
                    rows = np.exp(log_shares(view.own)) if model is None else model(view)
                    pairs = zip(some, rows, strict=True)
                    probabilities.append([unseen.get(question.content_hash, row) for question, row in pairs])
            for likely in zip(*probabilities, strict=True):
                verdicts = {name: _verdict(dimensions()[name], row) for name, row in zip(views, likely, strict=True)}
                yield {name: verdict for name, verdict in verdicts.items() if verdict is not None}
