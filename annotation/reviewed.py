"""Questions with labels reviewed by experts: training data of ``learned``, and examples in prompts."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from build_dataset.annotation.adjudication import ADJUDICATION, Rules, latest_reviews, standing_flags
from build_dataset.schemas.annotations import ExpertReview
from build_dataset.schemas.identity import sha256
from build_dataset.schemas.questions import Question
from build_dataset.schemas.taxonomy import LabelName, dimensions

LEAST = 20  # least number of reviewed questions for learning: in all, and in one dimension
_OUTWEIGHS = 1000  # votes
_SPOILT = {"wrong_stem", "out_of_scope"}  # flags that spoil a question; a wrong key leaves labels right


@dataclass(frozen=True)
class Reviewed:
    """A question with the labels that experts gave it, in some or all dimensions."""

    question: Question
    labels: Mapping[str, LabelName]  # by name of the dimension


def from_reviews(questions: Iterable[Question], reviews: Iterable[ExpertReview]) -> list[Reviewed]:
    """Return the labels that experts give most often to each question, in the order of ``questions``.

    An adjudicator's label outweighs the others, and an adjudicator's flags stand for all; who labelled a question
    does not rule on it. One expert's label counts where no other has looked; where as many say one thing as
    another, none does.
    """
    votes: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for question_id, said in _by_question(reviews).items():
        if _SPOILT & standing_flags(said, Rules()).keys():
            continue
        for review in said:
            weight = _OUTWEIGHS if review.project == ADJUDICATION else 1
            votes[question_id, review.dimension][review.label] += weight
    pairs = [(question, _settled(votes, question.question_id)) for question in questions]
    return [Reviewed(question, labels) for question, labels in pairs if labels]


def merge_reviewed(*sources: Sequence[Reviewed]) -> list[Reviewed]:
    """All of them, each question (by what it says) once: earlier sources go first."""
    found: dict[str, Reviewed] = {}
    for item in chain(*sources):
        found.setdefault(item.question.content_hash, item)
    return list(found.values())


def digest(reviewed: Iterable[Reviewed]) -> str:
    """16 hex digits over what was learned from, whatever its order."""
    said = [(item, [f"{name}={label.zh}" for name, label in item.labels.items()]) for item in reviewed]
    lines = sorted(" ".join([item.question.content_hash, *labels]) for item, labels in said)
    return sha256(*lines)[:16]


def _by_question(reviews: Iterable[ExpertReview]) -> dict[str, list[ExpertReview]]:
    """Reviews that count: the latest of each person, without rulings on one's own labels."""
    latest, _ = latest_reviews(reviews)
    own = {(review.question_id, review.reviewer) for review in latest if review.project != ADJUDICATION}
    found: dict[str, list[ExpertReview]] = {}
    for review in latest:
        if review.project != ADJUDICATION or (review.question_id, review.reviewer) not in own:
            found.setdefault(review.question_id, []).append(review)
    return found


def _settled(votes: Mapping[tuple[str, str], Counter[str]], question_id: str) -> dict[str, LabelName]:
    labels = {}
    for name, dimension in dimensions().items():
        counts = votes.get((question_id, name), Counter())
        most = [label for label, count in counts.items() if count == max(counts.values())]
        if len(most) == 1 and (label := dimension.find(most[0])) is not None:
            labels[name] = label
    return labels
