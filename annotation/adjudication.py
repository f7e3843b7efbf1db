"""Final labels and corrections, from experts' reviews, measurements and annotators' labels; what others learn. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, groupby, product
from operator import attrgetter, itemgetter
from types import MappingProxyType
from typing import NamedTuple

from build_dataset.annotation.annotator import MEASURED
from build_dataset.annotation.label_studio.editable import ANSWER, VERDICT
from build_dataset.schemas.annotations import Annotation, Correction, CorrectionStatus, ExpertReview, Label, LabelStatus
from build_dataset.schemas.grouping import group_values
from build_dataset.schemas.identity import sha256
from build_dataset.schemas.questions import Question
from build_dataset.schemas.taxonomy import LabelName, dimensions

ADJUDICATION = "adjudication"  # the project whose reviews are rulings

_ENOUGH = 2  # experts who must say the same for it to be final


class Rules(NamedTuple):
    """Rules that settle disagreement."""

    adjudicators: frozenset[str] = frozenset()  # reviewers whose label is final wherever they give it
    majority: bool = True  # True if two of three experts settle a label

    def rules(self, review: ExpertReview) -> bool:
        """Return whether a review is a ruling: by an adjudicator, or in the adjudication project."""
        return review.project == ADJUDICATION or review.reviewer in self.adjudicators


def proposed_labels(annotations: Iterable[Annotation]) -> dict[tuple[str, str], Annotation]:
    """Return the annotators' labels by question and dimension; a measurement goes before all, then the first."""
    stated: dict[tuple[str, str], Annotation] = {}
    for each in annotations:
        if (key := (each.question_id, each.dimension)) not in stated or each.annotator == MEASURED:
            stated[key] = each
    return stated


def final_labels(
    question_ids: Iterable[str], annotations: Iterable[Annotation], reviews: Iterable[ExpertReview], rules: Rules
) -> list[Label]:
    """The label of every question in every dimension, in their order; of ``reviews`` see ``latest_reviews``."""
    stated = proposed_labels(annotations)
    opinions = group_values(((review.question_id, review.dimension), review) for review in reviews)
    keys = product(question_ids, dimensions())
    return [_final_label(*key, stated.get(key), opinions.get(key, ()), rules) for key in keys]


def _final_label(
    question_id: str, dimension: str, stated: Annotation | None, reviews: Sequence[ExpertReview], rules: Rules
) -> Label:
    """The label of one question in one dimension.

    An adjudicator's label is final. Without one, two experts who say the same make it final; of three or more,
    the majority does where ``rules`` allow it. A measurement stands until the experts agree on another label:
    it outweighs a single expert, and counts as a vote when they disagree.
    """
    measured = stated.label if stated is not None and stated.annotator == MEASURED else None
    experts = [review.label for review in reviews if not rules.rules(review)]
    rulings = {review.label for review in reviews if rules.rules(review)}
    label, status = _decide(experts, rulings, stated, measured, majority=rules.majority)
    is_the_annotators = status is LabelStatus.UNREVIEWED or (status is LabelStatus.SINGLE and measured is not None)
    # An expert cannot measure either: their label stands in for a measurement, too.
    instead = stated is not None and (stated.estimate or (measured is not None and label != measured))
    return Label(
        question_id=question_id,
        dimension=dimension,
        label=label,
        label_en=dimensions()[dimension].english(label),
        status=status,
        annotator=stated.annotator if is_the_annotators and stated is not None else None,
        estimate=instead and label is not None,
        reviewers=sorted({review.reviewer for review in reviews}),
    )


def latest_reviews(reviews: Iterable[ExpertReview]) -> tuple[list[ExpertReview], list[ExpertReview]]:
    """Return the latest review a question, dimension, reviewer and project, in that order; and the superseded ones."""
    in_time = sorted(reviews, key=attrgetter("updated_at", "annotation_id"))
    key = attrgetter("question_id", "dimension", "reviewer", "project")
    groups = group_values((key(review), review) for review in in_time)
    return [groups[name][-1] for name in sorted(groups)], [each for same in groups.values() for each in same[:-1]]


def standing_flags(reviews: Sequence[ExpertReview], rules: Rules) -> dict[str, list[str]]:
    """Return who raised each flag that stands: of an adjudicator who looked at the question, else of every expert."""
    ruling = [review for review in reviews if rules.rules(review)]
    raised = sorted({(kind, review.reviewer) for review in ruling or reviews for kind in review.flags})
    return {kind: [who for _, who in pairs] for kind, pairs in groupby(raised, key=itemgetter(0))}


def _decide(
    experts: Sequence[str], rulings: Set[str], stated: Annotation | None, measured: str | None, *, majority: bool
) -> tuple[str | None, LabelStatus]:
    unanimous = len(experts) >= _ENOUGH and len(set(experts)) == 1
    if len(rulings) > 1:
        return None, LabelStatus.DISPUTED
    if rulings:
        [ruling] = rulings
        return ruling, LabelStatus.AGREED if unanimous and experts[0] == ruling else LabelStatus.ADJUDICATED
    if not experts:
        return (stated.label if stated is not None else None), LabelStatus.UNREVIEWED
    if len(experts) == 1:
        return (experts[0] if measured is None else measured), LabelStatus.SINGLE
    if unanimous:
        return experts[0], LabelStatus.AGREED
    winner = _majority(experts) if majority else None
    if winner is None and majority and measured is not None:
        winner = _majority([*experts, measured])
    return winner, LabelStatus.DISPUTED if winner is None else LabelStatus.ADJUDICATED


def _majority(votes: Sequence[str]) -> str | None:
    label, count = Counter(votes).most_common(1)[0]
    return label if count >= _ENOUGH and count > len(votes) / 2 else None


class State(StrEnum):
    """State of a question over all its dimensions; the first state that applies."""

    DISPUTED = "disputed"  # experts disagree in at least one dimension
    FLAGGED = "flagged"  # an expert says that the question itself is wrong
    CHANGED = "changed"  # its words changed after it was answered, and nobody has seen it as it is
    ONE_OF_TWO = "one_of_two"  # at least one dimension waits for the second expert
    UNREVIEWED = "unreviewed"  # nobody has looked at it
    DONE = "done"  # settled in every dimension


_HALF = (LabelStatus.UNREVIEWED, LabelStatus.SINGLE)
WAITING = (State.DISPUTED, State.FLAGGED, State.CHANGED, State.ONE_OF_TWO)  # states of questions that wait for a person


class QuestionStatus(NamedTuple):
    """A question's state and the opinions on it."""

    question_id: str
    state: State
    labels: Sequence[Label]
    flags: Mapping[str, Sequence[str]]  # who raised each flag that stands
    reviews: Sequence[ExpertReview]
    changed: str = ""  # what changed in its words after it was answered

    def detail(self) -> str:
        """Return everybody's labels, flags and notes in one line."""
        parts = []
        for name in [each.dimension for each in self.labels if each.status is LabelStatus.DISPUTED]:
            votes = (f"{r.reviewer} = {r.label}" for r in self.reviews if r.dimension == name)
            parts.append(f"{name}: {' / '.join(votes)}")
        parts += [f"{kind} by {', '.join(who)}" for kind, who in self.flags.items()]
        parts += [f"changed: {self.changed}"] if self.changed else []
        if not parts:
            who = sorted({review.reviewer for review in self.reviews})
            parts = [f"reviewed by {', '.join(who)}"]
            # Both looked, and one of them gave no label: difficulty only by li.
            lacking = [each for each in self.labels if each.reviewers != who and each.status in _HALF]
            only = [(each.dimension, ", ".join(each.reviewers)) for each in lacking]
            parts += [f"{name} only by {those}" if those else f"{name} by nobody" for name, those in only]
        notes = sorted({(review.reviewer, review.note) for review in self.reviews if review.note})
        parts += [f"note by {reviewer}: {' '.join(note.split())}" for reviewer, note in notes]
        return "; ".join(parts)


class ReviewStatus(NamedTuple):
    """Progress of the review, as of the last pull."""

    questions: int
    states: Mapping[State, int]  # questions by state; they add up to `questions`
    dimensions: Mapping[str, Mapping[LabelStatus, int]]  # questions by status of the label, by dimension
    experts: Mapping[str, int]  # questions that each expert reviewed
    flags: Mapping[str, int]  # flags that stand, by kind
    last_review: str | None  # time of the latest review (UTC)


def question_statuses(
    labels: Iterable[Label],
    reviews: Iterable[ExpertReview],
    rules: Rules,
    answered: Mapping[str, Set[str]] = MappingProxyType({}),
    single: Set[str] = frozenset(),
    changed: Mapping[str, str] = MappingProxyType({}),
) -> list[QuestionStatus]:
    """Return the state of each question, in the order of ``labels``, which are those of all dimensions.

    ``answered`` are kinds of flags, by question, that an accepted correction has answered; ``single`` are questions
    that only one expert is to review; ``changed`` says what nobody has confirmed since it changed.
    """
    by_question = group_values((review.question_id, review) for review in reviews)
    statuses = []
    for name, group in groupby(labels, key=lambda label: label.question_id):
        own_labels, own_reviews, done = list(group), by_question[name], answered.get(name, frozenset())
        flags = {kind: who for kind, who in standing_flags(own_reviews, rules).items() if kind not in done}
        state = _state(own_labels, flags, single=name in single, changed=name in changed)
        statuses.append(QuestionStatus(name, state, own_labels, flags, own_reviews, changed.get(name, "")))
    return statuses


def review_status(found: Sequence[QuestionStatus]) -> ReviewStatus:
    """Count questions by state."""
    states = Counter(standing.state for standing in found)
    labels = Counter((label.dimension, label.status) for standing in found for label in standing.labels)
    names = dict.fromkeys(name for name, _ in labels)
    experts = Counter(who for standing in found for who in {each.reviewer for each in standing.reviews})
    flags = Counter(kind for standing in found for kind in standing.flags)
    return ReviewStatus(
        questions=len(found),
        states={state: states[state] for state in State},
        dimensions={name: {status: labels[name, status] for status in LabelStatus} for name in names},
        experts=dict(sorted(experts.items())),
        flags=dict(sorted(flags.items())),
        last_review=max([review.updated_at for standing in found for review in standing.reviews], default=None),
    )


def _state(labels: Sequence[Label], flags: Mapping[str, Sequence[str]], *, single: bool, changed: bool) -> State:
    statuses = {label.status for label in labels}
    if LabelStatus.DISPUTED in statuses:
        return State.DISPUTED
    if flags:
        return State.FLAGGED
    if changed:
        return State.CHANGED
    if statuses == {LabelStatus.UNREVIEWED}:
        return State.UNREVIEWED
    half = LabelStatus.UNREVIEWED in statuses or (LabelStatus.SINGLE in statuses and not single)
    return State.ONE_OF_TWO if half else State.DONE


ALONE = frozenset({ADJUDICATION, "verification"})  # projects in which one person decides


def decided_corrections(
    corrections: Iterable[Correction], ruled: Iterable[str], adjudicators: Iterable[str] = ()
) -> list[Correction]:
    """Corrections with their status, in the order of question, field and person.

    A person who decides alone (the adjudicator, who saw what the experts proposed; whoever verified what was read)
    has the last word. Without one, what two experts write alike counts, also where the adjudicator settled something
    else and said nothing of it; what one writes is a proposal, and declined in ``ruled`` questions, with which an
    adjudicator has dealt.
    """
    closed, final = set(ruled), set(adjudicators)
    latest = attrgetter("updated_at", "annotation_id")
    key = attrgetter("question_id", "field", "content_hash")
    in_order = attrgetter("question_id", "field", "content_hash", "by", "origin", "annotation_id")
    decided = []
    for (question_id, _, _), rows in groupby(sorted(corrections, key=in_order), key=key):
        group = list(rows)
        alike = len({each.by for each in group}) >= _ENOUGH and len({each.after for each in group}) == 1
        rulings = [each for each in group if each.origin in ALONE or each.by in final]
        winner = max(rulings, key=latest, default=group[0] if alike else None)
        loser = CorrectionStatus.DECLINED if winner or question_id in closed else CorrectionStatus.PROPOSED
        for each in group:
            status = CorrectionStatus.ACCEPTED if winner is not None and each.after == winner.after else loser
            decided.append(each.model_copy(update={"status": status}))
    return decided


def answered_flags(corrections: Iterable[Correction]) -> dict[str, set[str]]:
    """Kinds of flags, by question, that an accepted correction has answered."""
    answered: dict[str, set[str]] = defaultdict(set)
    for correction in corrections:
        if correction.status is not CorrectionStatus.ACCEPTED:
            continue
        kinds = {"wrong_key" if correction.field == ANSWER else "wrong_stem"}
        if correction.field == VERDICT:
            # Whoever verifies sees what is flagged, corrects it in the same step and says that the question is sound.
            kinds = {"out_of_scope", *({"wrong_key", "wrong_stem"} if correction.origin == "verification" else set())}
        answered[correction.question_id] |= kinds
    return answered


MIN_REVIEWED = 20  # least number of reviewed questions for learning: in all, and in one dimension
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
    opinions = group_values((review.question_id, review) for review in counted)
    asked, rules = [each for each in questions if each.question_id in opinions], Rules()
    settled = final_labels((each.question_id for each in asked), (), counted, rules)
    pairs = ((each, dimensions()[each.dimension].find(each.label or "")) for each in settled)
    known = group_values((each.question_id, (each.dimension, label)) for each, label in pairs if label is not None)
    sound = (each for each in asked if not _SPOILT & standing_flags(opinions[each.question_id], rules).keys())
    return [Reviewed(each, dict(known[each.question_id])) for each in sound if each.question_id in known]


def merge_reviewed(*sources: Sequence[Reviewed]) -> list[Reviewed]:
    """All of them, each question (by what it says) once: earlier sources go first."""
    groups = group_values((item.question.content_hash, item) for item in chain(*sources))
    return [same[0] for same in groups.values()]


def digest(reviewed: Iterable[Reviewed]) -> str:
    """16 hex digits over what was learned from, whatever its order."""
    labels_of = [(item, [f"{name}={label.zh}" for name, label in item.labels.items()]) for item in reviewed]
    return sha256(*sorted(" ".join([item.question.content_hash, *labels]) for item, labels in labels_of))[:16]
