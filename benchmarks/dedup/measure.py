"""Quality and speed of deduplication on questions made by ``generate``.

    python -m benchmarks.dedup.measure QUESTIONS.jsonl --size 20000

Prints recall by kind of copy, precision of merges, twins merged (must be none), conflicts found, seconds, memory.
"""

from __future__ import annotations

import argparse
import math
import resource
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from benchmarks.dedup.generate import COPIES, TWINS, Made, generate, read_questions
from benchmarks.dedup.styles import HELD_OUT_COPIES, HELD_OUT_TWINS
from build_dataset.pipeline.dedup.params import DedupParams
from build_dataset.pipeline.dedup.stage import run
from build_dataset.pipeline.runtime.executor import relax_gc
from build_dataset.pipeline.stage import Result
from build_dataset.schemas.questions import Question


class Origin(NamedTuple):
    """The change that made a question, its base, and its index."""

    how: str
    base: str
    truth: str


class Memory(dict[str, Any]):
    """An item store for as long as the process lives."""

    def put(self, key: str, value: Any) -> None:
        """Keep a value."""
        self[key] = value


class InProcess:
    """A context without processes."""

    def __init__(self, seed: int = 0) -> None:
        self.seed, self.store = seed, Memory()

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        """Apply a function to each item, here."""
        return ((item, function(item)) for item in items)


def deduplicated(questions: pl.DataFrame, **params: Any) -> Result:
    """The stage's result for a ``Question`` table, run as the runner does."""
    relax_gc()
    return run({"questions": questions}, DedupParams(**params), InProcess())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--size", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--misses", type=int, default=0, help="print so many of what went wrong")
    parser.add_argument(
        "--mixed", action="store_true", help="a table, a text layer and a scan that misreads, in one bank"
    )
    options = parser.parse_args()
    bases = distinct(read_questions(options.questions))
    made, frame = table(generate(bases, options.size, options.seed, mixed=options.mixed))
    before, worked = time.perf_counter(), time.process_time()
    result = deduplicated(frame)
    seconds, worked = time.perf_counter() - before, time.process_time() - worked
    report(made, result, options.misses, frame)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    took = f"{seconds:.2f} s ({worked:.1f} s of processors)"
    print(f"{len(made)} questions in {took}, peak memory of the process {memory:.0f} MB")


def table(questions: Iterable[Made]) -> tuple[dict[str, Origin], pl.DataFrame]:
    """Return the origin of each question by id, and all questions as a table, made some thousand at a time."""
    origins: dict[str, Origin] = {}
    frames = []
    waiting = iter(questions)
    while part := list(islice(waiting, 20_000)):
        origins |= {made.question.question_id: Origin(made.how, made.base, made.truth) for made in part}
        frames.append(Question.to_frame(made.question for made in part))
    return origins, pl.concat(frames).sort("question_id")


def distinct(questions: list[Question]) -> list[Question]:
    """The given questions without their own copies, so that what is merged later was made."""
    found = deduplicated(Question.to_frame(questions))
    left = set(found.tables["questions"]["question_id"])
    return [question for question in questions if question.question_id in left]


def report(made: dict[str, Origin], result: Result, misses: int, frame: pl.DataFrame) -> None:
    """Print the table of what was found."""
    place = places(made, result)
    waiting = {member for item in result.review for member in item.question_ids}
    total, found, conflicts = Counter[str](), Counter[str](), 0
    shown: list[tuple[str, str, str]] = []
    for name, item in made.items():
        if item.base not in made or name == item.base:
            continue
        together = place[name] == place[item.base]
        total[item.how] += 1
        found[item.how] += together
        conflicts += item.how == "conflict" and together and name in waiting
        if item.how != "conflict" and together != (item.how in (*COPIES, *HELD_OUT_COPIES)):
            shown.append((item.how, name, item.base))
    kinds = (*COPIES, *TWINS, "variant", "conflict", *HELD_OUT_COPIES, *HELD_OUT_TWINS)
    for kind in kinds:
        held_out = " (held out)" if kind in (*HELD_OUT_COPIES, *HELD_OUT_TWINS) else ""
        print(f"{kind:13} {found[kind]:6} of {total[kind]:6} placed with their base{held_out}")
    moved = [name for name in made if place[name] != name]
    wrong = [name for name in moved if made[name].truth != made[place[name]].truth]
    print(
        f"same question: recall {_share(found, total, COPIES)}, held out {_share(found, total, HELD_OUT_COPIES)}, "
        f"precision {1 - len(wrong) / len(moved):.4f} ({len(wrong)} wrong of {len(moved)})"
    )
    _show(frame, [("wrong", name, place[name]) for name in wrong][:misses] + shown[:misses])
    print(
        f"twins merged: {sum(found[kind] for kind in TWINS)} of {sum(total[kind] for kind in TWINS)}, held out "
        f"{sum(found[kind] for kind in HELD_OUT_TWINS)} of {sum(total[kind] for kind in HELD_OUT_TWINS)}"
    )
    print(f"conflicting keys found: {conflicts} of {total['conflict']}")
    print(f"counts {result.counts}, facts {result.facts}")


def _show(frame: pl.DataFrame, pairs: list[tuple[str, str, str]]) -> None:
    names = {name for _, *both in pairs for name in both}
    rows = Question.from_frame(frame.filter(pl.col("question_id").is_in(names)))
    lines = {row.question_id: _line(row) for row in rows}
    for how, name, other in pairs:
        print(f"  {how}: {lines[name]}\n  of: {lines[other]}")


def places(names: Iterable[str], result: Result) -> dict[str, str]:
    """Return the survivor of each question; a question that was kept is its own survivor."""
    place = {name: name for name in names}
    place |= dict(result.tables["merges"].select("question_id", "survivor_id").iter_rows())
    return place | {member: item.item_id for item in result.review for member in item.question_ids}


def _share(found: Counter[str], total: Counter[str], kinds: Iterable[str]) -> str:
    """The share with its 95 % interval (Wilson, "Probable inference", 1927)."""
    names = list(kinds)
    low, high = interval(sum(found[kind] for kind in names), sum(total[kind] for kind in names))
    share = sum(found[kind] for kind in names) / max(1, sum(total[kind] for kind in names))
    return f"{share:.4f} [{low:.4f}–{high:.4f}]"


def interval(right: int, total: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    if not total:
        return 0.0, 1.0
    share, spread = right / total, z * z / total
    middle = (share + spread / 2) / (1 + spread)
    half = z * math.sqrt(share * (1 - share) / total + spread / (4 * total)) / (1 + spread)
    return middle - half, middle + half


def _line(question: Question) -> str:
    options = " / ".join(option.text for option in question.options)
    return f"{question.stem} | {options} | {''.join(question.answer or [])}"


if __name__ == "__main__":
    main()
