"""The calibrate stage: how far each annotator's labels and confidences can be trusted; its page."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, groupby, islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import polars as pl

from build_dataset.annotation import adjudication, annotator, lexicon_annotator
from build_dataset.annotation.learned_annotator import LearnedAnnotator
from build_dataset.annotation.params import CalibrateParams
from build_dataset.pipeline import stats
from build_dataset.pipeline.rendering import markup
from build_dataset.pipeline.review.lineage import trace
from build_dataset.pipeline.stage import Context, Counts, Result, Tables
from build_dataset.schemas import annotations as records, errors, taxonomy
from build_dataset.schemas.questions import Question

Item = TypeVar("Item", records.Calibration, records.Confusion)

EXPERTS = "experts"  # the reference that stands for all people
_SHOWN = 5  # confusions of an annotator in a dimension


class Opinions(NamedTuple):
    """Labels of all annotators for the compared questions: a row for each question and dimension."""

    questions: int
    experts: pl.DataFrame
    annotators: Mapping[str, pl.DataFrame]
    """By name: those of the annotate stage first, then the offline ones, then the given."""
    costs: Mapping[str, float | None]  # of one label; None where unknown


@dataclass
class CalibrationRows:
    """The rows of all tables."""

    calibration: list[records.Calibration] = field(default_factory=list)
    confusions: list[records.Confusion] = field(default_factory=list)
    reliability: list[records.ReliabilityBin] = field(default_factory=list)


def _by_dimension(rows: Iterable[Item]) -> list[Item]:
    """Rows about one dimension together, so that annotators stand below each other."""
    order = list(taxonomy.dimensions())
    return sorted(rows, key=lambda row: order.index(row.dimension))


MOST_UNREVIEWED = 2000  # questions on which annotators are compared where no expert has reviewed any
KEY = ["question_id", "dimension"]
_SAID = [*KEY, "label", "confidence"]
_WORST = 10  # pairs of labels that a dimension's confusion lists
BINS = 10  # bins of equal width of confidence (Niculescu-Mizil and Caruana 2005)
STEPS = tuple(step / 20 for step in range(21))  # thresholds of confidence that are tried: 0, 0.05 … 1


def run(tables: Tables, params: CalibrateParams, context: Context) -> Result:
    """Compare every annotator with the experts and every other one; counts are of questions, all are kept."""
    opinions, rows = gather(tables, params.others), CalibrationRows()
    for name in opinions.annotators:
        for dimension, judged in _compared(opinions, name, EXPERTS):
            _against_experts(rows, name, dimension, judged, opinions.costs[name], params.target)
    for one, other in combinations(opinions.annotators, 2):
        for dimension, judged in _compared(opinions, one, other):
            _compare(rows, {"annotator": one, "reference": other, "dimension": dimension}, judged)
    against = (row for row in rows.confusions if row.reference == EXPERTS)
    groups = groupby(against, lambda row: (row.annotator, row.dimension))  # the commonest come first
    page = markup.html_page(
        "build_dataset.pipeline.calibrate:calibration.html",
        name=context.dataset.name,
        opinions=opinions,
        target=params.target,
        against=_by_dimension(row for row in rows.calibration if row.reference == EXPERTS),
        reviewed=opinions.experts.height > 0,
        pairs=_by_dimension(row for row in rows.calibration if row.reference != EXPERTS),
        confusions=_by_dimension(row for _, of_one in groups for row in islice(of_one, _SHOWN)),
        dimensions=taxonomy.dimensions(),
    )
    total = tables["questions"].height
    return Result(
        tables={
            "calibration": records.Calibration.to_frame(rows.calibration),
            "confusions": records.Confusion.to_frame(rows.confusions),
            "reliability": records.ReliabilityBin.to_frame(rows.reliability),
        },
        counts=Counts(n_input=total, kept=total),
        files={"index.html": page},
        facts={
            "compared": opinions.questions,
            "reviewed_labels": opinions.experts.height,
            "annotators": sorted(opinions.annotators),
        },
        notes=markup.notes(
            "build_dataset.pipeline.calibrate",
            reviewed=opinions.experts.height > 0,
            annotators=opinions.annotators,
            calibration=rows.calibration,
        ),
    )


def _compared(opinions: Opinions, name: str, reference: str) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield an annotator's labels beside a reference's (``expected``, ``right``), dimension by dimension."""
    others = opinions.experts if reference == EXPERTS else opinions.annotators[reference]
    both = opinions.annotators[name].join(others.select(*KEY, expected="label"), on=KEY).sort(KEY)
    both = both.with_columns(right=pl.col("label") == pl.col("expected"))
    for dimension in taxonomy.dimensions():
        if not (judged := both.filter(dimension=dimension)).is_empty():
            yield dimension, judged


def _against_experts(
    rows: CalibrationRows, name: str, dimension: str, judged: pl.DataFrame, cost: float | None, target: float
) -> None:
    about = {"annotator": name, "dimension": dimension}
    bins = confidence_bins(judged)
    for number, items, confidence, accuracy in bins.iter_rows():
        borders = {"low": number / BINS, "high": (number + 1) / BINS}
        means = {"confidence": round(confidence, 4), "accuracy": round(accuracy, 4)}
        rows.reliability.append(records.ReliabilityBin(**about, items=items, **borders, **means))
    same, error = int(judged["right"].sum()), calibration_error(bins)
    price = None if cost is None or not same else round(cost * judged.height / same, 8)
    more: dict[str, Any] = {"calibration_error": None if error is None else round(error, 4), "cost_per_correct": price}
    for threshold in STEPS:  # the lowest above which labels are surely as right as the target, and their share
        taken = judged.filter(pl.col("confidence") >= threshold)
        if taken.height and stats.wilson(int(taken["right"].sum()), taken.height)[0] >= target:
            more |= {"threshold": threshold, "accepted": round(taken.height / judged.height, 4)}
            break
    _compare(rows, about | {"reference": EXPERTS}, judged, **more)


def confidence_bins(judged: pl.DataFrame) -> pl.DataFrame:
    """Return the bins of confidence that are not empty: number, items, mean confidence, accuracy."""
    # a confidence of 1 is in the last bin
    number = (pl.col("confidence") * BINS).cast(pl.Int64).clip(0, BINS - 1).alias("bin")
    means = (pl.len().alias("items"), pl.col("confidence").mean(), pl.col("right").mean().alias("accuracy"))
    return judged.drop_nulls("confidence").group_by(number).agg(*means).sort("bin")


def calibration_error(bins: pl.DataFrame) -> float | None:
    """Return the expected calibration error: the bins' distances, weighed by their items (Guo et al. 2017, eq. 3)."""
    distance = (pl.col("confidence") - pl.col("accuracy")).abs()
    value: float | None = bins.select((distance * pl.col("items")).sum() / pl.col("items").sum()).item()
    return value if bins.height else None


def _compare(rows: CalibrationRows, about: dict[str, str], judged: pl.DataFrame, **more: Any) -> None:
    """Add an annotator's agreement with a reference in a dimension; ``more`` are further columns."""
    items, same = judged.height, int(judged["right"].sum())
    low, high = stats.wilson(same, items)
    kappa = stats.value_of(stats.cohen_kappa, stats.pair_table(judged.select("label", "expected").rows()))
    row = dict.fromkeys(records.Calibration.model_fields) | about | {"items": items, "same": same}
    row |= {"accuracy": round(same / items, 4), "low": round(low, 4), "high": round(high, 4)}
    row |= {} if kappa is None else {"kappa": round(kappa, 4)}
    rows.calibration.append(records.Calibration.model_validate(row | more))
    rows.confusions += confusions(judged, **about)


def confusions(judged: pl.DataFrame, **about: str) -> list[records.Confusion]:
    """Return the commonest confusions, equals in the order of their names."""
    counts = judged.filter(~pl.col("right")).group_by(said="label", expected="expected").agg(items=pl.len())
    ranked = counts.sort(-pl.col("items").cast(pl.Int64), "said", "expected").head(_WORST)
    return [records.Confusion(**about, **row) for row in ranked.to_dicts()]


def gather(tables: Tables, others: Sequence[Path]) -> Opinions:
    """Return everybody's labels of the reviewed questions; of some, where none is reviewed."""
    questions, pulled = tables["questions"], trace(tables).pulled
    seen = questions.filter(pl.col("question_id").is_in(pulled["question_id"].implode()))
    reviewed = adjudication.from_reviews(Question.from_frame(seen), records.ExpertReview.from_frame(pulled))
    # a fixed lot: hashes have no order in the paper
    some = questions.sort("content_hash", maintain_order=True).head(MOST_UNREVIEWED)
    compared = [item.question for item in reviewed] or list(Question.from_frame(some))
    wanted = pl.col("question_id").is_in([question.question_id for question in compared])
    learned = [LearnedAnnotator(reviewed)] if len(reviewed) >= adjudication.MIN_REVIEWED else []
    # Asked anew: both cost nothing, and a learned label is of a model that had not seen the reviewed question.
    offline: list[annotator.Annotator] = [lexicon_annotator.LexiconAnnotator(), *learned]
    labelled = _by_annotator(tables["annotations"].filter(wanted))
    asked = ((each.identity.name, each.annotations(compared)) for each in offline)
    labelled |= {name: records.Annotation.to_frame(rows).select(_SAID) for name, rows in asked}
    for path in others:
        try:
            table = records.Annotation.to_frame(records.Annotation.from_frame(pl.read_parquet(path, glob=False)))
        except (pl.exceptions.PolarsError, ValueError, OSError) as error:
            problem = f"{path} is no table of annotations ({type(error).__name__})"
            raise errors.UserError(f"{problem}: correct [calibrate] others") from None
        for name, opinion in _by_annotator(table.filter(wanted)).items():
            labelled.setdefault(name, opinion)
    schema = {name: records.Annotation.polars_schema()[name] for name in _SAID}
    labels = [(item.question.question_id, pair) for item in reviewed for pair in item.labels.items()]
    experts = [(question_id, name, label.zh, None) for question_id, (name, label) in labels]
    # Of one label: all requests of an annotator over all labels of the questions it was asked.
    costs: dict[str, float | None] = dict.fromkeys(labelled)
    costs |= dict.fromkeys((each.identity.name for each in offline), 0.0)
    for (who,), billed in tables["requests"].group_by("annotator"):
        told = len(taxonomy.dimensions()) * billed["question_id"].n_unique()  # one request asks for all dimensions
        if who in costs:
            # a part without a price makes the whole unknown
            costs[str(who)] = None if billed["cost"].null_count() else float(billed["cost"].sum()) / told
    return Opinions(len(compared), pl.DataFrame(experts, schema, orient="row"), labelled, costs)


def _by_annotator(annotations: pl.DataFrame) -> dict[str, pl.DataFrame]:
    # difficulty from people is no label of a model
    stated = annotations.filter(pl.col("annotator") != annotator.MEASURED)
    return {str(name): rows.select(_SAID) for (name,), rows in stated.group_by("annotator", maintain_order=True)}
