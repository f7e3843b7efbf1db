"""Strata: combinations of values in which proportions are to hold, the small ones pooled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

OTHER = "其他/other"
NONE = "无/none"

Stratum = tuple[str, ...]
"""Values of the stratifying columns, first to last; pooled strata are shorter and end in ``OTHER``."""


def values(questions: pl.DataFrame, labels: pl.DataFrame, names: Sequence[str]) -> list[Stratum]:
    """The values of every question in the stratifying columns, in the order of ``questions``.

    Args:
        questions: with ``question_id`` and the columns among ``names``.
        labels: with ``question_id, dimension, label``, for the dimensions among ``names``.
        names: columns of questions or dimensions of annotation.
    """
    if not names:
        return [()] * questions.height
    frame = questions
    for name in names:
        if name not in questions.columns:
            of_dimension = labels.filter(pl.col("dimension") == name)
            column = of_dimension.select("question_id", pl.col("label").alias(name)).unique("question_id")
            frame = frame.join(column, on="question_id", how="left", maintain_order="left")
    return list(frame.select(pl.col(*names).fill_null(NONE)).iter_rows())


def pool(counts: Mapping[Stratum, int], minimum: int, keep: int = 0) -> dict[Stratum, Stratum]:
    """Pool small strata, so that strata have at least ``minimum`` questions.

    A stratum that is too small gives up its last value and is pooled with its neighbours that are too small
    as well; if together they still are, they give up the value before, and so on up to one pool of all.

    Args:
        counts: questions by stratum.
        minimum: questions a stratum should have.
        keep: number of leading values that are never given up; pools inside them may stay smaller.

    Returns:
        the final stratum by original one.
    """
    final = {stratum: stratum for stratum in counts}
    depth = max((len(stratum) for stratum in counts), default=0)
    for length in range(depth, keep, -1):
        sizes: dict[Stratum, int] = {}
        for stratum, count in counts.items():
            sizes[final[stratum]] = sizes.get(final[stratum], 0) + count
        for stratum, pooled in final.items():
            if sizes[pooled] < minimum:
                final[stratum] = (*pooled[: length - 1], OTHER)
    return final


def name(stratum: Stratum) -> str:
    """A stratum's name in tables."""
    return " · ".join(stratum) or "全部/all"
