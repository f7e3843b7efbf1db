"""Measure the time and memory of comparing questions with a public benchmark.

    python -m benchmarks.leaks.measure QUESTIONS.jsonl BENCHMARK --size 280000

Questions come from ``benchmarks.dedup.generate``. Beside the stage runs what most projects do: a Python set of the
13-grams of all questions, in which every 13-gram of the benchmark is looked up. Both see the same texts; the set says
which questions overlap, the stage also where and how much. Every measurement runs in a process of its own.
"""

from __future__ import annotations

import argparse
import re
import resource
import time
import unicodedata
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path

from benchmarks.dedup.generate import generate, read_questions
from build_dataset.pipeline.leaks.files import read_texts
from build_dataset.pipeline.leaks.overlap import Index

SIZE = 13
_TOKEN = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]{2,}|[0-9]")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument("benchmark", type=Path)
    parser.add_argument("--size", type=int, default=20_000)
    options = parser.parse_args()
    made = generate(read_questions(options.questions), options.size, 0)
    texts = ["\n".join([item.question.stem, *(one.text for one in item.question.options)]) for item in made]
    print(f"{len(texts):,} questions against {options.benchmark.name}\n")
    print("| | questions that overlap | CPU s | peak MiB more than before |")
    print("| --- | ---: | ---: | ---: |")
    for name, function in (("leaks", ours), ("a set of 13-grams", python_set)):
        with get_context("fork").Pool(1) as pool:
            found, seconds, memory = pool.apply(measured, (function, texts, options.benchmark))
        print(f"| {name} | {found:,} | {seconds:.1f} | {memory:,} |")


def measured(function: Callable[[list[str], Path], int], texts: list[str], path: Path) -> tuple[int, float, int]:
    before, clock = peak(), time.process_time()
    found = function(texts, path)
    return found, time.process_time() - clock, peak() - before


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def ours(texts: list[str], path: Path) -> int:
    return len(Index(texts, SIZE, 10).matches(read_texts(path))[0])


def python_set(texts: list[str], path: Path) -> int:
    owners: dict[tuple[str, ...], set[int]] = {}
    for row, text in enumerate(texts):
        for gram in grams(text):
            owners.setdefault(gram, set()).add(row)
    found: set[int] = set()
    for record in read_texts(path):
        for gram in grams(record.text):
            rows = owners.get(gram, ())
            found.update(rows if len(rows) <= 10 else ())
    return len(found)


def grams(text: str) -> list[tuple[str, ...]]:
    tokens = _TOKEN.findall(unicodedata.normalize("NFKC", text).lower())
    return list(zip(*(tokens[start:] for start in range(SIZE)), strict=False))


if __name__ == "__main__":
    main()
