"""Pages a second of text layers: one process alone, and the ocr stage as users run it.

    python -m benchmarks.pdf.textlayer FOLDER --pages 2000 --workers 2

Reads the PDFs of a folder (the sample exam's by default); pages that need OCR are left out. Prints pages by
second of processor time for PyMuPDF's own extraction of text, spans and characters (the floor of what any reader in
Python on MuPDF can do) and for our reader; then copies papers until there are ``--pages`` pages, runs the stage with
its workers, and prints pages by second of wall and of processor time, workers included.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pymupdf

from build_dataset.pipeline.config import load
from build_dataset.pipeline.ocr.model import PageRead
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers.pdf import PdfReader
from build_dataset.pipeline.ocr.textlayer import FLAGS
from build_dataset.pipeline.runtime.runner import Runner
from build_dataset.schemas.errors import UnreadableDocument

SAMPLE = Path(__file__).parents[2] / "raw" / "sample" / "papers"
_DATASET = '[dataset]\nname = "textlayer"\nraw = "raw"\nbuild = "build"\n\n[executor]\nworkers = {workers}\n'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=SAMPLE)
    parser.add_argument("--pages", type=int, default=1000, help="of the stage's run")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3, help="runs of one process; the best counts")
    options = parser.parse_args()
    papers = [path for path in sorted(options.folder.rglob("*.pdf")) if _is_text(path)]
    if not papers:
        raise SystemExit(f"no PDF with text layers alone in {options.folder}")
    count = sum(_pages(path) for path in papers)
    print(f"{len(papers)} papers, {count} pages\n\n| one process | pages / CPU s |\n| --- | ---: |")
    ways: list[tuple[str, Callable[[Path], object]]]
    ways = [(f"get_text('{kind}')", partial(_extract, kind)) for kind in ("text", "dict", "rawdict")]
    for name, read in (*ways, ("ours", _ours)):
        seconds = min(_cpu(read, papers) for _ in range(options.repeat))
        print(f"| {name} | {count / seconds:.0f} |")
    print(f"\nload before the stage: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    wall, processor, pages = run_stage(papers, options.pages, options.workers)
    print(f"\n| stage `ocr`, {options.workers} workers, {pages} pages | pages / s |\n| --- | ---: |")
    print(f"| wall | {pages / wall:.0f} |\n| processor, all processes | {pages / processor:.0f} |")


def _is_text(path: Path) -> bool:
    try:
        found = PdfReader().read(path, range(1, _pages(path) + 1), OcrParams())
    except UnreadableDocument:
        return False
    return all(isinstance(page, PageRead) for page in found)


def _pages(path: Path) -> int:
    return PdfReader().count_pages(path, OcrParams())


def _cpu(read: Callable[[Path], object], papers: Sequence[Path]) -> float:
    start = time.process_time()
    for path in papers:
        read(path)
    return time.process_time() - start


def _extract(kind: str, path: Path) -> None:
    with pymupdf.open(path) as document:
        for page in document:
            page.get_text(kind, flags=FLAGS)


def _ours(path: Path) -> None:
    PdfReader().read(path, range(1, _pages(path) + 1), OcrParams())


def run_stage(papers: Sequence[Path], pages: int, workers: int) -> tuple[float, float, int]:
    """Wall seconds, processor seconds of all processes, and pages of a run of the stage."""
    with tempfile.TemporaryDirectory(prefix="textlayer-") as name:
        folder = Path(name)
        (folder / "dataset.toml").write_text(_DATASET.format(workers=workers), encoding="utf-8")
        made = copy(papers, pages, folder / "raw")
        runner = Runner(load(folder / "dataset.toml"))
        before, start = _processor(), time.perf_counter()
        runner.run(["ocr"])
        return time.perf_counter() - start, _processor() - before, made


def copy(papers: Sequence[Path], pages: int, raw: Path) -> int:
    """Copies of the papers, each different by a comment at its end, until there are that many pages."""
    raw.mkdir(parents=True)
    made = 0
    while made < pages:
        for path in papers:
            made += _pages(path)
            (raw / f"{made:06d}.pdf").write_bytes(path.read_bytes() + b"\n%%%d\n%%%%EOF\n" % made)
            if made >= pages:
                break
    return made


def _processor() -> float:
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


if __name__ == "__main__":
    main()
