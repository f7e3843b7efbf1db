"""Labels of each annotator, and of the experts, of the questions that are compared."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from annotation.annotator import MEASURED, Annotator
from annotation.learned_annotator import LearnedAnnotator
from annotation.lexicon_annotator import LexiconAnnotator
from annotation.reviewed import LEAST, from_reviews
from pipeline.stage import Tables
from schemas.annotations import Annotation, Calibration, Confusion, ExpertReview, ReliabilityBin, SharingPoint
from schemas.errors import UserError
from schemas.questions import Question
from schemas.taxonomy import dimensions

EXPERTS = "experts"
MOST_UNREVIEWED = 2000
"""Questions on which annotators are compared with each other when no expert has reviewed any."""
KEY = ["question_id", "dimension"]
_SAID = [*KEY, "label", "confidence"]


@dataclass(frozen=True)
class Opinions:
    """Labels of all annotators for the compared questions: a row for each question and dimension."""

    questions: int
    experts: pl.DataFrame
    annotators: Mapping[str, pl.DataFrame]
    """By name: those of the annotate stage first, then the offline ones, then the given."""
    costs: Mapping[str, float | None]
    """Of one label; None where unknown."""


@dataclass
class CalibrationRows:
    """The rows of all tables."""

    calibration: list[Calibration] = field(default_factory=list)
    confusions: list[Confusion] = field(default_factory=list)
    reliability: list[ReliabilityBin] = field(default_factory=list)
    sharing: list[SharingPoint] = field(default_factory=list)


def gather(tables: Tables, others: Sequence[Path]) -> Opinions:
    """Return everybody's labels of the reviewed questions; of some, where none is reviewed.

    The lexicon and the learned annotator are asked anew: they cost nothing, and the learned one labels each
    reviewed question by a model that had not seen it.
    """
    questions = list(Question.from_frame(tables["questions"]))
    reviewed = from_reviews(questions, ExpertReview.from_frame(tables["pulled"]))
    some = sorted(questions, key=lambda question: question.content_hash)[:MOST_UNREVIEWED]
    compared = [item.question for item in reviewed] or some
    wanted = pl.col("question_id").is_in([question.question_id for question in compared])
    learned = [LearnedAnnotator(reviewed)] if len(reviewed) >= LEAST else []
    offline: list[Annotator] = [LexiconAnnotator(), *learned]
    found = _by_annotator(tables["annotations"].filter(wanted))
    asked = ((each.identity.name, each.annotations(compared)) for each in offline)
    found |= {name: Annotation.to_frame(rows).select(_SAID) for name, rows in asked}
    for path in others:
        for name, own in _by_annotator(_read(path).filter(wanted)).items():
            found.setdefault(name, own)
    schema = {name: Annotation.polars_schema()[name] for name in _SAID}
    labels = [(item.question.question_id, pair) for item in reviewed for pair in item.labels.items()]
    experts = [(question_id, name, label.zh, None) for question_id, (name, label) in labels]
    costs = _costs(tables["requests"], found, {each.identity.name for each in offline})
    return Opinions(len(compared), pl.DataFrame(experts, schema, orient="row"), found, costs)


def _by_annotator(annotations: pl.DataFrame) -> dict[str, pl.DataFrame]:
    stated = annotations.filter(pl.col("annotator") != MEASURED)
    groups = stated.group_by("annotator", maintain_order=True)
    return {str(name): own.select(_SAID) for (name,), own in groups}


def _read(path: Path) -> pl.DataFrame:
    try:
        return Annotation.to_frame(Annotation.from_frame(pl.read_parquet(path, glob=False)))
    except (pl.exceptions.PolarsError, ValueError, OSError) as error:
        told = f"{path} is no table of annotations ({type(error).__name__})"
        raise UserError(f"{told}: correct [calibrate] others") from None


def _costs(requests: pl.DataFrame, annotators: Iterable[str], free: set[str]) -> dict[str, float | None]:
    """Return the cost of one label: all requests of an annotator over all labels of the questions it was asked."""
    costs: dict[str, float | None] = dict.fromkeys(annotators)
    costs |= dict.fromkeys(free, 0.0)
    for (name,), own in requests.group_by("annotator"):
        labels = len(dimensions()) * own["question_id"].n_unique()
        if name in costs:
            costs[str(name)] = None if own["cost"].null_count() else float(own["cost"].sum()) / labels
    return costs
