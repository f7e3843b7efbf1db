"""Questions with labels reviewed by experts: training data of ``learned``, and examples in prompts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from build_dataset.annotation.adjudication import ADJUDICATION, Rules, final_labels, latest_reviews, standing_flags
from build_dataset.schemas.annotations import ExpertReview
from build_dataset.schemas.grouping import group_values
from build_dataset.schemas.identity import sha256
from build_dataset.schemas.questions import Question
from build_dataset.schemas.taxonomy import LabelName, dimensions

LEAST = 20  # least number of reviewed questions for learning: in all, and in one dimension
_SPOILT = {"wrong_stem", "out_of_scope"}  # flags that spoil a question; a wrong key leaves labels right


@dataclass(frozen=True)
class Reviewed:
    """A question with the labels that experts gave it, in some or all dimensions."""

    question: Question
    labels: Mapping[str, LabelName]  # by name of the dimension


def from_reviews(questions: Iterable[Question], reviews: Iterable[ExpertReview]) -> list[Reviewed]:
    """Return the labels that experts' reviews settle, in the order of ``questions``: see ``final_labels``.

    An adjudicator's flags stand for all; who labelled a question does not rule on it. One expert's label counts where
    no other has looked; where as many say one thing as another, none does.
    """
    latest, _ = latest_reviews(reviews)
    own = {(review.question_id, review.reviewer) for review in latest if review.project != ADJUDICATION}
    counted = [each for each in latest if each.project != ADJUDICATION or (each.question_id, each.reviewer) not in own]
    said = group_values((review.question_id, review) for review in counted)
    asked, rules = [each for each in questions if each.question_id in said], Rules()
    settled = final_labels((each.question_id for each in asked), (), counted, rules)
    pairs = ((each, dimensions()[each.dimension].find(each.label or "")) for each in settled)
    known = group_values((each.question_id, (each.dimension, label)) for each, label in pairs if label is not None)
    sound = (each for each in asked if not _SPOILT & standing_flags(said[each.question_id], rules).keys())
    return [Reviewed(each, dict(known[each.question_id])) for each in sound if each.question_id in known]


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
