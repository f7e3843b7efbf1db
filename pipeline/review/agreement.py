"""Agreement of experts, in all and in parts: by pair, label, batch, week, anchoring; and against annotators. Pure."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, groupby
from operator import itemgetter
from typing import Any

import polars as pl

from build_dataset.annotation.label_studio.tasks import BLIND, PREFILLED
from build_dataset.pipeline import stats
from build_dataset.schemas.annotations import Agreement, Annotation

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
