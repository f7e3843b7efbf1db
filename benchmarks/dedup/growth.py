"""Growth of deduplication with the number of questions: processor time by step, and pairs for each question.

    python -m benchmarks.dedup.growth QUESTIONS.jsonl --sizes 125000 250000 500000 --made 250000

The largest size takes the ``--made`` questions again and again, each time with their content renamed. The generator
renames before it makes copies; renamed afterwards, traditional and misread copies differ more, so that more pairs are
compared. Every size therefore takes the same share of each renaming.
"""

import argparse
import math
import resource
import time
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.dedup.generate import alphabet_of, generate, read_questions, renaming
from benchmarks.dedup.measure import distinct, table
from build_dataset.pipeline.dedup import stage
from build_dataset.pipeline.dedup.candidates import find_candidates
from build_dataset.pipeline.dedup.grams import bigrams
from build_dataset.pipeline.dedup.keys import comparable_items, with_keys
from build_dataset.pipeline.dedup.params import DedupParams
from build_dataset.pipeline.runtime.runner import relaxed_gc
from build_dataset.schemas.questions import Question

FIRST_RENAMING = 1_000_000
"""Renamings from here on, which the generator itself does not reach."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=[31_250, 62_500, 125_000])
    parser.add_argument("--made", type=int, default=125_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    bases = distinct(read_questions(options.questions))
    origins, frame = table(generate(bases, options.made, options.seed))
    frame = pl.DataFrame({"question_id": list(origins)}).join(frame, on="question_id").select(frame.columns)
    alphabet, parts = alphabet_of(bases), [frame]
    while sum(part.height for part in parts) < max(options.sizes):
        parts.append(renamed(frame, FIRST_RENAMING + len(parts), alphabet))
    before: tuple[int, float] | None = None
    for size in sorted(options.sizes):
        share = pl.concat(part.head(math.ceil(size / len(parts))) for part in parts).head(size)
        used = measured(share.sort("question_id"))
        grown = f", n^{math.log(used / before[1]) / math.log(size / before[0]):.2f}" if before else ""
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(f"{size:,} questions: {used:.1f} s of processors{grown}, peak {memory:.2f} GB\n", flush=True)
        before = size, used


def renamed(questions: pl.DataFrame, replica: int, alphabet: list[str]) -> pl.DataFrame:
    """The questions with other characters of content, and ids of their own."""
    rename = renaming(replica, alphabet)
    options = questions.with_row_index("row").select("row", "options").explode("options").unnest("options")
    texts = pl.Series("text", [rename(text) for text in options["text"]])
    again = (
        options.with_columns(texts)
        .group_by("row", maintain_order=True)
        .agg(options=pl.struct("label", "text"))["options"]
    )
    stem, explanation = (
        pl.Series(name, [text and rename(text) for text in questions[name]], dtype=pl.String)
        for name in ("stem", "explanation")
    )
    ids = pl.col("question_id") + f".{replica}"
    return questions.with_columns(ids, stem, explanation, again).cast(Question.polars_schema())


def measured(questions: pl.DataFrame) -> float:
    """Deduplicate the questions, print what each step took, and return the processor seconds of all."""
    taken: list[tuple[str, float]] = []
    started = time.process_time()

    def lap(name: str) -> None:
        taken.append((name, time.process_time() - started - sum(seconds for _, seconds in taken)))

    with relaxed_gc():
        keys = with_keys(questions)
        lap("keys")
        candidates = find_candidates(keys, 0, 0.8)
        lap("candidates")
        vocabulary = stage.vocabulary_of(questions, keys)
        rarities = [vocabulary.rarities(bigrams(part)) for part in stage.framed(keys, "key", stage.OPTIONS)]
        ranks = stage.copy_ranks(questions, np.concatenate(rarities))
        lap("vocabulary and ranks")
        found = stage.Resolution()
        pairs = candidates.pairs()
        concerned = comparable_items(questions, keys, np.unique(pairs).tolist())
        resolver = stage.Resolver(concerned, ranks, vocabulary, DedupParams())
        resolver.resolve(map(tuple, pairs.tolist()), found)
        lap("resolving")
        gone = sorted(row for row, *_ in found.merges)
        stage.clusters(questions["question_id"].to_list(), [None] * questions.height, gone, found.edges)
        lap("clusters")
    count = questions.height
    print(", ".join(f"{name} {1e6 * seconds / count:.0f}" for name, seconds in taken), "µs a question")
    print(
        f"exact copies {len(candidates.exact) / count:.3f}, pairs to compare {len(candidates.near) / count:.3f}, "
        f"related {len(found.edges) / count:.3f} a question; {candidates.left_out} pairs of crowds left out"
    )
    return sum(seconds for _, seconds in taken)


if __name__ == "__main__":
    main()
