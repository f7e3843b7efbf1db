"""The review stage: final labels and agreement, in all and in parts; a pure function of what was pulled."""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from build_dataset.annotation import adjudication
from build_dataset.annotation.label_studio.tasks import BLIND, PREFILLED
from build_dataset.annotation.params import ReviewParams
from build_dataset.pipeline import stats
from build_dataset.pipeline.clean.corrections import tidied_items
from build_dataset.pipeline.rendering.markup import notes
from build_dataset.pipeline.review import progress
from build_dataset.pipeline.review.lineage import Lineage, QuestionChange, trace
from build_dataset.pipeline.runtime.publish import find_rows, find_table
from build_dataset.pipeline.stage import Context, Counts, Result, Tables
from build_dataset.schemas import errors, taxonomy
from build_dataset.schemas.annotations import Agreement, Annotation, Correction, ExpertReview, Label, LabelStatus
from build_dataset.schemas.questions import Question, ReviewItem

STAGE = "review"  # of what waits
FLAGGED_BY_ADJUDICATOR = "flagged_by_adjudicator"
"""Reason of questions with final labels and an error: somebody must correct them in `review verify`."""
_STAGES = ("parse", "clean", "proofread", "dedup", "audit", STAGE)  # stages whose waiting questions are verified


class Settled(NamedTuple):
    """Labels and states that reviews add up to."""

    rules: adjudication.Rules
    annotations: list[Annotation]
    labels: list[Label]
    reviews: list[ExpertReview]  # those that count
    corrections: list[Correction]
    statuses: list[adjudication.QuestionStatus]
    ignored: dict[str, int]  # reviews that do not count, by reason
    lineage: Lineage

    def judged(self) -> list[ExpertReview]:
        """Reviews by experts, without those of people who know the others' answers."""
        return [review for review in self.reviews if not self.rules.rules(review)]


def settle_questions(tables: Tables, params: ReviewParams) -> Settled:
    """Settle all questions."""
    question_ids = tables["questions"]["question_id"].to_list()
    rules = adjudication.Rules(frozenset(params.adjudicators), params.majority)
    annotations = list(Annotation.from_frame(tables["annotations"]))
    corrections = list(Correction.from_frame(tables["corrections"])) if "corrections" in tables else []
    lineage = trace(tables)
    counted, ignored = _counted(lineage.pulled, set(question_ids), params, rules)
    ignored |= {"changed_question": gone} if (gone := tables["pulled"].height - lineage.pulled.height) else {}
    reviews, superseded = adjudication.latest_reviews(counted)
    ignored |= {"superseded": len(superseded)} if superseded else {}
    labels = adjudication.final_labels(question_ids, annotations, reviews, rules)
    for at, each in enumerate(labels):
        if each.question_id in lineage.unconfirmed and each.status in (LabelStatus.AGREED, LabelStatus.ADJUDICATED):
            labels[at] = each.model_copy(update={"status": LabelStatus.SINGLE})  # both said so of other words
    groups = progress.groups_of(tables["questions"])
    single = progress.single_reviewed(groups, params.overlap) if params.overlap < 1 else set()
    answered, changed = adjudication.answered_flags(corrections), lineage.unconfirmed
    statuses = adjudication.question_statuses(labels, reviews, rules, answered, single, changed)
    return Settled(rules, annotations, labels, reviews, corrections, statuses, ignored, lineage)


def _counted(
    pulled: pl.DataFrame, question_ids: set[str], params: ReviewParams, rules: adjudication.Rules
) -> tuple[list[ExpertReview], dict[str, int]]:
    """The reviews that count, and how many do not for which reason."""
    known = {name: set(dimension.zh_names()) for name, dimension in taxonomy.dimensions().items()}
    everything = list(ExpertReview.from_frame(pulled))
    labelled = {(each.question_id, each.reviewer) for each in everything if not rules.rules(each)}
    counted: list[ExpertReview] = []
    ignored: Counter[str] = Counter()
    for review in everything:
        in_ruling = review.project == adjudication.ADJUDICATION
        rulers = params.adjudicators if in_ruling else ()
        if review.question_id not in question_ids:
            ignored["other_question"] += 1
        elif not (review.reviewer in rulers if rulers else params.invites(review.reviewer)):
            ignored["other_reviewer"] += 1
        elif in_ruling and (review.question_id, review.reviewer) in labelled:
            ignored["ruled_on_own_label"] += 1
        elif review.label not in known.get(review.dimension, ()):
            ignored["unknown_label"] += 1
        else:
            counted.append(review)
    return counted, dict(sorted(ignored.items()))


def waiting_questions(build: Path) -> tuple[list[tuple[ReviewItem, Question]], int]:
    """Return what waits in stages up to dedup and in the audit, or was flagged by the adjudicator, with its question.

    A conflict of several questions gives a pair for each of them. The number is of items that hold no question, such
    as a number that was not found.
    """
    if not (build / "parse" / "review.parquet").exists():
        raise errors.UserError(f"nothing was parsed in {build}: run `build-dataset parse` first")
    pairs: list[tuple[ReviewItem, Question]] = []
    without = 0
    rows_of = {stage: find_table(build, f"{stage}/review") for stage in _STAGES}
    waiting = {stage: list(ReviewItem.from_frame(rows)) for stage, rows in rows_of.items() if rows is not None}
    # Of the review, what the adjudicator flagged and left to be put right.
    waiting[STAGE] = [item for item in waiting.get(STAGE, ()) if item.reason == FLAGGED_BY_ADJUDICATOR]
    wanted = {name for stage in ("dedup", STAGE) for item in waiting.get(stage, ()) for name in item.question_ids}
    rows = find_rows(build, "clean/questions", pl.col("question_id").is_in(wanted))
    cleaned = {row["question_id"]: Question.model_validate(row) for row in rows}
    tables = (find_table(build, "clean/questions"), find_table(build, "clean/rejects"))
    settled = {name for table in tables if table is not None for name in table[:, 0]}  # kept or dropped by somebody
    for items in waiting.values():
        whole = tidied_items(items)
        for item in items:
            single = whole.get(item.item_id)
            known = whole if item.stage == "parse" else cleaned  # a doubt about a source holds its questions
            concerned = [known[each] for each in item.question_ids if each in known] if single is None else [single]
            without += not concerned
            decided = settled if item.stage == "parse" else ()
            pairs += [(item, question) for question in concerned if question.question_id not in decided]
    return pairs, without


def run(tables: Tables, params: ReviewParams, context: Context) -> Result:
    """Settle every question's label in every dimension, and measure the experts' agreement.

    Counts are of questions: *waiting* are those that are disputed, flagged, or seen by one of two experts, each
    with a review item; all others are kept, whether settled or not reviewed at all.
    """
    settled = settle_questions(tables, params)
    waiting = [standing for standing in settled.statuses if standing.state in adjudication.WAITING]
    judged = ExpertReview.to_frame(settled.judged())
    draws = draws_of(taxonomy.dimensions(), params.bootstrap, context.seed)
    rows = agreement(judged, draws, labels=True)
    rows += agreement_by_part(judged, draws)
    rows += agreement_with_annotators(judged, settled.annotations, draws)
    status = adjudication.review_status(settled.statuses)
    total = len(settled.statuses)
    names = set(settled.lineage.pulled["question_id"]) - set(tables["questions"]["question_id"])
    return Result(
        tables={"labels": Label.to_frame(settled.labels), "agreement": Agreement.to_frame(rows)},
        counts=Counts(n_input=total, kept=total - len(waiting), waiting=len(waiting)),
        review=[_review_item(standing, settled.rules) for standing in waiting],
        facts={
            "states": {state.value: count for state, count in status.states.items()},
            "experts": dict(status.experts),
            "flags": dict(status.flags),
            "ignored_reviews": settled.ignored,
            "alpha": {row.dimension: row.alpha for row in rows if _is_total(row)},
        },
        notes=notes(
            "build_dataset.pipeline.review",
            status=status,
            totals=list(filter(_is_total, rows)),
            reviewed=bool(settled.reviews),
            ignored=settled.ignored,
            strangers=[*sorted(names)[:5], *["…"] * (len(names) > 5)],
        ),
    )


def _review_item(standing: adjudication.QuestionStatus, rules: adjudication.Rules) -> ReviewItem:
    """Return a question that waits, with everybody's opinions."""
    ruled = any(review.flags and rules.rules(review) for review in standing.reviews)
    is_final = ruled and standing.state is adjudication.State.FLAGGED
    shown = {"dimension", "reviewer", "label", "flags", "note"}
    opinions = [review.model_dump(include=shown) for review in standing.reviews]
    return ReviewItem(
        item_id=standing.question_id,
        stage=STAGE,
        reason=FLAGGED_BY_ADJUDICATOR if is_final else standing.state.value,
        detail=standing.detail(),
        item=json.dumps(opinions, ensure_ascii=False, sort_keys=True),
    )


def status(
    tables: Tables, params: ReviewParams, control: pl.DataFrame
) -> tuple[adjudication.ReviewStatus, list[progress.ExpertWork], list[Agreement], Sequence[QuestionChange]]:
    """Return progress as of the last pull, each expert's work, agreement so far, and what changed since reviewed."""
    settled = settle_questions(tables, params)
    ids = [standing.question_id for standing in settled.statuses]
    judged = ExpertReview.to_frame(settled.judged())
    rows = agreement(judged, draws_of(taxonomy.dimensions(), params.bootstrap, seed=0))
    current = {**tables, "pulled": settled.lineage.pulled}
    mine = progress.assignment(current, params).questions if params.assign else None
    work = progress.expert_work(ids, settled.reviews, settled.rules, mine, progress.controls(control), params.experts)
    totals = [row for row in rows if _is_total(row)]
    return adjudication.review_status(settled.statuses), work, totals, settled.lineage.changes


def _is_total(row: Agreement) -> bool:
    return row.reviewers == ALL and row.label is None and row.slice is None


ALL = "all"  # experts together
ORIGINS = {"prediction": "accepted", "prediction-changed": "changed", "manual": "manual"}
"""Names of what an expert did with the label that was filled in, by Label Studio's word for it."""
Draws = Mapping[str, stats.Resampling]  # by dimension
_BLIND = pl.col("blind").max()  # of a question; null where it is unknown
_PARTS = (
    pl.format("batch {}", pl.col("batch").max()),
    pl.col("updated_at").max().str.slice(0, 10).str.to_date().dt.strftime("week %G-W%V"),
    pl.when(_BLIND).then(pl.lit(BLIND)).when(~_BLIND).then(pl.lit(PREFILLED)),
)  # the batch of a question, the week (ISO 8601) of its last review, and whether labels were filled in


def draws_of(dimensions: Iterable[str], resamples: int, seed: int) -> Draws:
    """Return the bootstrap of each dimension: its draw does not depend on what else is measured."""
    drawn = {name: hashlib.sha256(f"{seed}|{name}".encode()).hexdigest() for name in dimensions}
    return {name: stats.Resampling(resamples, int(digits[:16], 16)) for name, digits in drawn.items()}


def agreement(reviews: pl.DataFrame, draws: Draws, part: str | None = None, *, labels: bool = False) -> list[Agreement]:
    """Agreement in each dimension: of all experts together, of each pair, and, with ``labels``, for each label.

    ``reviews`` are at most one a question, dimension and reviewer, all of them or of a part, ``part``. The same
    ratings have the same bootstrap interval in whichever row.
    """
    rows = []
    for dimension, draw in draws.items():
        rated = reviews.filter(pl.col("dimension") == dimension).select("question_id", "reviewer", "label")
        by_question = groupby(rated.sort("question_id", "reviewer").iter_rows(), key=itemgetter(0))
        ratings: list[dict[str, str]] = [dict(row[1:] for row in unit) for _, unit in by_question]
        units = [tuple(unit.values()) for unit in ratings if len(unit) >= 2]
        rows.append(_row(dimension, ALL, units, draw, part))
        experts = sorted({expert for unit in ratings for expert in unit})
        for first, second in combinations(experts, 2):
            both = [(unit[first], unit[second]) for unit in ratings if first in unit and second in unit]
            if both:
                rows.append(_row(dimension, f"{first} & {second}", both, draw, part, pair=True))
        for label in sorted({label for unit in units for label in unit}) if labels else ():
            rows.append(_row(dimension, ALL, units, draw, part, pair=len(experts) == 2, label=label))
    return rows


def agreement_by_part(reviews: pl.DataFrame, draws: Draws) -> list[Agreement]:
    """Agreement by batch, by week, and with and without labels filled in, where there is more than one part."""
    rows: list[Agreement] = []
    for part_of in _PARTS:
        parts = reviews.group_by("question_id").agg(part=part_of).drop_nulls("part")
        names = sorted(set(parts["part"]), key=lambda name: (len(name), name))
        for name in names if len(names) > 1 else ():
            part_rows = reviews.join(parts.filter(pl.col("part") == name), on="question_id", how="semi")
            rows += agreement(part_rows, draws, name)
    return rows


def agreement_with_annotators(reviews: pl.DataFrame, proposals: Iterable[Annotation], draws: Draws) -> list[Agreement]:
    """Agreement of experts with each annotator: in all, by what they did with its label, and blind to it.

    Accepted and changed labels are compared with the label that was shown, also where the annotator says something
    else today. In all, and blind, experts are compared with the labels of today. Each review counts once, so that a
    question with two reviews counts twice in ``items``.
    """
    stated: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for annotation in proposals:
        stated[annotation.annotator, annotation.dimension].setdefault(annotation.question_id, annotation.label)
    pairs: dict[tuple[str, str, str | None], list[tuple[str, str]]] = defaultdict(list)
    for row in reviews.sort("question_id", maintain_order=True).iter_rows(named=True):
        shown: list[tuple[Any, Any]] = [(row.get("shown_by"), row.get("shown"))]
        stated_here = [(who, labels) for (who, name), labels in stated.items() if name == row["dimension"]]
        of_today = [(who, labels.get(row["question_id"])) for who, labels in stated_here]
        belongs: list[str | None] = [None] if row["blind"] is None else [None, BLIND if row["blind"] else PREFILLED]
        belongs += [ORIGINS[row["origin"]]] if row["origin"] in ORIGINS and not row["blind"] else []
        for part in belongs if row["dimension"] in draws else ():
            told = shown if part in ORIGINS.values() and row.get("shown_by") is not None else of_today
            for who, label in told:
                if label is not None:
                    pairs[who, row["dimension"], part].append((row["label"], label))
    names, parts = [*draws], (None, *ORIGINS.values(), BLIND, PREFILLED)
    return [
        _row(name, f"experts & {who}", pairs[who, name, part], draws[name], part, pair=True)
        for who, name, part in sorted(pairs, key=lambda key: (names.index(key[1]), key[:2], parts.index(key[2])))
    ]


def _row(
    dimension: str,
    reviewers: str,
    units: Sequence[Sequence[str]],
    draw: stats.Resampling,
    part: str | None,
    *,
    pair: bool = False,
    label: str | None = None,
) -> Agreement:
    """Return all coefficients of some ratings; with ``label``, of that label against all others."""
    if label is not None:
        units = [["label" if given == label else "other" for given in unit] for unit in units]
    counts = stats.count_labels(units, () if label is None else ("label", "other"))
    coefficients = {
        "raw": (stats.raw_agreement if label is None else stats.specific_agreement, counts),
        "ac1": (stats.gwet_ac1, counts),
        "kappa": (stats.cohen_kappa, stats.pair_table(units if pair else ())),
        "alpha": (stats.krippendorff_alpha, counts),
    }
    values: dict[str, float | None] = {}
    for name, (coefficient, table) in coefficients.items():
        values[name] = stats.value_of(coefficient, table)
        values[f"{name}_low"], values[f"{name}_high"] = stats.interval(coefficient, table, draw) or (None, None)
    items = len(counts) if label is None else int((counts[:, 0] > 0).sum())
    return Agreement(dimension=dimension, label=label, reviewers=reviewers, slice=part, items=items, **values)
