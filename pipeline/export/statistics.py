"""Statistics of a release after CMExam's table 2, with characters as tokens as there; what its columns mean."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import polars as pl

from pipeline.export.formats import question_text
from schemas.release import ReleaseRow, label_columns
from schemas.taxonomy import dimensions


def meanings() -> dict[str, str]:
    """Return the meaning of each column of ``ReleaseRow``, in order.

    Raises:
        KeyError: a column is not explained.
    """
    explained = tomllib.loads((files("pipeline.export") / "columns.toml").read_text(encoding="utf-8"))
    for dimension in dimensions().values():
        label, english, status = label_columns(dimension.name)
        explained[label] = f"{dimension.en}: the label's Chinese name; null when there is none"
        explained[english] = "The label's English name"
        explained[status] = "How far the label can be trusted: see “How the labels were made”"
    return {name: explained[name] for name in ReleaseRow.column_names()}


_TEXTS = ("question", "answer", "explanation")


def statistics(splits: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
    """Counts and lengths of each split and of all questions together.

    Lengths are in characters. A question's text is its shared case, if any, and its stem; the vocabulary is
    the set of characters of questions and explanations; quartiles interpolate linearly. As in CMExam, a
    missing explanation counts as length 0 (``explanation``); ``explanation_present`` leaves it out.

    ``total`` averages over all questions. ``total_as_published`` holds the unweighted means of the splits'
    means, which is what CMExam's column "Total" contains.
    """
    texts = {name: _texts(rows) for name, rows in splits.items()}
    found = {name: _describe(frame) for name, frame in texts.items()}
    means = {
        text: _mean([part[text]["mean"] for part in found.values() if part["questions"]]) for text in _TEXTS
    }
    return {**found, "total": _describe(pl.concat(texts.values())), "total_as_published": {"mean": means}}


def distribution(splits: Mapping[str, pl.DataFrame], name: str) -> dict[str | None, dict[str, int]]:
    """Questions by label (null: no label yet) and split, in one dimension or column."""
    found: dict[str | None, dict[str, int]] = {}
    for split, rows in splits.items():
        for label, count in rows[name].value_counts().sort(name).iter_rows():
            found.setdefault(label, dict.fromkeys(splits, 0))[split] = count
    return found


def _texts(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.select(
        question_text().alias("question"),
        pl.col("answer").list.join("").alias("answer"),
        pl.col("explanation"),
    )


def _describe(texts: pl.DataFrame) -> dict[str, Any]:
    lengths = texts.select(pl.col(_TEXTS).str.len_chars())
    return {
        "questions": texts.height,
        "vocabulary": _vocabulary(texts),
        **{name: _lengths(lengths[name].fill_null(0)) for name in _TEXTS},
        "explanations": texts["explanation"].count(),
        "explanation_present": _lengths(lengths["explanation"].drop_nulls()),
    }


def _vocabulary(texts: pl.DataFrame) -> int:
    characters: set[str] = set()
    for name in ("question", "explanation"):
        for text in texts[name].drop_nulls().to_list():
            characters.update(text)
    return len(characters)


def _lengths(lengths: pl.Series) -> dict[str, float | int | None]:
    """Maximum, mean and quartiles; null where there is nothing to measure."""
    longest = lengths.max()
    return {
        "max": longest if isinstance(longest, int) else None,
        "mean": _rounded(lengths.mean()),
        "median": _rounded(lengths.quantile(0.5, "linear")),
        "q1": _rounded(lengths.quantile(0.25, "linear")),
        "q3": _rounded(lengths.quantile(0.75, "linear")),
    }


def _mean(values: list[float]) -> float | None:
    return _rounded(sum(values) / len(values)) if values else None


def _rounded(value: Any) -> float | None:
    """To four places, so that the order of a sum cannot change the file."""
    return None if value is None else round(float(value), 4)
