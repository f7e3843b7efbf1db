"""The dedup stage: questions that are the same merged, twins that only look alike kept, conflicts left to people."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pipeline.dedup.candidates import MOST_ALIKE, OPTIONS, batches, framed, stored_candidates, vocabulary_of
from pipeline.dedup.grams import bigrams
from pipeline.dedup.keys import items, with_keys
from pipeline.dedup.params import DedupParams
from pipeline.dedup.resolve import Resolution, Resolver, clusters
from pipeline.stage import Context, Counts, Result, Store, Tables
from schemas.questions import Merge, Question, ReviewItem
from schemas.wording import counted

STAGE = "dedup"


def run(tables: Tables, params: DedupParams, context: Context) -> Result:
    """Merge what is the same, cluster what is related, set aside what contradicts itself.

    All copies of a question whose answers contradict each other wait for a person; none of them survives.

    Returns:
        Tables ``questions`` (survivors by question_id), ``merges`` and ``clusters``; a review item a conflict.
    """
    questions = tables["questions"]
    if not questions["question_id"].is_sorted():
        questions = questions.sort("question_id")
    found = resolve(questions, params, context.seed, context.store)
    merges = _merges(questions["question_id"], found)
    merged = [row for row, _, _ in found.merges]
    waiting = [row for rows in found.conflicts for row in rows]
    gone = sorted([*merged, *waiting])
    related = clusters(questions["question_id"].to_list(), _groups(questions), gone, found.edges)
    kept = questions.with_row_index("row").filter(~pl.col("row").is_in(gone)).drop("row")
    return Result(
        tables={"questions": kept, "merges": merges, "clusters": related},
        counts=Counts(questions.height, kept.height, merged=len(merged), waiting=len(waiting)),
        review=[_conflict(questions, rows) for rows in sorted(found.conflicts)],
        notes=_notes(found),
        facts={
            "merges": dict(sorted(Counter(merges["kind"]).items())),
            "clusters": related["cluster_id"].n_unique(),
            "conflicts": len(found.conflicts),
        },
    )


def resolve(questions: pl.DataFrame, params: DedupParams, seed: int, store: Store) -> Resolution:
    """Find and settle all related pairs."""
    if questions.is_empty():
        return Resolution()
    keys = with_keys(questions)
    candidates = stored_candidates(questions, keys, seed, store)
    vocabulary = vocabulary_of(questions, keys)
    rarities = [vocabulary.rarities(bigrams(part)) for part in framed(keys, "key", OPTIONS)]
    order = ranks(questions, np.concatenate(rarities))
    found = Resolution(left_out=candidates.left_out)
    for pairs in batches(candidates, questions.height):
        concerned = items(questions, keys, np.unique(pairs).tolist())
        found += Resolver(concerned, order, vocabulary, params).resolve(map(tuple, pairs.tolist()))
    return found


def ranks(questions: pl.DataFrame, rarities: NDArray[np.int64]) -> list[int]:
    """Rank the rows by how good a copy each is, 0 the best.

    With a key before without; a key after appeals first; then the longest explanation, a known human accuracy, a
    text layer or the surest recognition; then the fewest bigrams met nowhere else, which misreadings leave; ties by
    question_id.
    """
    order = questions.select(
        pl.col("answer").is_null(),
        accepted=pl.col("accepted_answers").is_null(),
        explanation=-pl.col("explanation").str.len_chars().fill_null(0).cast(pl.Int64),
        accuracy=pl.col("human_accuracy").is_null(),
        confidence=-pl.col("confidence").fill_null(1.0),
        rarity=pl.Series(rarities),
        question_id="question_id",
    ).with_row_index("row")
    by_quality = order.sort(pl.exclude("row"))["row"].to_numpy()
    places = np.empty(len(by_quality), np.int64)
    places[by_quality] = np.arange(len(by_quality))
    return places.tolist()


def _notes(found: Resolution) -> list[str]:
    notes = []
    if found.conflicts:
        copies = sum(map(len, found.conflicts))
        asked = counted(len(found.conflicts), "question")
        notes.append(f"{asked} with contradicting keys: all {copies:,} copies wait")
    if found.left_out:
        left = counted(found.left_out, "pair")
        notes.append(
            f"{left} of crowds of like questions not compared: each with its {MOST_ALIKE} most alike"
        )
    return notes


def _merges(ids: pl.Series, found: Resolution) -> pl.DataFrame:
    columns = {
        "question_id": ids.gather([row for row, _, _ in found.merges]),
        "survivor_id": ids.gather([leader for _, leader, _ in found.merges]),
        "kind": [how.kind for _, _, how in found.merges],
        "score": [how.score for _, _, how in found.merges],
        "reason": [how.reason for _, _, how in found.merges],
    }
    return pl.DataFrame(columns, schema=Merge.polars_schema()).sort("question_id")


def _groups(questions: pl.DataFrame) -> list[str | None]:
    """Return the group within its document of each question."""
    return questions.select(pl.concat_str("document", "group_id", separator="\x1f"))["document"].to_list()


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
