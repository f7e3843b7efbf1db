"""Deduplication beside datasketch, rensa, semhash and text-dedup: time, recall, twins taken for copies.

    python -m venv /tmp/peers && /tmp/peers/bin/pip install -r benchmarks/dedup/requirements.txt
    python -m benchmarks.dedup.peers QUESTIONS.jsonl --python /tmp/peers/bin/python

All get the same texts: stem and options after our normalisation, which is to their advantage. They do their part
(signatures and buckets, or vectors and neighbours); ours does all of it, normalisation, verification and the kinds
of twins included. What is not installed is named and left out.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from benchmarks.dedup.generate import COPIES, TWINS, Made, generate, read_questions
from benchmarks.dedup.measure import deduplicated, distinct, places
from benchmarks.dedup.peer import PEERS
from benchmarks.dedup.styles import HELD_OUT_TWINS
from pipeline.dedup.candidates import OPTIONS, framed
from pipeline.dedup.keys import with_keys
from pipeline.stage import Result
from schemas.questions import Question


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("questions", type=Path)
    parser.add_argument("--size", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--python", default=sys.executable, help="the interpreter that has the other libraries"
    )
    options = parser.parse_args()
    made = generate(distinct(read_questions(options.questions)), options.size, options.seed)
    frame = Question.to_frame(item.question for item in made)
    print(f"{len(made):,} questions\n")
    print("| who | seconds | processor seconds | recall of copies | twins put with their base |")
    print("| --- | ---: | ---: | ---: | ---: |")
    before, used = time.perf_counter(), time.process_time()
    result = deduplicated(frame)
    took = time.perf_counter() - before, time.process_time() - used
    names = [item.question.question_id for item in made]
    print_row("build-dataset, all of it: merged", *took, made, places(names, result))
    print_row("the same: merged or in one cluster", *took, made, related(names, result))
    missing = [name for name in PEERS if not run_peer(name, options.python, made, frame)]
    if missing:
        print(
            f"\nnot installed for {options.python}: {', '.join(missing)}; see benchmarks/dedup/requirements.txt"
        )


def related(names: list[str], result: Result) -> dict[str, str]:
    """The cluster of each question, where the others stop: merged ones in that of the question that stands for them."""
    clusters = dict(result.tables["clusters"].select("question_id", "cluster_id").iter_rows())
    return {name: clusters.get(place, place) for name, place in places(names, result).items()}


def run_peer(name: str, python: str, made: list[Made], frame: pl.DataFrame) -> bool:
    """Run one and print its row; False when it is not there."""
    texts = framed(with_keys(frame), "key", OPTIONS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "texts.json"
        path.write_text(json.dumps(texts), encoding="utf-8")
        script = Path(__file__).with_name("peer.py")
        ended = subprocess.run([python, script, name, path], capture_output=True, text=True, check=False)
    if ended.returncode:
        if "ModuleNotFoundError" not in ended.stderr:
            raise SystemExit(f"{name}: {ended.stderr[-2000:]}")
        return False
    found = json.loads(ended.stdout.splitlines()[-1])
    ids = [item.question.question_id for item in made]
    place = {own: ids[cluster] for own, cluster in zip(ids, found["clusters"], strict=True)}
    print_row(name, found["seconds"], found["processor"], made, place)
    return True


def print_row(who: str, seconds: float, processor: float, made: list[Made], place: Mapping[str, str]) -> None:
    """A line of the table."""
    pairs = [
        (item.how, place[item.question.question_id] == place[item.base])
        for item in made
        if item.how != "base" and item.base in place
    ]
    copies = [together for how, together in pairs if how in COPIES]
    twins = [together for how, together in pairs if how in (*TWINS, *HELD_OUT_TWINS)]
    print(
        f"| {who} | {seconds:.2f} | {processor:.2f} | {sum(copies) / len(copies):.4f} "
        f"| {sum(twins):,} of {len(twins):,} |",
        flush=True,
    )


if __name__ == "__main__":
    main()
