"""Processor time and memory of the whole chain, from raw tables to the export, in one run.

    python -m benchmarks.scale.measure QUESTIONS.jsonl --size 280000 --files 28 --folder /tmp/scale

Makes tables of distinct questions, as CMB's 280,839 are: those given, and the same with their words renamed (see
``benchmarks.dedup.generate``). Runs every stage up to the export and prints, stage by stage, the processor time of the
main process and of its workers, seconds by the clock, and the peak memory of all processes together. The last column
is what two free cores would take: the main process and the workers one after the other, at the most.
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import shutil
import threading
import time
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path

from benchmarks.dedup.generate import alphabet_of, read_questions, renamed, renaming
from benchmarks.dedup.measure import distinct
from build_dataset.pipeline.catalogue import STAGES
from build_dataset.pipeline.config import load
from build_dataset.pipeline.runtime.runner import Report, Runner
from build_dataset.schemas.questions import Question

_DATASET = """[dataset]
name = "scale"
raw = "raw"
build = "build"

[annotate]
annotator = "lexicon"
"""
_CORES = 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--size", type=int, default=280_000)
    parser.add_argument("--files", type=int, default=1)
    parser.add_argument("--folder", type=Path, required=True, help="its tables are made once")
    parser.add_argument("--last", default="export", help="the last stage")
    parser.add_argument("--resume", action="store_true", help="keep the stages of an earlier run that are done")
    options = parser.parse_args()
    if not (options.folder / "raw").exists():
        write_tables(options.folder / "raw", options.questions, options.size, options.files)
    (options.folder / "dataset.toml").write_text(_DATASET, encoding="utf-8")
    if not options.resume:
        shutil.rmtree(options.folder / "build", ignore_errors=True)
    names = [stage.name for stage in STAGES]
    meter = Meter()
    runner = Runner(load(options.folder / "dataset.toml"))
    runner.run(names[: names.index(options.last) + 1], on_stage_done=meter.told)
    print(f"| **all** | {meter.line(meter.start)} {meter.two_cores:.1f} |")


def write_tables(folder: Path, source: Path, size: int, files: int) -> None:
    """Write ``size`` distinct questions as CMExam's CSV, in so many files."""
    folder.mkdir(parents=True)
    rows = _rows(distinct(read_questions(source)))
    for number in range(files):
        with (folder / f"bank{number:02}.csv").open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(("Question", "Options", "Answer", "Explanation"))
            writer.writerows(islice(rows, size // files))


def _rows(bases: list[Question]) -> Iterator[tuple[str, str, str, str]]:
    alphabet = alphabet_of(bases)
    for replica in count():
        rename = renaming(replica, alphabet)
        for question in (renamed(base, replica, rename) if replica else base for base in bases):
            options = "\n".join(f"{option.label} {option.text}" for option in question.options)
            yield question.stem, options, "".join(question.answer or []), question.explanation or ""


class Meter:
    """Tells what each stage took."""

    def __init__(self) -> None:
        """Watch memory from now on."""
        self.start = self._last = _clocks()
        self.peak, self.two_cores = 0, 0.0
        threading.Thread(target=self._watch, daemon=True).start()
        print("| stage | main | workers | clock | peak MiB | two free cores |\n| --- | --: | --: | --: | --: | --: |")

    def told(self, report: Report) -> None:
        """Print the line of a stage; the workers of one that is done have ended."""
        main, workers = (now - before for now, before in zip(_clocks()[:2], self._last[:2], strict=True))
        seconds = main + workers / _CORES
        self.two_cores += seconds
        print(f"| {report.stage.name} | {self.line(self._last)} {seconds:.1f} |", flush=True)
        self._last = _clocks()

    def line(self, since: tuple[float, float, float]) -> str:
        """Return processor time of the main process and of its workers, the clock, and memory so far."""
        took = " | ".join(f"{now - before:.1f}" for now, before in zip(_clocks(), since, strict=True))
        return f"{took} | {self.peak >> 10} |"

    def _watch(self) -> None:
        while True:
            self.peak = max(self.peak, _resident(os.getpid()))
            time.sleep(0.5)


def _clocks() -> tuple[float, float, float]:
    """Processor time of this process and of its children that ended, and the clock, in seconds."""
    own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime, others.ru_utime + others.ru_stime, time.perf_counter()


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


if __name__ == "__main__":
    main()
