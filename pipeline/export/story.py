"""The story of a release for its card: what was found, what became of it, and how far it was read and reviewed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl
from scipy.stats import poisson

from build_dataset.annotation.label_studio.editable import ANSWER, VERDICT
from build_dataset.pipeline.aside import LOSING, outcomes_of
from build_dataset.pipeline.dedup.keys import UNSURE
from build_dataset.pipeline.split.units import twins_of
from build_dataset.pipeline.stage import Tables
from build_dataset.schemas.annotations import LabelStatus
from build_dataset.schemas.questions import Rejection
from build_dataset.schemas.taxonomy import dimensions

_WRONG = (1 / 100, 1 / 14)
"""Share of questions read by OCR in which a character is wrong, surely read and not (benchmarks/ocr)."""


@dataclass(frozen=True)
class Story:
    """Counts of questions; those from ``read_by_ocr`` on are of the released ones."""

    outcomes: dict[str, int]
    """By what became of them: ``kept``, ``merged``, ``rejected``, ``waiting``; empty without the parsed questions."""
    rejected: dict[str, int]  # by reason, the commonest first
    waiting: dict[str, int]  # the same
    refused: int  # files that could not be read
    read_by_ocr: int
    unsure: int  # of these, with an unsure line
    wrong_expected: int  # of these, with a wrong character, by the shares above
    wrong_at_most: int  # the same, not exceeded in 95 of 100 cases
    labels: int
    reviewed: int  # labels that an expert has looked at
    keys_by_people: int  # questions whose key was verified or corrected
    twins: int  # families of twins
    twins_in_test: int  # families of which several are in test
    twins_left_out: int

    @classmethod
    def of(cls, tables: Tables, splits: Mapping[str, pl.DataFrame], rejects: Sequence[Rejection]) -> Story:
        """Return the story of the rows of ``splits``; ``rejects`` are those of the export."""
        whole = pl.concat(rows.with_columns(split=pl.lit(name)) for name, rows in splits.items())
        given = {f"dedup/{name}": tables[name] for name in ("merges",)} | {"export/rejects": Rejection.to_frame(rejects)}
        found = outcomes_of((dict(tables) | given).get) if "parse/questions" in tables else []
        counts = Counter[str]()
        reasons: dict[str, Counter[str]] = {"rejected": Counter(), "waiting": Counter()}
        for outcome in found:
            counts[outcome.name] += outcome.size
            if outcome.name in reasons:
                reasons[outcome.name][outcome.reason] += outcome.size
        read = tables["questions"].join(whole, on="question_id", how="semi")["confidence"].drop_nulls()
        unsure = int((read < UNSURE).sum())
        expected = (len(read) - unsure) * _WRONG[0] + unsure * _WRONG[1]
        statuses = whole.select(pl.col([f"{name}_status" for name in dimensions()])).unpivot()["value"]
        labelled = int(whole.select(pl.col(list(dimensions())).count()).sum_horizontal().sum())
        decided = tables["corrections"].filter(pl.col("field").is_in([ANSWER, VERDICT]))
        twins = twins_of(tables["clusters"]).select("question_id", family="cluster_id")
        families = twins.join(whole.select("question_id", "split"), on="question_id").unique()
        several = families.group_by("family", "split").len().filter(pl.col("len") > 1)
        left_out = tables.get("split/rejects", Rejection.to_frame([]))
        return cls(
            outcomes={name: counts[name] for name in ("kept", "merged", "rejected", "waiting")} if found else {},
            rejected=dict(reasons["rejected"].most_common()),
            waiting=dict(reasons["waiting"].most_common()),
            refused=tables["ocr/rejects"].height if "ocr/rejects" in tables else 0,
            read_by_ocr=len(read),
            unsure=unsure,
            wrong_expected=round(expected),
            wrong_at_most=int(poisson.ppf(0.95, expected)) if expected else 0,
            labels=labelled,
            reviewed=int((statuses != LabelStatus.UNREVIEWED.value).sum()),
            keys_by_people=decided.join(whole, on="question_id", how="semi")["question_id"].n_unique(),
            twins=several["family"].n_unique(),
            twins_in_test=several.filter(split="test").height,
            twins_left_out=left_out.filter(reason="twin_in_test").height,
        )


def waiting_questions(tables: Tables) -> set[str]:
    """Return the ids of the questions that wait for a person and are therefore not released."""
    frames = [frame for name in LOSING if (frame := tables.get(f"{name}/review")) is not None]
    rows = [row for frame in frames for row in frame.select("item_id", "question_ids").iter_rows()]
    return {name for own, several in rows for name in (own, *(several or ()))}
