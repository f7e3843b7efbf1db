"""The questions that the clean stage drops of those that others found sound.

    python -m benchmarks.clean.exclusion QUESTIONS.jsonl

QUESTIONS.jsonl holds CMExam's ``Question``, ``Options`` and ``Answer``: they survived its own filter for figures,
tables and duplicates, so that each drop is ours to defend. Prints every one of them with its reason.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

from benchmarks.dedup.generate import read_questions
from benchmarks.dedup.measure import interval
from build_dataset.pipeline.clean.params import CleanParams
from build_dataset.pipeline.clean.stage import run
from build_dataset.schemas.questions import Question

MOST = 0.005
"""Largest share of sound questions that may go."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    options = parser.parse_args()
    questions = read_questions(options.questions)
    context = SimpleNamespace(progress=lambda *_: nullcontext(lambda _: None))
    result = run({"questions": Question.to_frame(questions)}, CleanParams(), context)
    dropped = [*result.rejects, *result.review]
    for item in dropped:
        assert item.item is not None
        stem = json.loads(item.item)["stem"]
        print(f"{item.item_id}  {item.reason}: {item.detail}\n    {stem}")
    low, high = interval(len(dropped), len(questions))
    print(f"\n{dict(Counter(item.reason for item in dropped).most_common())}")
    print(
        f"{len(dropped)} of {len(questions):,} dropped: {len(dropped) / len(questions):.2%} "
        f"(95 %: {low:.2%}–{high:.2%}; at most {MOST:.1%} may be)"
    )


if __name__ == "__main__":
    main()
