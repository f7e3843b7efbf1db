"""The interface of annotators, and difficulty that was measured."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

from build_dataset.schemas.annotations import Annotation, AnnotationRequest
from build_dataset.schemas.questions import Question
from build_dataset.schemas.taxonomy import DIFFICULTY, LEVELS, LabelName, dimensions


@dataclass(frozen=True)
class Identity:
    """Facts that stand on every annotation of an annotator."""

    name: str
    model: str | None = None
    prompt_hash: str | None = None
    notes: Sequence[str] = field(default_factory=tuple)  # lines for the user
    facts: Mapping[str, Any] = field(default_factory=dict)  # further facts for the manifest


class Verdict(NamedTuple):
    """A label for one dimension."""

    label: LabelName
    confidence: float | None
    estimate: bool  # True where it stands in for something that was not measured


class Labelled(NamedTuple):
    """A question with a verdict in every dimension that could be told."""

    question_id: str
    verdicts: Mapping[str, Verdict]  # by name of the dimension
    requests: Sequence[AnnotationRequest] = ()

    def annotations(self, by: Identity, measured: Verdict | None = None) -> Iterator[Annotation]:
        """Yield its rows in the taxonomy's order; a measured difficulty takes the place of a judged one."""
        verdicts = {**self.verdicts, **({} if measured is None else {DIFFICULTY: measured})}
        for name in dimensions():
            if (verdict := verdicts.get(name)) is not None:
                who = Identity(MEASURED) if verdict is measured else by
                said = {"label": verdict.label.zh, "confidence": verdict.confidence, "estimate": verdict.estimate}
                source = {"annotator": who.name, "prompt_hash": who.prompt_hash, "model": who.model}
                yield Annotation(question_id=self.question_id, dimension=name, **said, **source)


class Unlabelled(NamedTuple):
    """A question that got no labels in this run; the next run asks it again."""

    question_id: str
    reason: str
    detail: str
    requests: Sequence[AnnotationRequest] = ()  # requests that were billed, or may have been


Labelling = Labelled | Unlabelled  # what becomes of a question


class Annotator(Protocol):
    """Labels questions."""

    @property
    def identity(self) -> Identity:
        """Its name and the facts about it."""

    def annotate(self, questions: Sequence[Question], progress: Callable[[int], None]) -> Iterator[Labelling]:
        """One result a question, in any order; ``progress`` hears how many ``units`` of work have just ended."""

    def units(self, questions: Sequence[Question]) -> int:
        """Return the number of units of work in those questions: one a question, unless it says otherwise."""
        return len(questions)

    def annotations(self, questions: Sequence[Question]) -> list[Annotation]:
        """Return the rows of the questions that it labels."""
        labelled = [each for each in self.annotate(questions, lambda _: None) if isinstance(each, Labelled)]
        return [row for each in labelled for row in each.annotations(self.identity)]


MEASURED = "human_accuracy"  # annotator of measured labels: difficulty from the share of right answers


def difficulty_bin(accuracy: float) -> int:
    """The level of difficulty, from 0 (easy: 0.8 to 1) to 4 (extra difficult: below 0.2), as CMExam has it (section 3).

    A value on the border of two bins belongs to the easier one. Raises ``ValueError`` outside 0..1.
    """
    if not 0 <= accuracy <= 1:
        raise ValueError(f"an accuracy of {accuracy} is not in 0..1")
    # 0.6 is 0.59999…78 in binary; as people wrote it, it is the border.
    return LEVELS - 1 - min(int(Fraction(repr(float(accuracy))) * LEVELS), LEVELS - 1)


def measured_difficulty(question: Question) -> Verdict | None:
    """Return the label from people's answers; None without recorded answers, or if the label set has no difficulty."""
    if question.human_accuracy is None or question.respondents == 0 or DIFFICULTY not in dimensions():
        return None
    label = dimensions()[DIFFICULTY].labels[difficulty_bin(question.human_accuracy)]
    return Verdict(label, confidence=None, estimate=False)
