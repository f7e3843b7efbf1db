"""Agreement of experts, in all and in parts: by pair, label, batch, week, anchoring; and against annotators. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from annotation.coefficients import (
    Counts,
    Draw,
    ac1_interval,
    alpha_interval,
    cohen_kappa,
    count_labels,
    fleiss_interval,
    fleiss_kappa,
    gwet_ac1,
    kappa_interval,
    krippendorff_alpha,
    raw_agreement,
    raw_interval,
    specific_agreement,
    specific_interval,
)
from schemas.annotations import Agreement, Annotation

ALL = "all"
BLIND, PREFILLED = "blind", "prefilled"
ORIGINS = {"prediction": "accepted", "prediction-changed": "changed", "manual": "manual"}
"""What an expert did with the label that was filled in, by Label Studio's word for it."""


def agreement(
    reviews: pl.DataFrame,
    dimensions: Iterable[str],
    *,
    resamples: int,
    seed: int,
    slice_name: str | None = None,
    labels: bool = False,
) -> list[Agreement]:
    """Agreement in each dimension: of all experts together, of each pair, and for each label.

    Args:
        reviews: at most one row a question, dimension and reviewer, with the columns ``question_id``,
            ``dimension``, ``reviewer``, ``label``.
        dimensions: which, in the order of the result.
        resamples: of the bootstrap.
        seed: of the bootstrap; the same ratings have the same interval in whichever row.
        slice_name: what part of the work these reviews are; null for all of it.
        labels: whether each label also has a row.
    """
    rows = []
    for dimension in dimensions:
        draw = Draw(resamples, _own_seed(seed, dimension))
        ratings = _ratings(reviews.filter(pl.col("dimension") == dimension))
        units = [tuple(unit.values()) for unit in ratings if len(unit) >= 2]
        rows.append(_row(dimension, ALL, units, draw, slice_name))
        experts = sorted({expert for unit in ratings for expert in unit})
        for first, second in combinations(experts, 2):
            both = [(unit[first], unit[second]) for unit in ratings if first in unit and second in unit]
            if both:
                rows.append(_row(dimension, f"{first} & {second}", both, draw, slice_name, pair=True))
        if labels:
            two = len(experts) == 2
            rows += [
                _label_row(dimension, label, units, draw, slice_name, pair=two) for label in _used(units)
            ]
    return rows


def agreement_by_part(
    reviews: pl.DataFrame, dimensions: Sequence[str], *, resamples: int, seed: int
) -> list[Agreement]:
    """Agreement by batch, by week, and with and without labels filled in, where there is more than one part.

    A question belongs to the week (ISO 8601) of its last review.
    """
    rows: list[Agreement] = []
    for names in (_batches(reviews), _weeks(reviews), _arms(reviews)):
        parts = sorted(
            {name for name in names.values() if name is not None}, key=lambda name: (len(name), name)
        )
        if len(parts) < 2:
            continue
        for part in parts:
            chosen = [question_id for question_id, name in names.items() if name == part]
            own = reviews.filter(pl.col("question_id").is_in(chosen))
            rows += agreement(own, dimensions, resamples=resamples, seed=seed, slice_name=part)
    return rows


def agreement_with_annotators(
    reviews: pl.DataFrame,
    annotations: Iterable[Annotation],
    dimensions: Iterable[str],
    *,
    resamples: int,
    seed: int,
) -> list[Agreement]:
    """Agreement of experts with each annotator: in all, by what they did with its label, and blind to it.

    What they accepted or changed is the label that was shown to them, also where the annotator says something else
    today, or another annotator does; in all, and blind, experts are held against the labels of today.

    Each review counts once, so that a question with two reviews counts twice in ``items``.
    """
    stated: dict[tuple[str, str], dict[str, str]] = {}
    for annotation in annotations:
        own = stated.setdefault((annotation.annotator, annotation.dimension), {})
        own.setdefault(annotation.question_id, annotation.label)
    wanted = {name: place for place, name in enumerate(dimensions)}
    pairs: dict[tuple[str, str], dict[str | None, list[tuple[str, str]]]] = {}
    for part, row in _by_part(reviews):
        told: list[tuple[Any, Any]] = [(row.get("shown_by"), row.get("shown"))]
        if part not in ORIGINS.values() or row.get("shown_by") is None:
            of_today = [(who, labels) for (who, name), labels in stated.items() if name == row["dimension"]]
            told = [(who, labels.get(row["question_id"])) for who, labels in of_today]
        for who, label in told:
            if label is not None:
                pairs.setdefault((who, row["dimension"]), {}).setdefault(part, []).append(
                    (row["label"], label)
                )
    return [
        _row(name, f"experts & {who}", found[part], Draw(resamples, _own_seed(seed, name)), part, pair=True)
        for (who, name), found in sorted(
            pairs.items(), key=lambda item: (wanted.get(item[0][1], -1), item[0])
        )
        for part in (None, *ORIGINS.values(), BLIND, PREFILLED)
        if part in found and name in wanted
    ]


def _by_part(reviews: pl.DataFrame) -> Iterator[tuple[str | None, Mapping[str, Any]]]:
    """Every review with every part that it belongs to."""
    for row in reviews.sort("question_id", maintain_order=True).iter_rows(named=True):
        yield None, row
        if row["blind"] is not None:
            yield BLIND if row["blind"] else PREFILLED, row
        if row["origin"] in ORIGINS and not row["blind"]:
            yield ORIGINS[row["origin"]], row


def _batches(reviews: pl.DataFrame) -> dict[str, str | None]:
    return {
        question_id: None if batch is None else f"batch {batch}"
        for question_id, batch in reviews.select("question_id", "batch")
        .unique()
        .sort("question_id")
        .iter_rows()
    }


def _arms(reviews: pl.DataFrame) -> dict[str, str | None]:
    return {
        question_id: None if blind is None else BLIND if blind else PREFILLED
        for question_id, blind in reviews.select("question_id", "blind")
        .unique()
        .sort("question_id")
        .iter_rows()
    }


def _weeks(reviews: pl.DataFrame) -> dict[str, str | None]:
    last = reviews.group_by("question_id").agg(pl.col("updated_at").max()).sort("question_id")
    return {question_id: _week(moment) for question_id, moment in last.iter_rows()}


def _week(moment: str) -> str:
    year, week, _ = date.fromisoformat(moment[:10]).isocalendar()
    return f"week {year}-W{week:02}"


def _own_seed(seed: int, dimension: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}|{dimension}".encode()).digest()[:8], "big")


def _used(units: Iterable[Sequence[str]]) -> list[str]:
    return sorted({label for unit in units for label in unit})


def _row(
    dimension: str,
    reviewers: str,
    units: Sequence[Sequence[str]],
    draw: Draw,
    slice_name: str | None,
    *,
    pair: bool = False,
) -> Agreement:
    counts = count_labels(units)
    pairs: list[tuple[Hashable, Hashable]] = [(unit[0], unit[1]) for unit in units] if pair else []
    raw_low, raw_high = raw_interval(counts, draw) or (None, None)
    return Agreement(
        dimension=dimension,
        label=None,
        reviewers=reviewers,
        slice=slice_name,
        items=len(counts),
        raw=raw_agreement(counts),
        raw_low=raw_low,
        raw_high=raw_high,
        **_chance_corrected(counts, pairs, draw),
    )


def _label_row(
    dimension: str,
    label: str,
    units: Sequence[Sequence[str]],
    draw: Draw,
    slice_name: str | None,
    *,
    pair: bool,
) -> Agreement:
    """One label against all others; its column comes first, as ``specific_agreement`` wants it."""
    binary = [tuple("other" if given != label else "label" for given in unit) for unit in units]
    chosen = np.array([unit.count("label") for unit in binary], dtype=np.int64)
    counts = np.column_stack([chosen, np.array([len(unit) for unit in binary], dtype=np.int64) - chosen])
    pairs: list[tuple[Hashable, Hashable]] = [(unit[0], unit[1]) for unit in binary] if pair else []
    low, high = specific_interval(counts, draw) or (None, None)
    return Agreement(
        dimension=dimension,
        label=label,
        reviewers=ALL,
        slice=slice_name,
        items=int((chosen > 0).sum()),
        raw=specific_agreement(counts),
        raw_low=low,
        raw_high=high,
        **_chance_corrected(counts, pairs, draw),
    )


def _chance_corrected(
    counts: Counts, pairs: Sequence[tuple[Hashable, Hashable]], draw: Draw
) -> dict[str, float | None]:
    """Kappa, for pairs, alpha, AC1 and Fleiss' kappa, each with its interval."""
    kappa = cohen_kappa([a for a, _ in pairs], [b for _, b in pairs])
    kappa_low, kappa_high = kappa_interval(pairs, draw) or (None, None)
    alpha_low, alpha_high = alpha_interval(counts, resamples=draw.resamples, seed=draw.seed) or (None, None)
    ac1_low, ac1_high = ac1_interval(counts, draw) or (None, None)
    fleiss_low, fleiss_high = fleiss_interval(counts, draw) or (None, None)
    return {
        "ac1": gwet_ac1(counts),
        "ac1_low": ac1_low,
        "ac1_high": ac1_high,
        "fleiss": fleiss_kappa(counts),
        "fleiss_low": fleiss_low,
        "fleiss_high": fleiss_high,
        "kappa": kappa,
        "kappa_low": kappa_low,
        "kappa_high": kappa_high,
        "alpha": krippendorff_alpha(counts),
        "alpha_low": alpha_low,
        "alpha_high": alpha_high,
    }


def _ratings(reviews: pl.DataFrame) -> list[Mapping[str, str]]:
    """Labels by expert, unit by unit, in the order of question ids."""
    units: dict[str, dict[str, str]] = {}
    columns = reviews.select("question_id", "reviewer", "label").sort("question_id", "reviewer")
    for question_id, reviewer, label in columns.iter_rows():
        units.setdefault(question_id, {})[reviewer] = label
    return list(units.values())
