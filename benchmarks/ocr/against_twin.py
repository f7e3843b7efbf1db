"""A scanned paper against the same paper as text: what OCR and parser make of both.

    python -m benchmarks.ocr.against_twin SCAN.pdf TWIN.docx --watermark 51CTO

Both are read and parsed by the pipeline. Questions are paired by their number. Prints the share of the twin's
questions that the scan has with as many options (whether kept or waiting for review), the character error rate over
stems and options of the pairs (widths folded, spaces and blanks to fill in apart; a shared stem counts with each of its
questions), the same without pairs in which either side holds a figure, table or formula, and how often the watermark's
text occurs.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
from rapidfuzz.distance import Levenshtein

from benchmarks.ocr.pages import folded

ROOT = Path(__file__).resolve().parents[2]
_MARKS = str.maketrans("，。；：？！、“”‘’－–—～", ",.;:?!,\"\"''---~")
_BLANK = re.compile(r"[_()\[\]]+|\.{2,}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scan", type=Path)
    parser.add_argument("twin", type=Path)
    parser.add_argument("--watermark", action="append", default=[], help="text that must not occur")
    parser.add_argument("--show", type=int, default=0, help="print so many of the worst pairs")
    options = parser.parse_args()
    scan, lines = built(options.scan)
    twin, _ = built(options.twin)
    found = {number: scan[number] for number in twin if number in scan}
    whole = [number for number in found if len(found[number]["options"]) == len(twin[number]["options"])]
    print(f"questions of the twin: {len(twin)}; found in the scan: {len(found)}; with all options: {len(whole)}")
    print(f"found with their options: {len(whole) / max(1, len(twin)):.1%}")
    pairs = [(number, said(twin[number]), said(found[number])) for number in whole]
    report("all pairs", pairs)
    plain = [pair for pair in pairs if not twin[pair[0]]["attachments"] + found[pair[0]]["attachments"]]
    report("pairs without figure, table or formula", plain)
    for text in options.watermark:
        print(f"watermark {text!r}: {lines.count(text)} times in the scan's lines")
    worst = sorted(plain, key=lambda pair: -Levenshtein.distance(pair[1], pair[2]))
    for number, truth, read in worst[: options.show]:
        print(f"\n{number} ({Levenshtein.distance(truth, read)})\n  {truth}\n  {read}")


def built(path: Path) -> tuple[dict[int, dict[str, Any]], str]:
    """Questions of a paper by number, kept ones and those that wait, and the text of its lines."""
    with tempfile.TemporaryDirectory(prefix="twin-") as name:
        home = Path(name)
        (home / "raw").mkdir()
        shutil.copy(path, home / "raw" / path.name)
        (home / "dataset.toml").write_text('[dataset]\nname = "twin"\n', encoding="utf-8")
        for stage in ("ocr", "parse"):
            run = "from build_dataset.pipeline.cli import main; main()"
            within = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": name}
            command = [sys.executable, "-c", run, stage]
            done = subprocess.run(command, cwd=home, env=within, capture_output=True, text=True)
            if done.returncode:
                raise SystemExit(done.stdout + done.stderr)
        questions = pl.read_parquet(home / "build/parse/questions.parquet").to_dicts()
        lines = pl.read_parquet(home / "build/ocr/lines.parquet")["text"].to_list()
        waiting = review(home / "build/parse/review.parquet")
    found = {row["number"]: row for row in [*waiting, *questions] if row["number"] is not None}
    return found, "\n".join(lines)


def review(path: Path) -> list[dict[str, Any]]:
    """Questions that wait for a person."""
    if not path.exists():
        return []
    items = [json.loads(text) for text in pl.read_parquet(path)["item"].to_list()]
    return [row for item in items for row in (item if isinstance(item, list) else [item]) if "options" in row]


def said(question: dict[str, Any]) -> str:
    """Stem and options as compared."""
    parts = question["shared_stem"], question["stem"], *(option["text"] for option in question["options"])
    return _BLANK.sub("", folded("".join(filter(None, parts))).translate(_MARKS)).lower()


def report(name: str, pairs: list[tuple[int, str, str]]) -> None:
    """Print the character error rate over pairs."""
    chars = sum(len(truth) for _, truth, _ in pairs)
    errors = sum(Levenshtein.distance(truth, read) for _, truth, read in pairs)
    exact = sum(truth == read for _, truth, read in pairs)
    print(f"{name}: {len(pairs)}, {chars} characters, {errors / max(1, chars):.2%} errors, {exact} without any")


if __name__ == "__main__":
    main()
