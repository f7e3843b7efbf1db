"""Deduplication beside datasketch, rensa, semhash and text-dedup: time, recall, twins taken for copies.

    python -m venv /tmp/peers && /tmp/peers/bin/pip install -r benchmarks/dedup/requirements.txt
    python -m benchmarks.dedup.peers QUESTIONS.jsonl --python /tmp/peers/bin/python

All get the same texts: stem and options after our normalisation, which is to their advantage. They do their part
(signatures and buckets, or vectors and neighbours) and stop there: all that shares a bucket is one to them, so what
they find and what they would merge is the same. Ours goes on: it verifies each pair and tells copies from twins, and
all of that, normalisation included, is in its seconds. Three columns keep the two tasks apart:

- copies found: in one component of the pairs that are proposed for comparison;
- copies clustered: merged, or kept in one cluster, so that no split parts them;
- copies merged, twins merged: what a user would lose; a twin is another question.

What is not installed is named and left out; what does not end in time has a row that says so.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.dedup.banks import questions
from benchmarks.dedup.generate import COPIES, TWINS, Made, generate, read_questions
from benchmarks.dedup.measure import deduplicated, distinct, places
from benchmarks.dedup.peer import PEERS
from benchmarks.dedup.styles import HELD_OUT_TWINS
from build_dataset.pipeline.dedup.candidates import OPTIONS, find_candidates, framed
from build_dataset.pipeline.dedup.grams import components
from build_dataset.pipeline.dedup.keys import with_keys
from build_dataset.pipeline.stage import Result
from build_dataset.schemas.questions import Question


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path, nargs="?", help="none: the generated bank of ``banks mixed``")
    parser.add_argument("--size", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has the other libraries")
    parser.add_argument("--limit", type=float, default=600, help="seconds that each of the others has")
    options = parser.parse_args()
    if options.questions:
        made = list(generate(distinct(read_questions(options.questions)), options.size, options.seed))
    else:  # copies and twins of unknown truth: time alone compares
        bank = questions(options.size, "mixed")
        made = [Made(one, "base", one.question_id, one.question_id) for one in bank]
    frame = Question.to_frame(item.question for item in made)
    print(f"{len(made):,} questions\n")
    print("| who | seconds | processor seconds | rows/s | copies found | clustered | merged | twins merged |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    before, used = time.perf_counter(), time.process_time()
    result = deduplicated(frame)
    took = time.perf_counter() - before, time.process_time() - used
    names = [item.question.question_id for item in made]
    found, merged = proposed(frame), places(names, result)
    print_row("build-dataset, all of it", *took, made, (found, related(merged, result), merged))
    missing = [name for name in PEERS if not run_peer(name, options, made, frame)]
    if missing:
        print(f"\nnot installed for {options.python}: {', '.join(missing)}; see benchmarks/dedup/requirements.txt")


def proposed(frame: pl.DataFrame) -> dict[str, str]:
    """The component of each question among the pairs that our search proposes: where the others stop."""
    questions = frame.sort("question_id")
    ids = questions["question_id"].to_list()
    found = components(find_candidates(with_keys(questions), seed=0)[0], len(ids))
    first = np.unique(found, return_index=True)[1]
    return {name: ids[first[component]] for name, component in zip(ids, found, strict=True)}


def related(merged: Mapping[str, str], result: Result) -> dict[str, str]:
    """The cluster of each question; merged ones are in that of the question that stands for them."""
    clusters = dict(result.tables["clusters"].select("question_id", "cluster_id").iter_rows())
    return {name: clusters.get(place, place) for name, place in merged.items()}


def run_peer(name: str, options: argparse.Namespace, made: list[Made], frame: pl.DataFrame) -> bool:
    """Run one and print its row; False when it is not there."""
    texts = [text for part in framed(with_keys(frame), "key", OPTIONS) for text in part]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "texts.json"
        path.write_text(json.dumps(texts), encoding="utf-8")
        script = Path(__file__).with_name("peer.py")
        command = [options.python, script, name, path]
        try:
            ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=options.limit)
        except subprocess.TimeoutExpired:
            print(f"| {name} | not ended in {options.limit:.0f} s |" + " – |" * 6, flush=True)
            return True
    if ended.returncode:
        if "ModuleNotFoundError" not in ended.stderr:
            raise SystemExit(f"{name}: {ended.stderr[-2000:]}")
        return False
    found = json.loads(ended.stdout.splitlines()[-1])
    ids = [item.question.question_id for item in made]
    place = {own: ids[cluster] for own, cluster in zip(ids, found["clusters"], strict=True)}
    print_row(name, found["seconds"], found["processor"], made, (place, place, place))
    return True


def print_row(
    who: str, seconds: float, processor: float, made: list[Made], stages: Sequence[Mapping[str, str]]
) -> None:
    """A line of the table.

    Args:
        who: the library.
        seconds: wall time.
        processor: processor time.
        made: the questions.
        stages: of each question, what it was found with, clustered with, merged into.
    """
    found = [_together(made, place, COPIES) for place in stages]
    copies = [f"{sum(one) / len(one):.4f}" if one else "–" for one in found]
    twins = _together(made, stages[-1], (*TWINS, *HELD_OUT_TWINS))
    cells = [
        who,
        f"{seconds:.2f}",
        f"{processor:.2f}",
        f"{len(made) / processor:,.0f}",
        *copies,
        f"{sum(twins):,} of {len(twins):,}",
    ]
    print(f"| {' | '.join(cells)} |", flush=True)


def _together(made: list[Made], place: Mapping[str, str], kinds: Collection[str]) -> list[bool]:
    """Tell of each question of these kinds whether it ended in the place of its base."""
    return [
        place[item.question.question_id] == place[item.base]
        for item in made
        if item.how in kinds and item.base in place
    ]


if __name__ == "__main__":
    main()
