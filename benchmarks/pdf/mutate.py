"""Hostile files: mutants of real papers, each read by the ocr stage in a watched worker process.

    python -m benchmarks.pdf.mutate FOLDER --count 1000 --seed 0
    python -m benchmarks.pdf.mutate --pictures --count 170

Takes the PDFs of a folder (the sample exam's by default), makes ``--count`` mutants of them (see ``mutants``), and
runs the stage on each. Prints a table of what came of them by kind of mutation, the longest time of a file and the
largest memory of a worker, and names what broke a bound: 30 s (180 s with recognition), 2 GB, a crash. Exits with 1
when something did.
Pages that need OCR are recognised with ``--ocr`` alone, because engines are slow and no part of what is tested here.
``--pictures`` takes hostile pictures and scans instead (see ``benchmarks.ocr.pictures``) and recognises them.
"""

from __future__ import annotations

import argparse
import hashlib
import resource
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from benchmarks.ocr.pictures import pictures
from benchmarks.pdf.mutants import Mutant, mutants
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.stage import run
from build_dataset.pipeline.ocr.tasks import recognise_page
from build_dataset.pipeline.runtime.executor import LocalExecutor
from build_dataset.pipeline.runtime.store import ItemStore
from build_dataset.pipeline.stage import Context, Failure, Result
from build_dataset.schemas.dataset import DatasetParams
from build_dataset.schemas.documents import RawFile

SAMPLE = Path(__file__).parents[2] / "raw" / "sample" / "papers"
MAX_SECONDS = 30.0
MAX_BYTES = 2_000_000_000

Item = TypeVar("Item")
Out = TypeVar("Out")


class TextOnly(Context):
    """A context in which pages that need OCR stay unread."""

    def map(
        self, function: Callable[[Item], Out], items: Iterable[Item], *, timeout: float | None = None
    ) -> Iterator[tuple[Item, Out | Failure]]:
        """Map as usual; recognition is replaced."""
        if function is recognise_page:
            return ((item, Failure("needs_ocr", "not recognised here")) for item in items)
        return super().map(function, items, timeout=timeout)


@dataclass(frozen=True)
class Outcome:
    """Outcome of a mutant."""

    name: str
    kind: str
    what: str
    """``read``, ``blank pages``, ``needs OCR``, or the reason of its rejection."""
    seconds: float
    broken: str | None = None
    """Errors that should not have happened."""


class Reader:
    """Runs the stage on one file after the other, with a worker of its own."""

    def __init__(self, folder: Path, *, ocr: bool) -> None:
        self.folder = folder
        self.kind = Context if ocr else TextOnly
        self.most = OcrParams().page_timeout if ocr else MAX_SECONDS
        self.executor = LocalExecutor(1)

    def read(self, mutant: Mutant) -> Outcome:
        """Read a mutant and return its outcome."""
        home = self.folder / f"{mutant.number:05d}-{mutant.kind}"
        raw = home / "raw"
        raw.mkdir(parents=True)
        path = raw / f"{mutant.number:05d}{mutant.suffix}"
        path.write_bytes(mutant.content)
        dataset = DatasetParams(name="mutants", raw=raw, build=home)
        context = self.kind(raw, home, dataset, ItemStore(home / "store.sqlite"), self.executor)
        digest = hashlib.sha256(mutant.content).hexdigest()
        files = RawFile.to_frame([RawFile(document=path.name, sha256=digest, bytes=len(mutant.content))])
        start = time.perf_counter()
        what, broken = judge(run({"files": files}, OcrParams(), context))
        seconds = time.perf_counter() - start
        context.store.close()
        if seconds > self.most:
            broken = f"{seconds:.1f} s"
        if not broken:
            for left in sorted(home.rglob("*"), reverse=True):
                left.unlink() if left.is_file() else left.rmdir()
        return Outcome(home.name, mutant.kind, what, seconds, broken)


def judge(result: Result) -> tuple[str, str | None]:
    """Return a run's outcome in a word, and errors that should not have happened in it."""
    if result.rejects:
        reject = result.rejects[0]
        crash = reject.reason in ("crashed", "error") and f"{reject.reason}: {reject.detail}"
        return reject.reason.replace("needs_ocr", "needs OCR"), crash or None
    reasons = [str(reason) for reason in result.tables["pages"]["reason"].drop_nulls()]
    for reason in reasons:
        if reason.startswith(("crashed", "error")):
            return "blank pages", reason
    if any(reason.startswith("needs_ocr") for reason in reasons):
        return "needs OCR", None
    return ("blank pages" if "blank" in result.tables["pages"]["method"].to_list() else "read"), None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=SAMPLE)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--ocr", action="store_true")
    parser.add_argument("--pictures", action="store_true")
    parser.add_argument("--kind", nargs="*", help="mutants of these kinds alone")
    parser.add_argument("--without", nargs="*", default=[], help="mutants of all kinds but these")
    options = parser.parse_args()
    if options.pictures:
        made = pictures(options.count, options.seed)
    else:
        made = mutants(sorted(options.folder.rglob("*.pdf")), options.count, options.seed)
    chosen = (mutant for mutant in made if _wanted(mutant, options.kind, options.without))
    folder = Path(tempfile.mkdtemp(prefix="mutants-"))
    raise SystemExit(
        1 if report(read_all(chosen, folder, options.workers, ocr=options.ocr or options.pictures), folder) else 0
    )


def _wanted(mutant: Mutant, kinds: Sequence[str] | None, without: Sequence[str]) -> bool:
    return mutant.kind not in without and (not kinds or mutant.kind in kinds)


def read_all(chosen: Iterator[Mutant], folder: Path, workers: int, *, ocr: bool) -> list[Outcome]:
    """Every mutant's outcome; each thread takes the next one when it is done."""
    lock = threading.Lock()

    def following() -> Mutant | None:
        with lock:
            return next(chosen, None)

    def work(_: int) -> list[Outcome]:
        reader = Reader(folder, ocr=ocr)
        found = [reader.read(mutant) for mutant in iter(following, None)]
        reader.executor.close()
        return found

    with ThreadPoolExecutor(workers) as threads:
        return [outcome for part in threads.map(work, range(workers)) for outcome in part]


def report(outcomes: list[Outcome], folder: Path) -> bool:
    """Print what came of them; whether a bound was broken."""
    table: dict[str, Counter[str]] = defaultdict(Counter)
    for outcome in outcomes:
        table[outcome.kind][outcome.what] += 1
    names = sorted({outcome.what for outcome in outcomes})
    print("| mutation | " + " | ".join(names) + " | all |\n| --- |" + " ---: |" * (len(names) + 1))
    for kind, counted in sorted(table.items()):
        cells = " | ".join(str(counted[name] or "") for name in names)
        print(f"| {kind} | {cells} | {counted.total()} |")
    total = Counter(outcome.what for outcome in outcomes)
    print("| **all** | " + " | ".join(str(total[name]) for name in names) + f" | {total.total()} |")
    slowest = max(outcomes, key=lambda outcome: outcome.seconds)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    print(f"\nlongest {slowest.seconds:.1f} s ({slowest.name}), largest worker {peak / 1e6:.0f} MB")
    broken = [f"{outcome.name}: {outcome.broken}" for outcome in outcomes if outcome.broken]
    broken += [f"a worker took {peak / 1e6:.0f} MB"] if peak > MAX_BYTES else []
    print("\n".join([f"broke a bound (left in {folder}):", *broken]) if broken else "nothing broke a bound")
    return bool(broken)


if __name__ == "__main__":
    main()
