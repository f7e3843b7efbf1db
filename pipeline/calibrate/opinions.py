"""Labels of each annotator, and of the experts, of the questions that are compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from annotation import lexicon_annotator
from annotation.annotator import MEASURED, Annotator, Labelled
from annotation.learned import LEAST
from annotation.learned.classifier import NAME as LEARNED
from annotation.learned.classifier import LearnedAnnotator
from annotation.reviewed import Reviewed, from_reviews
from pipeline.stage import Tables
from schemas.annotations import Annotation, ExpertReview
from schemas.errors import UserError
from schemas.questions import Question
from schemas.taxonomy import dimensions

EXPERTS = "experts"
MOST_UNREVIEWED = 2000
"""Questions on which annotators are compared with each other when no expert has reviewed any."""

Key = tuple[str, str]
"""Question and dimension."""


@dataclass(frozen=True)
class Said:
    """A label, and how sure it is."""

    label: str
    confidence: float | None


@dataclass(frozen=True)
class Opinions:
    """Everybody's labels."""

    questions: int
    """Number of questions that are compared."""
    experts: Mapping[Key, str]
    annotators: Mapping[str, Mapping[Key, Said]]
    """By name: those of the annotate stage first, then the offline ones, then the given."""
    costs: Mapping[str, float | None]
    """Of one label; None where unknown."""


def gather(tables: Tables, others: Sequence[Path]) -> Opinions:
    """Everybody's labels of the reviewed questions; of some, where none is reviewed.

    The lexicon and the learned annotator are asked anew: they cost nothing, and the learned one labels each
    reviewed question by a model that had not seen it.
    """
    questions = list(Question.from_frame(tables["questions"]))
    reviewed = from_reviews(questions, ExpertReview.from_frame(tables["pulled"]))
    compared = [item.question for item in reviewed] or _some(questions)
    wanted = {question.question_id for question in compared}
    annotators = _stated(Annotation.from_frame(tables["annotations"]), wanted)
    for annotator in _offline(reviewed):
        annotators[annotator.identity.name] = _asked(annotator, compared)
    for path in others:
        for name, said in _stated(_read(path), wanted).items():
            annotators.setdefault(name, said)
    experts = {
        (item.question.question_id, name): label.zh
        for item in reviewed
        for name, label in item.labels.items()
    }
    return Opinions(len(compared), experts, annotators, _costs(tables["requests"], annotators))


def _some(questions: Sequence[Question]) -> list[Question]:
    return sorted(questions, key=lambda question: question.content_hash)[:MOST_UNREVIEWED]


def _offline(reviewed: Sequence[Reviewed]) -> Iterator[Annotator]:
    yield lexicon_annotator.LexiconAnnotator()
    if len(reviewed) >= LEAST:
        yield LearnedAnnotator(reviewed)


def _asked(annotator: Annotator, questions: Sequence[Question]) -> dict[Key, Said]:
    return {
        (found.question_id, name): Said(verdict.label.zh, verdict.confidence)
        for found in annotator.annotate(questions, lambda _: None)
        if isinstance(found, Labelled)
        for name, verdict in found.verdicts.items()
    }


def _stated(annotations: Iterable[Annotation], wanted: set[str]) -> dict[str, dict[Key, Said]]:
    found: dict[str, dict[Key, Said]] = {}
    for row in annotations:
        if row.annotator != MEASURED and row.question_id in wanted:
            said = Said(row.label, row.confidence)
            found.setdefault(row.annotator, {})[row.question_id, row.dimension] = said
    return found


def _read(path: Path) -> list[Annotation]:
    try:
        return list(Annotation.from_frame(pl.read_parquet(path, glob=False)))
    except (pl.exceptions.PolarsError, ValueError, OSError) as error:
        raise UserError(
            f"{path} is no table of annotations ({type(error).__name__}): correct [calibrate] others"
        ) from None


def _costs(requests: pl.DataFrame, annotators: Mapping[str, Mapping[Key, Said]]) -> dict[str, float | None]:
    """Of one label: all requests of an annotator over all labels of the questions it was asked about."""
    costs: dict[str, float | None] = {}
    for name in annotators:
        own = requests.filter(pl.col("annotator") == name)
        if own.is_empty():
            costs[name] = 0.0 if name in (lexicon_annotator.NAME, LEARNED) else None
            continue
        known = own["cost"].null_count() == 0
        costs[name] = (
            float(own["cost"].sum()) / (len(dimensions()) * own["question_id"].n_unique()) if known else None
        )
    return costs
