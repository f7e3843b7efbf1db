"""Quality and speed of deduplication on questions made by ``generate``.

    python -m benchmarks.dedup.measure QUESTIONS.jsonl --size 20000

Prints recall by kind of copy, precision of merges, twins merged (must be none), conflicts found, seconds, memory.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl

from benchmarks.dedup.generate import COPIES, TWINS, Made, generate, read_questions
from pipeline.dedup.params import DedupParams
from pipeline.dedup.stage import run
from pipeline.runtime.collection import seldom_collected
from pipeline.stage import Result
from schemas.questions import Question


class Memory(dict[str, Any]):
    """An item store for as long as the process lives."""

    def put(self, key: str, value: Any) -> None:
        """Keep a value."""
        self[key] = value


def deduplicated(questions: pl.DataFrame, **params: Any) -> Result:
    """The stage's result for a ``Question`` table, run as the runner does."""
    with seldom_collected():
        return run({"questions": questions}, DedupParams(**params), SimpleNamespace(seed=0, store=Memory()))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("questions", type=Path)
    parser.add_argument("--size", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--misses", type=int, default=0, help="print so many of what went wrong")
    options = parser.parse_args()
    made = generate(distinct(read_questions(options.questions)), options.size, options.seed)
    frame = Question.to_frame(item.question for item in made)
    before = time.perf_counter()
    result = deduplicated(frame)
    seconds = time.perf_counter() - before
    report(made, result, options.misses)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{len(made)} questions in {seconds:.2f} s, peak memory of the process {memory:.0f} MB")


def distinct(questions: list[Question]) -> list[Question]:
    """The given questions without their own copies, so that what is merged later was made."""
    found = deduplicated(Question.to_frame(questions))
    left = set(found.tables["questions"]["question_id"])
    return [question for question in questions if question.question_id in left]


def report(made: list[Made], result: Result, misses: int) -> None:
    """Print the table of what was found."""
    by_id = {item.question.question_id: item for item in made}
    place = {row: row for row in by_id}
    for merge in result.tables["merges"].iter_rows(named=True):
        place[merge["question_id"]] = merge["survivor_id"]
    waiting = {member: item.item_id for item in result.review for member in item.question_ids}
    place |= waiting
    wrong = [(one, other) for one, other in place.items() if by_id[one].truth != by_id[other].truth]
    total, found, conflicts = Counter[str](), Counter[str](), Counter[bool]()
    for name, item in by_id.items():
        base = item.base
        if base not in by_id or name == base:
            continue
        total[item.how] += 1
        together = place[name] == place[base]
        found[item.how] += together
        if item.how == "conflict":
            conflicts[together and name in waiting] += 1
        elif misses and together != (item.how in COPIES):
            misses -= 1
            print(f"  {item.how}: {_line(item.question)}\n  of: {_line(by_id[base].question)}")
    for kind in (*COPIES, *TWINS, "variant", "conflict"):
        print(f"{kind:10} {found[kind]:6} of {total[kind]:6} placed with their base")
    same = sum(total[kind] for kind in COPIES)
    right = sum(found[kind] for kind in COPIES)
    moved = sum(one != other for one, other in place.items())
    twins = sum(found[kind] for kind in TWINS)
    print(
        f"same question: recall {right / same:.4f}, "
        f"precision {1 - len(wrong) / moved:.4f} ({len(wrong)} wrong of {moved})"
    )
    print(f"twins merged: {twins} of {sum(total[kind] for kind in TWINS)}")
    print(f"conflicts sent to review: {conflicts[True]} of {conflicts.total()}")
    print(f"counts {result.counts}, facts {result.facts}")


def _line(question: Question) -> str:
    options = " / ".join(option.text for option in question.options)
    return f"{question.stem} | {options} | {''.join(question.answer or [])}"


if __name__ == "__main__":
    main()
