"""Accuracy, speed and memory of OCR engines on pages made for it, in one run.

    python -m benchmarks.ocr.measure --pages 7
    python -m benchmarks.ocr.measure --pages 7 --questions QUESTIONS.jsonl --engines default,rapidocr --json out.json

For each engine and condition (see ``pages``): character error rate, widths folded and spaces apart; accuracy of option
letters (case apart), digits and punctuation; pages a second by the clock; processor seconds a page; peak memory summed
over processes. An engine that cannot run is named with the reason.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

from benchmarks.ocr import texts
from benchmarks.ocr.pages import CONDITIONS, TruthPage, make, save
from benchmarks.ocr.score import score

ROOT = Path(__file__).resolve().parents[2]
PADDLE_PYTHON = ROOT / ".venv-paddle/bin/python"
ENGINES = {"default": 2, "onnxruntime": 2, "rapidocr": 1, "paddleocr": 1}
"""Engines and their processes for two cores: those of ours take one a core; what comes as it is uses both in one."""


@dataclass
class Row:
    """Result of one engine in one condition."""

    engine: str
    condition: str
    pages: int
    chars: int
    cer: float
    option: float
    digit: float
    punctuation: float
    pages_a_second: float
    cpu_a_page: float
    memory_mb: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=7, help="of each condition")
    parser.add_argument("--conditions", default="abcd")
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--questions", type=Path, help="JSONL in CMExam's form to print; without, texts are made")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="ocr-benchmark-") as name:
        made = {}
        for condition in options.conditions:
            folder = Path(name) / condition
            folder.mkdir()
            made[condition] = make(folder, _questions(options, condition), condition, options.pages)
            save(made[condition], folder / "truth.json")
        for engine in options.engines.split(","):
            if reason := missing(engine):
                print(f"{engine}: left out, {reason}")
                continue
            for condition, pages in made.items():
                rows.append(run(engine, condition, pages, Path(name) / condition))
                print(_line(rows[-1]), flush=True)
    _summary(rows)
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1), encoding="utf-8")


def _questions(options: argparse.Namespace, condition: str) -> Iterator[texts.Printed]:
    """Other questions for each condition."""
    if options.questions is None:
        return texts.generated(options.seed * 100 + ord(condition))
    return islice(texts.read(options.questions), 400 * "abcd".index(condition), None)


def missing(engine: str) -> str | None:
    """Why an engine cannot run here."""
    lacks = engine == "paddleocr" and _python(engine) is None
    return "PaddleOCR is not installed (make .venv-paddle/.ready)" if lacks else None


def _python(engine: str) -> str | None:
    if engine != "paddleocr" or find_spec("paddleocr"):
        return sys.executable
    return str(PADDLE_PYTHON) if PADDLE_PYTHON.exists() else None


def run(engine: str, condition: str, pages: list[TruthPage], folder: Path) -> Row:
    """Let an engine read a folder of pages and score it."""
    out = folder / f"{engine}.json"
    python = _python(engine)
    assert python is not None, "missing looked"
    command = [
        python,
        "-m",
        "benchmarks.ocr.worker",
        engine,
        str(folder),
        str(out),
        "--processes",
        str(ENGINES[engine]),
    ]
    with (folder / f"{engine}.log").open("w+") as log:
        process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
        peak = _watch(process)
        if process.returncode:
            log.seek(0)
            raise SystemExit(f"{engine} failed:\n{log.read()[-3000:]}")
    found = json.loads(out.read_text(encoding="utf-8"))
    counts: Counter[str] = Counter()
    for page, read in zip(pages, found["pages"], strict=True):
        counts += score(page, [(text, corners) for text, corners in read["words"]])
    return Row(
        engine, condition, len(pages), counts["chars"], counts["errors"] / counts["chars"],
        *(1 - counts[f"{kind}_wrong"] / max(1, counts[kind]) for kind in ("option", "digit", "punctuation")),
        len(pages) / found["wall"], sum(page["cpu"] for page in found["pages"]) / len(pages), peak,
    )  # fmt: skip


def _watch(process: subprocess.Popen[bytes]) -> float:
    """Peak of the memory of a process and its descendants in MB, shared pages counted once (PSS), until it ends."""
    peak = 0.0
    done = threading.Event()
    threading.Thread(target=lambda: (process.wait(), done.set()), daemon=True).start()
    while not done.wait(0.25):
        peak = max(peak, sum(_pss(pid) for pid in _family(process.pid)))
    return peak


def _family(pid: int) -> list[int]:
    """A process and its descendants."""
    found = [pid]
    for one in found:
        for task in Path(f"/proc/{one}/task").glob("*/children"):
            try:
                found += [int(child) for child in task.read_text().split()]
            except OSError:
                continue
    return found


def _pss(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


_HEAD = "engine        pages                       chars   CER %  options  digits  punct.  pages/s  CPU s/page    MB"


def _line(row: Row) -> str:
    right = f"{row.option:7.2%} {row.digit:7.2%} {row.punctuation:7.2%}"
    cost = f"{row.pages_a_second:8.2f} {row.cpu_a_page:11.2f} {row.memory_mb:5.0f}"
    pages = f"{row.condition} {CONDITIONS[row.condition]:26}"
    return f"{row.engine:12}  {pages}{row.chars:6}  {row.cer:6.2%}  {right} {cost}"


def _summary(rows: list[Row]) -> None:
    print(f"\n{os.cpu_count()} cores, {time.strftime('%Y-%m-%d')}")
    print(_HEAD)
    for row in rows:
        print(_line(row))
    for engine in dict.fromkeys(row.engine for row in rows):
        own = [row for row in rows if row.engine == engine]
        pages = sum(row.pages for row in own)
        seconds = sum(row.pages / row.pages_a_second for row in own)
        cpu = sum(row.cpu_a_page * row.pages for row in own)
        print(f"{engine:12}  all: {pages / seconds:.2f} pages/s, {cpu / pages:.2f} CPU s/page")


if __name__ == "__main__":
    main()
