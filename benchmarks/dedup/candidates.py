"""Recall of the candidate search against comparing every question with every other (rapidfuzz's ``cdist``).

    python -m benchmarks.dedup.candidates QUESTIONS.jsonl --size 5000

A pair that brute force finds (similarity of stem and options together at least the given one) counts as found when
the search proposes it, or proposes their exact copies.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from rapidfuzz import fuzz, process

from benchmarks.dedup.generate import generate, read_questions
from benchmarks.dedup.measure import distinct, interval
from build_dataset.pipeline.dedup.candidates import OPTIONS, find_candidates, framed
from build_dataset.pipeline.dedup.keys import with_keys
from build_dataset.schemas.questions import Question

SIMILARITIES = (95, 90, 85, 80, 75, 70)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--size", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    made = list(generate(distinct(read_questions(options.questions)), options.size, options.seed))
    frame = Question.to_frame(item.question for item in made).sort("question_id")
    keys = with_keys(frame)
    before = time.perf_counter()
    candidates = find_candidates(keys, seed=0, related=0.8)
    searched = time.perf_counter() - before
    first = np.arange(frame.height)
    first[candidates.exact[:, 1]] = candidates.exact[:, 0]
    proposed = {(int(one), int(other)) for one, other in candidates.near}
    texts = [text for part in framed(keys, "key", OPTIONS) for text in part]
    before = time.perf_counter()
    scores = process.cdist(texts, texts, scorer=fuzz.ratio, score_cutoff=SIMILARITIES[-1], dtype=np.uint8, workers=2)
    compared = time.perf_counter() - before
    one, other = np.nonzero(np.triu(scores, 1))
    met = np.array(
        [(min(a, b), max(a, b)) in proposed or a == b for a, b in zip(first[one], first[other], strict=True)]
    )
    print(f"search {searched:.2f} s for {len(proposed):,} pairs, brute force {compared:.2f} s\n")
    print("| similarity at least | pairs | found | recall | 95 % |\n| ---: | ---: | ---: | ---: | --- |")
    for least in SIMILARITIES:
        chosen = scores[one, other] >= least
        found, total = int(met[chosen].sum()), int(chosen.sum())
        low, high = interval(found, total)
        print(f"| {least} | {total:,} | {found:,} | {found / max(1, total):.4f} | {low:.4f}–{high:.4f} |")


if __name__ == "__main__":
    main()
