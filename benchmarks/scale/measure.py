"""Time and memory of the whole chain, from one raw table to the export, in one ``build-dataset run``.

    python -m benchmarks.scale.measure QUESTIONS.jsonl --size 280000 --folder /tmp/scale

Makes a table of generated questions (see ``benchmarks.dedup.generate``), runs every stage up to the export in a
process of its own, and prints each stage's seconds from the ledger, the processor time and the peak memory of the
process and its workers together.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import shutil
import subprocess
import sys
import threading
from pathlib import Path

from benchmarks.dedup.generate import generate, read_questions
from benchmarks.dedup.measure import distinct
from build_dataset.schemas.questions import Question

CHAIN = ("clean", "dedup", "split", "export")
"""The stages that issue 4 speaks of; the others are reported beside them."""
_DATASET = """[dataset]
name = "scale"
raw = "raw"
build = "build"

[annotate]
annotator = "lexicon"

[sources."{table}"]
accept = ["explanation_disagrees"]
"""
"""Copies with their options in another order keep the explanation, whose letters then speak against the key."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--size", type=int, default=280_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, required=True, help="emptied of an earlier build")
    parser.add_argument("--last", default="export", help="the last stage")
    options = parser.parse_args()
    table = options.folder / "raw" / f"questions-{options.size}-{options.seed}.csv"
    if not table.exists():
        write_table(table, options.questions, options.size, options.seed)
    (options.folder / "dataset.toml").write_text(_DATASET.format(table=table.name), encoding="utf-8")
    shutil.rmtree(options.folder / "build", ignore_errors=True)
    program = Path(sys.executable).with_name("build-dataset")
    command = [program, "run", "--to", options.last, "--config", options.folder / "dataset.toml"]
    with subprocess.Popen(command) as process:
        peak = watch(process)
    print_stages(options.folder / "build" / "runs.jsonl")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"\nprocessor time {used.ru_utime + used.ru_stime:.1f} s, peak memory {peak / 2**10:.0f} MiB")
    if process.returncode:
        raise SystemExit(process.returncode)


def write_table(path: Path, source: Path, size: int, seed: int) -> None:
    """Write ``size`` generated questions as CMExam's CSV."""
    path.parent.mkdir(parents=True, exist_ok=True)
    made = generate(distinct(read_questions(source)), size, seed)
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(("Question", "Options", "Answer", "Explanation"))
        writer.writerows(_row(item.question) for item in made)


def _row(question: Question) -> tuple[str, str, str, str]:
    options = "\n".join(f"{option.label} {option.text}" for option in question.options)
    return question.stem, options, "".join(question.answer or []), question.explanation or ""


def watch(process: subprocess.Popen[bytes]) -> int:
    """The largest resident memory, in KiB, of a process and its children together, until it ends."""
    peak, ended = 0, threading.Event()

    def poll() -> None:
        nonlocal peak
        while not ended.wait(0.05):
            peak = max(peak, _resident(process.pid))

    watcher = threading.Thread(target=poll)
    watcher.start()
    process.wait()
    ended.set()
    watcher.join()
    return peak


def _resident(root: int) -> int:
    """Resident memory of a process and of all below it, in KiB; 0 where there is no ``/proc``."""
    parents: dict[int, int] = {}
    resident: dict[int, int] = {}
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            fields = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
        except OSError:  # it ended meanwhile
            continue
        number = int(status.parent.name)
        parents[number] = int(fields.get("PPid", "0"))
        resident[number] = int(fields.get("VmRSS", "0 kB").split()[0])
    own = {root}
    for number in sorted(parents):  # children have higher numbers than their parents
        if parents[number] in own:
            own.add(number)
    return sum(resident.get(number, 0) for number in own)


def print_stages(ledger: Path) -> None:
    """Seconds by stage."""
    entries = [json.loads(line) for line in ledger.read_text(encoding="utf-8").splitlines()]
    print("\n| stage | seconds |\n| --- | ---: |")
    for entry in entries:
        print(f"| {entry['stage']} | {entry['seconds']:.1f} |")
    chain = sum(entry["seconds"] for entry in entries if entry["stage"] in CHAIN)
    print(f"| **{' + '.join(CHAIN)}** | **{chain:.1f}** |")
    print(f"| all | {sum(entry['seconds'] for entry in entries):.1f} |")


if __name__ == "__main__":
    main()
