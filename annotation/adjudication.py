"""Final labels and corrections, from experts' reviews, measurements and annotators' labels. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby, product
from types import MappingProxyType

from annotation.annotator import MEASURED
from annotation.label_studio.editable import ANSWER, VERDICT
from schemas.annotations import Annotation, Correction, CorrectionStatus, ExpertReview, Label, LabelStatus
from schemas.taxonomy import dimensions

ADJUDICATION = "adjudication"
"""The project whose reviews are rulings."""

_ENOUGH = 2  # experts who must say the same for it to be final


@dataclass(frozen=True)
class Rules:
    """Rules that settle disagreement."""

    adjudicators: frozenset[str] = frozenset()
    """Reviewers whose label is final wherever they give it."""
    majority: bool = True
    """True if two of three experts settle a label."""

    def rules(self, review: ExpertReview) -> bool:
        """Return whether a review is a ruling: by an adjudicator, or in the adjudication project."""
        return review.project == ADJUDICATION or review.reviewer in self.adjudicators


@dataclass(frozen=True)
class Flag:
    """An expert's statement that a question is wrong."""

    kind: str
    """``wrong_stem``, ``wrong_key``, ``out_of_scope``."""
    reviewers: tuple[str, ...]


def proposed_labels(annotations: Iterable[Annotation]) -> dict[tuple[str, str], Annotation]:
    """Return the annotators' labels by question and dimension; a measurement goes before all, then the first."""
    found: dict[tuple[str, str], Annotation] = {}
    for annotation in annotations:
        key = (annotation.question_id, annotation.dimension)
        if key not in found or annotation.annotator == MEASURED:
            found[key] = annotation
    return found


def final_labels(
    question_ids: Iterable[str],
    annotations: Iterable[Annotation],
    reviews: Iterable[ExpertReview],
    rules: Rules,
) -> list[Label]:
    """The label of every question in every dimension, in the order of ``question_ids`` and of the taxonomy.

    ``reviews`` are at most one a question, dimension and reviewer, see ``latest_reviews``.
    """
    said_by = proposed_labels(annotations)
    votes: dict[tuple[str, str], dict[str, str]] = {}
    rulings: dict[tuple[str, str], dict[str, str]] = {}
    for review in reviews:
        said = rulings if rules.rules(review) else votes
        said.setdefault((review.question_id, review.dimension), {})[review.reviewer] = review.label
    return [
        final_label(*key, said_by.get(key), votes.get(key, {}), rules, rulings.get(key, {}))
        for key in product(question_ids, dimensions())
    ]


def final_label(
    question_id: str,
    dimension: str,
    stated: Annotation | None,
    votes: Mapping[str, str],
    rules: Rules,
    rulings: Mapping[str, str] = MappingProxyType({}),
) -> Label:
    """The label of one question in one dimension.

    An adjudicator's label is final. Without one, two experts who say the same make it final; of three or more,
    the majority does where ``rules`` allow it. A measurement stands until the experts agree on another label:
    it outweighs a single expert, and counts as a vote when they disagree.
    """
    experts = [label for reviewer, label in sorted(votes.items()) if reviewer not in rules.adjudicators]
    final = [label for reviewer, label in sorted(votes.items()) if reviewer in rules.adjudicators]
    final += [label for _, label in sorted(rulings.items())]
    measured = stated.label if stated is not None and stated.annotator == MEASURED else None
    label, status = _decide(experts, final, stated, measured, rules)
    own = status is LabelStatus.UNREVIEWED or (status is LabelStatus.SINGLE and measured is not None)
    # An expert cannot measure either: their label stands in for a measurement, too.
    instead = stated is not None and (stated.estimate or (measured is not None and label != measured))
    return Label(
        question_id=question_id,
        dimension=dimension,
        label=label,
        label_en=dimensions()[dimension].english(label),
        status=status,
        annotator=stated.annotator if own and stated is not None else None,
        estimate=instead and label is not None,
        reviewers=sorted({*votes, *rulings}),
    )


def latest_reviews(reviews: Iterable[ExpertReview]) -> tuple[list[ExpertReview], list[ExpertReview]]:
    """Return the latest review a question, dimension, reviewer and project, in that order; and the superseded ones."""
    latest: dict[tuple[str, str, str, str], ExpertReview] = {}
    superseded = []
    for review in sorted(reviews, key=lambda review: (review.updated_at, review.annotation_id)):
        key = (review.question_id, review.dimension, review.reviewer, review.project)
        if key in latest:
            superseded.append(latest[key])
        latest[key] = review
    return [latest[key] for key in sorted(latest)], superseded


def standing_flags(reviews: Sequence[ExpertReview], rules: Rules) -> list[Flag]:
    """The flags of one question that stand: an adjudicator's where one looked at it, otherwise every expert's."""
    ruling = [review for review in reviews if rules.rules(review)]
    raised: dict[str, set[str]] = {}
    for review in ruling or reviews:
        for kind in review.flags:
            raised.setdefault(kind, set()).add(review.reviewer)
    return [Flag(kind, tuple(sorted(raised[kind]))) for kind in sorted(raised)]


def _decide(
    experts: Sequence[str],
    rulings: Sequence[str],
    stated: Annotation | None,
    measured: str | None,
    rules: Rules,
) -> tuple[str | None, LabelStatus]:
    unanimous = len(experts) >= _ENOUGH and len(set(experts)) == 1
    if len(set(rulings)) == 1:
        agreed = unanimous and experts[0] == rulings[0]
        return rulings[0], LabelStatus.AGREED if agreed else LabelStatus.ADJUDICATED
    if rulings:
        return None, LabelStatus.DISPUTED
    if not experts:
        return (stated.label if stated is not None else None), LabelStatus.UNREVIEWED
    if len(experts) == 1:
        return (experts[0] if measured is None else measured), LabelStatus.SINGLE
    if unanimous:
        return experts[0], LabelStatus.AGREED
    winner = _majority(experts) if rules.majority else None
    if winner is None and rules.majority and measured is not None:
        winner = _majority([*experts, measured])
    return winner, LabelStatus.DISPUTED if winner is None else LabelStatus.ADJUDICATED


def _majority(votes: Sequence[str]) -> str | None:
    label, count = Counter(votes).most_common(1)[0]
    return label if count >= _ENOUGH and count > len(votes) / 2 else None


class State(StrEnum):
    """State of a question over all its dimensions; the first state that applies."""

    DISPUTED = "disputed"
    """Experts disagree in at least one dimension."""
    FLAGGED = "flagged"
    """An expert says that the question itself is wrong."""
    ONE_OF_TWO = "one_of_two"
    """At least one dimension waits for the second expert."""
    UNREVIEWED = "unreviewed"
    """Nobody has looked at it."""
    DONE = "done"
    """Settled in every dimension."""


WAITING = (State.DISPUTED, State.FLAGGED, State.ONE_OF_TWO)
"""States in which a question waits for a person who was asked."""


@dataclass(frozen=True)
class Standing:
    """A question's state and the opinions on it."""

    question_id: str
    state: State
    labels: Sequence[Label]
    flags: Sequence[Flag]
    reviews: Sequence[ExpertReview]

    def detail(self) -> str:
        """Return everybody's labels, flags and notes in one line."""
        parts = []
        for name in [each.dimension for each in self.labels if each.status is LabelStatus.DISPUTED]:
            votes = (f"{r.reviewer} = {r.label}" for r in self.reviews if r.dimension == name)
            parts.append(f"{name}: {' / '.join(votes)}")
        parts += [f"{flag.kind} by {', '.join(flag.reviewers)}" for flag in self.flags]
        if not parts:
            who = sorted({review.reviewer for review in self.reviews})
            parts = [f"reviewed by {', '.join(who)}"]
        notes = sorted({(review.reviewer, review.note) for review in self.reviews if review.note})
        parts += [f"note by {reviewer}: {' '.join(note.split())}" for reviewer, note in notes]
        return "; ".join(parts)


@dataclass(frozen=True)
class ReviewStatus:
    """Progress of the review, as of the last pull."""

    questions: int
    states: Mapping[State, int]
    """Questions by state; they add up to ``questions``."""
    dimensions: Mapping[str, Mapping[LabelStatus, int]]
    """Questions by status of the label, for each dimension."""
    experts: Mapping[str, int]
    """Questions that each expert reviewed."""
    flags: Mapping[str, int]
    """Flags that stand, by kind."""
    last_review: str | None
    """Time of the latest review (UTC)."""


def standings(
    labels: Iterable[Label],
    reviews: Iterable[ExpertReview],
    rules: Rules,
    answered: Mapping[str, Set[str]] = MappingProxyType({}),
    single: Set[str] = frozenset(),
) -> list[Standing]:
    """Return the state of each question, in the order of ``labels``.

    Args:
        labels: of all questions in all dimensions.
        reviews: those that count.
        rules: whose flags are final.
        answered: kinds of flags, by question, that an accepted correction has answered.
        single: questions that only one expert is to review.
    """
    said: dict[str, list[ExpertReview]] = defaultdict(list)
    for review in reviews:
        said[review.question_id].append(review)
    found = []
    for name, group in groupby(labels, key=lambda label: label.question_id):
        own, own_reviews, done = list(group), said[name], answered.get(name, frozenset())
        flags = [flag for flag in standing_flags(own_reviews, rules) if flag.kind not in done]
        state = _state(own, flags, single=name in single)
        found.append(Standing(name, state, own, flags, own_reviews))
    return found


def review_status(found: Sequence[Standing]) -> ReviewStatus:
    """Count questions by state."""
    states = Counter(standing.state for standing in found)
    labels = Counter((label.dimension, label.status) for standing in found for label in standing.labels)
    names = dict.fromkeys(name for name, _ in labels)
    experts = Counter(who for standing in found for who in {each.reviewer for each in standing.reviews})
    flags = Counter(flag.kind for standing in found for flag in standing.flags)
    moments = [review.updated_at for standing in found for review in standing.reviews]
    return ReviewStatus(
        questions=len(found),
        states={state: states[state] for state in State},
        dimensions={name: {status: labels[name, status] for status in LabelStatus} for name in names},
        experts=dict(sorted(experts.items())),
        flags=dict(sorted(flags.items())),
        last_review=max(moments, default=None),
    )


def _state(labels: Sequence[Label], flags: Sequence[Flag], *, single: bool) -> State:
    statuses = {label.status for label in labels}
    if LabelStatus.DISPUTED in statuses:
        return State.DISPUTED
    if flags:
        return State.FLAGGED
    if LabelStatus.SINGLE in statuses and not single:
        return State.ONE_OF_TWO
    if statuses == {LabelStatus.UNREVIEWED}:
        return State.UNREVIEWED
    return State.ONE_OF_TWO if LabelStatus.UNREVIEWED in statuses else State.DONE


ALONE = frozenset({ADJUDICATION, "verification"})
"""Projects in which one person decides."""


def decided_corrections(
    corrections: Iterable[Correction], ruled: Iterable[str], adjudicators: Iterable[str] = ()
) -> list[Correction]:
    """Corrections with their status, in the order of question, field and person.

    A person who decides alone (the adjudicator, who saw what the experts proposed; whoever verified what was read)
    has the last word. Without one, what two experts write alike counts; what one writes is a proposal.

    Args:
        corrections: at most one a question, field, person and project.
        ruled: questions that an adjudicator has dealt with: what nobody took up there is declined.
        adjudicators: people whose word is final wherever they say it.
    """
    closed, final = set(ruled), set(adjudicators)
    groups: dict[tuple[str, str, str], list[Correction]] = {}
    for correction in corrections:
        key = (correction.question_id, correction.field, correction.content_hash)
        groups.setdefault(key, []).append(correction)
    found = []
    for (question_id, _, _), group in sorted(groups.items()):
        winner = _winner(group, final, closed=question_id in closed)
        still_open = winner is None and question_id not in closed
        loser = CorrectionStatus.PROPOSED if still_open else CorrectionStatus.DECLINED
        for each in sorted(group, key=lambda c: (c.by, c.origin, c.annotation_id)):
            wins = winner is not None and each.after == winner.after
            status = CorrectionStatus.ACCEPTED if wins else loser
            found.append(each.model_copy(update={"status": status}))
    return found


def answered_flags(corrections: Iterable[Correction]) -> dict[str, set[str]]:
    """Kinds of flags, by question, that an accepted correction has answered."""
    found: dict[str, set[str]] = {}
    for correction in corrections:
        if correction.status is CorrectionStatus.ACCEPTED:
            found.setdefault(correction.question_id, set()).update(_flags(correction))
    return found


def _winner(group: Sequence[Correction], final: set[str], *, closed: bool) -> Correction | None:
    rulings = [each for each in group if each.origin in ALONE or each.by in final]
    if rulings:
        return max(rulings, key=lambda each: (each.updated_at, each.annotation_id))
    if closed:
        return None
    people = {each.by for each in group}
    alike = len({each.after for each in group}) == 1
    return group[0] if len(people) >= _ENOUGH and alike else None


def _flags(correction: Correction) -> set[str]:
    if correction.field != VERDICT:
        return {"wrong_key" if correction.field == ANSWER else "wrong_stem"}
    # Whoever verifies sees what is flagged, corrects it in the same step and says that the question is sound.
    whole = {"wrong_key", "wrong_stem"} if correction.origin == "verification" else set()
    return {"out_of_scope", *whole}
