"""Labels questions offline as experts have labelled others: learned on this machine in seconds, named as such."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from annotation.annotator import Identity, Labelled, Unlabelled, Verdict
from annotation.lexicon_annotator import estimated_difficulty
from annotation.reviewed import Reviewed, digest
from schemas.questions import Question
from schemas.taxonomy import dimensions

if TYPE_CHECKING:
    from annotation.learned.classifier import Classifier

NAME = "learned"


class LearnedAnnotator:
    """A classifier of each dimension but difficulty, which the text does not tell (.35, always saying easy: .35).

    A question that it learned from is labelled by a model that had not seen it: what it says of reviewed
    questions is as good and as sure as what it says of others, and never an echo of the experts.

    Args:
        reviewed: what to learn from.
    """

    def __init__(self, reviewed: Sequence[Reviewed]) -> None:
        self._reviewed = sorted(reviewed, key=lambda item: item.question.content_hash)
        self._classifier: Classifier | None = None

    @property
    def identity(self) -> Identity:
        """``learned``, and what from."""
        notes = [
            f"labelled offline by a classifier that learned from {len(self._reviewed)} reviewed questions; "
            "[annotate.llm] model = … asks a language model"
        ]
        facts: dict[str, object] = {"reviewed": len(self._reviewed), "reviewed_hash": digest(self._reviewed)}
        if self._classifier is not None:
            facts["out_of_fold_accuracy"] = self._classifier.accuracy
            told = ", ".join(f"{name} {value:.2f}" for name, value in self._classifier.accuracy.items())
            notes.append(f"right about reviewed questions it had not seen: {told}")
        return Identity(NAME, notes=tuple(notes), facts=facts)

    def units(self, questions: Sequence[Question]) -> int:
        """Questions."""
        return len(questions)

    def annotate(
        self, questions: Sequence[Question], progress: Callable[[int], None]
    ) -> Iterator[Labelled | Unlabelled]:
        """One result a question, in their order."""
        from annotation.learned.classifier import Classifier  # scikit-learn takes a second to import

        self._classifier = Classifier(self._reviewed)
        for question, verdicts in zip(questions, self._classifier.label(questions), strict=True):
            yield Labelled(question.question_id, _in_order(verdicts))
            progress(1)


def _in_order(verdicts: Mapping[str, Verdict]) -> dict[str, Verdict]:
    known = {**verdicts, **estimated_difficulty()}
    return {name: known[name] for name in dimensions() if name in known}
