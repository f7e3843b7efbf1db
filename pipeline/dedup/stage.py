"""The dedup stage: questions that are the same merged, twins that only look alike kept, conflicts left to people."""

from __future__ import annotations

from collections import Counter

import polars as pl

from pipeline.dedup.candidates import find_candidates
from pipeline.dedup.clusters import clusters
from pipeline.dedup.items import items
from pipeline.dedup.keys import with_keys
from pipeline.dedup.params import DedupParams
from pipeline.dedup.resolve import Resolution, Resolver
from pipeline.stage import Context, Counts, Result, Tables
from schemas.questions import Cluster, Merge, Question, ReviewItem

STAGE = "dedup"


def run(tables: Tables, params: DedupParams, context: Context) -> Result:
    """Merge what is the same, cluster what is related, set aside what contradicts itself.

    All copies of a question whose answers contradict each other wait for a person; none of them survives.

    Args:
        tables: ``questions``, cleaned.
        params: thresholds.
        context: for the seed.

    Returns:
        Tables ``questions`` (survivors by question_id), ``merges`` and ``clusters``; a review item a conflict.
    """
    questions = tables["questions"].sort("question_id")
    found = resolve(questions, params, context.seed)
    merged = {row for row, _, _ in found.merges}
    waiting = {row for rows in found.conflicts for row in rows}
    ids = questions["question_id"].to_list()
    groups = questions.select(pl.concat_str("document", "group_id", separator="\x1f"))["document"].to_list()
    merges = [
        Merge(
            question_id=ids[row], survivor_id=ids[leader], kind=how.kind, score=how.score, reason=how.reason
        )
        for row, leader, how in found.merges
    ]
    gone = sorted(merged | waiting)
    kept = questions.with_row_index("row").filter(~pl.col("row").is_in(gone)).drop("row")
    related = clusters(ids, groups, gone, found.edges)
    return Result(
        tables={
            "questions": kept,
            "merges": Merge.to_frame(sorted(merges, key=lambda row: row.question_id)),
            "clusters": Cluster.to_frame(related),
        },
        counts=Counts(questions.height, kept.height, merged=len(merged), waiting=len(waiting)),
        review=[_conflict(questions, rows) for rows in sorted(found.conflicts)],
        facts={
            "merges": dict(sorted(Counter(row.kind for row in merges).items())),
            "clusters": len({row.cluster_id for row in related}),
            "conflicts": len(found.conflicts),
        },
    )


def resolve(questions: pl.DataFrame, params: DedupParams, seed: int) -> Resolution:
    """Find and settle all related pairs.

    Args:
        questions: a ``Question`` table sorted by question_id; rows are named by their place in it.
        params: thresholds.
        seed: of the candidate search.
    """
    if questions.is_empty():
        return Resolution()
    keys = with_keys(questions)
    candidates = find_candidates(keys, questions["explanation"], seed)
    pairs = [(int(one), int(other)) for part in (candidates.exact, candidates.near) for one, other in part]
    rows = sorted({row for pair in pairs for row in pair})
    resolver = Resolver(items(questions, keys, rows), ranks(questions), candidates.vocabulary, params)
    return resolver.resolve(pairs)


def ranks(questions: pl.DataFrame) -> dict[int, int]:
    """How good a copy each row is, 0 the best.

    With a key before without; a key after appeals first; then the longest explanation, a known human accuracy, a
    text layer or the surest recognition; ties by question_id.
    """
    order = questions.with_row_index("row").sort(
        pl.col("answer").is_null(),
        pl.col("accepted_answers").is_null(),
        -pl.col("explanation").str.len_chars().fill_null(0).cast(pl.Int64),
        pl.col("human_accuracy").is_null(),
        -pl.col("confidence").fill_null(1.0),
        "question_id",
    )
    return {row: rank for rank, row in enumerate(order["row"].to_list())}


def _conflict(questions: pl.DataFrame, rows: list[int]) -> ReviewItem:
    copies = [Question.model_validate(row) for row in questions[rows].iter_rows(named=True)]
    said = "; ".join(f"{copy.question_id} says {''.join(copy.answer or []) or 'nothing'}" for copy in copies)
    return ReviewItem(
        item_id=copies[0].question_id,
        question_ids=[copy.question_id for copy in copies],
        stage=STAGE,
        reason="conflicting_answers",
        detail=f"one question, different answers: {said}",
        item="[" + ",".join(copy.model_dump_json(exclude_none=True) for copy in copies) + "]",
    )
