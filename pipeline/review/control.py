"""Control of experts' work by gold questions, whose labels are known.

They stand among the other questions and look like them. None reaches a final label: ``control.parquet`` takes their
answers out of the reviews.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from pathlib import Path

import polars as pl

from build_dataset.annotation.lexicon_annotator import LexiconAnnotator
from build_dataset.annotation.reviewed import Reviewed, merge_reviewed
from build_dataset.pipeline.inspect.bank import read_labelled
from build_dataset.pipeline.stats.intervals import Interval, Unit, interval_of_share
from build_dataset.schemas.annotations import Annotation
from build_dataset.schemas.identity import sha256
from build_dataset.schemas.questions import Question

_IN_A_ROW = 20  # the last gold labels, which are held against all of an expert's
_SIGMAS = 3.0  # distance of the lower control limit from an expert's own mean (Shewhart's p-chart)


@dataclass(frozen=True)
class Control:
    """An expert's answers to gold questions."""

    questions: int = 0  # number of gold questions answered
    gold: int = 0  # number of labels given to them
    right: int = 0
    interval: Interval | None = None  # 95 % of the share that is right; labels of one question are a cluster
    latest: float | None = None  # share of right ones among the last gold labels; None for few
    limit: float = 0.0  # lower control limit of that share


def gold_questions(path: Path | None, documents: Sequence[str] = ("",)) -> list[Reviewed]:
    """Return the labelled questions of a file, see ``read_labelled``, under names like those of other questions."""
    found = []
    for item in merge_reviewed(read_labelled(path)) if path is not None else ():
        name = sha256("gold", item.question.content_hash)
        number, document = int(name[8:12], 16) % 1000, documents[int(name[12:16], 16) % len(documents)]
        place = {"question_id": f"{name[:8]}-1-{number:05}", "document": document, "number": number}
        found.append(replace(item, question=item.question.model_copy(update=place)))
    return found


def proposals(gold: Sequence[Reviewed]) -> list[Annotation]:
    """Return labels to fill in for gold questions: the lexicon's, as nobody is paid to label them again."""
    return LexiconAnnotator().annotations([item.question for item in gold])


def mix_in_gold(questions: Sequence[Question], gold: Sequence[Reviewed]) -> list[Question]:
    """Return questions with the gold ones spread evenly among them."""
    found = list(questions)
    step = len(found) / (len(gold) + 1)
    for place, item in reversed(list(enumerate(gold, start=1))):
        found.insert(round(place * step), item.question)
    return found


def separate(reviews: pl.DataFrame, gold: Iterable[Reviewed]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the reviews that count, and the answers to gold questions, each with whether it is right."""
    known = pl.DataFrame(
        [(item.question.question_id, name, label.zh) for item in gold for name, label in item.labels.items()],
        {"question_id": pl.String, "dimension": pl.String, "known": pl.String},
        orient="row",
    )
    own = ("updated_at", "question_id", "dimension", "reviewer")
    answers = reviews.join(known, on=["question_id", "dimension"])
    counted = reviews.join(known, on="question_id", how="anti", maintain_order="left")
    return counted, answers.select(*own, right=pl.col("label") == pl.col("known")).sort(own)


def controls(answers: pl.DataFrame) -> Mapping[str, Control]:
    """Return how each expert answered gold questions."""
    return {str(who): _control(own) for (who, *_), own in answers.group_by("reviewer", maintain_order=True)}


def _control(answers: pl.DataFrame) -> Control:
    right = answers["right"].to_list()
    mean = sum(right) / len(right)
    return Control(
        questions=answers["question_id"].n_unique(),
        gold=len(right),
        right=sum(right),
        interval=interval_of_share(
            Unit(name, float(one)) for name, one in answers.select("question_id", "right").rows()
        ),
        latest=sum(right[-_IN_A_ROW:]) / _IN_A_ROW if len(right) >= 2 * _IN_A_ROW else None,
        limit=mean - _SIGMAS * sqrt(mean * (1 - mean) / _IN_A_ROW),
    )
