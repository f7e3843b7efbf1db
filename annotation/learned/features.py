"""What the classifier sees of a question: its characters, and what the lexicon thinks of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from annotation.lexicon.terms import fold
from annotation.lexicon_annotator import shares_of
from schemas.questions import Question

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import TfidfVectorizer

Matrix = NDArray[np.float64]
LANDMARKS = 800
"""Most questions that the text features are spanned by.

Up to here they are exact: a linear classifier needs no more directions than there are questions to learn from.
"""
_NEIGHBOURS = 3
_AT_ONCE = 2000  # questions whose similarities to all landmarks are held in memory


class TextFeatures:
    """Character 1–3-grams, TF-IDF weighted, in the coordinates that the landmarks span.

    The Nyström method on a linear kernel (Williams and Seeger 2001): the same classifier as on the n-grams
    themselves, in 800 dense columns in place of tens of thousands of sparse ones, which is what makes fits take
    a fraction of a second. The vocabulary is that of the landmarks; n-grams of one question alone are noise
    (discipline after 300 questions: .78, with the vocabulary of all 1,000 questions .76).

    Args:
        questions: to learn from, at least one.
    """

    def __init__(self, questions: Sequence[Question]) -> None:
        step = -(-len(questions) // LANDMARKS)
        landmarks = questions[::step]
        self._vectorizer = _vectorizer(len(landmarks))
        self._landmarks = self._vectorizer.fit_transform([text_of(question) for question in landmarks])
        kernel = (self._landmarks @ self._landmarks.T).toarray()
        values, vectors = np.linalg.eigh(kernel)
        kept = values > 1e-8 * values[-1]
        self._projection: Matrix = vectors[:, kept] / np.sqrt(values[kept])

    def __call__(self, questions: Sequence[Question]) -> Matrix:
        """Coordinates of questions, one row each."""
        rows = [
            (
                self._vectorizer.transform(map(text_of, questions[at : at + _AT_ONCE])) @ self._landmarks.T
            ).toarray()
            @ self._projection
            for at in range(0, len(questions), _AT_ONCE)
        ]
        return np.vstack(rows) if rows else np.zeros((0, self._projection.shape[1]))


def nearness(questions: Matrix, learned: Matrix) -> Matrix:
    """How much each question is like those learned from: mean cosine with the nearest three.

    Args:
        questions: their coordinates, one row each.
        learned: those of the questions learned from.
    """
    if not len(learned):
        return np.zeros(len(questions))
    similar = questions @ learned.T
    nearest = min(_NEIGHBOURS, len(learned))
    return np.asarray(np.partition(similar, -nearest, axis=1)[:, -nearest:].mean(axis=1))


def lexicon_features(questions: Sequence[Question]) -> dict[str, Matrix]:
    """By dimension, the lexicon's share for each of its labels, one row a question."""
    rows = [*shares_of(questions)]
    if not rows:
        return {}
    return {name: np.array([[*row[name].values()] for row in rows]) for name in rows[0]}


def text_of(question: Question) -> str:
    """All that a question says, folded: exam, stem, options, explanation."""
    parts = [
        question.exam_type,
        question.exam_class,
        question.exam_subject,
        question.shared_stem,
        question.stem,
    ]
    parts += [*(option.text for option in question.options), question.explanation]
    return fold(" ".join(part for part in parts if part))


def _vectorizer(documents: int) -> TfidfVectorizer:
    from sklearn.feature_extraction.text import TfidfVectorizer

    settings: dict[str, Any] = {"analyzer": "char", "ngram_range": (1, 3), "sublinear_tf": True}
    return TfidfVectorizer(**settings, min_df=2 if documents > 50 else 1)
