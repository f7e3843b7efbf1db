"""Control of experts' work: gold questions, whose labels are known, and probes, labels that are wrong on purpose.

Both stand among the other questions and look like them. Neither reaches a final label: ``control.parquet`` takes their
answers out of the reviews.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from pathlib import Path

import polars as pl

from build_dataset.annotation.annotator import MEASURED
from build_dataset.annotation.lexicon_annotator import LexiconAnnotator
from build_dataset.annotation.reviewed import Reviewed, merge_reviewed
from build_dataset.pipeline.inspect.bank import read_labelled
from build_dataset.pipeline.stats.intervals import Interval, Unit, interval_of_share
from build_dataset.schemas.annotations import Annotation
from build_dataset.schemas.identity import lot, sha256
from build_dataset.schemas.questions import Question
from build_dataset.schemas.taxonomy import dimensions

PROBE = "probe"  # stands for the annotator of a label that is wrong on purpose
_IN_A_ROW = 20  # gold labels in a point of the control chart
_SIGMAS = 3.0  # distance of the lower control limit from an expert's own mean (Shewhart's p-chart)


@dataclass(frozen=True)
class Control:
    """An expert's answers to gold questions and probes."""

    questions: int = 0  # number of gold questions answered
    gold: int = 0  # number of labels given to them
    right: int = 0
    interval: Interval | None = None  # 95 % of the share that is right; labels of one question are a cluster
    chart: tuple[float, ...] = ()  # share of right ones among the last gold labels, after each; empty for few
    limit: float = 0.0  # lower control limit of the chart
    probes: int = 0
    accepted: int = 0  # probes that were left as they were


def with_probes(annotations: pl.DataFrame, share: float, seed: int) -> pl.DataFrame:
    """Return labels to fill in, one of them replaced by a wrong one in a share of questions drawn by lot."""
    if not share:
        return annotations
    rows = []
    names = [name for name, each in dimensions().items() if len(each.labels) > 1]
    for row in Annotation.from_frame(annotations):
        drawn = sha256(f"{seed}", PROBE, row.question_id)
        others = [name for name in dimensions()[row.dimension].zh_names() if name != row.label]
        name = names[int(drawn[8:16], 16) % len(names)]
        is_wrong = lot(f"{seed}", PROBE, row.question_id) < share and row.dimension == name
        if is_wrong and others and row.annotator != MEASURED:
            label = others[int(drawn[16:24], 16) % len(others)]
            row = row.model_copy(update={"label": label, "annotator": PROBE})
        rows.append(row)
    return Annotation.to_frame(rows)


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
    """Return the reviews that count, and the answers to gold questions and probes, each with whether it is right."""
    known = pl.DataFrame(
        [(item.question.question_id, name, label.zh) for item in gold for name, label in item.labels.items()],
        {"question_id": pl.String, "dimension": pl.String, "known": pl.String},
        orient="row",
    )
    ids = known["question_id"].unique().implode()
    is_gold = pl.col("question_id").is_in(ids)
    is_probe = ~is_gold & (pl.col("shown_by") == PROBE).fill_null(value=False)
    is_probe &= ~pl.col("blind").fill_null(value=False)
    accepted = is_probe & (pl.col("label") == pl.col("shown"))
    own = ("question_id", "dimension", "reviewer", "updated_at")
    gold_answers = reviews.filter(is_gold).join(known, on=["question_id", "dimension"])
    parts = (
        gold_answers.select(*own, kind=pl.lit("gold"), right=pl.col("label") == pl.col("known")),
        reviews.filter(is_probe).select(*own, kind=pl.lit(PROBE), right=~accepted),
    )
    in_order = ("updated_at", "question_id", "dimension", "reviewer")
    return reviews.filter(~is_gold & ~accepted), pl.concat(parts).sort(in_order)


def controls(answers: pl.DataFrame) -> Mapping[str, Control]:
    """Return how each expert answered gold questions and probes."""
    return {str(who): _control(own) for (who, *_), own in answers.group_by("reviewer", maintain_order=True)}


def _control(answers: pl.DataFrame) -> Control:
    gold, probes = (answers.filter(pl.col("kind") == kind) for kind in ("gold", PROBE))
    right, answer = gold["right"].to_list(), ("question_id", "right")
    mean = sum(right) / len(right) if right else 0.0
    ends = range(_IN_A_ROW, len(right) + 1) if len(right) >= 2 * _IN_A_ROW else ()
    return Control(
        questions=gold["question_id"].n_unique(),
        gold=len(right),
        right=sum(right),
        interval=interval_of_share(Unit(name, float(one)) for name, one in gold.select(answer).rows()),
        chart=tuple(sum(right[end - _IN_A_ROW : end]) / _IN_A_ROW for end in ends),
        limit=mean - _SIGMAS * sqrt(mean * (1 - mean) / _IN_A_ROW),
        probes=probes.height,
        accepted=int((~probes["right"]).sum()),
    )
